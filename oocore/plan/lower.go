package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// lowering turns nodes into programs. Equal nodes become one, so that shared
// parts are computed once however they were written.
type lowering struct {
	plan    *Plan
	same    map[*graph.Node]*graph.Node // node → the first node that computes the same
	byKey   map[string]*graph.Node
	number  map[*graph.Node]int // of a representative
	keep    map[*graph.Node]bool
	readers map[*graph.Node]int // passes that read what is kept because of them
	depth   map[*graph.Node]int
	arrays  map[*graph.Node]int // where a node's elements are, once something holds them
}

func newLowering(p *Plan) *lowering {
	return &lowering{plan: p, same: map[*graph.Node]*graph.Node{}, byKey: map[string]*graph.Node{},
		number: map[*graph.Node]int{}, keep: map[*graph.Node]bool{}, readers: map[*graph.Node]int{}, depth: map[*graph.Node]int{}, arrays: map[*graph.Node]int{}}
}

// one returns the representative of all nodes that compute the same.
func (l *lowering) one(n *graph.Node) *graph.Node {
	if r, ok := l.same[n]; ok {
		return r
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%d %v %d", n.Kind, n.Shape, n.DType)
	for _, in := range n.In {
		key.WriteByte(' ')
		key.WriteString(strconv.Itoa(l.number[l.one(in)]))
	}
	switch n.Kind {
	case graph.Source:
		fmt.Fprintf(&key, " %q %v %v", n.Stored.Info.Path, n.Stored.Shape, n.Stored.Info.ID)
	case graph.Constant:
		fmt.Fprintf(&key, " %v", n.Value)
	case graph.Inline:
		fmt.Fprintf(&key, " %p %d", unsafe.SliceData(n.Data), len(n.Data))
	case graph.Iota:
		fmt.Fprintf(&key, " %v %v", n.First, n.Delta)
	case graph.Random:
		fmt.Fprintf(&key, " %d", n.Seed)
	case graph.Elementwise:
		fmt.Fprintf(&key, " %d", n.Op)
	case graph.View:
		fmt.Fprintf(&key, " %v", n.View)
	case graph.Reduce:
		fmt.Fprintf(&key, " %v", *n.Fold)
	case graph.MatMul:
		fmt.Fprintf(&key, " %d", n.Summed)
	case graph.Blockwise:
		key.WriteString(opKey(n))
	}
	r, ok := l.byKey[key.String()]
	if !ok {
		r = n
		l.byKey[key.String()] = n
		l.number[n] = len(l.number)
	}
	l.same[n] = r
	return r
}

// held reports a node whose elements some stage has to compute and keep before
// others can use them.
func (l *lowering) held(n *graph.Node) bool {
	switch n.Kind {
	case graph.Reduce, graph.MatMul:
		return true
	case graph.Blockwise:
		return n.Blocks.Op.Chunks() != nil || l.keep[l.one(n)]
	}
	return false
}

// levels returns the held nodes below roots, those among them if they are, by the
// number of held nodes on the longest way down to data.
func (l *lowering) levels(roots ...*graph.Node) [][]*graph.Node {
	var levels [][]*graph.Node
	var visit func(n *graph.Node) int
	visit = func(n *graph.Node) int {
		n = l.one(n)
		if d, ok := l.depth[n]; ok {
			return d
		}
		d := 0
		for _, in := range n.In {
			d = max(d, visit(in))
		}
		if l.held(n) {
			for len(levels) <= d {
				levels = append(levels, nil)
			}
			levels[d] = append(levels[d], n)
			d++
		}
		l.depth[n] = d
		return d
	}
	for _, n := range roots {
		visit(n)
	}
	return levels
}

// meet reports nodes of one level that read some array or generator in common.
func (l *lowering) meet(a, b *graph.Node) bool {
	read := map[*graph.Node]bool{}
	var visit func(n *graph.Node, found func(leaf *graph.Node) bool) bool
	visit = func(n *graph.Node, found func(leaf *graph.Node) bool) bool {
		n = l.one(n)
		if len(n.In) == 0 || l.held(n) {
			return n.Kind != graph.Constant && found(n)
		}
		return slices.ContainsFunc(n.In, func(in *graph.Node) bool { return visit(in, found) })
	}
	visit(a.In[0], func(leaf *graph.Node) bool { read[leaf] = true; return false })
	return a == b || visit(b.In[0], func(leaf *graph.Node) bool { return read[leaf] })
}

// array is the index of the plan's array that holds a leaf's or a held node's
// elements.
func (l *lowering) array(n *graph.Node) int {
	n = l.one(n)
	if i, ok := l.arrays[n]; ok {
		return i
	}
	a := Array{Name: n.Name, Shape: n.Shape, DType: n.DType}
	switch n.Kind {
	case graph.Source:
		info := n.Stored.Info
		a.Place, a.Path, a.Shape, a.Chunks, a.Work, a.ID = InFile, info.Path, n.Stored.Shape, info.Chunks, info.Work, info.ID
	case graph.Inline:
		a.Place, a.Data = InData, n.Data
	default:
		panic(fmt.Sprintf("plan: node of kind %d is used before its stage", n.Kind))
	}
	return l.hold(n, a)
}

// hold makes an array the place of a node's elements.
func (l *lowering) hold(n *graph.Node, a Array) int {
	l.plan.Arrays = append(l.plan.Arrays, a)
	l.arrays[l.one(n)] = len(l.plan.Arrays) - 1
	return len(l.plan.Arrays) - 1
}

// program computes nodes of one shape together.
func (l *lowering) program(nodes ...*graph.Node) Program {
	b := builder{l: l, domain: nodes[0].Shape, values: map[*graph.Node]int{}}
	var p Program
	for _, n := range nodes {
		p.Out = append(p.Out, b.value(n))
	}
	// While building, load i is -1-i and instruction i is i; then loads come first.
	final := func(v int) int {
		if v < 0 {
			return -1 - v
		}
		return v + len(b.loads)
	}
	for i := range b.code {
		for k, a := range b.code[i].Args {
			b.code[i].Args[k] = final(a)
		}
	}
	for i := range p.Out {
		p.Out[i] = final(p.Out[i])
	}
	p.Domain, p.Loads, p.Code = b.domain, b.loads, b.code
	return p
}

type builder struct {
	l      *lowering
	domain []int
	loads  []Load
	code   []Instr
	values map[*graph.Node]int
}

func (b *builder) value(n *graph.Node) int {
	n = b.l.one(n)
	if v, ok := b.values[n]; ok {
		return v
	}
	var v int
	switch n.Kind {
	case graph.Elementwise:
		v = b.elementwise(n)
	case graph.Cast:
		v = b.cast(b.value(n.In[0]), n.In[0].DType, n.DType)
	case graph.View:
		v = b.load(b.l.one(n.In[0]), n.View)
	default:
		v = b.load(n, grid.Identity(n.Shape))
	}
	b.values[n] = v
	return v
}

func (b *builder) load(n *graph.Node, v grid.View) int {
	load := Load{Type: n.DType, View: v}
	switch n.Kind {
	case graph.Constant:
		load.Kind, load.Value = LoadConst, n.Value
		load.View = grid.View{Shape: b.domain}
	case graph.Iota:
		load.Kind, load.Shape, load.Value, load.Delta = LoadIota, n.Shape, n.First, n.Delta
	case graph.Random:
		load.Kind, load.Shape, load.Seed = LoadRandom, n.Shape, n.Seed
	case graph.Blockwise:
		if b.l.held(n) {
			load.Kind, load.Array = LoadArray, b.l.array(n)
			break
		}
		op := b.l.op(n)
		load.Kind, load.Shape, load.Op, load.Inputs = LoadBlocks, n.Shape, op.Op, op.Inputs
	default:
		load.Kind, load.Array = LoadArray, b.l.array(n)
		if n.Kind == graph.Source && !slices.Equal(n.Shape, n.Stored.Shape) {
			panic("plan: a source's shape differs from its stored array's")
		}
	}
	b.loads = append(b.loads, load)
	return -len(b.loads)
}

func (b *builder) emit(in Instr) int {
	b.code = append(b.code, in)
	return len(b.code) - 1
}

func (b *builder) cast(v int, from, to dtype.Type) int {
	if from == to {
		return v
	}
	return b.emit(Instr{Type: from, To: to, Args: []int{v}})
}

// elementwise computes 16-bit floats in float32 and rounds each result, as NumPy
// does. Choosing between two needs no arithmetic.
func (b *builder) elementwise(n *graph.Node) int {
	args := make([]int, len(n.In))
	for i, in := range n.In {
		args[i] = b.value(in)
	}
	t := n.In[len(n.In)-1].DType
	if !t.Short() || n.Op == kernel.Where {
		return b.emit(Instr{Op: n.Op, Type: t, To: n.Op.Result(t), Args: args})
	}
	for i := range args {
		args[i] = b.cast(args[i], t, dtype.Float32)
	}
	to := n.Op.Result(dtype.Float32)
	v := b.emit(Instr{Op: n.Op, Type: dtype.Float32, To: to, Args: args})
	return b.cast(v, to, n.DType)
}
