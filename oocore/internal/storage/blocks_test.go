package storage_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

func workspace(t testing.TB) *storage.StagingDir {
	t.Helper()
	ws, err := storage.NewStagingDir(t.TempDir() + "/a.npy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Remove(); err != nil {
			t.Error(err)
		}
	})
	return ws
}

func TestBlocks(t *testing.T) {
	t.Run("array", func(t *testing.T) {
		storetest.TestArray(t, dtype.All(), func(t testing.TB, m store.Meta, data []byte) store.Array {
			ws := workspace(t)
			for _, n := range m.Shape {
				m.Chunks = append(m.Chunks, n/3+1)
			}
			w, err := storage.CreateBlocks(ws, "a", m)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(t.Context(), data, grid.Box{Start: make([]int, len(m.Shape)), Shape: m.Shape}); err != nil {
				t.Fatal(err)
			}
			if err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			a, err := storage.OpenBlocks(ws, "a", m)
			if err != nil {
				t.Fatal(err)
			}
			return a
		})
	})
	place := func(t testing.TB) storetest.Place {
		ws := workspace(t)
		blocks := func(m store.Meta) store.Meta { // of another form than the boxes
			m.Chunks = slices.Clone(m.Chunks)
			slices.Reverse(m.Chunks)
			return m
		}
		return storetest.Place{
			Create: func(m store.Meta) (store.Writer, error) { return storage.CreateBlocks(ws, "a", blocks(m)) },
			Open:   func(m store.Meta) (store.Array, error) { return storage.OpenBlocks(ws, "a", blocks(m)) },
			Left: func() []string {
				return slices.DeleteFunc(storetest.List(t, ws.Path), func(name string) bool { return name == "lock" })
			},
		}
	}
	t.Run("writer", func(t *testing.T) { storetest.TestWriter(t, dtype.All(), place) })
	t.Run("resume", func(t *testing.T) { storetest.TestResume(t, dtype.Float32, place) })
}

// BenchmarkBlocks writes rows and reads columns, as a rechunk in two passes does.
func BenchmarkBlocks(b *testing.B) {
	const rows, cols, narrow = 16384 * 30, 512, 8
	m := store.Meta{Shape: []int{rows, cols}, DType: dtype.Float32, Chunks: []int{16384, narrow}}
	ws := workspace(b)
	piece := aligned(16384*cols*4, 4096)
	for i := range piece {
		piece[i] = byte(i * 7)
	}
	write := func(b *testing.B) {
		w, err := storage.CreateBlocks(ws, "a", m)
		if err != nil {
			b.Fatal(err)
		}
		var wg sync.WaitGroup
		for first := range 2 {
			wg.Go(func() {
				for at := first * 16384; at < rows; at += 2 * 16384 {
					if err := w.Write(b.Context(), piece, grid.Box{Start: []int{at, 0}, Shape: []int{16384, cols}}); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := w.Commit(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("write", func(b *testing.B) {
		b.SetBytes(rows * cols * 4)
		for b.Loop() {
			write(b)
		}
	})
	a, err := storage.OpenBlocks(ws, "a", m)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	for _, width := range []int{narrow, 4 * narrow} {
		b.Run(fmt.Sprint("read", width), func(b *testing.B) {
			dst := aligned(rows*width*4, 4096)
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				if err := a.Read(b.Context(), dst, grid.Region{Start: []int{0, 64}, Count: []int{rows, width}, Step: []int{1, 1}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
