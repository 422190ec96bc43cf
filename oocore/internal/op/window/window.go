package window

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Window is what each element of a result sees of an array of its shape: Lo elements
// before its own place along each axis, and Hi after it.
type Window struct {
	Shape  []int
	DType  dtype.Type
	Lo, Hi []int
	Mode   Mode
	Value  dtype.Value `json:",omitzero"` // of Constant, of the array's type
}

// New is the window of the given lengths whose middle, the later one of an even
// length, is moved back by the origin. Lengths of one number are those of all axes.
func New(shape []int, t dtype.Type, sizes []int, b Border) (w Window, err error) {
	if sizes, err = Each("sizes", sizes, len(shape)); err != nil {
		return w, err
	}
	origin := []int{0}
	if b.Origin != nil {
		origin = b.Origin
	}
	if origin, err = Each("origins", origin, len(shape)); err != nil {
		return w, err
	}
	lo, hi := make([]int, len(shape)), make([]int, len(shape))
	for d, n := range sizes {
		if n < 1 {
			return w, fmt.Errorf("the size %d along axis %d is below one", n, d)
		}
		lo[d] = n/2 + origin[d]
		hi[d] = n - 1 - lo[d]
		if lo[d] < 0 || hi[d] < 0 {
			return w, fmt.Errorf("the origin %d along axis %d moves the window of %d elements off its element", origin[d], d, n)
		}
	}
	return Around(shape, t, lo, hi, b)
}

// maxSize bounds how far a window reaches along an axis.
const maxSize = 1 << 24

// Around is the window of lo elements before and hi after.
func Around(shape []int, t dtype.Type, lo, hi []int, b Border) (w Window, err error) {
	if len(shape) == 0 {
		return w, errors.New("takes arrays of one dimension or more: a scalar has no neighbours")
	}
	sizes := make([]int, len(lo))
	for d := range lo {
		if lo[d] >= maxSize || hi[d] >= maxSize {
			return w, fmt.Errorf("a window along axis %d reaches %d elements, more than %d", d, max(lo[d], hi[d]), maxSize)
		}
		sizes[d] = lo[d] + hi[d] + 1
	}
	if grid.Check(sizes, 1) != nil {
		return w, fmt.Errorf("a window of %s has more elements than 63 bits count", grid.Format(sizes))
	}
	w = Window{Shape: shape, DType: t, Lo: lo, Hi: hi}
	if w.Mode, err = b.Mode.Parse(); err != nil {
		return w, err
	}
	if w.Mode == Constant {
		w.Value, err = b.constant(t)
	}
	return w, err
}

// Each repeats a list of one number for all axes.
func Each[T any](what string, list []T, dims int) ([]T, error) {
	if len(list) == 1 {
		return slices.Repeat(list, dims), nil
	}
	if len(list) != dims {
		return nil, fmt.Errorf("%d %s are given for %d dimensions: give one, or one for each", len(list), what, dims)
	}
	return slices.Clone(list), nil
}

// Border is what filters are told of the edges.
type Border struct {
	Mode   Mode    `usage:"reflect" default:""`
	Value  float64 `usage:"constant" default:"0"` // of Constant
	Origin []int   `word:"0,1"`                   // by how much windows are moved back; nil is by nothing
}

// constant is the border's value as an element.
func (b Border) constant(t dtype.Type) (dtype.Value, error) {
	if t.Kind() >= dtype.KindFloat {
		return dtype.FromFloat(t, b.Value), nil
	}
	v := dtype.FromInt(t, int64(b.Value))
	if v.Float() != b.Value {
		return v, fmt.Errorf("the constant %v is not a value of %s", b.Value, t)
	}
	return v, nil
}

// Sizes are the window's lengths. It panics for a window that Around does not make, which a
// damaged plan may have.
func (w *Window) Sizes() []int {
	sizes := make([]int, len(w.Shape))
	for d := range sizes {
		if sizes[d] = w.Lo[d] + w.Hi[d] + 1; min(w.Lo[d], w.Hi[d], sizes[d]) < 0 {
			panic("window: it has no length")
		}
	}
	if err := grid.Check(sizes, 1); err != nil {
		panic("window: its " + err.Error())
	}
	return sizes
}

// Lengths of the expanded box: a box with its border.
func (w *Window) Lengths(box []int) []int {
	out := make([]int, len(box))
	for d, n := range w.Sizes() {
		out[d] = box[d] + n - 1
	}
	return out
}

// Reads are the lengths that the largest read for a box has: all that a border shows
// lies within as many elements as the expanded box has.
func (w *Window) Reads(box []int) []int {
	out := w.Lengths(box)
	for d := range out {
		out[d] = min(out[d], w.Shape[d])
	}
	return out
}

// Bytes are what the elements take that a box needs.
func (w *Window) Bytes(box []int) int64 {
	return int64(grid.Size(w.Reads(box))) * int64(w.DType.Size())
}

// Seen is what has been read of an array for one box.
type Seen struct {
	window *Window
	box    grid.Box
	pieces []piece
}

// piece is a part of the array, dense in C order.
type piece struct {
	box  grid.Box
	data []byte
}

// Read reads what a box needs into memory, of which it takes w.Bytes(box.Shape).
func (w *Window) Read(ctx context.Context, in blockwise.Input, box grid.Box, memory []byte) (*Seen, error) {
	s := &Seen{window: w, box: box}
	parts := make([][][2]int, len(box.Shape)) // along each axis: [start, stop)
	count := make([]int, len(box.Shape))
	for d, n := range box.Shape {
		parts[d] = w.parts(d, box.Start[d]-w.Lo[d], box.Start[d]+n+w.Hi[d])
		count[d] = len(parts[d])
	}
	for at := range Counting(count) {
		p := piece{box: grid.Box{Start: make([]int, len(count)), Shape: make([]int, len(count))}}
		for d, i := range at {
			p.box.Start[d], p.box.Shape[d] = parts[d][i][0], parts[d][i][1]-parts[d][i][0]
		}
		n := p.box.Size() * w.DType.Size()
		p.data, memory = memory[:n:n], memory[n:]
		if err := in.Read(ctx, p.box, p.data); err != nil {
			return nil, err
		}
		s.pieces = append(s.pieces, p)
	}
	return s, nil
}

// parts are the elements along an axis that the places [from, to) show: two parts at
// most, where they wrap around.
func (w *Window) parts(d, from, to int) [][2]int {
	n := w.Shape[d]
	if w.Mode == Wrap && (from < 0 || to > n) && to-from < n {
		first := modulo(from, n)
		return [][2]int{{0, first + to - from - n}, {first, n}}
	}
	low, high := n, 0
	for _, r := range w.Mode.runs(n, from, to) {
		if r.constant {
			continue
		}
		last := r.from + r.step*(r.count-1)
		low, high = min(low, r.from, last), max(high, r.from+1, last+1)
	}
	return [][2]int{{low, high}}
}

// Show writes a part of the box, with its border, to dst.
func (s *Seen) Show(dst []byte, part grid.Box) {
	w := s.window
	dims := len(part.Shape)
	shape := w.Lengths(part.Shape)
	strides := grid.Strides(shape)
	along := make([][]run, dims)
	count := make([]int, dims)
	for d := range along {
		along[d] = w.Mode.runs(w.Shape[d], part.Start[d]-w.Lo[d], part.Start[d]+part.Shape[d]+w.Hi[d])
		count[d] = len(along[d])
	}
	var value [16]byte
	w.Value.Put(value[:])
	lengths, from, step := make([]int, dims), make([]int, dims), make([]int, dims)
	for at := range Counting(count) {
		to, constant := 0, false
		for d, i := range at {
			r := along[d][i]
			to += (r.at - (part.Start[d] - w.Lo[d])) * strides[d]
			lengths[d], from[d], step[d] = r.count, r.from, r.step
			constant = constant || r.constant
		}
		if constant {
			clear(step)
			kernel.Copy(w.DType.Size(), lengths, dst, to, strides, value[:], 0, step)
			continue
		}
		p := s.holds(from)
		src := 0
		for d, stride := range grid.Strides(p.box.Shape) {
			src += (from[d] - p.box.Start[d]) * stride
			step[d] *= stride
		}
		kernel.Copy(w.DType.Size(), lengths, dst, to, strides, p.data, src, step)
	}
}

// holds is the piece that an element is in.
func (s *Seen) holds(element []int) *piece {
	for i := range s.pieces {
		p := &s.pieces[i]
		in := true
		for d, e := range element {
			in = in && e >= p.box.Start[d] && e < p.box.Start[d]+p.box.Shape[d]
		}
		if in {
			return p
		}
	}
	panic(fmt.Sprintf("window: element %v was not read for %v", element, s.box))
}

// Counting iterates over the indices of a shape, in C order.
func Counting(shape []int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		at := make([]int, len(shape))
		for {
			if !yield(at) {
				return
			}
			d := len(shape) - 1
			for ; d >= 0; d-- {
				if at[d]++; at[d] < shape[d] {
					break
				}
				at[d] = 0
			}
			if d < 0 {
				return
			}
		}
	}
}
