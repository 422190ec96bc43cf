package zarr

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// sharded4 is an array of 4 shards of 4 chunks.
var sharded4 = store.Meta{Shape: []int{16, 16}, DType: dtype.Float64, Chunks: []int{4, 4}, Shards: []int{8, 8}}

func beginSharded(t *testing.T) (path string, w storage.CodedWriter, l store.Layout, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.zarr")
	l, err := storage.LayoutOf(path, sharded4)
	if err != nil {
		t.Fatal(err)
	}
	made, err := store.Create(path, sharded4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Abort() })
	return path, made.(storage.CodedWriter), l, storetest.Elements(dtype.Float64, 256)
}

func sessionFor(t *testing.T, w storage.CodedWriter, size int64) store.WriteSession {
	t.Helper()
	s, err := w.Session(make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestUnitsAtOnce writes the units with one session each, with Syncs between.
func TestUnitsAtOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 20 {
		path, w, l, data := beginSharded(t)
		var wg sync.WaitGroup
		for _, unit := range (grid.Grid{Shape: sharded4.Shape, Chunks: l.Unit}).All() {
			s := sessionFor(t, w, l.Work.Whole)
			wg.Go(func() {
				_, err := feed(context.Background(), s, l, data, sharded4.Shape, 8, unit, 0)
				if err := errors.Join(err, w.Sync(context.Background()), s.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, _ := readAll(t, path); !bytes.Equal(got, data) {
			t.Error("other elements were stored")
		}
	}
}

// TestHalfUnit wants nothing of a unit that was given up in the middle.
func TestHalfUnit(t *testing.T) {
	storetest.NoLeaks(t)
	path, w, l, data := beginSharded(t)
	s := sessionFor(t, w, l.Work.Whole)
	first := grid.Box{Start: []int{0, 0}, Shape: []int{4, 4}}
	if _, err := s.Write(t.Context(), boxOf(data, sharded4.Shape, 8, first), first); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, path) {
		if name != v3File {
			t.Errorf("there is %s", name)
		}
	}
}

// TestOrder rejects boxes that do not come in the order of a unit's elements.
func TestOrder(t *testing.T) {
	box := func(y, x, rows, columns int) grid.Box {
		return grid.Box{Start: []int{y, x}, Shape: []int{rows, columns}}
	}
	for want, boxes := range map[string][]grid.Box{
		"before the rest of": {box(0, 0, 4, 4), box(8, 0, 4, 4)},
		"after a chunk":      {box(0, 4, 4, 4), box(0, 0, 4, 4)},
		"the next run":       {box(0, 0, 2, 4), box(3, 0, 1, 4)},
		"next run of rows":   {box(0, 0, 4, 2)},
		"before the rest":    {box(0, 0, 2, 4), box(0, 4, 4, 4)},
		"region reaches":     {box(0, 0, 8, 8)},
		"reaches out":        {box(12, 12, 8, 8)},
	} {
		path, w, l, data := beginSharded(t)
		s := sessionFor(t, w, l.Work.Whole)
		var err error
		for _, b := range boxes {
			if _, err = s.Write(t.Context(), make([]byte, b.Size()*8), b); err != nil {
				break
			}
		}
		if inner, ok := errors.AsType[*fs.PathError](err); !ok || inner.Path != path || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", boxes, err, want)
		}
		// The session resumes the unit from its beginning.
		unit := box(0, 0, 8, 8)
		if _, err := feed(t.Context(), s, l, data, sharded4.Shape, 8, unit, 0); err != nil {
			t.Errorf("%v: afterwards: %v", boxes, err)
		}
		if err := errors.Join(s.Close(), w.Commit(t.Context())); err != nil {
			t.Fatal(err)
		}
		got, _ := readAll(t, path)
		if !bytes.Equal(boxOf(got, sharded4.Shape, 8, unit), boxOf(data, sharded4.Shape, 8, unit)) {
			t.Error("other elements were stored")
		}
	}
}

// TestSmallMemory rejects a session without enough memory.
func TestSmallMemory(t *testing.T) {
	_, w, l, _ := beginSharded(t)
	if _, err := w.Session(make([]byte, l.Work.Stream-1)); err == nil {
		t.Error("a session was opened")
	}
}
