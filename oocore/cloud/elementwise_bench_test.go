package cloud_test

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cloud"
)

// BenchmarkElementwise computes sqrt of 2 GiB from Zarr to Zarr, in a folder and by
// an S3 server on this machine, a process of its own, that takes 20 ms more for each
// request. Each iteration does both. It reports medians of seconds, and what this
// process (…-cpu-s) and the server use of the processors.
func BenchmarkElementwise(b *testing.B) {
	const rows, cols = 1 << 19, 1 << 10 // 2 GiB of float32
	ctx := context.Background()
	wave := oocore.Arange(0, rows*cols, 1).Reshape(rows, cols).AsType(oocore.Float32).Div(float32(1e5)).Sin().Add(float32(2))
	for _, codec := range []string{"zstd:1", "none"} {
		b.Run(codec, func(b *testing.B) {
			b.Setenv("GONBEXT_RUNS", b.TempDir())
			b.Setenv("XDG_CACHE_HOME", b.TempDir())
			usage := cloud.StartSlow(b, 20*time.Millisecond)
			opts := []oocore.Option{oocore.Memory("512MiB"), oocore.Fresh(), oocore.Chunks(1024, cols), oocore.Codec(codec)}
			places := []string{b.TempDir(), "s3://data"}
			root := func(place string) {
				if _, err := oocore.Open(place+"/x.zarr").Sqrt().Save(ctx, place+"/y.zarr", opts...); err != nil {
					b.Fatal(err)
				}
			}
			for _, place := range places {
				if _, err := wave.Save(ctx, filepath.ToSlash(place)+"/x.zarr", opts...); err != nil {
					b.Fatal(err)
				}
				root(place) // the ones that are measured replace an array
			}
			var took, used [2][]float64
			var server []float64
			var last cloud.Usage
			for b.Loop() {
				for i, place := range places {
					usage()
					start, cpu := time.Now(), processor()
					root(place)
					took[i] = append(took[i], time.Since(start).Seconds())
					used[i] = append(used[i], (processor() - cpu).Seconds())
				}
				last = usage()
				server = append(server, last.Seconds)
			}
			b.Logf("requests of one run: %v, at most %d at once", last.Requests, last.Most)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]), "folder-s")
			b.ReportMetric(median(took[1]), "s3-s")
			b.ReportMetric(median(took[1])/median(took[0]), "s3/folder")
			b.ReportMetric(median(used[0]), "folder-cpu-s")
			b.ReportMetric(median(used[1]), "s3-cpu-s")
			b.ReportMetric(median(server), "server-cpu-s")
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// processor is the time that this process has used of processors.
func processor() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
