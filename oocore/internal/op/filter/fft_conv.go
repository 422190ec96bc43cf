package filter

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

func init() { blockwise.Register("filter.fft_conv", FFTConv{}, blockwise.KeepsAxes) }

// FFTConv is Weighted by Fourier transforms of tiles that overlap, in float64: the
// weights are the second input. It has chunks of its own, so that an element is always
// in the same tile, since rounding errors depend on what else is. Two tiles of real
// numbers are transformed as one of complex ones. A tile with a NaN or an infinity, which
// a transform would spread all over it, is summed instead.
type FFTConv struct {
	window.Window
	Lines []int // lengths of transforms; along axes without a border, of tiles
	Tiles []int // of a chunk
}

const (
	// manyTaps is for how many weights transforms take less time than sums.
	manyTaps = 1000
	// lineElems is how many elements a tile has with its border, if that leaves enough
	// without.
	lineElems = 256 << 10
	// chunkElems is about how many elements a chunk has: what is read once for many tiles.
	chunkElems = 1 << 20
)

// transformed chooses tiles and chunks for a window.
func transformed(w window.Window) FFTConv {
	o := FFTConv{Window: w, Lines: make([]int, len(w.Shape)), Tiles: make([]int, len(w.Shape))}
	size := 1
	most := make([]int, len(w.Shape))
	for d, n := range w.Shape {
		o.Lines[d], most[d] = 1, n
		if halo := w.Lo[d] + w.Hi[d]; halo > 0 {
			most[d] = power(n + halo)
			o.Lines[d] = min(power(2*halo), most[d])
		}
		size *= o.Lines[d]
	}
	for {
		best, worst := -1, 0.0
		for d := range o.Lines {
			waste := float64(w.Lo[d]+w.Hi[d]) / float64(o.Lines[d])
			if o.Lines[d] < most[d] && 2*size <= lineElems && (best < 0 || waste >= worst) {
				best, worst = d, waste
			}
		}
		if best < 0 {
			break
		}
		size /= o.Lines[best]
		o.Lines[best] = min(2*o.Lines[best], most[best])
		size *= o.Lines[best]
	}
	// Chunks are as many tiles as the array has, halved until they are few enough.
	tile := o.tile()
	for d, n := range w.Shape {
		o.Tiles[d] = max((n+tile[d]-1)/tile[d], 1)
	}
	for grid.Size(o.Chunks()) > chunkElems && slices.Max(o.Tiles) > 1 {
		longest := -1
		for d, n := range o.Tiles {
			if n > 1 && (longest < 0 || n*tile[d] > o.Tiles[longest]*tile[longest]) {
				longest = d
			}
		}
		o.Tiles[longest] = (o.Tiles[longest] + 1) / 2
	}
	return o
}

// power is the next power of two.
func power(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

// tile is the lengths of a tile's result.
func (o *FFTConv) tile() []int {
	out := make([]int, len(o.Lines))
	for d, n := range o.Lines {
		out[d] = max(n-o.Lo[d]-o.Hi[d], 1)
	}
	return out
}

// Chunks are whole tiles.
func (o FFTConv) Chunks() []int {
	out := o.tile()
	for d := range out {
		out[d] *= o.Tiles[d]
	}
	return out
}

// spectra has memory and tables for transforms of tiles.
type spectra struct {
	shape   []int
	axes    []fft.Transform // those of no length are not transformed
	weights []complex128    // the transform of the weights
	x, y    []complex128
}

func (o *FFTConv) work(m *blockwise.ScratchLayout) (taps, read, tile, tables []byte, s *spectra) {
	taps = m.Take(grid.Size(o.Window.Sizes()) * 8)
	read = m.Take(int(o.Bytes(o.Chunks())))
	tile = m.Take(grid.Size(o.Lines) * o.DType.Size())
	n := 0
	for d, length := range o.Lines {
		if o.Lo[d]+o.Hi[d] > 0 {
			n += fft.TablesSize(length)
		}
	}
	tables = m.Take(n * 16)
	size := grid.Size(o.Lines) * 16
	s = &spectra{shape: o.Lines}
	s.weights = dtype.Slice[complex128](m.Take(size))
	s.x, s.y = dtype.Slice[complex128](m.Take(size)), dtype.Slice[complex128](m.Take(size))
	return taps, read, tile, tables, s
}

// Requirements is a chunk with its border, the weights, and three tiles of complex numbers.
func (o FFTConv) Requirements(box []int) blockwise.Requirements {
	var m blockwise.ScratchLayout
	o.work(&m)
	chunk := o.Chunks()
	for d := range chunk {
		chunk[d] = min(chunk[d], box[d])
	}
	return blockwise.Requirements{Reads: [][]int{o.Reads(chunk), o.Window.Sizes()}, Scratch: m.Size()}
}

// Fill correlates.
func (o FFTConv) Fill(ctx context.Context, t *blockwise.Task) error {
	taps, read, tile, tables, s := o.work(t.ScratchLayout())
	if err := t.In[1].Read(ctx, grid.Entire(o.Window.Sizes()), taps); err != nil {
		return err
	}
	seen, err := o.Read(ctx, t.In[0], t.Box, read)
	if err != nil {
		return err
	}
	weights := dtype.Slice[float64](taps)
	return t.Compute(func() error {
		s.prepare(&o, dtype.Slice[complex128](tables), weights)
		f := filling{o: &o, s: s, t: t, seen: seen, tile: tile, weights: weights}
		var waiting *grid.Box
		for part := range t.Box.Split(o.tile()) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			switch finite := f.load(part, waiting != nil); {
			case !finite:
				f.sum(part)
			case f.complex():
				s.correlate(&o)
				f.store(part, false)
			case waiting == nil:
				waiting = &part
			default:
				s.correlate(&o)
				f.store(*waiting, false)
				f.store(part, true)
				waiting = nil
			}
		}
		if waiting != nil {
			s.correlate(&o)
			f.store(*waiting, false)
		}
		return nil
	})
}

// prepare makes the tables, and of the weights what spectra are multiplied by.
func (s *spectra) prepare(o *FFTConv, tables []complex128, weights []float64) {
	total := 1
	s.axes = make([]fft.Transform, len(o.Lines))
	for d, n := range o.Lines {
		if o.Lo[d]+o.Hi[d] > 0 {
			size := fft.TablesSize(n)
			s.axes[d] = fft.NewTransform(n, tables[:size], s.x[:2*min(n, len(s.x)/2)])
			tables = tables[size:]
			total *= n
		}
	}
	clear(s.x)
	sizes := o.Window.Sizes()
	strides := grid.Strides(o.Lines)
	k := 0
	for at := range window.Counting(sizes) {
		off := 0
		for d, i := range at {
			off += i * strides[d]
		}
		s.x[off] = complex(weights[k]/float64(total), 0)
		k++
	}
	// Along axes that are not transformed the weights are the same for all elements.
	for d, n := range o.Lines {
		if o.Lo[d]+o.Hi[d] > 0 {
			continue
		}
		inner := grid.Size(o.Lines[d+1:])
		for at := 0; at < len(s.x); at += n * inner {
			for i := 1; i < n; i++ {
				copy(s.x[at+i*inner:][:inner], s.x[at:])
			}
		}
	}
	s.transform(o)
	for i, z := range s.x {
		s.weights[i] = complex(real(z), -imag(z)) // a correlation
	}
}

// transform goes along each axis, the first of those that are left, which then becomes
// the last: after all, they are in their order again.
func (s *spectra) transform(o *FFTConv) {
	for d, n := range s.shape {
		rest := len(s.x) / n
		if o.Lo[d]+o.Hi[d] > 0 {
			if out := s.axes[d].Run(s.x, s.y, rest); &out[0] == &s.y[0] {
				s.x, s.y = s.y, s.x
			}
		}
		kernel.Copy(16, []int{rest, n}, dtype.Bytes(s.y), 0, []int{n, 1}, dtype.Bytes(s.x), 0, []int{1, rest})
		s.x, s.y = s.y, s.x
	}
}

// correlate makes of the tile in x its correlation with the weights. Swapping the parts
// of a number turns a transform into its inverse.
func (s *spectra) correlate(o *FFTConv) {
	s.transform(o)
	for i, z := range s.x {
		z *= s.weights[i]
		s.x[i] = complex(imag(z), real(z))
	}
	s.transform(o)
}

// filling is the work on one chunk.
type filling struct {
	o       *FFTConv
	s       *spectra
	t       *blockwise.Task
	seen    *window.Seen
	tile    []byte
	weights []float64
}

func (f *filling) complex() bool { return f.o.DType.Kind() == dtype.KindComplex }

// load puts a tile with its border into the real parts of x, or the imaginary ones; a
// complex one into both. It reports whether all of it is finite.
func (f *filling) load(part grid.Box, imaginary bool) (finite bool) {
	o, s := f.o, f.s
	with := o.Window.Lengths(part.Shape)
	f.seen.Show(f.tile, part)
	kind, count := parts(o.DType)
	n := grid.Size(with) * count
	wide := dtype.Slice[float64](dtype.Bytes(s.y))[:n]
	cast(kind, dtype.Float64)(n, dtype.Bytes(wide), f.tile)
	for _, v := range wide {
		if v-v != 0 {
			return false
		}
	}
	x := dtype.Slice[float64](dtype.Bytes(s.x))
	if !imaginary {
		clear(x)
	} else {
		for i := 1; i < len(x); i += 2 {
			x[i] = 0
		}
	}
	first := 0
	if imaginary {
		first = 1
	}
	strides := grid.Strides(o.Lines)
	last := len(with) - 1
	from := 0
	for at := range window.Counting(with[:last]) {
		to := 0
		for d, i := range at {
			to += i * strides[d]
		}
		if count == 2 {
			copy(x[2*to:], wide[from:][:2*with[last]])
		} else {
			for j, v := range wide[from:][:with[last]] {
				x[2*(to+j)+first] = v
			}
		}
		from += with[last] * count
	}
	return true
}

// store puts a tile's result, the real parts of x or the imaginary ones, into the chunk.
// The parts are swapped: correlate leaves them so.
func (f *filling) store(part grid.Box, imaginary bool) {
	o, s := f.o, f.s
	x, wide := dtype.Slice[float64](dtype.Bytes(s.x)), dtype.Slice[float64](dtype.Bytes(s.y))
	_, count := parts(o.DType)
	first := 1
	if imaginary {
		first = 0
	}
	strides := grid.Strides(o.Lines)
	last := len(part.Shape) - 1
	to := 0
	for at := range window.Counting(part.Shape[:last]) {
		from := 0
		for d, i := range at {
			from += i * strides[d]
		}
		for j := range part.Shape[last] {
			wide[to] = x[2*(from+j)+first]
			to++
			if count == 2 {
				wide[to] = x[2*(from+j)]
				to++
			}
		}
	}
	f.put(wide[:to], part)
}

// put converts a tile's result and puts it into the chunk.
func (f *filling) put(wide []float64, part grid.Box) {
	o := f.o
	if o.DType.Integer() {
		whole(wide, 1.0/(1<<20)) // a transform's errors are larger than a sum's
	}
	kind, _ := parts(o.DType)
	cast(dtype.Float64, kind)(len(wide), f.tile, dtype.Bytes(wide))
	strided.Copy(o.DType.Size(), part, f.t.Dst, f.t.Box, f.tile, part)
}

// sum does without transforms what load found not to be finite, and left in y. What
// waits in x stays.
func (f *filling) sum(part grid.Box) {
	o := f.o
	_, count := parts(o.DType)
	with := o.Window.Lengths(part.Shape)
	n := grid.Size(with) * count
	y := dtype.Slice[float64](dtype.Bytes(f.s.y))
	p := DirectConv{Window: o.Window}.taps(part.Shape, f.weights)
	// A row's sums take the place of elements that later rows do not see: theirs begin
	// further on.
	r := numbers(rowsOf(&o.Window, part.Shape), count)
	row := make([]float64, r.n)
	to := 0
	for from := range r.all() {
		clear(row)
		weigh(row, y[from:n], p.offsets, p.weights)
		to += copy(y[to:], row)
	}
	f.put(y[:to], part)
}
