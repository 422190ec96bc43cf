package receipt

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/types"
)

// deepest bounds how far back a lineage goes.
const deepest = 32

// Why returns what the array was made of, back through the arrays that have receipts; with a chunk, an index in the grid of
// the array's tasks, also which task made it and what that has read.
func (r *Receipt) Why(ctx context.Context, chunk []int) (_ *types.Lineage, err error) {
	l := r.lineage(ctx, 0)
	if r.File == "" {
		l.Changed = changedSince(ctx, r.Place, &r.Version)
	}
	if chunk != nil {
		l.Task, err = makerOf(&r.Entry, chunk)
	}
	return l, err
}

// lineage is that of the array of a receipt. Of a receipt from elsewhere it is not known which versions the inputs have here,
// unless they are gone.
func (r *Receipt) lineage(ctx context.Context, depth int) *types.Lineage {
	l := &types.Lineage{Path: r.Place, Expression: r.Title}
	for _, in := range r.Inputs {
		of := &types.Lineage{Path: in.Path, Changed: changedSince(ctx, in.Path, &in.Version)}
		if r.File != "" && of.Changed == "changed" {
			of.Changed = ""
		}
		if next, err := Find(in.Path, ""); err == nil && next.Version.Equal(in.Version) && depth < deepest { // else what is known is of another version
			next.Place = in.Path
			whole := next.lineage(ctx, depth+1)
			of.Expression, of.Inputs = whole.Expression, whole.Inputs
		}
		l.Inputs = append(l.Inputs, *of)
	}
	return l
}

// changedSince says what has become of an array that had a version: "changed", "gone", or "" for nothing.
func changedSince(ctx context.Context, place string, was *storage.Version) string {
	switch now, err := storage.VersionOf(ctx, place); {
	case err != nil:
		return "gone"
	case !now.Equal(*was):
		return "changed"
	}
	return ""
}

// makerOf is the task that made a chunk.
func makerOf(e *resultcache.Entry, chunk []int) (*types.LineageTask, error) {
	g := e.Grid
	if e.Folded != 0 || g.Shape == nil {
		return nil, fmt.Errorf("all tasks of %s add to what it holds: ask without a chunk", e.Path)
	}
	if len(chunk) != len(g.Shape) {
		return nil, fmt.Errorf("a chunk of %s has an index of %d numbers, and %v has %d", e.Path, len(g.Shape), chunk, len(chunk))
	}
	n := 0
	for d, i := range chunk {
		if i < 0 || i >= g.Count(d) {
			return nil, fmt.Errorf("the chunks of %s go from 0 to %d along axis %d, and %d is none of them", e.Path, g.Count(d)-1, d, i)
		}
		n = n*g.Count(d) + i
	}
	t := &types.LineageTask{Index: n, Box: g.Box(n)}
	rest, err := restOf(e)
	if err != nil {
		return nil, err
	}
	defer rest.Close()
	err = checkpoint.EachTrace(rest, func(of checkpoint.Trace) bool {
		if of.Stage != e.Stage || of.Task != n {
			return true
		}
		t.Reads = nil
		for _, r := range of.Reads {
			in := slices.IndexFunc(e.Inputs, func(in resultcache.Input) bool { return in.Array == r.Array })
			if in < 0 {
				return false
			}
			t.Reads = append(t.Reads, types.LineageRead{Path: e.Inputs[in].Path, Chunks: slices.Collect(r.Units.All())})
		}
		return true
	})
	return t, err
}
