package oocore_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
)

// BenchmarkTiles has 50 requests a second for tiles, alone and together with a run over 2 GB, in one pool: the
// metrics are milliseconds from when a request was due, and how many had another answer than a tile. In a
// container of 512 MiB: go test -c ./oocore, and there -test.run=^$ -test.bench=Tiles -test.benchtime=1000x.
func BenchmarkTiles(b *testing.B) {
	dir := b.TempDir()
	const side = 46_000 // 2.1 GB
	picture, err := oocore.Random(oocore.Float32, 1, side, side).Mul(255).AsType(oocore.Uint8).Save(b.Context(), filepath.Join(dir, "picture.zarr"), oocore.Chunks(512, 512), oocore.Memory("200MiB"))
	if err != nil {
		b.Fatal(err)
	}
	for _, with := range []string{"alone", "run"} {
		b.Run(with, func(b *testing.B) {
			pool := oocore.NewPool("400MiB")
			server := httptest.NewServer(&tiles{picture, pool})
			defer server.Close()
			stop, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				for i := 0; with == "run"; i++ {
					select {
					case <-stop:
						ended <- nil
						return
					default:
					}
					if _, err := picture.Add(1).Save(b.Context(), filepath.Join(dir, "o.zarr"), oocore.In(pool), oocore.Memory("128MiB"), oocore.Workers(1), oocore.Fresh()); err != nil {
						ended <- err
						return
					}
				}
				ended <- nil
			}()
			const every = 20 * time.Millisecond
			took := make([]time.Duration, b.N)
			var mu sync.Mutex
			failed := 0
			var group sync.WaitGroup
			begun := time.Now()
			for i := range b.N {
				due := begun.Add(time.Duration(i) * every)
				time.Sleep(time.Until(due))
				group.Go(func() {
					response, err := http.Get(fmt.Sprintf("%s/tile?z=%d&y=%d&x=%d", server.URL, i%3, i%40, i*7%40))
					good := err == nil && response.StatusCode == http.StatusOK
					if err == nil {
						_, err = io.Copy(io.Discard, response.Body)
						response.Body.Close()
					}
					took[i] = time.Since(due)
					if !good || err != nil {
						mu.Lock()
						failed++
						mu.Unlock()
					}
				})
			}
			group.Wait()
			close(stop)
			if err := <-ended; err != nil {
				b.Error(err)
			}
			slices.Sort(took)
			milliseconds := func(part float64) float64 { return float64(took[int(part*float64(b.N-1))]) / 1e6 }
			b.ReportMetric(milliseconds(.5), "p50-ms")
			b.ReportMetric(milliseconds(.99), "p99-ms")
			b.ReportMetric(float64(failed), "failed")
		})
	}
}
