package graph

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// errMovement is why a reshape does not come for nothing.
var errMovement = errors.New("needs the elements in another order than they are stored or computed in")

// Reshape gives the array another shape of the same size; one length may be -1
// for the rest. It costs nothing where the elements follow each other in C order along
// the reshaped axes, as those of a file and of what is computed of it element by
// element do; else boxes of the result are put together of boxes of the array.
func Reshape(site Site, n *Node, shape ...int) (*Node, error) {
	to, err := inferred(n.Shape, shape)
	if err != nil {
		return nil, reject(site, "reshape", err, n)
	}
	out, err := newReshaper(site).reshape(n, to)
	if errors.Is(err, errMovement) {
		out, err = reorder(site, n, to)
	}
	if err != nil {
		return nil, reject(site, "reshape", err, n)
	}
	return out, nil
}

// reorder is a reshape that moves elements: before they are made wider, where they are.
func reorder(site Site, n *Node, to []int) (*Node, error) {
	if n.Kind == Cast && n.In[0].DType.Size() < n.DType.Size() {
		in, err := reorder(site, n.In[0], to)
		if err != nil {
			return nil, err
		}
		return cast(site, in, n.DType)
	}
	if n.Kind == Blockwise {
		if _, again := n.Blocks.Op.(Reorder); again {
			return Reshape(site, n.In[0], to...)
		}
	}
	args := make([]string, len(to))
	for i, length := range to {
		args[i] = strconv.Itoa(length)
	}
	return NewBlockwise(site, "reshape", Reorder{From: n.Shape, To: to, Item: n.DType.Size()}, to, n.DType, []*Node{n}, args...)
}

// inferred fills in a length of -1.
func inferred(from, to []int) ([]int, error) {
	to = slices.Clone(to)
	if to == nil {
		to = []int{}
	}
	rest := -1
	known := make([]int, 0, len(to))
	for i, length := range to {
		switch {
		case length >= 0:
			known = append(known, length)
		case length < -1 || rest >= 0:
			return nil, fmt.Errorf("shape %s: one length may be -1, no other negative", grid.Format(to))
		default:
			rest = i
		}
	}
	if err := grid.Check(known, 1); err != nil {
		return nil, err
	}
	size, given := grid.Size(from), grid.Size(known)
	if rest >= 0 && given > 0 && size%given == 0 {
		to[rest] = size / given
		given = size
	}
	if given != size || rest >= 0 && to[rest] < 0 {
		return nil, fmt.Errorf("the %d elements of shape %s do not fill %s", size, grid.Format(from), grid.Format(to))
	}
	if len(to) > grid.MaxDims {
		return nil, fmt.Errorf("%d dimensions are more than %d", len(to), grid.MaxDims)
	}
	return to, nil
}

// mostReshaped bounds the nodes that one reshape copies. Of a longer expression the
// result is moved: reshapes of each other would copy all of it each time.
const mostReshaped = 500

// reshaper carries one reshape down to where it costs nothing. Parts that are shared
// stay shared.
type reshaper struct {
	site   Site
	done   map[reshaped]*Node
	pusher Pusher
}

type reshaped struct {
	node *Node
	to   string
}

func newReshaper(site Site) *reshaper {
	r := &reshaper{site: site, done: map[reshaped]*Node{}}
	r.pusher.Stop = func(*Node) bool { return r.pusher.Copies >= mostReshaped }
	return r
}

func (r *reshaper) reshape(n *Node, to []int) (*Node, error) {
	if slices.Equal(n.Shape, to) {
		return n, nil
	}
	key := reshaped{n, grid.Format(to)}
	if out, ok := r.done[key]; ok {
		return out, nil
	}
	if len(r.done) >= mostReshaped {
		return nil, errMovement
	}
	out, err := r.once(n, to)
	if err == nil {
		r.done[key] = out
	}
	return out, err
}

func (r *reshaper) once(n *Node, to []int) (*Node, error) {
	if grid.Size(to) == 0 { // no element to move
		return &Node{Kind: Constant, Shape: to, DType: n.DType, Value: dtype.FromInt(n.DType, 0), Site: r.site}, nil
	}
	if n.Kind == View {
		n = r.pusher.Whole(n)
	}
	moved := *n
	moved.Shape, moved.Weak, moved.NamedAfter, moved.Labels, moved.Written = to, false, nil, "", nil // axes of another shape are others
	switch n.Kind {
	case Constant, Inline, Iota, Random:
		return &moved, nil
	case Source:
		if n.Stored.Info.Chunks != nil {
			break
		}
		moved.Stored = &Stored{Info: n.Stored.Info, Shape: to}
		return &moved, nil
	case Elementwise, Cast:
		moved.In = make([]*Node, len(n.In))
		for i, in := range n.In {
			var err error
			if moved.In[i], err = r.reshape(in, to); err != nil {
				return nil, err
			}
		}
		return &moved, nil
	}
	if v, ok := byOnes(n.Shape, to); ok {
		return pushDownView(r.site, n, v), nil
	}
	switch n.Kind {
	case View:
		return r.view(n, to)
	case Reduce:
		return r.reduction(n, to)
	}
	return nil, errMovement
}

// byOnes is the view between two shapes that differ by axes of length one only.
func byOnes(from, to []int) (grid.View, bool) {
	v := grid.Identity(from)
	v.Shape = slices.Clone(to)
	at := 0
	for d, length := range from {
		v.Axis[d] = -1
		if length == 1 {
			continue
		}
		for at < len(to) && to[at] == 1 {
			at++
		}
		if at == len(to) || to[at] != length {
			return v, false
		}
		v.Axis[d] = at
		at++
	}
	for ; at < len(to); at++ {
		if to[at] != 1 {
			return v, false
		}
	}
	return v, true
}

// group is axes of one shape that hold the elements of axes of another: from
// [from0, from1), to [to0, to1).
type group struct{ from0, from1, to0, to1 int }

// groups cuts two shapes of one size, without empty axes, into the smallest
// groups.
func groups(from, to []int) []group {
	var all []group
	i, j := 0, 0
	for i < len(from) && j < len(to) {
		g := group{from0: i, to0: j}
		a, b := from[i], to[j]
		i, j = i+1, j+1
		for a != b {
			if a < b {
				a *= from[i]
				i++
			} else {
				b *= to[j]
				j++
			}
		}
		g.from1, g.to1 = i, j
		all = append(all, g)
	}
	if len(all) > 0 { // what is left has length one
		all[len(all)-1].from1, all[len(all)-1].to1 = len(from), len(to)
	}
	return all
}

// view reshapes what a view shows where the axes of each group are whole
// axes of the array, in its order: then the array is reshaped below the view.
func (r *reshaper) view(n *Node, to []int) (*Node, error) {
	v, inner := n.View, n.In[0]
	shown := make([]int, len(n.Shape)) // array axis of each of the view's, or -1
	for a := range shown {
		shown[a] = slices.Index(v.Axis, a)
	}
	var axes []int // of the reshaped array, for each of the old: the axis of the view, or -1
	out := grid.View{Shape: to}
	below := []int{}
	keep := func(d, axis int) {
		below, axes = append(below, inner.Shape[d]), append(axes, axis)
		out.Start, out.Step = append(out.Start, v.Start[d]), append(out.Step, v.Step[d])
	}
	byFirst := map[int]group{} // of a group's first array axis
	inGroup := map[int]bool{}
	axisOf := map[int]int{} // of array axes that stay as they are
	for _, g := range groups(n.Shape, to) {
		var arrayAxes []int
		for a := g.from0; a < g.from1; a++ {
			if n.Shape[a] != 1 {
				arrayAxes = append(arrayAxes, shown[a])
			}
		}
		repeated := !slices.ContainsFunc(arrayAxes, func(d int) bool { return d >= 0 })
		if repeated {
			continue
		}
		long := slices.DeleteFunc(seq(g.to0, g.to1), func(a int) bool { return to[a] == 1 })
		if len(arrayAxes) == 1 && len(long) == 1 {
			axisOf[arrayAxes[0]] = long[0]
			continue
		}
		for i, d := range arrayAxes {
			if d < 0 || d != arrayAxes[0]+i || v.Step[d] != 1 || n.Shape[v.Axis[d]] != inner.Shape[d] {
				return nil, errMovement
			}
			inGroup[d] = true
		}
		byFirst[arrayAxes[0]] = g
	}
	for d := range inner.Shape {
		g, first := byFirst[d]
		axis, stays := axisOf[d]
		switch {
		case first:
			for a := g.to0; a < g.to1; a++ {
				below, axes = append(below, to[a]), append(axes, a)
				out.Start, out.Step = append(out.Start, 0), append(out.Step, 1)
			}
		case inGroup[d]:
		case stays:
			keep(d, axis)
		default:
			keep(d, -1) // an index
		}
	}
	out.Axis = axes
	moved, err := r.reshape(inner, below)
	if err != nil {
		return nil, err
	}
	return pushDownView(r.site, moved, out), nil
}

func seq(from, to int) []int {
	s := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

// reduction reshapes a reduction's input, where the kept axes of each group
// are neighbours in it.
func (r *reshaper) reduction(n *Node, to []int) (*Node, error) {
	in := n.In[0]
	var kept []int
	for d := range in.Shape {
		if !slices.Contains(n.Fold.Axes, d) {
			kept = append(kept, d)
		}
	}
	byFirst := map[int]group{}
	for _, g := range groups(n.Shape, to) {
		if kept[g.from1-1]-kept[g.from0] != g.from1-1-g.from0 {
			return nil, errMovement
		}
		byFirst[kept[g.from0]] = g
	}
	below, axes := []int{}, []int{}
	for d, length := range in.Shape {
		if g, ok := byFirst[d]; ok {
			below = append(below, to[g.to0:g.to1]...)
		} else if slices.Contains(n.Fold.Axes, d) {
			axes = append(axes, len(below))
			below = append(below, length)
		}
	}
	moved, err := r.reshape(in, below)
	if err != nil {
		return nil, err
	}
	fold := *n.Fold
	fold.Axes = axes
	out := *n
	out.Shape, out.In, out.Fold, out.NamedAfter, out.Written = to, []*Node{moved}, &fold, nil, nil
	return &out, nil
}
