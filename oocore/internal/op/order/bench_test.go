package order

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A row of float32, as Runs sorts it, and pieces of runs, as Merge merges them: with the
// place and the scratch of a task.
func BenchmarkSortRow(b *testing.B) {
	rng := testcases.Rand(b)
	const n = rowBytes / 4
	a := arena.New(4 * rowBytes)
	defer a.Close()
	var buffers [3][]byte
	for i := range buffers {
		buffer, err := a.Alloc(arena.Tag{}, rowBytes)
		if err != nil {
			b.Fatal(err)
		}
		defer buffer.Free()
		buffers[i] = buffer.Data
	}
	x, room := dtype.Slice[float32](buffers[0]), make([]byte, mergeRoom)
	r := Sorting{Type: dtype.Float32}.records(n)
	for _, c := range []struct {
		name string
		at   func(i int) float32
		room int
	}{
		{"uniform", func(int) float32 { return rng.Float32() }, n},
		{"normal", func(int) float32 { return float32(rng.NormFloat64()) }, n},
		{"merged", func(int) float32 { return 0.7 + rng.Float32()/240 }, n},
		{"in place", func(int) float32 { return rng.Float32() }, n / 4},
	} {
		for i := range x {
			x[i] = c.at(i)
		}
		for at := range 240 {
			if c.name == "merged" {
				slices.Sort(x[at*n/240 : (at+1)*n/240])
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(rowBytes)
			for b.Loop() {
				r.load(buffers[1], buffers[0], 0, 1, n, 0)
				if c.name == "merged" {
					from, to := make([]int64, 240), make([]int64, 240)
					for at := range int64(240) {
						from[at], to[at] = at*n/240, (at+1)*n/240
					}
					r.merge(buffers[1], buffers[2], room, from, to)
				} else {
					r.sort(buffers[1], buffers[2][:4*c.room])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}
