// Package run makes what Save and Collect are asked for.
//
// A run has two steps. Prepare plans it, for the memory of this process, of the workers of a cluster, or
// of nothing at all: a Job. A Runner then runs the job. The innermost one only executes the plan; each
// thing that a call may ask for beyond that is a layer: a function that wraps a Runner, in a file that knows
// nothing of the other layers. Options.runner puts them in their order, and is the only place that decides which a
// run has.
package run
