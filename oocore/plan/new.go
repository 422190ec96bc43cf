package plan

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// Target is where the result goes: a file, or the program's own memory where
// Path is empty.
type Target struct {
	Path   string
	Chunks []int // that the user asked for; nil lets the planner choose
}

// Options are what a plan may use.
type Options struct {
	Budget   int64 // bytes of the whole process
	Overhead int64 // bytes of it that are not buffers: Go's runtime and heap, page tables
	Workers  int   // tasks that compute at once; at least 1
	Device   DeviceSpec
}

// alwaysKept is the size up to which a temporary array is not worth a file.
const alwaysKept = 64 << 10

// attempt plans for exactly the given budget. keep is how much of it temporary
// arrays may take; the others are spilled.
func attempt(root *graph.Node, t Target, o Options, keep int64) (*Plan, error) {
	if t.Chunks != nil && len(t.Chunks) != len(root.Shape) {
		return nil, fmt.Errorf("chunks %s have %d dimensions, the result %s has %d",
			grid.Format(t.Chunks), len(t.Chunks), grid.Format(root.Shape), len(root.Shape))
	}
	for _, c := range t.Chunks {
		if c < 1 {
			return nil, fmt.Errorf("chunks %s have a length below 1", grid.Format(t.Chunks))
		}
	}
	p := &Plan{Engine: Engine, Title: root.String(), Budget: o.Budget, Arena: max(o.Budget-o.Overhead, 0),
		Workers: max(o.Workers, 1), Device: o.Device, Output: -1, keep: keep}
	l := newLowering(p)
	for _, level := range l.levels(root) {
		if err := p.level(l, l.one(root), level, t); err != nil {
			return nil, err
		}
	}
	if !held(l.one(root)) {
		p.mapStage(l, l.one(root), t)
	}
	return p, p.size(o.Overhead)
}

// level adds the stages of held nodes that do not need each other. Reductions of
// one shape along the same axes that read some array in common become one pass.
func (p *Plan) level(l *lowering, root *graph.Node, nodes []*graph.Node, t Target) error {
	var reduces []*graph.Node
	for _, n := range nodes {
		switch n.Kind {
		case graph.Reduce:
			reduces = append(reduces, n)
		case graph.MatMul:
			p.matmulStage(l, root, n, t)
		case graph.MapChunks:
			p.funcStage(l, root, n, t)
		}
	}
	for len(reduces) > 0 {
		first := reduces[0]
		var together, others []*graph.Node
		for _, n := range reduces {
			if slices.Equal(n.Fold.Axes, first.Fold.Axes) && slices.Equal(n.In[0].Shape, first.In[0].Shape) && l.meet(n, first) {
				together = append(together, n)
			} else {
				others = append(others, n)
			}
		}
		if err := p.reduceStage(l, root, together, t); err != nil {
			return err
		}
		reduces = others
	}
	return nil
}

// result adds the array that a stage's node fills: the output, or a temporary.
func (p *Plan) result(l *lowering, root, n *graph.Node, t Target) int {
	a := Array{Place: InArena, Name: n.String(), Shape: n.Shape, DType: n.DType}
	if n == root {
		a.Place, a.Path = InResult, t.Path
		if t.Path == "" {
			a.Place = InCollect
		}
		p.Output = len(p.Arrays)
	} else if bytes := arena.Reserved(a.Bytes()); bytes <= p.keep {
		p.keep -= bytes
	} else if bytes > alwaysKept {
		a.Place = InSpill
	}
	return l.hold(n, a)
}

func (p *Plan) mapStage(l *lowering, root *graph.Node, t Target) {
	prog := l.program(root)
	s := Stage{Kind: MapStage, Name: root.String(), Site: root.Site.String(), Programs: []Program{prog}}
	s.Outputs = []int{p.result(l, root, root, t)}
	s.Grid = grid.Grid{Shape: root.Shape, Chunks: clip(t.Chunks, root.Shape)}
	if t.Chunks == nil {
		s.Grid.Chunks = mapChunks(&prog, root.Shape, root.DType.Size())
	}
	s.OnDevice, s.Note = p.placement(&prog)
	p.Stages = append(p.Stages, s)
}

// placement says whether the plan's device computes a program, or why not.
func (p *Plan) placement(prog *Program) (bool, string) {
	if p.Device.Memory == 0 {
		return false, ""
	}
	for v := range len(prog.Loads) + len(prog.Code) {
		if t := prog.Type(v); t.Kind() == dtype.KindComplex {
			return false, fmt.Sprintf("%s has no kernels for %s: on the CPU", p.Device.Name, t)
		}
	}
	return true, ""
}

func (p *Plan) reduceStage(l *lowering, root *graph.Node, nodes []*graph.Node, target Target) error {
	ins := make([]*graph.Node, len(nodes))
	name := ""
	for i, n := range nodes {
		ins[i] = n.In[0]
		if i > 0 {
			name += ", "
		}
		name += n.String()
	}
	prog := l.program(ins...)
	shape := ins[0].Shape
	s := Stage{Kind: ReduceStage, Name: name, Site: nodes[0].Site.String(), Programs: []Program{prog}}
	for i, n := range nodes {
		t := ins[i].DType
		if _, ok := kernel.NewFolder(n.Fold.Kind, t); !ok {
			return fmt.Errorf("%s of %s is not defined", n.Fold.Kind, t)
		}
		count := int64(1)
		for _, a := range n.Fold.Axes {
			count *= int64(shape[a])
		}
		s.Folds = append(s.Folds, Fold{Kind: n.Fold.Kind, Axes: n.Fold.Axes, DDof: n.Fold.DDof, Count: count})
		s.Outputs = append(s.Outputs, p.result(l, root, n, target))
	}
	s.Grid = grid.Grid{Shape: shape, Chunks: reduceChunks(&prog, shape, nodes[0].Fold.Axes)}
	if p.Device.Memory > 0 {
		s.Note = p.Device.Name + " computes no reductions: on the CPU"
	}
	p.Stages = append(p.Stages, s)
	return nil
}

func (p *Plan) funcStage(l *lowering, root, n *graph.Node, t Target) {
	s := Stage{Kind: FuncStage, Name: n.String(), Site: n.Site.String(), Func: len(p.funcs)}
	for _, in := range n.In {
		s.Programs = append(s.Programs, l.program(in))
	}
	p.funcs = append(p.funcs, n.Func)
	s.Outputs = []int{p.result(l, root, n, t)}
	s.Grid = grid.Grid{Shape: n.Shape, Chunks: clip(n.Func.Chunks, n.Shape)}
	if n.Func.Chunks == nil {
		s.Grid.Chunks = clip(t.Chunks, n.Shape)
		if t.Chunks == nil || n != root {
			s.Grid.Chunks = mapChunks(&Program{}, n.Shape, n.DType.Size())
		}
	}
	if p.Device.Memory > 0 {
		s.Note = p.Device.Name + " cannot run a Go function: on the CPU"
	}
	p.Stages = append(p.Stages, s)
}
