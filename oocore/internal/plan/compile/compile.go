// Package compile turns expressions into plans, pass by pass: what is equal is computed once, what costs
// more to compute again than to store is materialised, the rest is fused into stages, and inputs that lie across what
// is written get a pass of their own.
package compile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Target is where the result goes: a file, or the program's own memory where
// Path is empty. Chunks, Shards and Codec are as the user asked for; nil and ""
// let the planner and the format choose.
type Target struct {
	Path   string
	Chunks []int
	Shards []int
	Codec  string
	Region *grid.Box // of a stored array; nil makes a new one
	Whole  []int     // the shape of that array
	Grow   bool      // by Region, which that array does not have yet, to Whole
	// Details go with the array, where its format keeps them.
	Details store.Details
	// Collection, where it is set, has the array by a name: Path is where the array is then.
	Collection *storage.CollectionMeta
	Member     string
	// SideReductions are reductions, along all axes, of arrays of the result's shape. They are
	// computed while it is written, and read nothing for themselves.
	SideReductions []*graph.Node
}

// Output is an array that a plan computes, and where to.
type Output struct {
	Root   *graph.Node
	Target Target
}

// meta is the target as stores have it.
func (t *Target) meta(root *graph.Node) store.Meta {
	shape := root.Shape
	if t.Region != nil {
		shape = t.Whole
	}
	return store.Meta{Shape: shape, DType: root.DType, Chunks: t.Chunks, Shards: t.Shards, Codec: t.Codec, Region: t.Region, Grow: t.Grow, Details: t.Details}
}

// compiler turns an expression into a plan, pass by pass.
type compiler struct {
	plan        *plan.Plan
	targets     []Target
	roots       []*graph.Node                   // one for each target, and the side reductions of the only one
	collections map[*storage.CollectionMeta]int // numbers
	outputs     []int                           // indices of arrays, one for each target; -1 for one that no stage fills yet
	read        map[*graph.Node]bool
	pyramid     *pyramid // nil for none

	canonical *canonical
	opCosts   map[*graph.Node]opCost
	passes    map[*graph.Node][]int   // in which each node is computed, by the depth of what they make; only some of many
	readers   map[pass]int            // how many nodes read each in a pass
	seen      map[*graph.Node]float64 // how many times over a program would compute each node
	why       map[*graph.Node]string  // nodes that are materialised, and why
	again     map[*graph.Node]bool    // nodes that several stages compute, which is cheaper

	tiled map[*graph.Node]contract.Tiles // products whose tiles are taken as they are made

	arrays  map[*graph.Node]int // where a node's elements are, once something holds them
	firstIn map[*graph.Node]int // the stage that computes what is computed again first
	repeats []*graph.Node       // what the present stage computes again

	copies  map[string]plan.Load // loads that were made to read a copy in blocks
	decodes map[int]int          // temporary arrays that hold what is stored in chunks
}

// passes are what compiles an expression, in order. Each takes time and memory in
// proportion to the nodes and edges that it is given.
var passes = []struct {
	name string
	run  func(*compiler) error
}{
	{"canonicalise", (*compiler).canonicalise},
	{"find a pyramid", (*compiler).findPyramid},
	{"materialise", (*compiler).materialise},
	{"push views down", (*compiler).pushViews},
	{"take products", (*compiler).takeProducts},
	{"fuse", (*compiler).stages},
	{"fuse rows", (*compiler).fuseRows},
	{"order", (*compiler).order},
	{"insert rechunks", (*compiler).insertRechunks},
}

// New is the logical plan of computing root. It reads nothing.
//
// Planning takes time and memory by the number of nodes, not of chunks.
func New(root *graph.Node, t Target) (*plan.Plan, error) { return NewAll(Output{root, t}) }

// NewAll is the logical plan of computing several outputs, with what they share computed
// once. Where there is more than one, each has a path.
func NewAll(outputs ...Output) (*plan.Plan, error) {
	c, err := newCompiler(outputs)
	if err != nil {
		return nil, err
	}
	for _, pass := range passes {
		if err := pass.run(c); err != nil {
			return nil, err
		}
	}
	c.plan.Revisions = c.plan.CurrentRevisions()
	return c.plan, nil
}

// title is what the outputs are, of many the first ones: two, or as many as are short.
func title(outputs []string) string {
	const most, long = 8, 160
	n, length := 0, 0
	for n < min(len(outputs), most) && (n < 2 || length+len(outputs[n]) <= long) {
		length += len(outputs[n])
		n++
	}
	all := strings.Join(outputs[:n], ", ")
	if more := len(outputs) - n; more > 0 {
		all += fmt.Sprintf(" and %d more", more)
	}
	return all
}

func newCompiler(outputs []Output) (*compiler, error) {
	c := &compiler{plan: &plan.Plan{Arrays: make([]plan.Array, 0, 2*len(outputs)), Stages: make([]plan.Stage, 0, len(outputs))}, canonical: newCanonical(),
		opCosts: map[*graph.Node]opCost{}, why: map[*graph.Node]string{}, again: map[*graph.Node]bool{},
		read: map[*graph.Node]bool{}, collections: map[*storage.CollectionMeta]int{}, arrays: map[*graph.Node]int{}, firstIn: map[*graph.Node]int{}, copies: map[string]plan.Load{}, decodes: map[int]int{}}
	var titles []string
	for _, out := range outputs {
		if err := out.check(len(outputs)); err != nil {
			return nil, err
		}
		titles = append(titles, out.Root.String())
		c.roots, c.targets, c.outputs = append(c.roots, out.Root), append(c.targets, out.Target), append(c.outputs, -1)
	}
	c.plan.Title = title(titles)
	c.roots = append(c.roots, inputs(outputs[0].Target.SideReductions)...)
	return c, nil
}

// check returns an error for an output, one of so many, that cannot be made.
func (o *Output) check(of int) error {
	root, t := o.Root, &o.Target
	if of > 1 && (t.Path == "" || t.SideReductions != nil) {
		return errors.New("one of several outputs has no path, or has side reductions")
	}
	if t.Chunks != nil && len(t.Chunks) != len(root.Shape) {
		return fmt.Errorf("chunks %s have %d dimensions, the result %s has %d",
			grid.Format(t.Chunks), len(t.Chunks), grid.Format(root.Shape), len(root.Shape))
	}
	for _, c := range t.Chunks {
		if c < 1 {
			return fmt.Errorf("chunks %s have a length below 1", grid.Format(t.Chunks))
		}
	}
	if t.Path == "" {
		return nil
	}
	_, err := storage.LayoutOf(t.Path, t.meta(root)) // what the format has to say comes first
	return err
}

// inputs are what reductions fold.
func inputs(folds []*graph.Node) []*graph.Node {
	var all []*graph.Node
	for _, n := range folds {
		all = append(all, n.In[0])
	}
	return all
}

// temporary is an array that one stage fills and others read.
func temporary(name string, shape []int, t dtype.Type) plan.Array {
	return plan.Array{Place: plan.InTemp, Name: name, Shape: shape, DType: t}
}
