package zarr

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// smooth is a picture-like field of float32, of rows × columns.
func smooth(rows, columns int) []byte {
	data := make([]byte, 0, 4*rows*columns)
	for y := range rows {
		for x := range columns {
			v := 100*math.Sin(float64(x)/97)*math.Cos(float64(y)/71) + float64(x+y)/50
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
	}
	return data
}

// BenchmarkWrite writes 1 GB with two goroutines, the disk's syncs included.
func BenchmarkWrite(b *testing.B) {
	const rows, columns, block = 1 << 18, 1024, 1 << 14
	shape := []int{rows, columns}
	field := smooth(block, columns)
	for _, c := range []struct {
		codec  string
		shards []int
		chunk  int
	}{
		{"none", nil, 1024}, {"zstd:1", nil, 1024}, {"zstd:3", nil, 1024}, {"blosc:lz4:5:shuffle", nil, 1024},
		{"zstd:1", []int{64 * 128, 1024}, 128}, {"none", []int{64 * 128, 1024}, 128},
	} {
		b.Run(fmt.Sprintf("%s/shards=%v", c.codec, c.shards != nil), func(b *testing.B) {
			dir := b.TempDir()
			if at := os.Getenv("GONBEXT_BENCH_DIR"); at != "" {
				dir = at
			}
			m := store.Meta{Shape: shape, DType: dtype.Float32, Chunks: []int{c.chunk, columns}, Shards: c.shards, Codec: c.codec}
			b.SetBytes(rows * columns * 4)
			for b.Loop() {
				writeField(b, filepath.Join(dir, "bench.zarr"), m, field)
			}
			os.RemoveAll(filepath.Join(dir, "bench.zarr"))
		})
	}
}

// writeField writes an array that repeats a block of rows, as two workers of the
// executor do.
func writeField(b *testing.B, path string, m store.Meta, field []byte) {
	ctx := context.Background()
	l, err := storage.LayoutOf(path, m)
	if err != nil {
		b.Fatal(err)
	}
	w, err := store.Create(path, m)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	units := grid.Grid{Shape: m.Shape, Chunks: l.Unit}
	next := make(chan grid.Box)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			var s store.WriteSession
			if !l.Open {
				if s, err = w.(storage.CodedWriter).Session(make([]byte, l.Work.Whole)); err != nil {
					b.Error(err)
					return
				}
				defer s.Close()
			}
			for unit := range next {
				for c := range unit.Align([]int{0, 0}, m.Chunks) {
					at := c.Start[0] * m.Shape[1] * 4 % len(field)
					p := field[at : at+c.Size()*4]
					if s != nil {
						_, err = s.Write(ctx, p, c)
					} else {
						err = w.Write(ctx, p, c)
					}
					if err != nil {
						b.Error(err)
					}
				}
			}
		})
	}
	syncs := make(chan bool, 1)
	wg.Go(func() {
		for range syncs {
			if err := w.Sync(ctx); err != nil {
				b.Error(err)
			}
		}
	})
	for i, unit := range units.All() {
		next <- unit
		if i%32 == 31 {
			select {
			case syncs <- true:
			default: // one is waiting already
			}
		}
	}
	close(next)
	close(syncs)
	wg.Wait()
	if err := w.Commit(ctx); err != nil {
		b.Fatal(err)
	}
}
