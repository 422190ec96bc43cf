package zarr

import (
	"bytes"
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// writtenCodecs are those that the tests write with.
var writtenCodecs = []string{"none", "zstd:1", "zstd:3:checksum", "gzip:1", "blosc:lz4:5:shuffle", "blosc:zstd:1:bitshuffle"}

func TestWriterConformance(t *testing.T) {
	for codec, shard := range map[string]int{"none": 0, "zstd:1": 0, "blosc:lz4:5:shuffle": 2} {
		t.Run(codec, func(t *testing.T) {
			place := func(t testing.TB) storetest.Place {
				dir := t.TempDir()
				path := filepath.Join(dir, "a.zarr")
				return storetest.Place{
					Create: func(m store.Meta) (store.Writer, error) {
						if m.Region != nil {
							return store.Create(path, store.Meta{Shape: m.Shape, DType: m.DType, Region: m.Region})
						}
						m.Codec = codec
						if shard > 0 && m.Chunks != nil {
							m.Shards = slices.Clone(m.Chunks)
							for axis := range m.Shards {
								m.Shards[axis] *= shard
							}
						}
						return store.Create(path, m)
					},
					Open: func(store.Meta) (store.Array, error) { return store.Open(path) },
					Left: func() []string { return files(t, dir) },
				}
			}
			storetest.TestWriter(t, dtype.All(), place)
			t.Run("resume", func(t *testing.T) { storetest.TestResume(t, dtype.Float32, place) })
			t.Run("region", func(t *testing.T) { storetest.TestRegion(t, dtype.All(), place) })
		})
	}
}

// reporter is what both testing.T and rapid.T are.
type reporter interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// files lists everything in a folder.
func files(t reporter, dir string) []string {
	t.Helper()
	names := []string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && name != dir {
			names = append(names, name[len(dir)+1:])
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return names
}

// part is a box of a dense array.
func boxOf(data []byte, shape []int, item int, b grid.Box) []byte {
	l, err := strided.Of(shape, item, b.Region())
	if err != nil {
		panic(err)
	}
	out := make([]byte, l.Bytes())
	if len(out) > 0 {
		l.Gather(out, data, 0)
	}
	return out
}

// feed writes a box through a session, unit by unit as the executor does: each chunk
// in one piece, or in rows of at most slab bytes.
func feed(ctx context.Context, s store.WriteSession, l store.Layout, data []byte, shape []int, item int, box grid.Box, slab int) (stored int64, err error) {
	chunk := l.Chunk
	if chunk == nil {
		chunk = l.Unit
	}
	zeros := make([]int, len(shape))
	for unit := range box.Align(zeros, l.Unit) {
		for c := range unit.Align(zeros, chunk) {
			lengths := c.Shape
			if slab > 0 {
				lengths = grid.Auto(c.Shape, item, slab)
			}
			for piece := range c.Split(lengths) {
				n, err := s.Write(ctx, boxOf(data, shape, item, piece), piece)
				if err != nil {
					return stored, err
				}
				stored += n
			}
		}
	}
	return stored, nil
}

// open opens a path and reads everything.
func readAll(t reporter, path string) ([]byte, store.Info) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer a.Close()
	info := a.Info()
	data := bytes.Repeat([]byte{0xa5}, grid.Size(info.Shape)*info.DType.Size())
	if err := a.Read(context.Background(), data, storetest.All(info.Shape)); err != nil {
		t.Fatalf("%v", err)
	}
	return data, info
}

// sample draws elements, some of them zero for whole chunks.
func sample(r *rapid.T, t dtype.Type, shape, chunks []int) []byte {
	data := storetest.Elements(t, grid.Size(shape))
	item := t.Size()
	if !rapid.Bool().Draw(r, "empty chunks") {
		return data
	}
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
	for _, b := range (grid.Grid{Shape: shape, Chunks: chunks}).All() {
		if random.IntN(2) == 0 {
			continue
		}
		l, _ := strided.Of(shape, item, b.Region())
		if l.Bytes() > 0 {
			l.Scatter(data, make([]byte, l.Bytes()), 0)
		}
	}
	return data
}

// drawMeta draws an array that is chunked.
func drawMeta(r *rapid.T) store.Meta {
	m := store.Meta{
		Shape:  rapid.SliceOfN(rapid.IntRange(0, 13), 0, 4).Draw(r, "shape"),
		DType:  rapid.SampledFrom(dtype.All()).Draw(r, "dtype"),
		Codec:  rapid.SampledFrom(writtenCodecs).Draw(r, "codec"),
		Chunks: []int{},
	}
	for range m.Shape {
		m.Chunks = append(m.Chunks, rapid.IntRange(1, 8).Draw(r, "chunk"))
	}
	if rapid.Bool().Draw(r, "sharded") {
		m.Shards = []int{}
		for _, n := range m.Chunks {
			m.Shards = append(m.Shards, n*rapid.IntRange(1, 3).Draw(r, "chunks of a shard"))
		}
	}
	return m
}

// TestSessions writes arrays unit by unit, in whatever memory there is, and reads
// them back.
func TestSessions(t *testing.T) {
	defer goleak.VerifyNone(t)
	storetest.NoLeaks(t)
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		m := drawMeta(r)
		path := filepath.Join(tempDir(r), "a.zarr")
		layout, err := storage.LayoutOf(path, m)
		if err != nil {
			r.Fatalf("%v", err)
		}
		w, err := store.Create(path, m)
		if err != nil {
			r.Fatalf("%v", err)
		}
		defer w.Abort()
		data := sample(r, m.DType, m.Shape, m.Chunks)
		whole := grid.Box{Start: make([]int, len(m.Shape)), Shape: m.Shape}
		if layout.Open {
			writeOpen(r, w, data, m)
		} else {
			size := layout.Work.Whole
			if rapid.Bool().Draw(r, "stream") {
				size = layout.Work.Stream
			}
			s, err := w.(storage.CodedWriter).Session(make([]byte, size))
			if err != nil {
				r.Fatalf("%v", err)
			}
			slab := rapid.SampledFrom([]int{0, 0, 1, 64, 700}).Draw(r, "slab")
			if _, err := feed(context.Background(), s, layout, data, m.Shape, m.DType.Size(), whole, slab); err != nil {
				r.Fatalf("%v", err)
			}
			if err := s.Close(); err != nil {
				r.Fatalf("%v", err)
			}
		}
		if err := w.Commit(context.Background()); err != nil {
			r.Fatalf("%v", err)
		}
		if left := files(r, filepath.Dir(path)); len(left) > 0 && left[0] != "a.zarr" {
			r.Fatalf("left over: %v", left)
		}
		if got, _ := readAll(r, path); !bytes.Equal(got, data) {
			r.Fatalf("read %x, wrote %x", got, data)
		}
	})
}

// tempDir is a folder for one draw, removed after it.
func tempDir(r *rapid.T) string {
	dir, err := os.MkdirTemp("", "zarr")
	if err != nil {
		r.Fatalf("%v", err)
	}
	r.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// writeOpen writes boxes of any form, all at once.
func writeOpen(r *rapid.T, w store.Writer, data []byte, m store.Meta) {
	lengths := []int{}
	for range m.Shape {
		lengths = append(lengths, rapid.IntRange(1, 13).Draw(r, "box"))
	}
	var wg sync.WaitGroup
	for _, b := range (grid.Grid{Shape: m.Shape, Chunks: lengths}).All() {
		wg.Go(func() {
			if err := w.Write(context.Background(), boxOf(data, m.Shape, m.DType.Size(), b), b); err != nil {
				r.Errorf("%v", err)
			}
			if err := w.Sync(context.Background()); err != nil {
				r.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
}

// TestBoxes writes boxes of any form to an array whose chunks are encoded.
func TestBoxes(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		m := drawMeta(r)
		if m.Codec == "none" {
			m.Codec = "zstd:1"
		}
		path := filepath.Join(tempDir(r), "a.zarr")
		w, err := store.Create(path, m)
		if err != nil {
			r.Fatalf("%v", err)
		}
		defer w.Abort()
		data := storetest.Elements(m.DType, grid.Size(m.Shape))
		writeOpen(r, w, data, m)
		if err := w.Commit(context.Background()); err != nil {
			r.Fatalf("%v", err)
		}
		if got, _ := readAll(r, path); !bytes.Equal(got, data) {
			r.Fatalf("read %x, wrote %x", got, data)
		}
	})
}

// TestRegions writes a box into an array that is there.
func TestRegions(t *testing.T) {
	storetest.NoLeaks(t)
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		m := drawMeta(r)
		m.Details.Fill = rapid.SampledFrom([]string{"", "1"}).Draw(r, "fill")
		if m.DType == dtype.Bool || m.DType.Kind() == dtype.KindComplex {
			m.Details.Fill = ""
		}
		dir := tempDir(r)
		path := filepath.Join(dir, "a.zarr")
		data := sample(r, m.DType, m.Shape, m.Chunks)
		saveAll(r, path, m, data)
		if rapid.Bool().Draw(r, "missing chunks") { // then they are the fill value
			for _, name := range files(r, path) {
				if st, err := os.Stat(filepath.Join(path, name)); err == nil && st.Mode().IsRegular() && name != v3File && rapid.Bool().Draw(r, "missing") {
					os.Remove(filepath.Join(path, name))
				}
			}
			data, _ = readAll(r, path)
		}
		box := grid.Box{Start: make([]int, len(m.Shape)), Shape: make([]int, len(m.Shape))}
		for axis, n := range m.Shape {
			box.Start[axis] = rapid.IntRange(0, n).Draw(r, "start")
			box.Shape[axis] = rapid.IntRange(0, n-box.Start[axis]).Draw(r, "length")
		}
		fresh := storetest.Elements(m.DType, grid.Size(m.Shape)+1)
		region := store.Meta{Shape: m.Shape, DType: m.DType, Region: &box}
		layout, err := storage.LayoutOf(path, region)
		if err != nil {
			r.Fatalf("%v", err)
		}
		w, err := store.Create(path, region)
		if err != nil {
			r.Fatalf("%v", err)
		}
		defer w.Abort()
		if rapid.Bool().Draw(r, "stream") {
			layout.Work.Whole = layout.Work.Stream
		}
		for range 2 { // what is done again changes nothing
			s, err := w.(storage.CodedWriter).Session(make([]byte, layout.Work.Whole))
			if err != nil {
				r.Fatalf("%v", err)
			}
			slab := rapid.SampledFrom([]int{0, 64}).Draw(r, "slab")
			if _, err := feed(context.Background(), s, layout, fresh, m.Shape, m.DType.Size(), box, slab); err != nil {
				r.Fatalf("%v", err)
			}
			if err := s.Close(); err != nil {
				r.Fatalf("%v", err)
			}
			if err := w.Sync(context.Background()); err != nil {
				r.Fatalf("%v", err)
			}
		}
		if err := w.Commit(context.Background()); err != nil {
			r.Fatalf("%v", err)
		}
		if l, _ := strided.Of(m.Shape, m.DType.Size(), box.Region()); l.Bytes() > 0 {
			l.Scatter(data, boxOf(fresh, m.Shape, m.DType.Size(), box), 0)
		}
		if got, _ := readAll(r, path); !bytes.Equal(got, data) {
			r.Fatalf("read %x, want %x", got, data)
		}
		if left := files(r, dir); left[0] != "a.zarr" {
			r.Fatalf("left over: %v", left)
		}
	})
}

// saveAll stores a whole array.
func saveAll(t reporter, path string, m store.Meta, data []byte) {
	t.Helper()
	w, err := store.Create(path, m)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer w.Abort()
	if err := w.Write(context.Background(), data, grid.Box{Start: make([]int, len(m.Shape)), Shape: m.Shape}); err != nil {
		t.Fatalf("%v", err)
	}
	if err := w.Commit(context.Background()); err != nil {
		t.Fatalf("%v", err)
	}
}
