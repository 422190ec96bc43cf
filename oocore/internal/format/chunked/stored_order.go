package chunked

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// cursor is a place in a chunk that is decoded from front to back.
type cursor struct {
	chunk []int // nil for none
	at    int64 // bytes that were decoded
	src   Source
}

// storedOverlap is the part of a region that lies in one chunk, in the order in which the
// chunk is stored: along axis d count[d] elements from start[d] on in steps of
// step[d], which are positive, and stride[d] apart in the buffer from element at on.
type storedOverlap struct {
	shape, start, count, step, stride []int
	at                                int
}

// readStored reads an overlap in the order in which it is stored: where elements lie
// open only what is needed, else by decoding on from where the read before ended.
func (s *session) readStored(ctx context.Context, dst []byte, src *Source) error {
	v := s.overlap.stored(s.a.Pipeline.Order())
	read := func(p []byte, at int64) error { return s.decodeTo(ctx, p, at) }
	if s.decoder == nil {
		if src.Bytes != s.chunkBytes() {
			return s.sizeError(src.Bytes)
		}
		read = func(p []byte, at int64) error { return src.ReadAt(ctx, p, at) }
	} else if c := &s.cursor; c.chunk == nil || c.src.Serial != src.Serial || !slices.Equal(c.chunk, s.overlap.chunk) {
		s.cursor = cursor{chunk: slices.Clone(s.overlap.chunk), at: -1, src: *src}
	}
	err := v.read(dst, s.memory.window, s.a.DType.Size(), read)
	if err != nil {
		s.cursor.chunk = nil
	}
	return err
}

// sizeError is that of a chunk whose elements lie open.
func (s *session) sizeError(size int64) error {
	return fmt.Errorf("it has %d bytes, its elements have %d", size, s.chunkBytes())
}

// chunkBytes is the size of this chunk, decoded.
func (s *session) chunkBytes() int64 {
	return int64(grid.Size(s.overlap.shape)) * int64(s.a.DType.Size())
}

// decodeTo fills p with what the cursor's chunk has from byte at on.
func (s *session) decodeTo(ctx context.Context, p []byte, at int64) error {
	c := &s.cursor
	if c.at < 0 || c.at > at {
		if err := s.decoder.Begin(ctx, &c.src); err != nil {
			return err
		}
		c.at = 0
	}
	for c.at < at {
		skip := s.memory.window[:min(int64(len(s.memory.window)), at-c.at)]
		if err := s.decodeNext(ctx, skip); err != nil {
			return err
		}
	}
	return s.decodeNext(ctx, p)
}

func (s *session) decodeNext(ctx context.Context, p []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := s.decoder.Next(ctx, p)
	s.cursor.at += int64(len(p))
	return err
}

// stored is the overlap with the axes in the order in which a chunk is stored, and all
// steps forwards.
func (p *overlap) stored(order []int) storedOverlap {
	n := len(order)
	ints := make([]int, 5*n)
	v := storedOverlap{ints[:n:n], ints[n : 2*n : 2*n], ints[2*n : 3*n : 3*n], ints[3*n : 4*n : 4*n], ints[4*n:], p.at}
	for i, d := range order {
		v.shape[i], v.start[i], v.count[i], v.step[i], v.stride[i] = p.shape[d], p.start[d], p.count[d], p.step[d], p.stride[d]
		if v.count[i] == 1 {
			v.step[i] = 1
		}
		if v.step[i] < 0 {
			last := v.count[i] - 1
			v.start[i] += last * v.step[i]
			v.at += last * v.stride[i]
			v.step[i], v.stride[i] = -v.step[i], -v.stride[i]
		}
	}
	return v
}

// read fills the overlap's places in dst: long runs at once, others through a window.
// fetch reads bytes of the chunk; it is called for ascending places that do not
// overlap.
func (v *storedOverlap) read(dst, window []byte, item int, fetch func(p []byte, at int64) error) error {
	return v.pieces(len(window), item, func(p piece) error {
		at := int64(p.from * item)
		if p.counts == nil {
			return fetch(dst[p.to*item:(p.to+p.size)*item], at)
		}
		if err := fetch(window[:p.size*item], at); err != nil {
			return err
		}
		kernel.Copy(item, p.counts, dst, p.to, v.stride[len(v.stride)-len(p.counts):], window, 0, p.apart)
		return nil
	})
}

// piece is what is fetched at once: size elements of the chunk from one on. They go to
// their place in the buffer as they are, or counts of the last axes from a window.
type piece struct {
	from, size, to int
	counts, apart  []int // and the strides in the window; nil of elements that go as they are
}

// pieces goes through what read fetches, with a window of so many bytes.
func (v *storedOverlap) pieces(window, item int, yield func(p piece) error) error {
	axis, run := v.run()
	direct := run*item > window/2 || axis == 0
	slab := 1
	if !direct {
		axis, slab = v.slab(window / item)
	}
	n := len(v.count)
	apart := make([]int, n-axis) // strides in the window
	skip, inside := 0, 1         // elements of a run or slab before the first that is needed, and from it to the last
	for d, size := n-1, 1; d >= axis; d-- {
		apart[d-axis] = v.step[d] * size
		if direct || d > axis {
			skip += v.start[d] * size
			inside += (v.count[d] - 1) * apart[d-axis]
		}
		size *= v.shape[d]
	}
	if direct {
		return v.each(axis, func(from, to int) error { return yield(piece{from: from + skip, size: run, to: to}) })
	}
	most := (window/item/slab-1)/v.step[axis] + 1 // indices along axis whose slabs the window takes
	counts := slices.Clone(v.count[axis:])
	return v.each(axis, func(from, to int) error {
		for i := 0; i < v.count[axis]; i += most {
			counts[0] = min(most, v.count[axis]-i)
			at := from + (v.start[axis]+i*v.step[axis])*slab + skip
			size := (counts[0]-1)*v.step[axis]*slab + inside
			if err := yield(piece{at, size, to + i*v.stride[axis], counts, apart}); err != nil {
				return err
			}
		}
		return nil
	})
}

// run is the longest run that lies without gaps in the chunk and in the buffer: that
// of all axes from one on.
func (v *storedOverlap) run() (axis, run int) {
	axis, run = len(v.count), 1
	for whole := true; axis > 0 && whole; axis-- {
		d := axis - 1
		if v.count[d] > 1 && (v.step[d] != 1 || v.stride[d] != run) {
			break
		}
		run *= v.count[d]
		whole = v.count[d] == v.shape[d]
	}
	return axis, run
}

// slab is the outermost axis of which at least one index fits into a window, and
// the elements of the chunk that an index has.
func (v *storedOverlap) slab(window int) (axis, slab int) {
	axis, slab = len(v.count)-1, 1
	for axis > 0 && slab*v.shape[axis] <= window {
		slab *= v.shape[axis]
		axis--
	}
	return axis, slab
}

// each goes through the indices of the axes before one, with the elements before
// them in the chunk and their place in the buffer.
func (v *storedOverlap) each(axes int, yield func(from, to int) error) error {
	index := make([]int, axes)
	strides := make([]int, axes)
	size := 1
	for d := len(v.shape) - 1; d >= 0; d-- {
		if d < axes {
			strides[d] = size
		}
		size *= v.shape[d]
	}
	for {
		from, to := 0, v.at
		for d, i := range index {
			from += (v.start[d] + i*v.step[d]) * strides[d]
			to += i * v.stride[d]
		}
		if err := yield(from, to); err != nil {
			return err
		}
		d := axes - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < v.count[d] {
				break
			}
			index[d] = 0
		}
		if d < 0 {
			return nil
		}
	}
}
