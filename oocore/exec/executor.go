package exec

import (
	"context"
	"fmt"
	"iter"
)

// A task is (stage, index): index runs over 0 … Stage.Tasks(). Which chunk an index
// stands for is the stage's to say. Executors differ in where tasks run; the run opens
// and commits arrays, keeps the checkpoint and writes the record for all of them.

// Executor runs the tasks of a plan's stages.
type Executor interface {
	// Stage prepares to run tasks of a stage, and takes all the memory that they need.
	Stage(ctx context.Context, stage int) (Runner, error)
}

// Runner runs tasks of one stage.
type Runner interface {
	// Run runs tasks, in any order and many at once, and calls done for each one whose
	// results are written. When it returns an error some tasks may be done, and none is
	// running. A cancelled context ends it within a tile.
	Run(ctx context.Context, tasks Tasks, done func(index int)) error
	Close() error
}

// Range is the tasks First ≤ index < End.
type Range struct {
	First int `json:"first"`
	End   int `json:"end"`
}

// Len returns the number of tasks.
func (r Range) Len() int { return r.End - r.First }

// String names the tasks for people.
func (r Range) String() string {
	if r.Len() == 1 {
		return fmt.Sprintf("task %d", r.First)
	}
	return fmt.Sprintf("tasks %d to %d", r.First, r.End-1)
}

// Tasks is a set of a stage's tasks: ranges in order, apart from each other.
type Tasks []Range

// Len returns the number of tasks.
func (t Tasks) Len() (n int) {
	for _, r := range t {
		n += r.Len()
	}
	return n
}

// Has reports whether a task is in the set.
func (t Tasks) Has(index int) bool {
	low, high := 0, len(t)
	for low < high {
		middle := (low + high) / 2
		switch r := t[middle]; {
		case index < r.First:
			high = middle
		case index >= r.End:
			low = middle + 1
		default:
			return true
		}
	}
	return false
}

// All iterates over the tasks in order.
func (t Tasks) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range t {
			for i := r.First; i < r.End; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// add puts a task that follows all others into the set.
func (t Tasks) add(index int) Tasks {
	if n := len(t); n > 0 && t[n-1].End == index {
		t[n-1].End++
		return t
	}
	return append(t, Range{index, index + 1})
}

// left returns the tasks of 0 … n that done does not report.
func left(n int, done func(index int) bool) (t Tasks) {
	for i := range n {
		if !done(i) {
			t = t.add(i)
		}
	}
	return t
}
