package oocore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
)

// countingRows are n rows of length elements that count from zero.
func countingRows(n, length int) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		row := make([]float64, length)
		for i := range n {
			for j := range row {
				row[j] = float64(i*length + j)
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// checkCounts fails unless an array counts from zero.
func checkCounts(t *testing.T, name string, a *oocore.Array, err error, shape ...int) {
	t.Helper()
	if err != nil || !slices.Equal(a.Shape(), shape) {
		t.Errorf("%s: %v, want shape %v: %v", name, a, shape, err)
		return
	}
	for i, v := range collect[float64](t, a) {
		if v != float64(i) {
			t.Errorf("%s: element %d is %v", name, i, v)
			return
		}
	}
}

// checkNothing fails where a folder has anything, staging folders and temporary files included.
func checkNothing(t *testing.T, name, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%s left %v: %v", name, entries, err)
	}
}

var writtenFormats = []string{"x.npy", "x.bin", "x.zarr", "x.npz#a", "x.safetensors#a", "x.npy?order=F&dtype=>f8"}

// Rows of every count, in buffers or larger than these, become the array, in every format.
func TestRowsBecomeArray(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	for _, path := range writtenFormats {
		for _, c := range []struct{ rows, length int }{{1, 1}, {7, 3}, {1000, 300}, {3, 200_000}} {
			dir := t.TempDir()
			a, err := oocore.FromSeq(t.Context(), countingRows(c.rows, c.length), filepath.Join(dir, path))
			checkCounts(t, path, a, err, c.rows, c.length)

			w, err := oocore.Create[float64](t.Context(), filepath.Join(dir, path), []int{c.rows, c.length})
			if err != nil {
				t.Fatal(err)
			}
			for row := range countingRows(c.rows, c.length) {
				if err := w.Append(row); err != nil {
					t.Fatal(err)
				}
			}
			a, err = w.Commit()
			checkCounts(t, path+" of a known length", a, errors.Join(err, w.Abort()), c.rows, c.length)
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("%s: %v are there: %v", path, entries, err)
			}
		}
	}
}

// Blocks in any order, several at once, and rows of chunks with a codec.
func TestBlocksBecomeArray(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	for _, path := range writtenFormats {
		w, err := oocore.Create[float64](t.Context(), filepath.Join(t.TempDir(), path), []int{40, 30})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for at := range (oocore.Block{Start: []int{0, 0}, Shape: []int{40, 30}}).Split([]int{9, 7}) {
			all.Go(func() {
				var v []float64
				for i := range at.Shape[0] {
					for j := range at.Shape[1] {
						v = append(v, float64((at.Start[0]+i)*30+at.Start[1]+j))
					}
				}
				if err := w.WriteBlock(v, at); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		a, err := w.Commit()
		checkCounts(t, path, a, err, 40, 30)
	}
	dir := t.TempDir()
	a, err := oocore.FromSeq(t.Context(), countingRows(100, 8), filepath.Join(dir, "x.zarr"), oocore.Chunks(16, 4), oocore.Codec("zstd:3"), oocore.DimNames("time", "place"))
	checkCounts(t, "chunks", a, err, 100, 8)
	if !slices.Equal(a.Chunks(), []int{16, 4}) || !slices.Equal(a.DimNames(), []string{"time", "place"}) {
		t.Errorf("chunks %v, names %q", a.Chunks(), a.DimNames())
	}
}

// What a program does wrong is one sentence at its line, leaves nothing, and what was under the name stays.
func TestCreateRejects(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	create := func(shape []int, opts ...oocore.Option) func(f func(w *oocore.Writer[float64]) error) error {
		return func(f func(w *oocore.Writer[float64]) error) error {
			w, err := oocore.Create[float64](t.Context(), filepath.Join(dir, "x.npy"), shape, opts...)
			if err != nil {
				return err
			}
			if err := f(w); err != nil {
				return errors.Join(err, w.Abort())
			}
			_, err = w.Commit()
			return err
		}
	}
	appends := func(n int) func(w *oocore.Writer[float64]) error {
		return func(w *oocore.Writer[float64]) error { return w.Append(make([]float64, n)) }
	}
	known, open := create([]int{4, 3}), create([]int{-1, 3})
	broken := errors.New("the sensor is off")
	seq := func(rows iter.Seq2[[]float64, error]) error {
		_, err := oocore.FromSeq(t.Context(), rows, filepath.Join(dir, "x.npy"))
		return err
	}
	for words, err := range map[string]error{
		"4 elements are no whole rows of (3,): each has 3": known(appends(4)),
		"row 4 is beyond the shape (4, 3)":                 known(appends(15)),
		"9 of 12 elements of shape (4, 3) were written":    known(appends(9)),
		"0 of 12 elements":                                 known(appends(0)),
		"region reaches from 3 to 4 along axis 0 of shape (4, 3)": known(func(w *oocore.Writer[float64]) error {
			return w.WriteBlock(make([]float64, 6), oocore.Block{Start: []int{3, 0}, Shape: []int{2, 3}})
		}),
		"has 3 elements, not 2": known(func(w *oocore.Writer[float64]) error {
			return w.WriteBlock(make([]float64, 2), oocore.Block{Start: []int{0, 0}, Shape: []int{1, 3}})
		}),
		"blocks overlap": known(func(w *oocore.Writer[float64]) error { // rows 0 to 2 and 1 to 3, where 3 elements are missing
			half := func(from int) error {
				return w.WriteBlock(make([]float64, 6), oocore.Block{Start: []int{from, 0}, Shape: []int{2, 3}})
			}
			return errors.Join(half(0), half(1))
		}),
		"give Create its length": open(func(w *oocore.Writer[float64]) error {
			return w.WriteBlock(make([]float64, 3), oocore.Block{Start: []int{0, 0}, Shape: []int{1, 3}})
		}),
		"file already closed":   known(func(w *oocore.Writer[float64]) error { return errors.Join(w.Abort(), w.Append(make([]float64, 3))) }),
		"and so no rows":        create([]int{})(appends(1)),
		"a row has no elements": create([]int{-1, 0})(appends(0)),
		"negative length":       create([]int{3, -1})(appends(0)),
		"no codec":              create([]int{4, 3}, oocore.Codec("zstd"))(appends(12)),
		"codec":                 create([]int{4, 3}, oocore.Codec("zstdd"))(appends(12)),
		"Region":                create([]int{4, 3}, oocore.Region("0:4"))(appends(12)),
		"row 2: the sensor is off": seq(func(yield func([]float64, error) bool) {
			_ = yield([]float64{1}, nil) && yield([]float64{1}, nil) && yield(nil, broken)
		}),
		"row 1: it has 2 elements, the first has 1": seq(func(yield func([]float64, error) bool) {
			_ = yield([]float64{1}, nil) && yield([]float64{1, 2}, nil)
		}),
		"the iterator gives no rows": seq(func(func([]float64, error) bool) {}),
		"the iterator is nil":        seq(nil),
	} {
		if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "write_test.go") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, words)
		}
		checkNothing(t, words, dir)
	}
	if _, err := oocore.Create[float64](t.Context(), filepath.Join(dir, "missing", "x.npy"), []int{1}); err == nil || !strings.Contains(err.Error(), "does not exist: make it first") {
		t.Errorf("a folder that is missing: %v", err)
	}
	if _, err := oocore.Create[float64](t.Context(), "", []int{1}); err == nil || !strings.Contains(err.Error(), "the path is empty") {
		t.Errorf("no path: %v", err)
	}
	if err := seq(countingRows(3, 2)); err != nil {
		t.Fatal(err)
	}
	if err := open(func(*oocore.Writer[float64]) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	checkCounts(t, "what was there", oocore.Open(filepath.Join(dir, "x.npy")), nil, 3, 2)
}

// A producer that never ends is ended by the context, and one that panics is not hidden.
func TestEndlessRowsEndWithContext(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	for _, path := range []string{"x.npy", "x.zarr"} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := oocore.FromSeq(ctx, func(yield func([]float64, error) bool) {
			for yield(make([]float64, 1000), nil) {
				if n++; n == 3000 {
					cancel()
				}
			}
		}, filepath.Join(dir, path))
		if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", path, err)
		}
		checkNothing(t, path, dir)
		func() {
			defer func() {
				if recover() != "lost" {
					t.Errorf("%s: the panic is hidden", path)
				}
			}()
			_, _ = oocore.FromSeq(t.Context(), func(yield func([]float64, error) bool) { yield([]float64{1}, nil); panic("lost") }, filepath.Join(dir, path))
		}()
		checkNothing(t, path, dir)
	}
}

// Where any operation on files fails, nothing is left, or the array is there whole.
func TestEveryFaultOfDiskLeavesNothingOrAll(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	for _, path := range []string{"x.npy", "x.npz#a"} {
		faults := 0
		for op, n := disktest.Op(0), int64(1); op < disktest.Ops; n++ {
			dir := t.TempDir()
			fault := &disktest.Fault{Op: op, N: n, Err: syscall.EIO}
			restore := disk.Use(fault.FS())
			a, err := oocore.FromSeq(t.Context(), countingRows(300, 500), filepath.Join(dir, path))
			restore()
			if !fault.Hit() {
				checkCounts(t, path, a, err, 300, 500)
				op, n = op+1, 0
				continue
			}
			if err == nil {
				checkCounts(t, path, a, err, 300, 500)
				continue
			}
			faults++
			if stored := oocore.Open(filepath.Join(dir, path)); stored.Err() == nil {
				checkCounts(t, path, stored, nil, 300, 500)
			}
		}
		if faults < 5 {
			t.Errorf("%s: only %d faults came out", path, faults)
		}
	}
}

// A plan only computes nothing, and says what there would be.
func TestCreateUnderPlanOnly(t *testing.T) {
	dir := t.TempDir()
	w, err := oocore.Create[float64](t.Context(), filepath.Join(dir, "x.npy"), []int{-1, 2}, host.PlanOnly())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(make([]float64, 6)); err != nil {
		t.Fatal(err)
	}
	a, err := w.Commit()
	if err != nil || !slices.Equal(a.Shape(), []int{3, 2}) {
		t.Errorf("%v: %v", a, err)
	}
	checkNothing(t, "a plan", dir)
}

// A stream that is written and read again is the array, in any order and format.
func TestStreamsOfArrays(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	for i, shape := range [][]int{{}, {0, 3}, {1000}, {400, 1000}, {2, 3, 4}} {
		x := oocore.Arange(0, 1_000_000, 1).AsType(oocore.Float64).Slice(fmt.Sprintf("0:%d", grid.Size(shape))).Reshape(shape...)
		for _, of := range []*oocore.Array{x, saved(t, x, filepath.Join(dir, fmt.Sprint(i)+".zarr"))} {
			var npy, bin bytes.Buffer
			if err := errors.Join(of.WriteTo(t.Context(), &npy, "npy"), of.WriteTo(t.Context(), &bin, "bin", oocore.Memory("64MiB"))); err != nil {
				t.Fatal(err)
			}
			if want := dtype.Bytes(collect[float64](t, x)); !bytes.Equal(bin.Bytes(), want) || !bytes.HasSuffix(npy.Bytes(), want) {
				t.Errorf("%v: %d bytes, and %d with the header", shape, bin.Len(), npy.Len())
			}
			a, err := oocore.FromReader(t.Context(), &npy, "npy", filepath.Join(dir, fmt.Sprint(i)+"r.zarr"))
			checkCounts(t, "npy", a, err, shape...)
			if len(shape) == 0 {
				continue
			}
			query := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ",")
			a, err = oocore.FromReader(t.Context(), &bin, "bin?shape="+query+"&dtype=float64", filepath.Join(dir, fmt.Sprint(i)+"r.npy"))
			checkCounts(t, "bin", a, err, shape...)
		}
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestStreamsThatFail(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	x := oocore.Zeros(oocore.Float64, 1000, 1000)
	for after := range 4 {
		if err := x.WriteTo(t.Context(), &failing{after}, "npy"); !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "write_test.go") {
			t.Errorf("a pipe that is closed: %v", err)
		}
	}
	if err := x.WriteTo(t.Context(), io.Discard, "zarr"); err == nil || !strings.Contains(err.Error(), `the format "zarr" is not written to streams`) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.WriteTo(ended, io.Discard, "npy"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	read := func(ctx context.Context, r io.Reader) error {
		_, err := oocore.FromReader(ctx, r, "npy", filepath.Join(dir, "x.npy"))
		return err
	}
	for words, err := range map[string]error{
		"not an npy file":      read(t.Context(), strings.NewReader("hello")),
		"the file is empty":    read(t.Context(), strings.NewReader("")),
		"closed pipe":          read(t.Context(), io.MultiReader(strings.NewReader("x"), errReader{})),
		"context canceled":     read(ended, strings.NewReader("")),
		"the io.Reader is nil": read(t.Context(), nil),
	} {
		if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), ".stream-") || !strings.Contains(err.Error(), "write_test.go") {
			t.Errorf("%v, want %q", err, words)
		}
		checkNothing(t, words, dir)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestFromFuncHasElementsByIndex(t *testing.T) {
	a := oocore.FromFunc(func(i []int) float64 { return float64((i[0]*7+i[1])*900 + i[2]) }, 500, 7, 900)
	checkCounts(t, "a function", a, nil, 500, 7, 900)
	checkCounts(t, "of no dimension", oocore.FromFunc(func([]int) float64 { return 0 }), nil)
	if err := oocore.FromFunc[float64](nil, 2).Err(); err == nil || !strings.Contains(err.Error(), "from_func: the function is nil") {
		t.Error(err)
	}
}

// Loops over rows and chunks see every element once, in order; a loop that is left leaves no goroutine.
func TestRowsOfAndChunksOf(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.Arange(0, 5*6*7, 1).AsType(oocore.Float64).Reshape(5, 6, 7)
	stored := saved(t, x, filepath.Join(t.TempDir(), "x.zarr"), oocore.Chunks(2, 4, 5))
	for _, a := range []*oocore.Array{x, stored} {
		n := 0
		for row, err := range oocore.RowsOf[float64](t.Context(), a) {
			if err != nil || len(row) != 42 || row[0] != float64(n) || row[41] != float64(n+41) {
				t.Fatalf("row %d is %v: %v", n/42, row, err)
			}
			n += len(row)
		}
		if n != a.Size() {
			t.Errorf("%d elements in rows", n)
		}
		again, err := oocore.FromSeq(t.Context(), oocore.RowsOf[float64](t.Context(), a), filepath.Join(t.TempDir(), "o.npy"))
		checkCounts(t, "rows of rows", again, err, 5, 42)
	}
	for name, c := range map[string]struct {
		a    *oocore.Array
		opts []oocore.Option
		want int
	}{
		"stored":   {stored, nil, 3 * 2 * 2},
		"rechunk":  {x.Rechunk(5, 6, 1), nil, 7},
		"option":   {x, []oocore.Option{oocore.Chunks(1, 6, 4)}, 5 * 2},
		"computed": {x, nil, 1},
	} {
		n, sum := 0, 0.0
		for b, err := range oocore.ChunksOf[float64](t.Context(), c.a, c.opts...) {
			if err != nil || b.Index != n || len(b.Data) != b.At.Size() || b.Data[0] != float64((b.At.Start[0]*6+b.At.Start[1])*7+b.At.Start[2]) {
				t.Fatalf("%s: chunk %d is %v with %v: %v", name, n, b.At, b.Data, err)
			}
			for _, v := range b.Data {
				sum += v
			}
			n++
		}
		if n != c.want || sum != 209*210/2 {
			t.Errorf("%s: %d chunks, want %d; the sum is %v", name, n, c.want, sum)
		}
	}
	for range oocore.RowsOf[float64](t.Context(), x) {
		break
	}
	for range oocore.ChunksOf[float64](t.Context(), stored) {
		break
	}
	for words, failed := range map[string]error{
		"rows_of: asks for RowsOf[float32] of a float64 array": first(oocore.RowsOf[float32](t.Context(), x)),
		"rows_of: the array has no dimension":                  first(oocore.RowsOf[float64](t.Context(), x.Sum())),
		"chunks_of: chunks (1, 2) have other dimensions":       first(oocore.ChunksOf[float64](t.Context(), x, oocore.Chunks(1, 2))),
		"codec": first(oocore.ChunksOf[float64](t.Context(), x, oocore.Codec("zstd"))),
	} {
		if failed == nil || !strings.Contains(strings.ToLower(failed.Error()), strings.ToLower(words)) || !strings.Contains(failed.Error(), "write_test.go") {
			t.Errorf("%v, want %q", failed, words)
		}
	}
}

func first[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// Several results of one array come from one pass over it.
func TestCollectAllSharesPasses(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := saved(t, oocore.Arange(0, 2_000_000, 1).AsType(oocore.Float64).Reshape(-1, 4), filepath.Join(t.TempDir(), "x.npy"))
	var r oocore.RunReport
	got, err := oocore.CollectAll[float64](t.Context(), []*oocore.Array{x.Min(0), x.Max(0), x.Mean()}, oocore.Report(&r))
	if want := "[[0 1 2 3] [1.999996e+06 1.999997e+06 1.999998e+06 1.999999e+06] [999999.5]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
	if r.Read > x.Bytes()*5/2 {
		t.Errorf("%d bytes were read of %d", r.Read, x.Bytes())
	}
	if got, err := oocore.CollectAll[float64](t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	_, err = oocore.CollectAll[float64](t.Context(), []*oocore.Array{x.Sum(), x.AsType(oocore.Float32)})
	if err == nil || !strings.Contains(err.Error(), "collect: the function takes") && !strings.Contains(err.Error(), "float32") || !strings.Contains(err.Error(), "write_test.go") {
		t.Error(err)
	}
}

// Rows of another length are one option.
func TestMapChunksOfOtherRows(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	x := oocore.Arange(0, 60*4*5, 1).AsType(oocore.Float64).Reshape(60, 4, 5)
	stored := saved(t, x.Rechunk(7, 2, 5), filepath.Join(t.TempDir(), "x.zarr"))
	sums := func(dst []float64, src []float64, at oocore.Block) error {
		if len(dst) != 2*at.Shape[0] || len(src) != 20*at.Shape[0] || at.Shape[1] != 2 {
			return fmt.Errorf("%d elements of %d at %v", len(dst), len(src), at)
		}
		for i := range at.Shape[0] {
			for j, v := range src[i*20 : i*20+20] {
				dst[2*i+j%2] += v
			}
		}
		return nil
	}
	want := collect[float64](t, oocore.Stack(1, x.Reshape(60, 10, 2).Sum(1).Slice(":, 0"), x.Reshape(60, 10, 2).Sum(1).Slice(":, 1")))
	for _, o := range []oocore.MapOptions{{Row: []int{2}}, {Row: []int{2}, Chunks: []int{11}}} {
		for _, a := range []*oocore.Array{x, stored} {
			if got := collect[float64](t, oocore.MapChunks(sums, a, o)); !slices.Equal(got, want) {
				t.Errorf("%v of %v", got, a)
			}
		}
	}
	both := oocore.MapAll(func(dst []float64, src [][]float64, at oocore.Block) error {
		for i := range dst {
			dst[i] = src[0][20*i] + src[1][i]
		}
		return nil
	}, []*oocore.Array{x, oocore.Arange(0, 60, 1).AsType(oocore.Float64)}, oocore.MapOptions{Row: []int{}})
	if got := collect[float64](t, both); len(both.Shape()) != 1 || got[59] != 59*20+59 {
		t.Errorf("%v", got)
	}
	for words, o := range map[string]oocore.MapOptions{
		"takes Row, or Shape and Source": {Row: []int{2}, Shape: []int{60, 2}},
		"negative length":                {Row: []int{-2}},
		"length below one":               {Row: []int{2}, Chunks: []int{0}},
	} {
		if err := oocore.MapChunks(sums, x, o).Err(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if err := oocore.MapChunks(sums, x.Sum(), oocore.MapOptions{Row: []int{2}}).Err(); err == nil || !strings.Contains(err.Error(), "an input that has rows") {
		t.Error(err)
	}
}
