package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// maxText bounds the runes of an expression's text.
const maxText = 120

// String returns the expression as a person would write it, for titles:
// tanh(sqrt(b)*2 + exp(-b)). What broadcasting and promotion inserted is left
// out, and a long one is cut short.
func (n *Node) String() string {
	var t text
	t.node(n, 0)
	s := t.b.String()
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText-1]) + "…"
}

// text writes an expression and stops when it is long enough: shared parts can
// make the whole text exponentially longer than the graph.
type text struct {
	b     strings.Builder
	depth int
}

// maxDepth bounds how far below a node its text begins.
const maxDepth = 1000

func (t *text) full() bool { return t.b.Len() > 4*maxText }

// Batches names the operation that hands an array to a loop of the program, whose text is the array's.
const Batches = "batches"

// stored is the stored array, or the part of one, that decode_cf has decoded.
func stored(n *Node) *Node {
	for _, in := range n.In {
		if x := stored(in); x != nil && n.Kind == View {
			return n
		} else if x != nil {
			return x
		}
	}
	if n.Kind == Source {
		return n
	}
	return nil
}

// tightPrecedence is that of the operations that are written without blanks around them.
const tightPrecedence, unaryPrecedence = 5, 6

// node writes a node in parentheses where it binds looser than its place asks.
func (t *text) node(n *Node, precedence int) {
	if t.full() {
		return
	}
	if t.depth == maxDepth {
		t.b.WriteString("…")
		return
	}
	t.depth++
	defer func() { t.depth-- }()
	if w := n.Written; w != nil {
		t.called(w.Op, w.In, w.Args)
		return
	}
	if n.Details != nil {
		if x := stored(n); x != nil {
			t.called("decode_cf", []*Node{x}, nil)
			return
		}
	}
	switch n.Kind {
	case Source:
		t.b.WriteString(n.Name)
	case Constant:
		t.b.WriteString(n.Value.String())
	case Inline:
		fmt.Fprintf(&t.b, "array%s", grid.Format(n.Shape))
	case Iota:
		t.iota(n)
	case Random:
		t.b.WriteString("random(" + strings.Trim(grid.Format(n.Shape), "(,)") + ")")
	case Elementwise:
		t.operation(n, precedence)
	case Cast:
		in := n.In[0]
		if dtype.Promote(in.DType, n.DType) == n.DType {
			t.node(in, precedence)
			return
		}
		t.call("astype", in)
		t.b.WriteString(strconv.Quote(n.DType.String()) + ")")
	case View:
		t.view(n, precedence)
	case Reduce:
		t.b.WriteString(n.Fold.Kind.String() + "(")
		t.node(n.In[0], 0)
		if len(n.Fold.Axes) < len(n.In[0].Shape) {
			for _, a := range n.Fold.Axes {
				fmt.Fprintf(&t.b, ", %d", a)
			}
		}
		t.b.WriteString(")")
	case MatMul:
		if n.Summed > 0 {
			t.b.WriteString("sum(")
		}
		t.call("matmul", n.In[0])
		t.node(n.In[1], 0)
		if n.In[0].DType != n.DType {
			fmt.Fprintf(&t.b, ", %q", n.DType)
		}
		t.b.WriteString(")")
		if n.Summed > 0 {
			for i := range n.Summed {
				fmt.Fprintf(&t.b, ", %d", len(n.Shape)-2+i)
			}
			t.b.WriteString(")")
		}
	case Blockwise:
		if n.Blocks.Name == Batches {
			t.node(n.In[0], precedence)
			return
		}
		t.blocks(n)
	}
}

func (t *text) blocks(n *Node) {
	t.called(n.Blocks.Name, operands(n), n.Blocks.Args)
}

// Written is a call of an operation: its name, its arrays and what follows them.
type Written struct {
	Op   string
	In   []*Node
	Args []string
}

// WriteAs returns a node whose text is the call that it was made by, and not what that made of it.
func WriteAs(n *Node, op string, in []*Node, args ...string) *Node {
	as := *n
	as.Written = &Written{op, in, args}
	return &as
}

func (t *text) called(op string, in []*Node, args []string) {
	t.b.WriteString(op + "(")
	for i, x := range in {
		if i > 0 {
			t.b.WriteString(", ")
		}
		t.node(x, 0)
	}
	for i, arg := range args {
		if i > 0 || len(in) > 0 {
			t.b.WriteString(", ")
		}
		t.b.WriteString(arg)
	}
	t.b.WriteString(")")
}

// iota writes numbers in even steps by their start, stop and step, and their shape where that has several axes.
func (t *text) iota(n *Node) {
	size, axes := grid.Size(n.Shape), 0
	for _, length := range n.Shape {
		if length > 1 {
			axes++
		}
	}
	call := fmt.Sprintf("arange(%v, %v, %v)", n.First, n.First.Float()+float64(size)*n.Delta.Float(), n.Delta)
	if n.First.Float() == 0 && n.Delta.Float() == 1 {
		call = fmt.Sprintf("arange(%d)", size)
	}
	if axes > 1 {
		call = "reshape(" + call + ", " + strings.Trim(grid.Format(n.Shape), "()") + ")"
	}
	t.b.WriteString(call)
}

// operands are the inputs of an operation as its caller knows them. One that takes several
// stages has nodes for them that are named after it, as "sort runs" is; what those read is
// written in their place, once.
func operands(n *Node) []*Node {
	operation, _, _ := strings.Cut(n.Blocks.Name, " ")
	if !slices.ContainsFunc(n.In, func(x *Node) bool { return readsStage(x, operation) }) {
		return n.In
	}
	var in []*Node
	seen := map[*Node]bool{}
	var add func(x *Node)
	add = func(x *Node) {
		switch {
		case seen[x]:
			return
		case readsStage(x, operation):
			for _, y := range x.In {
				add(y)
			}
		default:
			in = append(in, x)
		}
		seen[x] = true
	}
	for _, x := range n.In {
		add(x)
	}
	return in
}

// readsStage reports whether a node is a stage of the operation, or a view, a cast or a fold
// of one.
func readsStage(x *Node, operation string) bool {
	for x.Kind == View || x.Kind == Cast || x.Kind == Reduce {
		x = x.In[0]
	}
	return x.Kind == Blockwise && strings.HasPrefix(x.Blocks.Name, operation+" ")
}

// call opens a call and leaves it after the first argument's comma.
func (t *text) call(name string, first *Node) {
	t.b.WriteString(name + "(")
	t.node(first, 0)
	t.b.WriteString(", ")
}

func (t *text) operation(n *Node, precedence int) {
	row := n.Op.Row()
	own, between := row.Precedence, row.Arity == 2 && row.Sign != ""
	prefix := map[kernel.Op]string{kernel.Negative: "-", kernel.LogicalNot: "!"}[n.Op]
	if prefix != "" {
		own = unaryPrecedence
	}
	if !between && prefix == "" {
		t.called(n.Op.String(), n.In, nil)
		return
	}
	if own < precedence {
		t.b.WriteString("(")
		defer t.b.WriteString(")")
	}
	if prefix != "" {
		t.b.WriteString(prefix)
		t.node(n.In[0], own)
		return
	}
	t.node(n.In[0], own)
	sign := row.Sign
	if own < tightPrecedence {
		sign = " " + sign + " "
	}
	t.b.WriteString(sign)
	t.node(n.In[1], own+1)
}

// view writes a transpose as x.T, a selection in brackets, and leaves out
// broadcasting and new axes.
func (t *text) view(n *Node, precedence int) {
	in, v := n.In[0], n.View
	selects, last, reorders := false, -1, false
	for d, a := range v.Axis {
		length := in.Shape[d]
		shown := 1
		if a >= 0 {
			shown = v.Shape[a]
			reorders = reorders || a < last
			last = a
		}
		repeated := a < 0 && length == 1
		selects = selects || !repeated && (v.Start[d] != 0 || v.Step[d] != 1 || shown != length)
	}
	if selects || reorders {
		precedence = unaryPrecedence + 1
	}
	t.node(in, precedence)
	if selects {
		t.b.WriteString("[" + selection(v, in.Shape) + "]")
	}
	if reorders {
		t.b.WriteString(".T")
	}
}

// selection is a view's ranges as between NumPy's brackets, in the array's own
// order of axes.
func selection(v grid.View, shape []int) string {
	parts := make([]string, len(v.Axis))
	for d, a := range v.Axis {
		start, step := v.Start[d], v.Step[d]
		switch {
		case a < 0:
			parts[d] = strconv.Itoa(start)
			continue
		case start == 0 && step == 1 && v.Shape[a] == shape[d]:
			parts[d] = ":"
			continue
		}
		stop := start + step*(v.Shape[a]-1) + 1
		end := strconv.Itoa(stop)
		if v.Shape[a] == 0 {
			end = strconv.Itoa(start)
		} else if step < 0 {
			if end = strconv.Itoa(stop - 2); stop-2 < 0 {
				end = ""
			}
		}
		parts[d] = strconv.Itoa(start) + ":" + end
		if step != 1 {
			parts[d] += ":" + strconv.Itoa(step)
		}
	}
	return strings.Join(parts, ", ")
}
