package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// term is an operand, or what operands were contracted to, with the name of each axis.
type term struct {
	node *graph.Node
	axes []rune
}

// Einsum is NumPy's einsum: "ij,jk->ik", an ellipsis for axes that are broadcast, and
// without an arrow the names that occur once, in order of the alphabet. Operands are
// contracted two at a time, in the order of Path. All is computed in the type that the
// operands meet in, NumPy's result_type.
func Einsum(site graph.Site, args EinsumArgs) (*graph.Node, error) {
	subscripts, in := args.Subscripts, args.Operands
	terms, out, err := parse(site, subscripts, in)
	if err != nil {
		return nil, graph.Reject(site, "einsum", ofShapes(err, in), in...)
	}
	types := make([]dtype.Type, len(in))
	for i, n := range in {
		types[i] = n.DType
	}
	p := product{site, dtype.PromoteAll(types...)}
	operands := terms
	steps := order(terms, out)
	for _, s := range steps {
		a, b := terms[s[0]], terms[s[1]]
		rest := slices.Delete(slices.Clone(terms), s[1], s[1]+1)
		rest = slices.Delete(rest, s[0], s[0]+1)
		joined, err := p.pair(a, b, needed(rest, out))
		if err != nil {
			return nil, graph.Reject(site, "einsum", err, in...)
		}
		terms = append(rest, joined)
	}
	last, err := p.sumOut(terms[0], out)
	if err != nil {
		return nil, graph.Reject(site, "einsum", err, in...)
	}
	n, err := transposed(site, last, out)
	if err != nil {
		return nil, graph.Reject(site, "einsum", err, in...)
	}
	return named(n, out, operands), nil
}

// named gives each axis of a result the name of the dimension in the first operand that has
// a name for it.
func named(n *graph.Node, out []rune, operands []term) *graph.Node {
	axes := make([]graph.Axis, len(out))
	for _, t := range operands {
		names := t.node.DimNames()
		for d, name := range names {
			if at := slices.Index(out, t.axes[d]); at >= 0 && axes[at].Of == nil && name != "" && t.node.Shape[d] == n.Shape[at] {
				axes[at] = graph.Axis{Of: t.node, Index: d}
			}
		}
	}
	if !slices.ContainsFunc(axes, func(a graph.Axis) bool { return a.Of != nil }) {
		return n
	}
	return graph.NameAxes(n, axes...)
}

// product computes contractions in one type.
type product struct {
	site graph.Site
	t    dtype.Type
}

// ofShapes adds the operands' shapes to what is wrong with them.
func ofShapes(err error, in []*graph.Node) error {
	shapes := make([]string, len(in))
	for i, n := range in {
		shapes[i] = grid.Format(n.Shape)
	}
	return fmt.Errorf("%w; of operands of shapes %s", err, strings.Join(shapes, " and "))
}

// Names that stand for the axes of an ellipsis, from the last one back.
const dots = '\uE000'

// parse gives operands their axes' names, with diagonals taken where one operand has a
// name twice, and the names of the result.
func parse(site graph.Site, subscripts string, in []*graph.Node) (terms []term, out []rune, err error) {
	text := strings.ReplaceAll(subscripts, " ", "")
	left, right, arrow := strings.Cut(text, "->")
	parts := strings.Split(left, ",")
	if len(parts) != len(in) {
		return nil, nil, fmt.Errorf("%q names %d operands, and %d are given", subscripts, len(parts), len(in))
	}
	if len(in) == 0 {
		return nil, nil, errors.New("must provide at least one operand")
	}
	lengths := map[rune]int{}
	count := map[rune]int{}
	ellipsis := 0
	for i, part := range parts {
		axes, err := names(part, len(in[i].Shape))
		if err != nil {
			return nil, nil, fmt.Errorf("operand %d of %q: %w", i, subscripts, err)
		}
		t := term{node: in[i], axes: axes}
		for d, name := range axes {
			n := in[i].Shape[d]
			if before := slices.Index(axes[:d], name); before >= 0 && in[i].Shape[before] != n {
				return nil, nil, fmt.Errorf("index %s of %q stands for axes of %d and of %d in operand %d", show(name), subscripts, in[i].Shape[before], n, i)
			}
			if had, ok := lengths[name]; !ok || had == 1 {
				lengths[name] = n
			} else if n != had && n != 1 {
				return nil, nil, fmt.Errorf("index %s of %q has the length %d in one operand and %d in another", show(name), subscripts, had, n)
			}
			count[name]++
			if name >= dots {
				ellipsis = max(ellipsis, int(name-dots)+1)
			}
		}
		terms = append(terms, t)
	}
	for i := range terms {
		if terms[i], err = diagonals(site, terms[i]); err != nil {
			return nil, nil, err
		}
	}
	if !arrow {
		for k := ellipsis - 1; k >= 0; k-- {
			out = append(out, dots+rune(k))
		}
		var once []rune
		for name, n := range count {
			if n == 1 && name < dots {
				once = append(once, name)
			}
		}
		slices.Sort(once)
		return terms, append(out, once...), nil
	}
	if ellipsis > 0 && !strings.Contains(right, "...") {
		return nil, nil, fmt.Errorf("the result of %q has no \"...\", whose axes are not summed: write \"...%s\"", subscripts, right)
	}
	if out, err = names(right, len([]rune(strings.Replace(right, "...", "", 1)))+ellipsis); err != nil {
		return nil, nil, fmt.Errorf("the result of %q: %w", subscripts, err)
	}
	for i, name := range out {
		if count[name] == 0 {
			return nil, nil, fmt.Errorf("index %s of the result of %q is in no operand", show(name), subscripts)
		}
		if slices.Contains(out[:i], name) {
			return nil, nil, fmt.Errorf("index %s is twice in the result of %q", show(name), subscripts)
		}
	}
	return terms, out, nil
}

func show(name rune) string {
	if name >= dots {
		return "..."
	}
	return string(name)
}

// names are those of the axes of one operand.
func names(part string, dims int) ([]rune, error) {
	before, after, has := strings.Cut(part, "...")
	letters := []rune(before + after)
	for _, r := range letters {
		if r < 'A' || r > 'z' || r > 'Z' && r < 'a' {
			return nil, fmt.Errorf("%q is no index: letters are, and one \"...\" of each operand", string(r))
		}
	}
	rest := dims - len(letters)
	if rest < 0 || rest > 0 && !has {
		return nil, fmt.Errorf("%q has %d indices for %d dimensions", part, len(letters), dims)
	}
	axes := []rune(before)
	for k := rest - 1; k >= 0; k-- {
		axes = append(axes, dots+rune(k))
	}
	return append(axes, []rune(after)...), nil
}

// diagonals takes the diagonal of axes of one name.
func diagonals(site graph.Site, t term) (term, error) {
	for i := 0; i < len(t.axes); i++ {
		j := slices.Index(t.axes[i+1:], t.axes[i])
		if j < 0 {
			continue
		}
		j += i + 1
		n, err := diagonal(site, t.node, i, j)
		if err != nil {
			return t, err
		}
		name := t.axes[i]
		axes := slices.Delete(slices.Clone(t.axes), j, j+1)
		axes = append(slices.Delete(axes, i, i+1), name)
		t = term{n, axes}
		i = -1
	}
	return t, nil
}

// diagonal is what two axes of one length have in common, as the last axis: every
// (n+1)-th element of both together.
func diagonal(site graph.Site, n *graph.Node, i, j int) (*graph.Node, error) {
	var axes, lengths []int
	for d, length := range n.Shape {
		if d != i && d != j {
			axes, lengths = append(axes, d), append(lengths, length)
		}
	}
	side := n.Shape[i]
	n, err := graph.Transpose(site, n, append(axes, i, j)...)
	if err != nil {
		return nil, err
	}
	if n, err = graph.Reshape(site, n, append(lengths, side*side)...); err != nil {
		return nil, err
	}
	return graph.Slice(site, n, fmt.Sprintf("..., ::%d", side+1))
}

// needed are the names that the result or other operands still have.
func needed(rest []term, out []rune) map[rune]bool {
	keep := map[rune]bool{}
	for _, name := range out {
		keep[name] = true
	}
	for _, t := range rest {
		for _, name := range t.axes {
			keep[name] = true
		}
	}
	return keep
}

// sumOut sums along axes that the result does not have.
func (p product) sumOut(t term, out []rune) (term, error) {
	return p.sumAxes(t, func(name rune) bool { return !slices.Contains(out, name) })
}

func (p product) sumAxes(t term, gone func(rune) bool) (term, error) {
	var axes []int
	var kept []rune
	for d, name := range t.axes {
		if gone(name) {
			axes = append(axes, d)
		} else {
			kept = append(kept, name)
		}
	}
	if len(axes) == 0 {
		return t, nil
	}
	n, err := graph.AsType(p.site, t.node, p.t)
	if err == nil {
		n, err = graph.Aggregate(p.site, kernel.Sum, n, graph.ReduceOptions{Axes: axes})
	}
	if err == nil { // sums of short integers are wider
		n, err = graph.AsType(p.site, n, p.t)
	}
	return term{n, kept}, err
}

// transposed puts the axes in an order.
func transposed(site graph.Site, t term, to []rune) (*graph.Node, error) {
	if slices.Equal(t.axes, to) {
		return t.node, nil
	}
	axes := make([]int, len(to))
	for i, name := range to {
		axes[i] = slices.Index(t.axes, name)
	}
	return graph.Transpose(site, t.node, axes...)
}

// pair contracts two operands: names that are in keep stay.
func (p product) pair(a, b term, keep map[rune]bool) (term, error) {
	var err error
	if a, err = p.sumAxes(a, func(r rune) bool { return !keep[r] && !slices.Contains(b.axes, r) }); err != nil {
		return a, err
	}
	if b, err = p.sumAxes(b, func(r rune) bool { return !keep[r] && !slices.Contains(a.axes, r) }); err != nil {
		return b, err
	}
	var batch, rows, cols, inner []rune
	for _, name := range a.axes {
		switch at := slices.Index(b.axes, name); {
		case at < 0:
			rows = append(rows, name)
		case keep[name]:
			batch = append(batch, name)
		case a.node.Shape[slices.Index(a.axes, name)] != b.node.Shape[at]: // one is broadcast
			batch = append(batch, name)
		default:
			inner = append(inner, name)
		}
	}
	for _, name := range b.axes {
		if !slices.Contains(a.axes, name) {
			cols = append(cols, name)
		}
	}
	if len(inner) == 0 || small(a, b, batch, rows, cols) {
		batch = append(batch, inner...)
		joined, err := p.multiply(a, b, batch, rows, cols)
		if err != nil {
			return joined, err
		}
		return p.sumAxes(joined, func(r rune) bool { return !keep[r] })
	}
	// The axes that are summed come in the order of the larger operand, which then more
	// often needs no movement.
	if bytes(b.node) > bytes(a.node) {
		slices.SortFunc(inner, func(x, y rune) int { return slices.Index(b.axes, x) - slices.Index(b.axes, y) })
	}
	stack, err := p.contracted(a, b, batch, rows, cols, inner)
	if err != nil {
		return a, err
	}
	joined := term{axes: slices.Concat(batch, rows, cols)}
	var lengths []int
	for i, name := range joined.axes {
		n := 1
		for _, t := range []term{a, b} {
			if d := slices.Index(t.axes, name); d >= 0 {
				n = max(n, t.node.Shape[d])
				if t.node.Shape[d] == 0 {
					n = 0
					break
				}
			}
		}
		if i < len(batch) {
			n = stack.Shape[i]
		}
		lengths = append(lengths, n)
	}
	if joined.node, err = graph.Reshape(p.site, stack, lengths...); err != nil {
		return a, err
	}
	return p.sumAxes(joined, func(r rune) bool { return !keep[r] })
}

// contracted is the product of two operands as stacks of matrices. Where bringing the
// axes that are summed together would move an operand and all but a run of them need
// not be, products along that run are summed along the others.
func (p product) contracted(a, b term, batch, rows, cols, inner []rune) (*graph.Node, error) {
	of := func(summed, inner []rune) (*graph.Node, bool, error) {
		stack := slices.Concat(batch, summed)
		left, err := matrix(p.site, a, stack, rows, inner)
		if err != nil {
			return nil, false, err
		}
		right, err := matrix(p.site, b, stack, inner, cols)
		if err != nil {
			return nil, false, err
		}
		moved := moves(left) > moves(a.node) || moves(right) > moves(b.node)
		if dtype.PromoteAll(left.DType, right.DType) != p.t {
			if left, err = graph.AsType(p.site, left, p.t); err != nil {
				return nil, false, err
			}
		}
		n, err := graph.SumOfProducts(p.site, left, right, p.t, len(summed))
		return n, moved, err
	}
	n, moved, err := of(nil, inner)
	if err != nil || !moved {
		return n, err
	}
	for _, run := range runs(a, b, batch, inner) {
		var others []rune
		for _, name := range inner {
			if !slices.Contains(run, name) {
				others = append(others, name)
			}
		}
		if still, moved, err := of(others, run); err != nil || !moved {
			return still, err
		}
	}
	return n, nil
}

// A run is too short, or a matrix with it, where a product takes longer to begin than to
// compute.
const (
	shortRun    = 32
	shortMatrix = 5 << 10 // bytes
)

// runs are those of the names that follow one another in both operands, the longest
// first, but for short ones, and those that would leave elements that lie side by side
// to different matrices.
func runs(a, b term, batch, names []rune) (all [][]rune) {
	length := func(run []rune) int {
		n := 1
		for _, name := range run {
			n *= a.node.Shape[slices.Index(a.axes, name)]
		}
		return n
	}
	names = slices.Clone(names)
	slices.SortFunc(names, func(x, y rune) int { return slices.Index(a.axes, x) - slices.Index(a.axes, y) })
	for _, name := range names {
		if last := len(all) - 1; last >= 0 {
			before := all[last][len(all[last])-1]
			if follows(a, before, name) && follows(b, before, name) {
				all[last] = append(all[last], name)
				continue
			}
		}
		all = append(all, []rune{name})
	}
	all = slices.DeleteFunc(all, func(run []rune) bool {
		for _, t := range []term{a, b} {
			matrix := length(run) * t.node.DType.Size()
			for d, name := range t.axes {
				if !slices.Contains(names, name) && !slices.Contains(batch, name) {
					matrix *= t.node.Shape[d]
				}
			}
			last := t.axes[len(t.axes)-1]
			if matrix < shortMatrix || slices.Contains(names, last) && last != run[len(run)-1] {
				return true
			}
		}
		return length(run) < shortRun
	})
	slices.SortStableFunc(all, func(x, y []rune) int { return length(y) - length(x) })
	return all
}

func follows(t term, before, after rune) bool {
	return slices.Index(t.axes, after) == slices.Index(t.axes, before)+1
}

// moves is how many times elements are put elsewhere below n.
func moves(n *graph.Node) (times int) {
	for x := range graph.Nodes(n) {
		if x.Kind == graph.Blockwise {
			if _, ok := x.Blocks.Op.(graph.Reorder); ok {
				times++
			}
		}
	}
	return times
}

// small reports a stack of products of a few elements each: they are sums of products
// of elements, which one pass does without a matrix.
func small(a, b term, batch, rows, cols []rune) bool {
	size := func(t term, names []rune) int {
		n := 1
		for _, name := range names {
			n *= t.node.Shape[slices.Index(t.axes, name)]
		}
		return n
	}
	each := size(a, rows) * size(b, cols)
	return each == 1 && len(batch) > 0 || each <= 16 && size(a, batch) >= 4096
}

// matrix is an operand as a stack of matrices: batch axes, then one of rows and one of
// columns.
func matrix(site graph.Site, t term, batch, rows, cols []rune) (*graph.Node, error) {
	if len(rows)+len(cols) > 2 && len(t.axes) > 0 && slices.Contains(rows, t.axes[len(t.axes)-1]) {
		// What has to move does so by runs of the last axis, and is turned as it is read.
		n, err := matrix(site, t, batch, cols, rows)
		if err != nil {
			return nil, err
		}
		axes := grid.UpTo(len(n.Shape))
		last := len(axes) - 1
		axes[last-1], axes[last] = last, last-1
		return graph.Transpose(site, n, axes...)
	}
	n, err := transposed(site, t, slices.Concat(batch, rows, cols))
	if err != nil {
		return nil, err
	}
	if len(rows) == 1 && len(cols) == 1 {
		return n, nil
	}
	lengths := slices.Clone(n.Shape[:len(batch)])
	at := len(batch)
	for _, group := range [][]rune{rows, cols} {
		length := 1
		for range group {
			length *= n.Shape[at]
			at++
		}
		lengths = append(lengths, length)
	}
	return graph.Reshape(site, n, lengths...)
}

// multiply is the product element by element, with nothing summed.
func (p product) multiply(a, b term, batch, rows, cols []rune) (term, error) {
	to := slices.Concat(batch, rows, cols)
	var in [2]*graph.Node
	for i, t := range []term{a, b} {
		var have []rune
		var missing []int
		for d, name := range to {
			if slices.Contains(t.axes, name) {
				have = append(have, name)
			} else {
				missing = append(missing, d)
			}
		}
		n, err := transposed(p.site, t, have)
		if err == nil {
			in[i], err = graph.ExpandDims(p.site, n, missing...)
		}
		if err == nil {
			in[i], err = graph.AsType(p.site, in[i], p.t)
		}
		if err != nil {
			return a, err
		}
	}
	n, err := graph.Apply(p.site, kernel.Multiply, in[0], in[1])
	return term{n, to}, err
}
