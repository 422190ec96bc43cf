package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// numbers is an array in a file, of float64 from 0 on.
func numbers(t *testing.T, shape ...int) (*oocore.Array, []float64) {
	t.Helper()
	n := 1
	for _, length := range shape {
		n *= length
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	a := saved(t, oocore.FromSlice(v, shape...), filepath.Join(t.TempDir(), "x.npy"))
	return a, v
}

// A map to another shape and type: each block of 3×4 becomes its sum and its block's
// coordinates.
func TestMapChunksToAnotherShape(t *testing.T) {
	a, v := numbers(t, 30, 40)
	sums := oocore.MapChunks(func(dst []float32, src []float64, at oocore.Block) error {
		for _, x := range src {
			dst[0] += float32(x)
		}
		dst[1], dst[2] = float32(at.Start[0]), float32(at.Start[1])
		return nil
	}, a, oocore.MapOptions{Shape: []int{10, 10, 3}, Chunks: []int{1, 1, 3}, Source: func(_ int, at oocore.Block) oocore.Block {
		return oocore.Block{Start: []int{3 * at.Start[0], 4 * at.Start[1]}, Shape: []int{3 * at.Shape[0], 4 * at.Shape[1]}}
	}})
	got := collect[float32](t, sums)
	for i := range 10 {
		for j := range 10 {
			want := 0.0
			for r := range 3 {
				for c := range 4 {
					want += v[(3*i+r)*40+4*j+c]
				}
			}
			if g := got[(i*10+j)*3:][:3]; g[0] != float32(want) || g[1] != float32(i) || g[2] != float32(j) {
				t.Fatalf("block %d, %d is %v, want %v", i, j, g, want)
			}
		}
	}
}

// Several arrays are broadcast, and each block has its own part of each.
func TestMapAll(t *testing.T) {
	a, v := numbers(t, 50, 70)
	row := a.Slice("0")
	scaled := oocore.MapAll(func(dst []bool, src [][]float64, at oocore.Block) error {
		if len(src) != 2 || len(src[0]) != at.Size() || len(src[1]) != at.Size() || at.Size() > 8*9 {
			return fmt.Errorf("%d and %d elements for %s", len(src[0]), len(src[1]), at)
		}
		for i := range dst {
			dst[i] = src[0][i] > 10*src[1][i]
		}
		return nil
	}, []*oocore.Array{a, row}, oocore.MapOptions{Chunks: []int{8, 9}})
	for i, got := range collect[bool](t, scaled) {
		if want := v[i] > 10*v[i%70]; got != want {
			t.Fatalf("element %d is %v", i, got)
		}
	}
}

// A function that averages each element's surroundings sees no seam, in chunks of any
// form, and what lies beyond the edges is the boundary's.
func TestOverlapHasNoSeam(t *testing.T) {
	rng := testcases.Rand(t)
	const rows, cols = 37, 53
	a, v := numbers(t, rows, cols)
	beyond := map[oocore.Boundary]func(i, n int) int{
		oocore.BoundaryReflect: func(i, n int) int {
			if i < 0 {
				return -1 - i
			}
			return 2*n - 1 - i
		},
		oocore.BoundaryMirror: func(i, n int) int {
			if i < 0 {
				return -i
			}
			return 2*n - 2 - i
		},
		oocore.BoundaryNearest:  func(i, n int) int { return min(max(i, 0), n-1) },
		oocore.BoundaryWrap:     func(i, n int) int { return (i + n) % n },
		oocore.BoundaryConstant: func(int, int) int { return -1 },
		oocore.BoundaryNone:     func(int, int) int { return -1 },
	}
	const depth0, depth1 = 2, 5
	for mode, outside := range beyond {
		for range 4 {
			chunks := []int{1 + rng.IntN(rows), 1 + rng.IntN(cols)}
			var border atomic.Int64
			sums := oocore.Overlap(func(dst, src []float64, at oocore.Block) error {
				if at.Start[0] < 0 || at.Start[1] < 0 || at.Start[0]+at.Shape[0] > rows {
					border.Add(1)
				}
				for i := range at.Shape[0] {
					for j := range at.Shape[1] {
						sum := 0.0
						for r := max(i-depth0, 0); r <= min(i+depth0, at.Shape[0]-1); r++ {
							for c := max(j-depth1, 0); c <= min(j+depth1, at.Shape[1]-1); c++ {
								sum += src[r*at.Shape[1]+c]
							}
						}
						dst[i*at.Shape[1]+j] = sum
					}
				}
				return nil
			}, a, oocore.OverlapOptions{Depth: []int{depth0, depth1}, Boundary: mode, Value: 7, Chunks: chunks})
			got := collect[float64](t, sums)
			if (border.Load() > 0) == (mode == oocore.BoundaryNone) {
				t.Errorf("%s: %d chunks go beyond the array", mode, border.Load())
			}
			for i := range rows {
				for j := range cols {
					want := 0.0
					for r := i - depth0; r <= i+depth0; r++ {
						for c := j - depth1; c <= j+depth1; c++ {
							y, x := r, c
							if y < 0 || y >= rows {
								y = outside(y, rows)
							}
							if x < 0 || x >= cols {
								x = outside(x, cols)
							}
							switch {
							case y >= 0 && x >= 0:
								want += v[y*cols+x]
							case mode == oocore.BoundaryConstant:
								want += 7
							}
						}
					}
					if got[i*cols+j] != want {
						t.Fatalf("%s in chunks of %v: element %d, %d is %v, want %v", mode, chunks, i, j, got[i*cols+j], want)
					}
				}
			}
		}
	}
}

// Lines along every axis, of the same length, shorter and longer ones.
func TestApplyAlong(t *testing.T) {
	a, v := numbers(t, 6, 7, 8)
	for axis, n := range []int{6, 7, 8} {
		for _, length := range []int{-1, 1, 11} {
			to := length
			if length < 0 {
				to = n
			}
			lines := oocore.ApplyAlong(func(dst []float32, line []float64) error {
				if len(line) != n || len(dst) != to {
					return fmt.Errorf("a line of %d becomes one of %d", len(line), len(dst))
				}
				for i := range dst {
					dst[i] = float32(line[(i+1)%n])
				}
				return nil
			}, a, axis, length)
			got := collect[float32](t, lines)
			shape := []int{6, 7, 8}
			shape[axis] = to
			if !slices.Equal(lines.Shape(), shape) {
				t.Fatalf("lines along %d have shape %v", axis, lines.Shape())
			}
			for i := range got {
				at := []int{i / shape[2] / shape[1], i / shape[2] % shape[1], i % shape[2]}
				at[axis] = (at[axis] + 1) % n
				if want := float32(v[(at[0]*7+at[1])*8+at[2]]); got[i] != want {
					t.Fatalf("along %d, %d long: element %d is %v, want %v", axis, length, i, got[i], want)
				}
			}
		}
	}
}

// Batches along every axis hold the array's parts in order, the last one short, of an
// array whose mean is computed once.
func TestBatches(t *testing.T) {
	defer goleak.VerifyNone(t)
	a, v := numbers(t, 23, 10)
	shape := []int{23, 10}
	centred := a.Sub(a.Mean())
	for axis, n := range shape {
		for _, size := range []int{1, 4, n, n + 1} {
			next := 0
			for b, err := range oocore.Batches[float64](t.Context(), centred, axis, size, oocore.Memory("256MiB")) {
				if err != nil {
					t.Fatal(err)
				}
				if b.Index*size != next || b.At.Start[axis] != next || b.At.Shape[axis] != min(size, n-next) || len(b.Data) != b.At.Size() {
					t.Fatalf("batch %d of %d along %d is %v with %d elements", b.Index, size, axis, b.At, len(b.Data))
				}
				next += b.At.Shape[axis]
				for i, got := range b.Data {
					r, c := b.At.Start[0]+i/b.At.Shape[1], b.At.Start[1]+i%b.At.Shape[1]
					if want := v[r*10+c] - 114.5; got != want {
						t.Fatalf("element %d, %d is %v, want %v", r, c, got, want)
					}
				}
			}
			if next != n {
				t.Fatalf("batches of %d along %d end at %d", size, axis, next)
			}
		}
	}
	for range oocore.Batches[float64](t.Context(), a.Slice("0:0"), 0, 3) {
		t.Error("an empty array has a batch")
	}
}

// Leaving a loop, by break or panic, leaves no goroutine, and so does a cancelled context,
// whose error comes last.
func TestBatchesBrokenOff(t *testing.T) {
	defer goleak.VerifyNone(t)
	a, _ := numbers(t, 100, 10)
	seen := 0
	for _, err := range oocore.Batches[float64](t.Context(), a, 0, 3) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 5 {
			break
		}
	}
	func() {
		defer func() {
			if recover() != "enough" {
				t.Error("the loop's panic is lost")
			}
		}()
		for range oocore.Batches[float64](t.Context(), a, 0, 3) {
			panic("enough")
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	seen = 0
	for _, err := range oocore.Batches[float64](ctx, a, 0, 3) {
		if last = err; err == nil {
			seen++
		}
		cancel()
	}
	if !errors.Is(last, context.Canceled) || seen == 0 || seen > 4 {
		t.Errorf("cancelled: %d batches, then %v", seen, last)
	}
}

// Batches that do not fit are rejected before anything is read, with what would do.
func TestBatchesTooLarge(t *testing.T) {
	for _, err := range oocore.Batches[float64](t.Context(), oocore.Full(1.0, 1<<24), 0, 1<<24, oocore.Memory("96MiB")) {
		if short, ok := errors.AsType[*oocore.MemoryError](err); !ok || short.Need < 128<<20 || short.Need > 192<<20 {
			t.Errorf("batches of 128 MiB in 96 MiB: %v", err)
		}
	}
}

func TestMapBatches(t *testing.T) {
	a, v := numbers(t, 23, 10)
	out := oocore.MapBatches(func(dst []int32, b oocore.Batch[float64]) error {
		for i, x := range b.Data {
			dst[i] = int32(x) + int32(b.Index)*1000
		}
		return nil
	}, a, 1, 4)
	for i, got := range collect[int32](t, out) {
		if want := int32(v[i]) + int32(i%10/4)*1000; got != want {
			t.Fatalf("element %d is %d, want %d", i, got, want)
		}
	}
}

// What a function does wrong ends the run with an error that says what, and leaves no
// output.
func TestFunctionsThatFail(t *testing.T) {
	a, _ := numbers(t, 64, 64)
	var kept [][]float64
	chunks := oocore.MapOptions{Chunks: []int{8, 64}}
	failing := map[string]*oocore.Array{
		"the function panicked: boom": oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error { panic("boom") }, a, chunks),
		"the function panicked: line": oocore.ApplyAlong(func(_, _ []float64) error { panic("line") }, a, 0, -1),
		"out of paper":                oocore.Overlap(func(_, _ []float64, _ oocore.Block) error { return errors.New("out of paper") }, a, oocore.OverlapOptions{Depth: []int{1}}),
		"index out of range [64]": oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
			dst[0] = src[len(dst)] // more than there is
			return nil
		}, a, oocore.MapOptions{Chunks: []int{1, 64}}),
		"the function used its memory after it had returned, when that held another chunk: copy what is needed later": oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
			kept = append(kept, src[1:2])
			copy(dst, src)
			return nil
		}, a, oocore.MapOptions{Chunks: []int{64, 64}}),
		"used its memory": oocore.ApplyAlong(func(dst, _ []float64) error { kept = append(kept, dst); return nil }, a, 1, -1),
		"which is longer than that of the first chunk": oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error { return nil }, a,
			oocore.MapOptions{Shape: []int{4}, Chunks: []int{1}, Source: func(_ int, at oocore.Block) oocore.Block {
				return oocore.Block{Start: []int{0, 0}, Shape: []int{1 + at.Start[0], 1}}
			}}),
	}
	for want, bad := range failing {
		path := filepath.Join(t.TempDir(), "y.npy")
		_, err := bad.Save(t.Context(), path, oocore.Memory("256MiB"), oocore.Workers(1))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "chunkwise_test.go:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
			t.Errorf("%s left %v", want, left)
		}
	}
	var last error
	for b, err := range oocore.Batches[float64](t.Context(), a, 0, 8) {
		kept, last = append(kept, b.Data), err
	}
	if last == nil || !strings.Contains(last.Error(), "the loop used a batch") {
		t.Errorf("a loop keeps its batches: %v", last)
	}
	runtime.KeepAlive(kept)
}

// What is invalid is rejected when the array is built, with the line that built it.
func TestChunkwiseRejections(t *testing.T) {
	a, _ := numbers(t, 6, 8)
	same := func(_, _ []float64, _ oocore.Block) error { return nil }
	for want, bad := range map[string]*oocore.Array{
		"map_chunks: a result of shape (3, 4) from inputs of shape (6, 8) needs Source": oocore.MapChunks(same, a, oocore.MapOptions{Shape: []int{3, 4}}),
		"map_chunks: has a Source and no Shape":                                         oocore.MapChunks(same, a, oocore.MapOptions{Source: func(_ int, at oocore.Block) oocore.Block { return at }}),
		"map_chunks: its Source panicked":                                               oocore.MapChunks(same, a, oocore.MapOptions{Shape: []int{3}, Source: func(_ int, at oocore.Block) oocore.Block { panic(1) }}),
		"map_chunks: its Source gives [0:7, 0:8]": oocore.MapChunks(same, a, oocore.MapOptions{Shape: []int{3}, Source: func(_ int, at oocore.Block) oocore.Block {
			return oocore.Block{Start: []int{0, 0}, Shape: []int{7, 8}}
		}}),
		"map_chunks: chunks (0, 8) have a length below one":              oocore.MapChunks(same, a, oocore.MapOptions{Chunks: []int{0, 8}}),
		"map_chunks: the function takes float64 elements, the array has": oocore.MapAll(func(_ []float64, _ [][]float64, _ oocore.Block) error { return nil }, []*oocore.Array{a, a.AsType(oocore.Float32)}, oocore.MapOptions{}),
		"map_chunks: shapes (6, 8) and (8, 6) do not broadcast":          oocore.MapAll(func(_ []float64, _ [][]float64, _ oocore.Block) error { return nil }, []*oocore.Array{a, a.T()}, oocore.MapOptions{}),
		"overlap: the depth 7 along axis 0 is more than the array's":     oocore.Overlap(same, a, oocore.OverlapOptions{Depth: []int{7, 0}}),
		"overlap: the depth -1 along axis 0 is negative":                 oocore.Overlap(same, a, oocore.OverlapOptions{Depth: []int{-1}}),
		"overlap: mode \"symmetric\" is not one of":                      oocore.Overlap(same, a, oocore.OverlapOptions{Depth: []int{1}, Boundary: "symmetric"}),
		"overlap: 3 depths are given for 2 dimensions":                   oocore.Overlap(same, a, oocore.OverlapOptions{Depth: []int{1, 2, 3}}),
		"apply_along: axis 2 is out of bounds for array of dimension 2":  oocore.ApplyAlong(func(_, _ []float64) error { return nil }, a, 2, -1),
		"apply_along: the function is nil":                               oocore.ApplyAlong[float64, float64](nil, a, 0, 1),
		"map_batches: a batch size of 0":                                 oocore.MapBatches(func(_ []float64, _ oocore.Batch[float64]) error { return nil }, a, 0, 0),
	} {
		err := bad.Err()
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "(chunkwise_test.go:") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, err := range oocore.Batches[float32](t.Context(), a, 0, 3) {
		if err == nil || !strings.HasPrefix(err.Error(), "batches: asks for Batches[float32] of a float64 array") {
			t.Error(err)
		}
	}
	for _, err := range oocore.Batches[float64](t.Context(), a, 3, 3) {
		if err == nil || !strings.HasPrefix(err.Error(), "batches: axis 3 is out of bounds") || !strings.Contains(err.Error(), "(chunkwise_test.go:") {
			t.Error(err)
		}
	}
}

// A run has more processors of Go's scheduler than cores, so that none waits for a C library, and gives them back.
func TestRunHasProcessorsForItsSlots(t *testing.T) {
	workers := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	a, _ := numbers(t, 4*workers+4, 100)
	var seen atomic.Int64
	twice := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		seen.Store(int64(runtime.GOMAXPROCS(0)))
		copy(dst, src)
		return nil
	}, a, oocore.MapOptions{Chunks: []int{1, 100}})
	if _, err := oocore.Collect[float64](t.Context(), twice, oocore.Memory("1GiB")); err != nil {
		t.Fatal(err)
	}
	if got, now := int(seen.Load()), runtime.GOMAXPROCS(0); got != 2*workers+2 || now != workers {
		t.Errorf("%d processors in a run, and %d after it, for %d cores", got, now, workers)
	}
}
