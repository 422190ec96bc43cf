package storetest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Place is one name under which arrays are stored.
type Place struct {
	Create func(m store.Meta) (store.Writer, error)
	// Open returns an error that is fs.ErrNotExist where nothing is stored.
	Open func(m store.Meta) (store.Array, error)
	// Left lists everything in the place, stored and temporary.
	Left func() []string
}

// TestWriter tests writing. place returns one that is empty; types are those
// that the format can hold.
func TestWriter(t *testing.T, types []dtype.Type, place func(t testing.TB) Place) {
	NoLeaks(t)
	ctx := context.Background()
	meta := store.Meta{Shape: []int{6, 5}, DType: types[0], Chunks: []int{2, 5}}
	old, fresh := Elements(types[0], 30), Elements(types[0], 31)[:30*types[0].Size()]

	for _, dt := range types {
		t.Run(dt.String(), func(t *testing.T) {
			m := store.Meta{Shape: []int{6, 5}, DType: dt, Chunks: []int{4, 2}}
			save(t, place(t), m, Elements(dt, 30))
		})
	}
	for _, shape := range [][]int{{}, {0, 3}, {3, 0, 2}, {0}, {1}, {17}, {2, 3, 1, 4, 2}} {
		t.Run("shape"+grid.Format(shape), func(t *testing.T) {
			m := store.Meta{Shape: shape, DType: types[0], Chunks: grid.Whole(shape).Chunks}
			save(t, place(t), m, Elements(types[0], grid.Size(shape)))
		})
	}
	t.Run("chunks", func(t *testing.T) {
		rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
			shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(r, "shape")
			m := store.Meta{Shape: shape, DType: rapid.SampledFrom(types).Draw(r, "dtype")}
			for _, n := range shape {
				m.Chunks = append(m.Chunks, rapid.IntRange(1, max(n, 1)).Draw(r, "chunk"))
			}
			save(r, place(t), m, Elements(m.DType, grid.Size(shape)))
		})
	})
	t.Run("replaces at commit", func(t *testing.T) {
		p := place(t)
		save(t, p, meta, old)
		w := begin(t, p, meta)
		write(t, w, meta, fresh)
		noError(t, w.Sync(ctx))
		check(t, p, meta, old)
		noError(t, w.Commit(ctx))
		check(t, p, meta, fresh)
		if err := w.Abort(); err != nil {
			t.Errorf("Abort after Commit: %v", err)
		}
		check(t, p, meta, fresh)
	})
	t.Run("an open array outlives its replacement", func(t *testing.T) {
		p := place(t)
		save(t, p, meta, old)
		a, err := p.Open(meta)
		noError(t, err)
		defer a.Close()
		save(t, p, meta, fresh)
		got := make([]byte, len(old))
		if err := a.Read(ctx, got, All(meta.Shape)); err == nil && !bytes.Equal(got, old) {
			t.Error("the old array shows new elements without an error")
		}
	})
	t.Run("abort", func(t *testing.T) {
		p := place(t)
		w := begin(t, p, meta)
		write(t, w, meta, fresh)
		noError(t, w.Abort())
		if err := w.Abort(); err != nil {
			t.Errorf("a second Abort: %v", err)
		}
		nothing(t, p, meta)
		save(t, p, meta, old)
		before := p.Left()
		w = begin(t, p, meta)
		write(t, w, meta, fresh)
		noError(t, w.Abort())
		check(t, p, meta, old)
		if after := p.Left(); !slices.Equal(before, after) {
			t.Errorf("an abort leaves %v, there was %v", after, before)
		}
	})
	t.Run("use after the end", func(t *testing.T) {
		for name, end := range map[string]func(store.Writer) error{
			"Commit": func(w store.Writer) error { return w.Commit(ctx) }, "Abort": store.Writer.Abort,
		} {
			w := begin(t, place(t), meta)
			write(t, w, meta, fresh)
			noError(t, end(w))
			box := grid.Whole(meta.Shape).Box(0)
			if err := w.Write(ctx, fresh, box); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Write after %s returns %v", name, err)
			}
			if err := w.Commit(ctx); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Commit after %s returns %v", name, err)
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		p := place(t)
		save(t, p, meta, old)
		done, cancel := context.WithCancel(ctx)
		cancel()
		w := begin(t, p, meta)
		if err := w.Write(done, fresh, grid.Whole(meta.Shape).Box(0)); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled Write returns %v", err)
		}
		if err := w.Sync(done); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled Sync returns %v", err)
		}
		if err := w.Commit(done); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled Commit returns %v", err)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		check(t, p, meta, old)
	})
	t.Run("rejected", func(t *testing.T) {
		w := begin(t, place(t), meta)
		defer w.Abort()
		for name, c := range map[string]struct {
			b grid.Box
			n int
		}{
			"behind the end":     {grid.Box{Start: []int{1, 0}, Shape: []int{6, 5}}, 30},
			"before the start":   {grid.Box{Start: []int{-1, 0}, Shape: []int{6, 5}}, 30},
			"too few dimensions": {grid.Box{Start: []int{0}, Shape: []int{6}}, 6},
			"short buffer":       {grid.Whole(meta.Shape).Box(0), 29},
			"long buffer":        {grid.Whole(meta.Shape).Box(0), 31},
		} {
			if err := w.Write(ctx, Elements(meta.DType, c.n), c.b); err == nil {
				t.Errorf("%s: written without an error", name)
			}
		}
		for _, shape := range [][]int{{-1, 4}, {1 << 40, 1 << 40}, make([]int, grid.MaxDims+1)} {
			if w, err := place(t).Create(store.Meta{Shape: shape, DType: types[0]}); err == nil {
				w.Abort()
				t.Errorf("shape %v was accepted", shape)
			}
		}
	})
}

// reporter is what both testing.T and rapid.T are.
type reporter interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
}

// noError ends the test where there is an error.
func noError(t reporter, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func begin(t reporter, p Place, m store.Meta) store.Writer {
	t.Helper()
	w, err := p.Create(m)
	noError(t, err)
	return w
}

// write stores the array chunk by chunk, all of them at once.
func write(t reporter, w store.Writer, m store.Meta, data []byte) {
	t.Helper()
	var wg sync.WaitGroup
	for _, b := range (grid.Grid{Shape: m.Shape, Chunks: m.Chunks}).All() {
		part := Pick(data, m.Shape, m.DType.Size(), region(b))
		wg.Go(func() {
			if err := w.Write(context.Background(), part, b); err != nil {
				t.Errorf("write of %s: %v", b, err)
			}
		})
	}
	wg.Wait()
}

func region(b grid.Box) grid.Region {
	r := All(b.Shape)
	r.Start = b.Start
	return r
}

func save(t reporter, p Place, m store.Meta, data []byte) {
	t.Helper()
	w := begin(t, p, m)
	write(t, w, m, data)
	noError(t, w.Commit(context.Background()))
	check(t, p, m, data)
}

// check wants the place to hold the array and its elements.
func check(t reporter, p Place, m store.Meta, data []byte) {
	t.Helper()
	a, err := p.Open(m)
	noError(t, err)
	defer a.Close()
	if info := a.Info(); info.DType != m.DType || grid.Format(info.Shape) != grid.Format(m.Shape) {
		t.Errorf("stored shape %v of %s, want %v of %s", info.Shape, info.DType, m.Shape, m.DType)
		return
	}
	checkRead(t, a, data, All(m.Shape))
}

func nothing(t reporter, p Place, m store.Meta) {
	t.Helper()
	if _, err := p.Open(m); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing returns %v", err)
	}
	if left := p.Left(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
