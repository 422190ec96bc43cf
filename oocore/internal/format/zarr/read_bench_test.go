package zarr

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// BenchmarkRead reads 128 MB chunk by chunk, in chunks of 4 MB or in shards of 64,
// from the page cache.
func BenchmarkRead(b *testing.B) {
	const rows, columns = 8192, 4096
	shape := []int{rows, columns}
	field := smooth(rows, columns)
	for _, c := range []struct {
		codec          string
		chunks, shards []int
	}{
		{"none", []int{1024, 1024}, nil}, {"zstd:1", []int{1024, 1024}, nil}, {"zstd:3", []int{1024, 1024}, nil},
		{"blosc:lz4:5:shuffle", []int{1024, 1024}, nil}, {"zstd:1", []int{256, 256}, []int{2048, 2048}},
	} {
		path := filepath.Join(b.TempDir(), "bench.zarr")
		m := store.Meta{Shape: shape, DType: dtype.Float32, Chunks: c.chunks, Shards: c.shards, Codec: c.codec}
		saveAll(b, path, m, field)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/shards=%v/workers=%d", c.codec, c.shards != nil, workers), func(b *testing.B) {
				b.SetBytes(rows * columns * 4)
				for b.Loop() {
					readChunks(b, path, workers)
				}
			})
		}
	}
}

// readChunks reads an array's chunks with some workers.
func readChunks(b *testing.B, path string, workers int) {
	a, err := store.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	info := a.Info()
	unit := info.Chunks
	if info.Shards != nil {
		unit = info.Shards
	}
	units := grid.Grid{Shape: info.Shape, Chunks: unit}
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			s, err := a.(storage.Coded).Session(make([]byte, info.Work.Whole))
			if err != nil {
				b.Error(err)
				return
			}
			defer s.Close()
			dst := make([]byte, grid.Size(info.Chunks)*4)
			for i := worker; i < units.Len(); i += workers {
				for box := range units.Box(i).Split(info.Chunks) {
					region := storetest.All(box.Shape)
					region.Start = box.Start
					if _, err := s.Read(b.Context(), dst[:box.Size()*4], region); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
