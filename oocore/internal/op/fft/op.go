// Package fft is the discrete Fourier transform along axes.
//
// A transform is one operation with a stage of its own: its boxes are whole lines.
// All arithmetic is in float64, and rounded once for results in complex64. A pass over a
// line of more than 65,536 elements is a step (blockwise.Steps).
package fft

import (
	"context"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("fft", Lines{}, blockwise.KeepsAxes) }

// Kind is which transform.
type Kind string

// The transforms, under NumPy's names.
const (
	Forward     Kind = "fft"
	Inverse     Kind = "ifft"
	RealForward Kind = "rfft"  // of real lines: the first half of the result
	RealInverse Kind = "irfft" // of the first half: real lines
)

// Lines transforms the lines along an axis.
type Lines struct {
	Kind  Kind
	Axis  int
	N     int     // length of the transform
	Scale float64 // of the result
	From  dtype.Type
	To    dtype.Type
	In    []int // the input's shape
	Out   []int // the result's
}

// target is about the bytes of a box of lines.
const target = 4 << 20

// Moves reports the axis of the lines.
func (f Lines) Moves(axis int) bool { return axis == f.Axis }

// Chunks are whole lines: as many neighbours as make rows of the file long, up to
// about the target.
func (f Lines) Chunks() []int {
	chunks := slices.Clone(f.Out)
	chunks[f.Axis] = 1
	chunks = grid.Auto(chunks, f.N*f.To.Size(), target)
	chunks[f.Axis] = max(f.Out[f.Axis], 1)
	return chunks
}

// used are the elements of an input's line that the transform reads.
func (f Lines) used() int {
	if f.Kind == RealInverse {
		return min(f.In[f.Axis], f.N/2+1)
	}
	return min(f.In[f.Axis], f.N)
}

// real reports a transform between real numbers and half of a line's coefficients.
func (f Lines) real() bool {
	return f.Kind == RealInverse || f.From.Kind() == dtype.KindFloat
}

// halved reports lines of an even number of real elements: pairs of these are the
// complex elements of a transform of half the length.
func (f Lines) halved() bool { return f.real() && f.N%2 == 0 }

// length is that of the complex transform.
func (f Lines) length() int {
	if f.halved() {
		return f.N / 2
	}
	return f.N
}

// batch is the number of lines that are transformed at once, side by side: as many as
// stay in a core's cache, or of long lines enough for a vector; one of very long ones.
func batch(line int) int {
	const cached = 16384
	if line > 4*cached {
		return 1
	}
	return min(max(cached/line&^3, 4), 16)
}

// tables is the elements of memory for roots and the like, of length line.
func (f Lines) tables() (line, tables int) {
	line, tables = size(f.length())
	if f.halved() {
		tables += f.N/2 + 1
	}
	return line, tables
}

const (
	elementNanos = 6   // of bringing an element to the work and back
	farNanos     = 2   // of an element in each pass over a line that does not stay in the cache
	passNanos    = 0.8 // of an element's five operations in each of log₂ n passes (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, 1.4)
)

// work is what a transform of so many lines takes, in nanoseconds of one core at a nominal rate.
func (f Lines) work(lines int) int64 {
	line, _ := f.tables()
	pass := passNanos
	if batch(line) == 1 {
		pass = farNanos
	}
	return int64(float64(lines) * float64(line) * (elementNanos + pass*math.Log2(float64(line))))
}

// Requirements is the lines of the input, tables of a length, and work for a few lines.
func (f Lines) Requirements(box []int) blockwise.Requirements {
	read := append([]int{}, box...)
	read[f.Axis] = max(f.used(), 1)
	line, tables := f.tables()
	const z = 16
	need := blockwise.Requirements{
		Reads:   [][]int{read},
		Scratch: blockwise.Aligned(grid.Size(read)*f.From.Size()) + int64(tables+2*line*batch(line))*z,
		Work:    f.work(grid.Size(box) / max(box[f.Axis], 1)),
	}
	if f.alone(box) {
		need.State = int64(line) * z
		if line != f.length() {
			need.State *= 2
		}
	}
	return need
}

// alone reports a box of one long line, each pass over which is a step.
func (f Lines) alone(box []int) bool {
	line, _ := f.tables()
	return batch(line) == 1 && grid.Size(box) == box[f.Axis]
}

// Fill reads whole lines and transforms them, a few at a time.
func (f Lines) Fill(ctx context.Context, t *blockwise.Task) error {
	read := grid.Box{Start: append([]int{}, t.Box.Start...), Shape: append([]int{}, t.Box.Shape...)}
	read.Start[f.Axis], read.Shape[f.Axis] = 0, f.used()
	bytes := read.Size() * f.From.Size()
	in := t.Scratch[:bytes]
	w := f.newWorker(dtype.Slice[complex128](t.Scratch[blockwise.Aligned(bytes):]))
	var s *blockwise.Steps
	if f.alone(t.Box.Shape) {
		s = t.Steps(ctx, w.t.state)
	}
	err := t.Compute(func() error {
		if f.halved() {
			fillRoots(w.roots, f.N)
		}
		return w.t.fill(s)
	})
	if err != nil {
		return err
	}
	if !s.Skips() {
		if err := t.In[0].Read(ctx, read, in); err != nil {
			return err
		}
	}
	return t.Compute(func() error { return w.transform(ctx, s, t.Dst, in, t.Box.Shape) })
}

// newWorker lays out a task's memory.
func (f Lines) newWorker(work []complex128) *worker {
	line, tables := f.tables()
	w := &worker{Lines: f, used: f.used(), lines: batch(line), x: work[tables:][:line*batch(line)], y: work[tables+line*batch(line):][:line*batch(line)]}
	if f.halved() {
		w.roots, work = work[:f.N/2+1], work[f.N/2+1:]
	}
	w.t = layTransform(f.length(), work)
	w.t.x, w.t.y = w.x[:w.t.size], w.y[:w.t.size]
	return w
}

// transform transforms a box of lines. Only one that is alone has steps.
func (w *worker) transform(ctx context.Context, s *blockwise.Steps, dst, src []byte, shape []int) error {
	outer, inner := grid.Size(shape[:w.Axis]), grid.Size(shape[w.Axis+1:])
	from, to := w.used*inner, w.Out[w.Axis]*inner // elements from one outer index to the next
	if inner == 1 {
		for o := 0; o < outer; o += w.lines {
			if err := w.group(ctx, s, dst, src, place{o * from, from, 1}, place{o * to, to, 1}, min(w.lines, outer-o)); err != nil {
				return err
			}
		}
		return nil
	}
	for o := range outer {
		for i := 0; i < inner; i += w.lines {
			if err := w.group(ctx, s, dst, src, place{o*from + i, 1, inner}, place{o*to + i, 1, inner}, min(w.lines, inner-i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// place is where lines lie: the first, from a line to the next, and from an element
// of a line to the next.
type place struct{ at, line, step int }

// worker transforms groups of lines.
type worker struct {
	Lines
	t     *transform
	used  int
	lines int
	roots []complex128 // of N, for halved lines
	x, y  []complex128

	weights []float64 // of segments; nil of whole lines
	detrend string
}
