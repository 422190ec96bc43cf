package storetest

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestResume tests resuming what an earlier writer left.
func TestResume(t *testing.T, dt dtype.Type, place func(t testing.TB) Place) {
	NoLeaks(t)
	ctx := context.Background()
	meta := store.Meta{Shape: []int{6, 5}, DType: dt, Chunks: []int{3, 5}}
	old, fresh := Elements(dt, 30), Elements(dt, 31)[:30*dt.Size()]
	half := len(fresh) / 2
	upper, lower := grid.Box{Start: []int{0, 0}, Shape: []int{3, 5}}, grid.Box{Start: []int{3, 0}, Shape: []int{3, 5}}
	resumed := func(m store.Meta) store.Meta {
		m.Resume = true
		return m
	}
	// suspended leaves the upper half of the array.
	suspended := func(t *testing.T, p Place) {
		t.Helper()
		w := begin(t, p, meta)
		noError(t, w.Write(ctx, fresh[:half], upper))
		noError(t, w.Sync(ctx))
		noError(t, w.Suspend())
		if err := errors.Join(w.Suspend(), w.Abort()); err != nil {
			t.Errorf("the end after the end: %v", err)
		}
		if err := w.Write(ctx, fresh[half:], lower); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Write after Suspend returns %v", err)
		}
		if err := w.Sync(ctx); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Sync after Suspend returns %v", err)
		}
	}
	t.Run("continues", func(t *testing.T) {
		p := place(t)
		save(t, p, meta, old)
		before := p.Left()
		suspended(t, p)
		check(t, p, meta, old)
		suspended(t, p) // again, and from the start
		w := begin(t, p, resumed(meta))
		noError(t, w.Write(ctx, fresh[half:], lower))
		check(t, p, meta, old)
		noError(t, w.Commit(ctx))
		check(t, p, meta, fresh)
		if after := p.Left(); !slices.Equal(before, after) {
			t.Errorf("a commit leaves %v, there was %v", after, before)
		}
		if err := w.Suspend(); err != nil {
			t.Errorf("Suspend after Commit: %v", err)
		}
	})
	t.Run("nothing to resume", func(t *testing.T) {
		p := place(t)
		save(t, p, resumed(meta), fresh)
	})
	t.Run("starts anew", func(t *testing.T) {
		p := place(t)
		suspended(t, p)
		save(t, p, meta, old)
		p = place(t)
		suspended(t, p)
		other := store.Meta{Shape: []int{5, 6}, DType: dt, Chunks: []int{5, 6}, Resume: true}
		save(t, p, other, old)
	})
	t.Run("abort", func(t *testing.T) {
		p := place(t)
		suspended(t, p)
		noError(t, begin(t, p, resumed(meta)).Abort())
		nothing(t, p, meta)
	})
}

// TestRegion tests writing a part of an array that is there.
func TestRegion(t *testing.T, types []dtype.Type, place func(t testing.TB) Place) {
	NoLeaks(t)
	ctx := context.Background()
	t.Run("boxes", func(t *testing.T) {
		rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
			m := store.Meta{DType: rapid.SampledFrom(types).Draw(r, "dtype")}
			m.Shape = rapid.SliceOfN(rapid.IntRange(1, 9), 0, 3).Draw(r, "shape")
			m.Chunks = slices.Clone(m.Shape)
			box, chunks := grid.Box{}, []int{}
			for _, n := range m.Shape {
				from := rapid.IntRange(0, n-1).Draw(r, "from")
				count := rapid.IntRange(1, n-from).Draw(r, "count")
				box.Start, box.Shape = append(box.Start, from), append(box.Shape, count)
				chunks = append(chunks, rapid.IntRange(1, count).Draw(r, "chunk"))
			}
			p, n := place(t), grid.Size(m.Shape)
			all, fresh := Elements(m.DType, n), Elements(m.DType, n+1)[:n*m.DType.Size()]
			save(r, p, m, all)
			before := p.Left()
			part := m
			part.Region = &box
			w := begin(r, p, part)
			for b := range box.Split(chunks) {
				noError(r, w.Write(ctx, Pick(fresh, m.Shape, m.DType.Size(), region(b)), b))
			}
			noError(r, w.Commit(ctx))
			overlay(all, fresh, m, box)
			check(r, p, m, all)
			if after := p.Left(); !slices.Equal(before, after) {
				r.Errorf("%v is left, there was %v", after, before)
			}
		})
	})
	t.Run("rejected", func(t *testing.T) {
		p := place(t)
		m := store.Meta{Shape: []int{4, 4}, DType: types[0], Chunks: []int{4, 4}}
		inside := grid.Box{Start: []int{1, 1}, Shape: []int{2, 2}}
		part := m
		part.Region = &inside
		if _, err := p.Create(part); err == nil {
			t.Error("a region of nothing was begun")
		}
		old := Elements(m.DType, 16)
		save(t, p, m, old)
		other := part
		other.Shape = []int{5, 4}
		if _, err := p.Create(other); err == nil {
			t.Error("a region of another shape was begun")
		}
		for _, b := range []grid.Box{{Start: []int{3, 0}, Shape: []int{2, 4}}, {Start: []int{0}, Shape: []int{1}}, {Start: []int{-1, 0}, Shape: []int{2, 2}}} {
			part.Region = &b
			if _, err := p.Create(part); err == nil {
				t.Errorf("region %s was begun", b)
			}
		}
		part.Region = &inside
		w := begin(t, p, part)
		if err := w.Write(ctx, old[:m.DType.Size()], grid.Box{Start: []int{0, 0}, Shape: []int{1, 1}}); err == nil {
			t.Error("written beside the region")
		}
		noError(t, w.Abort())
		check(t, p, m, old)
	})
}

// overlay copies a box's elements from one array to another.
func overlay(dst, src []byte, m store.Meta, b grid.Box) {
	size := m.DType.Size()
	for i := range grid.Size(m.Shape) {
		rest, inside := i, true
		for d := len(m.Shape) - 1; d >= 0; d-- {
			x := rest % m.Shape[d]
			rest /= m.Shape[d]
			inside = inside && x >= b.Start[d] && x < b.Start[d]+b.Shape[d]
		}
		if inside {
			copy(dst[i*size:(i+1)*size], src[i*size:])
		}
	}
}
