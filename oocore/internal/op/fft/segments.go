package fft

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("fft.segments", Segments{}) }

// Segments transforms segments of the lines along an axis, which may overlap: frequencies lie along the axis, and segments along
// a new last one. What a segment is multiplied by is the second input, in float64. Transforms are no longer than MostOfSegment.
//
// Of a real result elements are the sums of the squared spectra of PerSum segments, else PerSum is 1.
type Segments struct {
	Lines
	Length  int    // of a segment
	Step    int    // from one to the next
	Detrend string // what is taken off a segment first: "constant", "linear" or "false"
	PerSum  int
}

// MostOfSegment is the longest transform of a segment, all of whose passes are one step.
const MostOfSegment = 1 << 16

// KeptAxes are all but that of the lines.
func (f Segments) KeptAxes() []int {
	kept := append(grid.UpTo(len(f.In)), -1)
	kept[f.Axis] = -1
	return kept
}

// MostRead is about the most that is read for segments which are added up, and that a chunk has of others.
const MostRead = 8 << 20

// Count is how many segments there are.
func (f Segments) Count() int { return (f.In[f.Axis]-f.Length)/f.Step + 1 }

// Chunks are all frequencies of neighbouring lines: of a sum, or few enough lines for some segments of each, as what segments
// share with those of another chunk is read again.
func (f Segments) Chunks() []int {
	const some = 8
	last, item := len(f.In), f.Out[f.Axis]*f.To.Size()
	chunks := slices.Clone(f.Out)
	chunks[f.Axis], chunks[last] = 1, 1
	if f.PerSum > 1 {
		chunks = grid.Auto(chunks, f.PerSum*f.Step*f.From.Size(), MostRead)
	} else {
		chunks = grid.Auto(chunks, item*min(f.Out[last], some), MostRead)
		chunks[last] = min(f.Out[last], max(MostRead/(item*grid.Size(chunks)), 1))
	}
	chunks[f.Axis] = f.Out[f.Axis]
	return chunks
}

// reads is the box of signals that a box of the result shows.
func (f Segments) reads(box []int) []int {
	read := slices.Clone(box[:len(f.In)])
	read[f.Axis] = min((box[len(f.In)]*f.PerSum-1)*f.Step+f.Length, f.In[f.Axis])
	return read
}

// Requirements is the signals, the weights, and what transforming a few segments takes, with their spectra.
func (f Segments) Requirements(box []int) blockwise.Requirements {
	read := f.reads(box)
	line, tables := f.tables()
	return blockwise.Requirements{
		Reads:   [][]int{read, {f.Length}},
		Scratch: blockwise.Aligned(grid.Size(read)*f.From.Size()) + blockwise.Aligned(8*f.Length) + int64(tables+2*line*batch(line)+f.Out[f.Axis]*batch(line))*16,
		Work:    f.work(grid.Size(box) / max(box[f.Axis], 1) * f.PerSum),
	}
}

// Fill transforms segments where they lie in the signals, side by side along what there is most of: segments, or lines
// before or behind the axis.
func (f Segments) Fill(ctx context.Context, t *blockwise.Task) error {
	dims := len(f.In)
	first, sums := t.Box.Start[dims]*f.PerSum, t.Box.Shape[dims]
	segments := min(sums*f.PerSum, f.Count()-first)
	read := grid.Box{Start: slices.Clone(t.Box.Start[:dims]), Shape: slices.Clone(t.Box.Shape[:dims])}
	read.Start[f.Axis], read.Shape[f.Axis] = first*f.Step, (segments-1)*f.Step+f.Length
	bytes := read.Size() * f.From.Size()
	in, rest := t.Scratch[:bytes], t.Scratch[blockwise.Aligned(bytes):]
	weights, rest := rest[:8*f.Length], rest[blockwise.Aligned(8*f.Length):]
	if err := t.In[0].Read(ctx, read, in); err != nil {
		return err
	}
	return t.ComputeFrom(ctx, 1, grid.Entire([]int{f.Length}), weights, func() error {
		w := f.newWorker(dtype.Slice[complex128](rest))
		w.used, w.weights, w.detrend = f.Length, dtype.Slice[float64](weights), f.Detrend
		if f.halved() {
			fillRoots(w.roots, f.N)
		}
		if err := w.t.fill(nil); err != nil {
			return err
		}
		frequencies, inner := f.Out[f.Axis], grid.Size(read.Shape[f.Axis+1:])
		type lines struct{ n, from, to int } // how many, and from one to the next
		side := lines{segments, f.Step * inner, 1}
		if f.PerSum > 1 {
			side.to = 0 // into one sum
		}
		all := []lines{{grid.Size(read.Shape[:f.Axis]), read.Shape[f.Axis] * inner, frequencies * inner * sums}, {inner, 1, sums}, side}
		slices.SortFunc(all, func(a, b lines) int { return a.n - b.n })
		group := func(from, to place, n int) error { return w.group(ctx, nil, t.Dst, in, from, to, n) }
		if f.To.Kind() == dtype.KindFloat {
			w.To = dtype.Complex128
			spectra, dst := rest[len(rest)-16*frequencies*w.lines:], dtype.Slice[float64](t.Dst)
			clear(dst)
			group = func(from, to place, n int) error {
				err := w.group(ctx, nil, spectra, in, from, place{0, frequencies, 1}, n)
				for j := range n {
					for k, z := range dtype.Slice[complex128](spectra)[j*frequencies:][:frequencies] {
						dst[to.at+j*to.line+k*to.step] += real(z)*real(z) + imag(z)*imag(z)
					}
				}
				return err
			}
		}
		for i := range all[0].n {
			for j := range all[1].n {
				for k := 0; k < all[2].n; k += w.lines {
					from := place{i*all[0].from + j*all[1].from + k*all[2].from, all[2].from, inner}
					to := place{i*all[0].to + j*all[1].to + k*all[2].to, all[2].to, inner * sums}
					if err := group(from, to, min(w.lines, all[2].n-k)); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// weigh takes off each segment that is loaded what detrending says, and multiplies it by the weights.
func (w *worker) weigh(lines int) {
	x, parts := dtype.Slice[float64](dtype.Bytes(w.x)), 2
	if w.real() {
		parts = 1
	}
	n, middle := float64(w.used), float64(w.used-1)/2
	for column := range lines * parts {
		at := func(i int) *float64 {
			if w.halved() {
				return &x[2*(i/2*w.lines+column)+i%2]
			}
			return &x[2*(i*w.lines+column/parts)+column%parts]
		}
		mean, slope := 0.0, 0.0
		if w.detrend != "false" {
			for i := range w.used {
				mean += *at(i)
			}
			mean /= n
		}
		if w.detrend == "linear" && w.used > 1 {
			for i := range w.used {
				slope += (float64(i) - middle) * (*at(i) - mean)
			}
			slope /= n * (n*n - 1) / 12 // the sum of squares of places
		}
		for i, weight := range w.weights {
			v := at(i)
			*v = (*v - mean - slope*(float64(i)-middle)) * weight
		}
	}
}
