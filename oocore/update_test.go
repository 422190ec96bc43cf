package oocore_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// chunkFiles are the files of a Zarr array, without its metadata.
func chunkFiles(t testing.TB, array string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.Walk(array, func(path string, st os.FileInfo, err error) error {
		if err != nil || st.IsDir() || st.Name() == "zarr.json" {
			return err
		}
		all[strings.TrimPrefix(path, array)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// An expression that is saved again after regions of its inputs have changed computes the tasks that read
// them, and no other: with the bytes of a run that computes all.
func TestOnlyWhatChangedIsComputed(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	// Each chunk of x, of 10 × 8 in 5 × 6 chunks, is read by so many tasks of the expression at the most.
	for _, c := range []struct {
		expression string
		tasks      int
	}{
		{"sqrt(x) + y", 1},
		{"where(x > 0.5, x, 2*y)", 1},
		{"transpose(x, 1, 0)", 6},
		{"gaussian_filter(x, 0.5)", 9},
		{`slice(x, "::-1") * 2`, 1},
		{"pad(x, 1)", 4},
		{"concatenate(x, y, 0)", 1},
		{`take(x, astype(floor(slice(y, ":, 0") * 50), "int64"), 0)`, 30},
	} {
		for _, codec := range []string{"zstd", "none"} { // of chunks that are written whole, and in place
			t.Run(c.expression+", "+codec, func(t *testing.T) {
				r := testcases.Rand(t)
				dir, ctx := t.TempDir(), t.Context()
				chunks := oocore.Chunks(10, 8)
				for i, name := range []string{"x", "y"} {
					if _, err := oocore.Random(oocore.Float32, uint64(i), 50, 48).Save(ctx, filepath.Join(dir, name+".zarr"), chunks); err != nil {
						t.Fatal(err)
					}
				}
				save := func(to string, opts ...oocore.Option) (ran oocore.RunReport) {
					names := oocore.Names{"x": oocore.Open(filepath.Join(dir, "x.zarr")), "y": oocore.Open(filepath.Join(dir, "y.zarr"))}
					a := oocore.Eval(c.expression, names)
					opts = append(opts, chunks, oocore.Codec(codec), oocore.Report(&ran))
					if _, err := a.Save(ctx, filepath.Join(dir, to), opts...); err != nil {
						t.Fatal(err)
					}
					return ran
				}
				save("out.zarr")
				for round := range 3 { // of an update of an update
					touched := map[string]bool{}
					for range 1 + r.IntN(2) {
						name := []string{"x", "y"}[r.IntN(2)]
						row, column := r.IntN(50), r.IntN(48)
						value := r.Float32()
						region := oocore.Region(fmt.Sprintf("%d:%d, %d:%d", row, row+1, column, column+1))
						if _, err := oocore.Full(value, 1, 1).Save(ctx, filepath.Join(dir, name+".zarr"), region); err != nil {
							t.Fatal(err)
						}
						touched[fmt.Sprint(name, row/10, column/8)] = true
					}
					before := chunkFiles(t, filepath.Join(dir, "out.zarr"))
					ran := save("out.zarr")
					whole := save(fmt.Sprintf("whole-%d.zarr", round), oocore.Fresh())
					got, want := chunkFiles(t, filepath.Join(dir, "out.zarr")), chunkFiles(t, filepath.Join(dir, fmt.Sprintf("whole-%d.zarr", round)))
					differ := 0
					for name, bytesOf := range want {
						if !bytes.Equal(got[name], bytesOf) {
							t.Errorf("round %d: chunk %s has other bytes than after a whole run", round, name)
						}
						if !bytes.Equal(before[name], bytesOf) {
							differ++
						}
					}
					if len(got) != len(want) {
						t.Errorf("round %d: %d chunks, want %d", round, len(got), len(want))
					}
					if n := int(ran.Computed); n < differ || n > c.tasks*len(touched) || ran.Computed+ran.Skipped != whole.Computed {
						t.Errorf("round %d: %d tasks of %d computed, %d skipped: %d of the result's chunks differ, %d of the inputs' were written to", round, n, whole.Computed, ran.Skipped, differ, len(touched))
					}
				}
			})
		}
	}
}

// Expressions of several stages compute, before what has changed of the result, those parts of temporary arrays that it is made
// of, with the bytes of a whole run.
func TestUpdatesOfSeveralStages(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	r := testcases.Rand(t)
	for _, c := range []struct {
		expression string
		rows       int  // of x, of which a task of a product or of a sort takes more than 4 MiB
		all        bool // any change is one of everything
	}{
		{`matmul(x, y) + slice(x, ":, :1")`, 12000, false},
		{"matmul(transpose(y, 1, 0), transpose(x, 1, 0)) * 2", 12000, false},
		{"matmul(x + gaussian_filter(x, 1), y)", 12000, false},
		{"x - reshape(mean(x, 1), 600, 1)", 600, false},
		{"x - mean(x, 0)", 600, true},
		{"cumsum(x, 0)", 600, true},
		{"cumsum(x, 1)", 600, false},
		{"sort(x, 1)", 12000, false},
		{"softmax(x, 1)", 600, false},
		{"softmax(x, 0)", 600, true},
		{"gaussian_filter(matmul(x, y), 1)", 12000, false},
		{`take(matmul(x, y), astype(floor(reshape(slice(x, "::400, 0"), 30) * 500), "int64"), 0)`, 12000, true},
		{"sort(sort(x, 1), 0)", 12000, true},
		{"matmul(matmul(x, y), transpose(y, 1, 0))", 12000, false},
	} {
		dir, ctx := t.TempDir(), t.Context()
		x, y := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "y.zarr")
		saved(t, oocore.Random(oocore.Float64, 1, c.rows, 64), x, oocore.Chunks(c.rows/12, 64))
		saved(t, oocore.Random(oocore.Float64, 2, 64, 100), y, oocore.Chunks(64, 20))
		save := func(to string, opts ...oocore.Option) (ran oocore.RunReport) {
			names := oocore.Names{"x": oocore.Open(x)}
			if strings.Contains(c.expression, "y") {
				names["y"] = oocore.Open(y)
			}
			a := oocore.Eval(c.expression, names)
			chunks := make([]int, len(a.Shape()))
			for d := range chunks {
				chunks[d] = min(c.rows/10, a.Shape()[d])
			}
			if _, err := a.Save(ctx, filepath.Join(dir, to), append(opts, oocore.Chunks(chunks...), oocore.Memory("128MiB"), oocore.Report(&ran))...); err != nil {
				t.Fatalf("%s: %v", c.expression, err)
			}
			return ran
		}
		save("out.zarr")
		skipped := int64(0)
		for round := range 2 {
			if round == 1 && strings.Contains(c.expression, "y") {
				column := r.IntN(100)
				saved(t, oocore.Full(r.Float64(), 64, 1), y, oocore.Region(fmt.Sprintf(":, %d:%d", column, column+1)))
			} else {
				row, column := r.IntN(c.rows), r.IntN(62)
				saved(t, oocore.Full(r.Float64(), 1, 2), x, oocore.Region(fmt.Sprintf("%d:%d, %d:%d", row, row+1, column, column+2)))
			}
			ran, whole := save("out.zarr"), save("whole.zarr", oocore.Fresh())
			got, want := chunkFiles(t, filepath.Join(dir, "out.zarr")), chunkFiles(t, filepath.Join(dir, "whole.zarr"))
			if !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s, round %d: other chunks than those of a whole run", c.expression, round)
			}
			if ran.Computed+ran.Skipped != whole.Computed {
				t.Errorf("%s, round %d: %d tasks of %d computed, %d skipped", c.expression, round, ran.Computed, whole.Computed, ran.Skipped)
			}
			t.Logf("%s, round %d: %d tasks of %d, %d bytes of %d read", c.expression, round, ran.Computed, whole.Computed, ran.Read, whole.Read)
			skipped += ran.Skipped
			if v, err := oocore.Verify(ctx, filepath.Join(dir, "out.zarr")); err != nil || !v.Whole() {
				t.Errorf("%s, round %d: %+v, %v", c.expression, round, v, err)
			}
		}
		if !c.all && skipped == 0 {
			t.Errorf("%s: no task was taken over", c.expression)
		}
	}
}

// A reduction takes over what tasks have folded of what is as it was, with the bits of a whole run: also to a file that
// is written as a whole.
func TestReductionsTakeOverWhatIsFolded(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	x := filepath.Join(dir, "x.zarr")
	saved(t, oocore.Random(oocore.Float32, 1, 4096, 1024), x, oocore.Chunks(256, 1024))
	for i, expression := range []string{"sum(x)", "mean(sqrt(x), 0)", "std(x, 1)", "argmax(x, 0)", "max(x, 0) + 1"} {
		for _, name := range []string{"out.zarr", "out.npy"} {
			var ran, whole oocore.RunReport
			save := func(name string, opts ...oocore.Option) []float64 {
				a := saved(t, oocore.Eval(expression, oocore.Names{"x": oocore.Open(x)}), filepath.Join(dir, fmt.Sprint(i, name)), opts...)
				return collect[float64](t, a.AsType(oocore.Float64))
			}
			save(name)
			saved(t, oocore.Full(float32(i+2), 1, 3), x, oocore.Region(fmt.Sprintf("%d:%d, 7:10", 500*i, 500*i+1)))
			got, want := save(name, oocore.Report(&ran)), save("whole-"+name, oocore.Fresh(), oocore.Report(&whole))
			if !slices.Equal(got, want) {
				t.Errorf("%s to %s: other values than those of a whole run", expression, name)
			}
			if ran.Skipped == 0 || ran.Computed+ran.Skipped != whole.Computed || ran.Read >= whole.Read {
				t.Errorf("%s to %s: %d tasks of %d computed, %d skipped; %d bytes of %d read", expression, name, ran.Computed, whole.Computed, ran.Skipped, ran.Read, whole.Read)
			}
			if v, err := oocore.Verify(t.Context(), filepath.Join(dir, fmt.Sprint(i, name))); err != nil || !v.Whole() {
				t.Errorf("%s to %s: %+v, %v", expression, name, v, err)
			}
		}
	}
}

// What is saved again of arrays that have grown, or were cut, computes what is new, with the bytes of a whole run.
func TestGrownInputsAreComputedFromTheirEnd(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	r := testcases.Rand(t)
	for i, c := range []struct {
		expression string
		whole      bool // it has to be: all of the result depends on the length
	}{
		{"sqrt(x) + 1", false},
		{"where(x > 0.5, x, w)", false},
		{"x * reshape(arange(12), 1, 12)", false},
		{"sum(x)", false},
		{"mean(x, 0)", false},
		{"max(sqrt(x), 1)", false},
		{`slice(x, "::-1") + 1`, true},
		{`slice(x, "2:20") + 1`, true},
		{"concatenate(x, w, 0)", true},
		{"transpose(x, 1, 0) * 2", true},
	} {
		codec := []string{"zstd", "none"}[i%2]
		dir, ctx := t.TempDir(), t.Context()
		x, w := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "w.zarr")
		saved(t, oocore.Random(oocore.Float64, 2, 1, 12), w)
		saved(t, oocore.Random(oocore.Float64, 1, 40, 12), x, oocore.Chunks(4, 12))
		save := func(to string, opts ...oocore.Option) (ran oocore.RunReport) {
			names := oocore.Names{"x": oocore.Open(x)}
			if strings.Contains(c.expression, "w") {
				names["w"] = oocore.Open(w)
			}
			opts = append(opts, oocore.Codec(codec), oocore.Report(&ran))
			a := oocore.Eval(c.expression, names)
			if len(a.Shape()) == 2 {
				opts = append(opts, oocore.Chunks(4, 12))
			}
			if _, err := a.Save(ctx, filepath.Join(dir, to), opts...); err != nil {
				t.Fatalf("%s: %v", c.expression, err)
			}
			return ran
		}
		save("out.zarr")
		for round := range 3 {
			if n := r.IntN(10) + 1; round == 1 {
				now := oocore.Open(x).Slice(fmt.Sprintf("0:%d", 4*n))
				saved(t, now, filepath.Join(dir, "short.zarr"), oocore.Chunks(4, 12), oocore.Fresh())
				if err := errors.Join(os.RemoveAll(x), os.Rename(filepath.Join(dir, "short.zarr"), x)); err != nil {
					t.Fatal(err)
				}
			} else {
				if _, err := oocore.Random(oocore.Float64, uint64(round+9), n, 12).Append(ctx, x, 0); err != nil {
					t.Fatal(err)
				}
			}
			ran := save("out.zarr")
			whole := save("whole.zarr", oocore.Fresh())
			got, want := chunkFiles(t, filepath.Join(dir, "out.zarr")), chunkFiles(t, filepath.Join(dir, "whole.zarr"))
			if !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s, round %d: other chunks than those of a whole run", c.expression, round)
			}
			if ran.Computed+ran.Skipped != whole.Computed || c.whole && ran.Skipped > 0 || !c.whole && round != 1 && ran.Skipped == 0 && whole.Computed > 2 {
				t.Errorf("%s, round %d: %d tasks of %d computed, %d skipped", c.expression, round, ran.Computed, whole.Computed, ran.Skipped)
			}
			if v, err := oocore.Verify(ctx, filepath.Join(dir, "out.zarr")); err != nil || !v.Whole() {
				t.Errorf("%s, round %d: %+v, %v", c.expression, round, v, err)
			}
		}
	}
}

// What was saved of an array that was updated is updated too, back to an array that is no receipt's.
func TestUpdatesGoOnAlongSaves(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir, ctx, chunks := t.TempDir(), t.Context(), oocore.Chunks(10, 8)
	x, y, z := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "y.zarr"), filepath.Join(dir, "z.zarr")
	saved(t, oocore.Random(oocore.Float64, 1, 50, 48), x, chunks)
	for round, want := range []int64{30, 1, 2, 0} {
		var ran, next oocore.RunReport
		saved(t, oocore.Open(x).Sqrt(), y, chunks, oocore.Report(&ran))
		saved(t, oocore.Open(y).Add(1), z, chunks, oocore.Report(&next))
		if ran.Computed != want || next.Computed != want {
			t.Errorf("round %d: %d and %d tasks computed, want %d", round, ran.Computed, next.Computed, want)
		}
		if v, err := oocore.Verify(ctx, z); err != nil || !v.Whole() || v.Chunks != 30 {
			t.Errorf("round %d: %+v, %v", round, v, err)
		}
		if round < 2 {
			saved(t, oocore.Full(float64(round+2), 2, 3), x, oocore.Region([]string{"4:6, 0:3", "9:11, 20:23"}[round]))
		}
	}
	l, err := oocore.Why(ctx, z, []int{0, 2})
	if err != nil || l.Expression != "y.zarr + 1" || len(l.Inputs) != 1 || l.Inputs[0].Expression != "sqrt(x.zarr)" || len(l.Inputs[0].Inputs) != 1 || l.Inputs[0].Inputs[0].Changed != "" {
		t.Fatalf("%+v, %v", l, err)
	}
	if l.Task == nil || l.Task.Index != 2 || len(l.Task.Reads) != 1 || fmt.Sprint(l.Task.Reads[0].Chunks) != "[2]" {
		t.Errorf("%+v", l.Task)
	}
}

// A changed bit of a chunk's file is found, and the chunk is named.
func TestVerifyNamesDamagedChunks(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	r := testcases.Rand(t)
	for _, c := range []struct{ name, codec string }{{"x.zarr", "zstd"}, {"x.zarr", "none"}, {"x.zarr", "blosc"}} {
		out := filepath.Join(t.TempDir(), c.name)
		want := collect[float32](t, saved(t, oocore.Random(oocore.Float32, 1, 50, 48).Mul(2), out, oocore.Chunks(10, 8), oocore.Codec(c.codec)))
		for range 20 {
			row, column := r.IntN(5), r.IntN(6)
			file := filepath.Join(out, "c", fmt.Sprint(row), fmt.Sprint(column))
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			bit := r.IntN(8 * len(whole))
			torn := bytes.Clone(whole)
			torn[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(file, torn, 0o666); err != nil {
				t.Fatal(err)
			}
			v, err := oocore.Verify(t.Context(), out)
			if err == nil && v.Whole() { // some bits of a codec's header mean nothing
				if got := collect[float32](t, oocore.Open(out)); !slices.Equal(got, want) {
					t.Errorf("%s of %s: bit %d of chunk %d, %d has changed elements, and the array counts as whole", c.name, c.codec, bit, row, column)
				}
			} else if err != nil || len(v.Damaged) != 1 || v.Damaged[0].Start[0] != 10*row || v.Damaged[0].Start[1] != 8*column {
				t.Errorf("%s of %s: bit %d of chunk %d, %d changed: %+v, %v", c.name, c.codec, bit, row, column, v, err)
			}
			if err := os.WriteFile(file, whole, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if v, err := oocore.Verify(t.Context(), out); err != nil || !v.Whole() {
			t.Errorf("%s of %s: %+v, %v", c.name, c.codec, v, err)
		}
	}
	if _, err := oocore.Verify(t.Context(), filepath.Join(t.TempDir(), "none.npy")); !errors.Is(err, oocore.ErrNoReceipt) {
		t.Error(err)
	}
}

// An update that fails in the middle resumes: what was taken over, and what it has computed, is not computed again.
func TestUpdateThatFailsResumes(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir, chunks := t.TempDir(), oocore.Chunks(10, 8)
	x, y := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "y.zarr")
	saved(t, oocore.Random(oocore.Float64, 1, 50, 48), x, chunks)
	var calls, most atomic.Int32
	most.Store(math.MaxInt32)
	twice := func() *oocore.Array {
		return oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
			if calls.Add(1) > most.Load() {
				return errors.New("it fails")
			}
			for i, v := range src {
				dst[i] = 2 * v
			}
			return nil
		}, oocore.Open(x), oocore.MapOptions{Chunks: []int{10, 8}})
	}
	var ran oocore.RunReport
	opts := []oocore.Option{chunks, oocore.Version("1"), oocore.Workers(1), oocore.Report(&ran)}
	saved(t, twice(), y, opts...)
	saved(t, oocore.Full(3.0, 1, 48), x, oocore.Region("12:13, :"))
	calls.Store(0)
	most.Store(4)
	if _, err := twice().Save(t.Context(), y, opts...); err == nil || !strings.Contains(err.Error(), "it fails") {
		t.Fatal(err)
	}
	most.Store(math.MaxInt32)
	before := calls.Load()
	saved(t, twice(), y, opts...)
	if n := calls.Load() - before; int64(n) != ran.Computed || ran.Computed > 6 || ran.Skipped != 30-ran.Computed {
		t.Errorf("%d calls more, %d tasks computed and %d skipped", n, ran.Computed, ran.Skipped)
	}
	for i, v := range collect[float64](t, oocore.Open(y).Sub(oocore.Open(x).Mul(2))) {
		if v != 0 {
			t.Fatalf("element %d is off by %v", i, v)
		}
	}
	if v, err := oocore.Verify(t.Context(), y); err != nil || !v.Whole() {
		t.Errorf("%+v, %v", v, err)
	}
}

// An update of several stages that fails resumes, with the parts of temporary arrays that it had left out.
func TestUpdateOfSeveralStagesThatFailsResumes(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir, chunks := t.TempDir(), oocore.Chunks(1000, 30)
	x, y := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "y.zarr")
	saved(t, oocore.Random(oocore.Float64, 1, 12000, 64), x, oocore.Chunks(1000, 64))
	var calls, most atomic.Int32
	most.Store(math.MaxInt32)
	product := func() *oocore.Array {
		return oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
			if calls.Add(1) > most.Load() {
				return errors.New("it fails")
			}
			copy(dst, src)
			return nil
		}, oocore.Open(x).MatMul(oocore.Random(oocore.Float64, 2, 64, 30)), oocore.MapOptions{Chunks: []int{1000, 30}})
	}
	var ran oocore.RunReport
	opts := []oocore.Option{chunks, oocore.Version("1"), oocore.Workers(1), oocore.Report(&ran)}
	saved(t, product(), y, opts...)
	whole := ran.Computed
	for round := range 3 {
		saved(t, oocore.Full(float64(round), 1, 3), x, oocore.Region(fmt.Sprintf("%d:%d, 0:3", 2200+round, 2201+round)))
		saved(t, oocore.Full(float64(round), 1, 3), x, oocore.Region(fmt.Sprintf("%d:%d, 0:3", 3200+round, 3201+round)))
		most.Store(calls.Load() + 1)
		if _, err := product().Save(t.Context(), y, opts...); err == nil || !strings.Contains(err.Error(), "it fails") {
			t.Fatal(err)
		}
		most.Store(math.MaxInt32)
		saved(t, product(), y, opts...)
		if ran.Computed >= whole {
			t.Errorf("%d tasks of %d computed", ran.Computed, whole)
		}
		got := collect[float64](t, oocore.Open(y))
		saved(t, product(), filepath.Join(dir, "whole.zarr"), append(opts, oocore.Fresh())...)
		if !slices.Equal(got, collect[float64](t, oocore.Open(filepath.Join(dir, "whole.zarr")))) {
			t.Fatalf("round %d: other elements than those of a whole run", round)
		}
		if v, err := oocore.Verify(t.Context(), y); err != nil || !v.Whole() {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// Of many files those that have changed are computed again: of a stack of them, and of files that are joined.
func TestUpdatesOfFilesComputeThoseThatChanged(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	file := func(i int) string { return filepath.Join(dir, fmt.Sprintf("f%02d.npy", i)) }
	for i := range 20 {
		saved(t, oocore.Full(float64(i), 6, 5), file(i))
	}
	for i, expression := range []func() *oocore.Array{
		func() *oocore.Array { return oocore.OpenStack(filepath.Join(dir, "f*.npy"), 0).Sqrt() },
		func() *oocore.Array {
			var all []*oocore.Array
			for i := range 20 {
				all = append(all, oocore.Open(file(i)))
			}
			return oocore.Stack(0, all...).Sqrt()
		},
	} {
		out, chunks := filepath.Join(dir, fmt.Sprint(i, ".zarr")), oocore.Chunks(1, 6, 5)
		saved(t, expression(), out, chunks)
		for _, changed := range [][]int{{7}, {0, 19}, nil} {
			for _, k := range changed {
				saved(t, oocore.Full(float64(100+10*i+k), 6, 5), file(k))
			}
			var ran oocore.RunReport
			a := saved(t, expression(), out, chunks, oocore.Report(&ran))
			if ran.Computed != int64(len(changed)) || ran.Skipped != 20-int64(len(changed)) {
				t.Errorf("%d: files %v: %d tasks computed, %d skipped", i, changed, ran.Computed, ran.Skipped)
			}
			for place, v := range collect[float64](t, a.Sub(expression())) {
				if v != 0 {
					t.Fatalf("%d: files %v: element %d is off by %v", i, changed, place, v)
				}
			}
		}
	}
}
