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

// Why returns what an array was made of, back through the arrays that have receipts; with a chunk, an index in the grid of
// the array's tasks, also which task made it and what that has read. The error is ErrNone where the array has no receipt.
func Why(ctx context.Context, path string, chunk []int) (*types.Lineage, error) {
	place, err := storage.Absolute(path)
	if err != nil {
		return nil, err
	}
	e, ok := resultcache.Lookup(place, "")
	if !ok || e.Title == "" {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	l := lineage(ctx, place, &e.Version, 0)
	if chunk == nil {
		return &l, nil
	}
	l.Task, err = makerOf(&e, chunk)
	return &l, err
}

// lineage is that of an array, which had a version when it was read.
func lineage(ctx context.Context, place string, was *storage.Version, depth int) types.Lineage {
	l := types.Lineage{Path: place}
	now, err := storage.VersionOf(ctx, place)
	switch {
	case err != nil:
		l.Changed = "gone"
	case !now.Equal(*was):
		l.Changed = "changed"
	}
	e, ok := resultcache.Lookup(place, "")
	if !ok || e.Title == "" || !e.Version.Equal(*was) || depth > deepest { // what is known is of another version
		return l
	}
	l.Expression = e.Title
	for _, in := range e.Inputs {
		l.Inputs = append(l.Inputs, lineage(ctx, in.Path, &in.Version, depth+1))
	}
	return l
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
