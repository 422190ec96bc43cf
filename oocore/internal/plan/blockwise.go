package plan

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// The chunks of operations that read more of their inputs than the elements they make: those
// with a halo, and those that read whole lines.

// scattered reports chunks of a large array that would lie in a file in C order as
// short runs: each page of it would be written many times. Such a result is materialised
// chunk by chunk, and the stage that reads it puts it in order.
func scattered(chunks, shape []int, size int) bool {
	run, bytes := grid.Run(chunks, shape, size), grid.Size(shape)*size
	return run < shortRun && bytes > acrossBytes || run < tinyRun && bytes > chunkBytes
}

// shortRun is the length of a write below which a pass of its own costs less than what the disk
// then writes many times, tinyRun the same for what the processor takes for a write to the page
// cache.
const shortRun, tinyRun = 2 * disk.Page, 512

// blocks reports a program that reads what an operation computes.
func (p *Program) blocks() bool {
	return slices.ContainsFunc(p.Loads, func(l Load) bool { return l.Kind == LoadBlocks })
}

// Box are the lengths in the load's own array of what a tile of the domain needs. A tile may
// be longer than the domain, where it lies in the chunks of a larger array.
func (l *Load) Box(tile []int) []int {
	box := make([]int, len(l.View.Axis))
	for d, a := range l.View.Axis {
		box[d] = 1
		if a >= 0 {
			box[d] = max(min(tile[a], l.View.Shape[a]), 1)
		}
	}
	return box
}

// Reversed reports a load whose array is seen backwards along some axis.
func (l *Load) Reversed() bool {
	return slices.ContainsFunc(l.View.Step, func(s int) bool { return s < 0 })
}

// opReads adds what an operation reads from files for all tiles of a domain. One that
// reads a little at a time reads all of its inputs once.
func (p *Sized) opReads(s *SizedStage, l *Load, tile []int, times int64) {
	boxes := times
	for d, n := range l.View.Shape {
		boxes *= int64((n + tile[d] - 1) / max(tile[d], 1))
	}
	need := l.Op.Requirements(l.Held(tile))
	for k, box := range need.Reads {
		in := &l.Inputs[k]
		whole := int64(max(grid.Size(in.Domain), 1))
		each := int64(grid.Size(clip(box, in.Domain)))
		before := s.Read
		p.reads(s, in, clip(box, in.Domain), times)
		if all := boxes * each; all > whole && !need.DisjointReads { // reads counted each element once
			s.Read = before + int64(float64(s.Read-before)*float64(all)/float64(whole))
		}
	}
}

// haloOverhead is how many times over operations read for boxes of the given lengths: 1 for
// those without a halo, of files that lie as the boxes do.
func (p *Plan) haloOverhead(prog *Program, box []int) float64 {
	most := 1.0
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind == LoadArray {
			if a := &p.Arrays[l.Array]; a.Blocks == nil && a.Bytes() > acrossBytes {
				most = max(most, p.readAmplification(l, box))
			}
		}
		if l.Kind != LoadBlocks {
			continue
		}
		mine := l.Box(box)
		if l.Extent != nil { // windows of a tile overlap its neighbours'
			windows := 1
			for d, n := range mine {
				if l.View.Axis[d] < 0 {
					windows *= l.Extent[d]
					continue
				}
				windows *= min(n*l.View.Step[d], n*l.Extent[d])
			}
			most = max(most, float64(grid.Size(l.Held(box)))/float64(max(windows, 1)))
			continue
		}
		whole, need := l.Op.Requirements(clip(l.Shape, l.Shape)), l.Op.Requirements(mine)
		for k, reads := range need.Reads {
			in := &l.Inputs[k]
			share := float64(grid.Size(mine)) / float64(max(grid.Size(l.Shape), 1)) // of the result
			all := float64(max(grid.Size(clip(whole.Reads[k], in.Domain)), 1))      // that the whole result reads
			if share > 0 && !need.DisjointReads {
				most = max(most, float64(grid.Size(clip(reads, in.Domain)))/all/share)
			}
			if !need.Gather {
				most = max(most, p.haloOverhead(in, clip(reads, in.Domain)))
			}
		}
	}
	return most
}

// smallOverhead is how many times over halos may be read before boxes are made larger.
const smallOverhead = 1.15

// opChunks are whole rows, up to passBytes of them where operations would read much
// more than once for fewer, and boxes where also that is not enough: but those only if
// they do not lie in the result as short runs, or rows would be read too many times.
func (p *Plan) opChunks(prog *Program, shape []int, size int) []int {
	for bytes := chunkBytes; bytes <= passBytes; bytes *= 2 {
		rows := grid.Auto(shape, size, bytes)
		if p.haloOverhead(prog, rows) <= smallOverhead {
			alignRows(rows, shape, size)
			return rows
		}
	}
	box := p.square(prog, grid.Whole(shape).Chunks, passBytes/size)
	if rows := grid.Auto(shape, size, passBytes); grid.Run(box, shape, size) < shortRun && p.haloOverhead(prog, rows) <= acrossTimes {
		alignRows(rows, shape, size)
		return rows
	}
	return box
}

// compact cuts a chunk into boxes of at most about elems elements: whole rows where
// that reads little twice.
func (p *Plan) compact(prog *Program, chunk []int, elems int) []int {
	rows := grid.Auto(chunk, 1, elems)
	if w := p.haloOverhead(prog, rows); w > smallOverhead {
		if box := p.square(prog, chunk, elems); p.haloOverhead(prog, box) < w {
			return box
		}
	}
	return rows
}

// square cuts a box to about elems elements, halving each time the axis where that
// adds the least to what halos read.
func (p *Plan) square(prog *Program, box []int, elems int) []int {
	box = slices.Clone(box)
	for grid.Size(box) > max(elems, 1) {
		best, least := -1, 0.0
		for d := range box {
			if box[d] < 2 {
				continue
			}
			half := slices.Clone(box)
			half[d] = (box[d] + 1) / 2
			if w := p.haloOverhead(prog, half); best < 0 || w < least {
				best, least = d, w
			}
		}
		box[best] = (box[best] + 1) / 2
	}
	return box
}
