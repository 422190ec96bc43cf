package chunked

import (
	"encoding/binary"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// overlap is what a region has in one chunk, and goes from chunk to chunk, through all that
// it has in a shard before it goes on to another. Along axis d it is Count[d] elements of the chunk from start[d] on in steps of step[d]; in the
// buffer they lie stride[d] apart, from element at on.
type overlap struct {
	region grid.Region
	a      *Array
	shards []int // the shape of a shard, nil where chunks are objects
	shape  []int // of this chunk as it is stored
	first  []int // place in the region
	low    []int // of what it has in this shard, or in all
	high   []int

	chunk  []int // index in the grid
	length []int // of the grid's chunk
	start  []int
	count  []int
	step   []int
	stride []int
	at     int
}

func newOverlap(dims int) overlap {
	ints := make([]int, 9*dims)
	take := func() (s []int) {
		s, ints = ints[:dims:dims], ints[dims:]
		return s
	}
	return overlap{first: take(), low: take(), high: take(), chunk: take(), length: take(), start: take(), count: take(), step: take(), stride: take()}
}

// begin goes to the first overlap of a region that is not empty.
func (p *overlap) begin(r grid.Region, a *Array, shards []int) {
	p.region, p.a, p.shards, p.shape, p.at = r, a, shards, a.Chunk, 0
	clear(p.first) // the read before may have ended in the middle
	stride := 1
	for d := len(p.count) - 1; d >= 0; d-- {
		p.stride[d] = stride
		stride *= r.Count[d]
		p.step[d] = r.Step[d]
		p.enterShard(d, 0)
	}
}

// next goes to the next overlap, the last axis fastest.
func (p *overlap) next() bool {
	for d := len(p.count) - 1; d >= 0; d-- {
		i := p.first[d] + p.count[d]
		if i < p.high[d] {
			p.enter(d, i)
			return true
		}
		p.enter(d, p.low[d])
	}
	for d := len(p.count) - 1; d >= 0; d-- {
		if i := p.high[d]; i < p.region.Count[d] {
			p.enterShard(d, i)
			return true
		}
		p.enterShard(d, 0)
	}
	return false
}

// enterShard goes, along one axis, to the shard of the region's i-th element.
func (p *overlap) enterShard(d, i int) {
	p.low[d], p.high[d] = i, p.region.Count[d]
	if p.shards != nil {
		length := p.shards[d]
		_, n := p.inside(d, i, (p.region.Start[d]+i*p.region.Step[d])/length*length, length)
		p.high[d] = i + n
	}
	p.enter(d, i)
}

// enter goes, along one axis, to the chunk of the region's i-th element.
func (p *overlap) enter(d, i int) {
	p.at += (i - p.first[d]) * p.stride[d]
	p.first[d] = i
	var begin int
	p.chunk[d], begin, p.length[d] = p.a.chunkAt(d, p.region.Start[d]+i*p.step[d])
	p.start[d], p.count[d] = p.inside(d, i, begin, p.length[d])
}

// inside returns, along one axis, where the region's i-th element lies in its chunk or shard, which begins
// at a place and has a length, and how many elements of the region from it on lie there too.
func (p *overlap) inside(d, i, begin, length int) (start, count int) {
	start = p.region.Start[d] + i*p.step[d] - begin
	room := start
	if p.step[d] > 0 {
		room = length - 1 - start
	}
	return start, min(p.region.Count[d]-i, room/max(p.step[d], -p.step[d])+1)
}

// run reports that the overlap is one run in the buffer, in the chunk's C order.
func (p *overlap) run() bool {
	size := 1
	for d := len(p.count) - 1; d >= 0; d-- {
		if p.count[d] > 1 && p.stride[d] != size {
			return false
		}
		size *= p.count[d]
	}
	return true
}

// wholeRun reports that the overlap is the whole chunk, and one run in the buffer from
// element at on.
func (p *overlap) wholeRun() (at int, ok bool) {
	for d, n := range p.shape {
		if p.count[d] != n || n > 1 && p.step[d] != 1 {
			return 0, false
		}
	}
	return p.at, p.run()
}

// gather copies the overlap from a decoded chunk.
func (p *overlap) gather(dst, chunk []byte, a *Array) {
	dims := len(p.count)
	strides := make([]int, dims)
	at, stride := 0, 1
	for d := dims - 1; d >= 0; d-- {
		at += p.start[d] * stride
		strides[d] = p.step[d] * stride
		stride *= p.shape[d]
	}
	kernel.Copy(a.DType.Size(), p.count, dst, p.at, p.stride, chunk, at, strides)
}

// fill writes the fill value to the overlap.
func (p *overlap) fill(dst []byte, a *Array) {
	item := a.DType.Size()
	if p.run() {
		n := grid.Size(p.count)
		kernel.Fill(n, dst[p.at*item:(p.at+n)*item], a.fillValue())
		return
	}
	kernel.Copy(item, p.count, dst, p.at, p.stride, a.Fill, 0, make([]int, len(p.count)))
}

// fillValue is the fill value as the kernels take it.
func (a *Array) fillValue() dtype.Value {
	var b [16]byte
	copy(b[:], a.Fill)
	return dtype.Value{Type: a.DType, Lo: binary.LittleEndian.Uint64(b[:8]), Hi: binary.LittleEndian.Uint64(b[8:])}
}
