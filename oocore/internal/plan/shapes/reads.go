package shapes

import (
	"iter"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// ReadAtOnce is what a program reads at once where elements lie open: what stays in a core's cache,
// but of an object store what is worth a request, and of chunks enough for long runs of each.
func ReadAtOnce(p *plan.Plan, prog *plan.Program) int {
	if ReadsRemote(p, prog.Arrays()) || ReadsInParts(p, prog) {
		return ChunkBytes
	}
	return TileBytes
}

// ReadsInParts reports a program with an input of whose chunks parts are read by themselves.
func ReadsInParts(p *plan.Plan, prog *plan.Program) bool {
	for l := range prog.Arrays() {
		if p.Arrays[l.Array].ReadInParts() {
			return true
		}
	}
	return false
}

// ReadsRemote reports that one of the loads reads from an object store.
func ReadsRemote(p *plan.Plan, loads iter.Seq[*plan.Load]) bool {
	for l := range loads {
		if p.Arrays[l.Array].Store.Network {
			return true
		}
	}
	return false
}

// Crossed returns the domain's axes in the order of a transposed input, which is contiguous along
// the last; nil where all inputs lie as the domain does.
func Crossed(prog *plan.Program) (axes []int) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind != plan.LoadArray || !l.Permuted() {
			continue
		}
		for _, d := range l.View.Axis {
			if d >= 0 {
				axes = append(axes, d)
			}
		}
		return axes
	}
	return nil
}

// Stored are the lengths in a program's domain of the stored chunks of its largest
// chunked input; nil where no input is chunked. What an operation reads counts where
// it has the shape of the result.
// Such chunks are decoded as a whole, so tasks and tiles are made of whole ones where they can be.
func Stored(p *plan.Plan, prog *plan.Program) []int {
	var of *plan.Load
	for i := range prog.Loads {
		l := &prog.Loads[i]
		for k := range l.Inputs {
			if !slices.Equal(l.Inputs[k].Domain, l.Shape) || of != nil {
				continue
			}
			if stored := Stored(p, &l.Inputs[k]); stored != nil {
				if r, ok := l.Rows(); ok {
					stored = r.RowsOf(stored)
				}
				return Shown(l, stored)
			}
		}
		if l.Kind == plan.LoadArray && p.Arrays[l.Array].Chunks != nil && (of == nil || p.Arrays[l.Array].Bytes() > p.Arrays[of.Array].Bytes()) {
			of = l
		}
	}
	if of == nil {
		return nil
	}
	return Shown(of, p.Arrays[of.Array].Chunks)
}

// Shown are the lengths in the domain of chunks of the load's array.
func Shown(l *plan.Load, chunks []int) []int {
	lengths := slices.Repeat([]int{1}, len(l.View.Shape))
	for d, c := range chunks {
		if a := l.View.Axis[d]; a >= 0 {
			lengths[a] = (c + l.View.Stride(d) - 1) / l.View.Stride(d)
		}
	}
	return grid.Clip(lengths, l.View.Shape)
}

// Span are those of a box of the domain, in the array.
func Span(a *plan.Array, l *plan.Load, box []int) []int {
	lengths := slices.Repeat([]int{1}, len(a.Shape))
	for d, axis := range l.View.Axis {
		if axis >= 0 {
			lengths[d] = min(box[axis]*l.View.Stride(d), a.Shape[d])
		}
	}
	return lengths
}

// RowElems is the number of elements of the rows that a program computes together at the least; 0 where it
// has no operation of rows.
func RowElems(p *plan.Plan, prog *plan.Program) (most int) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if r, ok := l.Rows(); ok {
			for k := range l.Inputs {
				most = max(most, RowsAtOnce(p, &l.Inputs[k], l.Shape, r.First))
			}
		}
	}
	return most
}

// RowsAtOnce is the number of elements of the rows of a shape that are read together of an input: of one
// where rows are parts of several encoded chunks, those of whole chunks, which would be decoded for each row otherwise.
func RowsAtOnce(p *plan.Plan, in *plan.Program, shape []int, first int) int {
	n, stored := grid.Size(shape[first:]), Stored(p, in)
	if stored != nil && !ReadsInParts(p, in) && !slices.Equal(stored[first:], in.Domain[first:]) {
		n *= grid.Size(stored[:first])
	}
	return n
}

// ReadAmplification returns about how many times each byte of an array is read where it is read
// by boxes of the domain.
func ReadAmplification(p *plan.Plan, l *plan.Load, box []int) float64 {
	a := &p.Arrays[l.Array]
	lengths := Span(a, l, box)
	times := 1.0
	stored := a.SmallestRead()
	if stored != nil && !a.ReadInParts() {
		for d, n := range lengths {
			c := min(stored[d], a.Shape[d])
			if n%c != 0 && n < a.Shape[d] {
				times *= min(float64(n+c)/float64(n), float64(a.Shape[d])/float64(n))
			}
		}
		return times
	}
	// In a file in C order, and in a chunk that lies open, runs touch pages that the next box needs again.
	rows, part := a.Shape, lengths
	if stored != nil {
		rows, part = grid.Clip(stored, a.Shape), grid.Clip(lengths, stored)
	}
	cut := len(part) - 1
	for cut > 0 && part[cut] == rows[cut] {
		cut--
	}
	if cut < 0 || stored == nil && grid.Size(part[:cut]) == 1 {
		return 1
	}
	outer := 0
	for outer < cut && lengths[outer] == 1 {
		outer++
	}
	if lengths[outer]*grid.Size(a.Shape[outer+1:])*l.Type.Size() <= PassBytes {
		return 1 // the neighbouring boxes are read soon after, and find their pages in the cache
	}
	run := float64(grid.Size(part[cut:]) * l.Type.Size())
	apart := float64(grid.Size(rows[cut:]) * l.Type.Size())
	return max(min((run+disk.Page)/run, apart/run), 1)
}

// HaloOverhead is how many times over operations read for boxes of the given lengths: 1 for
// those without a halo, of files that lie as the boxes do.
func HaloOverhead(p *plan.Plan, prog *plan.Program, box []int) float64 {
	most := 1.0
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind == plan.LoadArray {
			if a := &p.Arrays[l.Array]; a.Blocks == nil && a.Bytes() > AcrossBytes {
				most = max(most, ReadAmplification(p, l, box))
			}
		}
		if l.Kind != plan.LoadBlocks {
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
		whole, need := l.Op.Requirements(grid.Clip(l.Shape, l.Shape)), l.Op.Requirements(mine)
		for k, reads := range need.Reads {
			in := &l.Inputs[k]
			share := float64(grid.Size(mine)) / float64(max(grid.Size(l.Shape), 1)) // of the result
			all := float64(max(grid.Size(grid.Clip(whole.Reads[k], in.Domain)), 1)) // that the whole result reads
			if share > 0 && !need.DisjointReads {
				most = max(most, float64(grid.Size(grid.Clip(reads, in.Domain)))/all/share)
			}
			if !need.Gather {
				most = max(most, HaloOverhead(p, in, grid.Clip(reads, in.Domain)))
			}
		}
	}
	return most
}

// SmallOverhead is how many times over halos may be read before boxes are made larger.
const SmallOverhead = 1.15

// Compact cuts a chunk into boxes of at most about elems elements: whole rows where
// that reads little twice.
func Compact(p *plan.Plan, prog *plan.Program, chunk []int, elems int) []int {
	rows := grid.Auto(chunk, 1, elems)
	if w := HaloOverhead(p, prog, rows); w > SmallOverhead {
		if box := CutHalos(p, prog, chunk, elems); HaloOverhead(p, prog, box) < w {
			return box
		}
	}
	return rows
}

// CutHalos cuts a box to about elems elements, halving each time the axis where that
// adds the least to what halos read.
func CutHalos(p *plan.Plan, prog *plan.Program, box []int, elems int) []int {
	box = slices.Clone(box)
	for grid.Size(box) > max(elems, 1) {
		best, least := -1, 0.0
		for d := range box {
			if box[d] < 2 {
				continue
			}
			half := slices.Clone(box)
			half[d] = (box[d] + 1) / 2
			if w := HaloOverhead(p, prog, half); best < 0 || w < least {
				best, least = d, w
			}
		}
		box[best] = (box[best] + 1) / 2
	}
	return box
}
