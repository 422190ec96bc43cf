package group

import (
	"context"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

const (
	// leastColumns are tasks enough for a few cores.
	leastColumns = 4
	// columnRun is the least that is read at once of each place where an array lies open.
	columnRun = 128 << 10
)

// Columns accumulates along the whole axis in one task for a box of the others, such as a
// stored chunk's. Its inputs are those of Parts, its result is that of Merge, with the same bits:
// what was accumulated of a part is merged before the next one begins.
type Columns struct {
	Parts
	Others []int // of a task
	Step   int   // places that are read at once
	DDof   float64
}

// columns returns the operation for elements that lie in stored chunks, nil for those that lie
// open. It reports false where going along the axis by parts takes less.
func (g Grouping) columns(stored []int, ddof float64) (o Columns, ok bool) {
	o = Columns{Parts: newParts(g), DDof: ddof, Others: g.others()}
	room := stateBytes / (8 * g.words() * max(g.Groups, 1))
	if stored == nil {
		if g.Axis > 0 || grid.Size(o.Others) <= room || room*g.Type.Size() < columnRun {
			return o, false
		}
		o.Others = grid.Auto(o.Others, 1, room)
	} else {
		depth := stored[g.Axis]
		o.Others = grid.Clip(slices.Concat(stored[:g.Axis], stored[g.Axis+1:]), o.Others)
		if grid.Size(o.Others) > mostPasses*room { // each part of a chunk decodes it
			return o, false
		}
		if grid.Size(o.Others) > room {
			o.Others = grid.Auto(o.Others, 1, room)
		}
		for d := len(o.Others) - 1; d >= 0; d-- { // small chunks are read as a whole, several at once
			for o.Others[d] < g.others()[d] && 2*grid.Size(o.Others) <= room && 2*grid.Size(o.Others)*depth*g.Type.Size() <= tileBytes {
				o.Others[d] = min(2*o.Others[d], g.others()[d])
			}
		}
		o.Inside = true
		if o.Step = o.step(o.Others, g.Shape[g.Axis]); o.Step > depth {
			o.Step -= o.Step % depth
		}
	}
	if stored == nil {
		o.Step = o.step(o.Others, g.Shape[g.Axis])
	}
	tasks := 1
	for d, n := range g.others() {
		tasks *= (n + o.Others[d] - 1) / max(o.Others[d], 1)
	}
	return o, tasks >= leastColumns
}

// Chunks are all groups of a box of the others.
func (o Columns) Chunks() []int { return append([]int{o.Groups}, o.Others...) }

// Requirements is a tile of the elements, their labels, and accumulators of a part.
func (o Columns) Requirements(box []int) blockwise.Requirements {
	need := o.along(box[1:], o.Step, o.Shape[o.Axis])
	total, part := o.states(box)
	need.Scratch += blockwise.Aligned(total) + blockwise.Aligned(part)
	return need
}

// states are the bytes of accumulators beside the result: of a variance those of all parts,
// and where there are several parts those of one.
func (o Columns) states(box []int) (total, part int) {
	bytes := grid.Size(box) * 8 * o.words()
	if o.Kind == kernel.Var {
		total = bytes
	}
	if o.Length < o.Shape[o.Axis] {
		part = bytes
	}
	return total, part
}

// Fill accumulates part after part.
func (o Columns) Fill(ctx context.Context, t *blockwise.Task) error {
	others := grid.Box{Start: t.Box.Start[1:], Shape: t.Box.Shape[1:]}
	scratch := t.Scratch[o.along(o.Others, o.Step, 0).Scratch:]
	totalBytes, partBytes := o.states(t.Box.Shape)
	total, part := dtype.Slice[uint64](t.Dst), dtype.Slice[uint64](scratch[blockwise.Aligned(totalBytes):][:partBytes])
	if totalBytes > 0 {
		total = dtype.Slice[uint64](scratch[:totalBytes])
	}
	o.clear(total)
	end := o.Shape[o.Axis]
	err := o.accumulate(ctx, t, others, 0, end, o.Step, func(at int, labels []int64, x []byte) error {
		for from := 0; from < len(labels); {
			number := (at + from) / o.Length
			to := min((number+1)*o.Length-at, len(labels))
			states := total
			if number > 0 {
				if states = part; (at+from)%o.Length == 0 {
					o.clear(part)
				}
			}
			if err := o.addTile(states, others.Shape, t.Box.Start[0], t.Box.Shape[0], at, labels, x, from, to); err != nil {
				return err
			}
			if from = to; number > 0 && (at+to == end || (at+to)%o.Length == 0) {
				o.merge(total, part)
			}
		}
		return nil
	})
	if err != nil || totalBytes == 0 {
		return err
	}
	return t.Compute(func() error { o.finish(t.Dst, total, o.DDof); return nil })
}
