package oocore_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runLog gives a test a run log of its own.
func runLog(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	return dir
}

func collect[T oocore.Element](t *testing.T, a *oocore.Array, opts ...oocore.Option) []T {
	t.Helper()
	v, err := oocore.Collect[T](t.Context(), a, append([]oocore.Option{oocore.Memory("256MiB")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// saved is an array or a collection in a file.
func saved[A any](t *testing.T, a interface {
	Save(context.Context, string, ...oocore.Option) (A, error)
}, path string, opts ...oocore.Option) A {
	t.Helper()
	out, err := a.Save(t.Context(), path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheFirstErrorTravels(t *testing.T) {
	a := oocore.Full(1.0, 3, 4)
	bad := a.Add(oocore.Full(1, 5)) // the line that the error names
	var typed *oocore.Error
	for _, later := range []*oocore.Array{bad, bad.Sqrt().Mul(2), a.Mul(bad), oocore.Where(a, bad, 0), a.Reduce(oocore.ReduceSum, oocore.ReduceOptions{Where: bad}),
		oocore.Eval("x + 1", oocore.Names{"x": bad}), bad.MatMul(bad), bad.Clip(nil, 3)} {
		err := later.Err()
		if !errors.As(err, &typed) || typed.Op != "add" || filepath.Base(typed.Site.File) != "oocore_test.go" {
			t.Errorf("%v", err)
		}
		if later.String() != err.Error() || later.Shape() != nil || later.Size() != 0 || later.Bytes() != 0 || later.Chunks() != nil {
			t.Errorf("an array without values has %v %v %v", later, later.Shape(), later.Bytes())
		}
	}
	if _, err := bad.Save(t.Context(), filepath.Join(t.TempDir(), "x.npy")); err != bad.Err() {
		t.Errorf("Save: %v", err)
	}
	if _, err := oocore.Collect[float64](t.Context(), bad); err != bad.Err() {
		t.Errorf("Collect: %v", err)
	}
	if !slices.Equal(typed.Shapes[0], []int{3, 4}) || !slices.Equal(typed.Shapes[1], []int{5}) {
		t.Errorf("shapes %v", typed.Shapes)
	}
}

func TestWrongOperands(t *testing.T) {
	a := oocore.Full(1.0, 3)
	var none *oocore.Array
	for want, b := range map[string]*oocore.Array{
		"add: a string is neither an array nor a number (oocore_test.go:":                                                  a.Add("one"),
		"add: a <nil> is neither an array nor a number (oocore_test.go:":                                                   a.Add(nil),
		"add: the *oocore.Array is nil: make one with Open or FromSlice (oocore_test.go:":                                  a.Add(none),
		"sqrt: the *oocore.Array is nil: make one with Open or FromSlice (oocore_test.go:":                                 none.Sqrt(),
		"slice: the oocore.Array is a zero value, which has no elements: make one with Open or FromSlice (oocore_test.go:": new(oocore.Array).Slice("0"),
		"full: a []int is neither an array nor a number (oocore_test.go:":                                                  oocore.Full([]int{1}, 3),
		"full: the value is a number, or an array without axes (oocore_test.go:":                                           oocore.Full(a, 3),
		"array: 3 elements do not fill the shape (2, 2) (oocore_test.go:":                                                  oocore.FromSlice([]int8{1, 2, 3}, 2, 2),
		"random: gives floats, not int8 (oocore_test.go:":                                                                  oocore.Random(oocore.Int8, 1, 3),
		"map_chunks: the function is nil (oocore_test.go:":                                                                 oocore.MapChunks[float32, float32](nil, a, oocore.MapOptions{}),
		"map_chunks: the function takes int8 elements, the array has float64: AsType brings them there (oocore_test.go:":   oocore.MapChunks(func(_ []int8, _ []int8, _ oocore.Block) error { return nil }, a, oocore.MapOptions{}),
		`eval: expression, column 6: the name "y" is unknown: known are x (oocore_test.go:`:                                oocore.Eval("sqrt(y)", oocore.Names{"x": a}),
		"eval: expression, column 6: expected ')', found the end (oocore_test.go:":                                         oocore.Eval("sqrt(", nil),
		"eval: x: the *oocore.Array is nil: make one with Open or FromSlice (oocore_test.go:":                              oocore.Eval("x", oocore.Names{"x": none}),
		"open: missing.npy: no such file or directory (oocore_test.go:":                                                    oocore.Open("missing.npy"),
	} {
		if err := b.Err(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestSaveAndOpen(t *testing.T) {
	dir, log := t.TempDir(), runLog(t)
	path := filepath.Join(dir, "x.npy")
	x := oocore.Arange(0, 1000, 1).Reshape(100, 10)
	stored := saved(t, x, path, oocore.Memory("256MiB"), host.Cell("7"))
	if s := stored.String(); s != "x.npy: 100 × 10 int64, 7.81 KiB" {
		t.Errorf("it is %s", s)
	}
	root := stored.AsType(oocore.Float64).Sqrt()
	got := collect[float64](t, root)
	for i, v := range got {
		if v != math.Sqrt(float64(i)) {
			t.Fatalf("element %d is %v", i, v)
		}
	}

	// The same again computes nothing; another expression, other options of the
	// result, a changed file and Fresh do.
	out := filepath.Join(dir, "root.npy")
	statuses := func() (all []record.Status) {
		runs, err := record.List(log)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if r.Header.Output == out {
				all = append(all, r.Status)
			}
		}
		slices.Reverse(all)
		return all
	}
	save := func(a *oocore.Array, opts ...oocore.Option) {
		saved(t, a, out, append(opts, oocore.Memory("256MiB"))...)
	}
	save(root)
	save(oocore.Open(path).AsType(oocore.Float64).Sqrt(), oocore.Memory("384MiB"), oocore.Workers(1))
	save(root.Add(1))
	save(root)
	save(root, oocore.Fresh())
	save(root)
	testcases.WriteFile(t, out, []byte("someone else's"), 0o600)
	save(root)
	want := []record.Status{record.Done, record.Skipped, record.Done, record.Done, record.Done, record.Skipped, record.Done}
	if got := statuses(); !slices.Equal(got, want) {
		t.Errorf("runs were %v, want %v", got, want)
	}
	if !slices.Equal(collect[float64](t, oocore.Open(out)), got) {
		t.Error("the file holds something else")
	}
	runs, err := record.List(log)
	if err != nil {
		t.Fatal(err)
	}
	if first := runs[len(runs)-1].Header; first.Cell != "7" || len(first.Machine) == 0 || first.Budget != 256<<20 {
		t.Errorf("the first record begins with %+v", first)
	}
}

func TestSaveRefusesBeforeItBegins(t *testing.T) {
	dir := t.TempDir()
	runLog(t)
	path := filepath.Join(dir, "x.npy")
	x := saved(t, oocore.Random(oocore.Float32, 1, 1000, 100), path, oocore.Memory("256MiB"))
	if err := os.Symlink(path, filepath.Join(dir, "link.npy")); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{path, filepath.Join(dir, "link.npy"), filepath.Join(dir, "nowhere", "..", "x.npy")} {
		if strings.Contains(output, "nowhere") {
			if err := os.Mkdir(filepath.Join(dir, "nowhere"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := x.Sqrt().Save(t.Context(), output); err == nil || !strings.Contains(err.Error(), "is also an input") {
			t.Errorf("%s: %v", output, err)
		}
	}
	var option *oocore.OptionError
	for _, o := range []oocore.Option{oocore.Memory("lots"), oocore.Memory("0"), oocore.Memory("-1"), oocore.Workers(0), oocore.On(nil), nil} {
		if _, err := x.Sqrt().Save(t.Context(), filepath.Join(dir, "y.npy"), o); !errors.As(err, &option) {
			t.Errorf("%v", err)
		}
	}
	if _, err := x.Save(t.Context(), filepath.Join(dir, "y.npy"), oocore.Chunks(10)); err == nil {
		t.Error("chunks of other dimensions are taken")
	}
	if _, err := oocore.Collect[float64](t.Context(), x); err == nil || !strings.HasPrefix(err.Error(), "collect: the array's elements are float32, not float64") {
		t.Errorf("%v", err)
	}

	// The budget that a rejection names is enough.
	var short *oocore.MemoryError
	_, err := x.Sqrt().Save(t.Context(), filepath.Join(dir, "y.npy"), oocore.Memory("1KiB"))
	if !errors.As(err, &short) || short.Limit != 1024 {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "y.npy")); err == nil {
		t.Error("a rejected run leaves a file")
	}
	if _, err = x.Sqrt().Save(t.Context(), filepath.Join(dir, "y.npy"), oocore.Memory(fmt.Sprint(short.Need))); err != nil {
		t.Errorf("%d bytes, which the rejection named, are rejected: %v", short.Need, err)
	}
}

func TestPlanOnly(t *testing.T) {
	log, dir := runLog(t), t.TempDir()
	host.SetDefaults(host.PlanOnly(), oocore.Memory("256MiB"))
	defer host.SetDefaults()
	x := oocore.Random(oocore.Float32, 1, 1000, 100)
	y := saved(t, x, filepath.Join(dir, "x.npy"))
	if _, err := y.Mean(0).Save(t.Context(), filepath.Join(dir, "mean.npy")); err != nil {
		t.Error(err)
	}
	if _, err := oocore.Collect[float32](t.Context(), y); !errors.Is(err, oocore.ErrPlanned) {
		t.Errorf("Collect: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("a plan leaves %v", files)
	}
	runs, err := record.List(log)
	if err != nil || len(runs) != 3 {
		t.Fatalf("%d records, %v", len(runs), err)
	}
	for _, r := range runs {
		if !r.Header.PlanOnly || r.Status != record.Planned {
			t.Errorf("%+v", r)
		}
	}
	p, err := x.Sqrt().Plan(filepath.Join(dir, "x.npy"))
	if err != nil || p.Budget != 256<<20 || len(p.Stages) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestNominalPlanIsTheSameWhateverTheMachineAndTheProgramHold(t *testing.T) {
	runLog(t)
	x := oocore.Random(oocore.Float32, 1, 1000, 1000).Sqrt()
	const memory = "4000TiB" // more than there is
	if _, err := x.Plan("x.npy", oocore.Memory(memory), host.PlanOnly()); err == nil {
		t.Errorf("a budget of %s is taken for this machine", memory)
	}
	var overheads []int64
	held := make([]byte, 200<<20)
	for range 2 {
		p, err := x.Plan("x.npy", oocore.Memory(memory), oocore.Workers(3), host.Nominal())
		if err != nil {
			t.Fatal(err)
		}
		overheads = append(overheads, p.Budget-door.PlanOf(p).Arena)
		for i := 0; i < len(held); i += 4096 { // now the program holds it
			held[i] = 1
		}
	}
	if overheads[0] != overheads[1] {
		t.Errorf("the program is taken to hold %d bytes, then %d", overheads[0], overheads[1])
	}
	runtime.KeepAlive(held)
	if _, err := oocore.Collect[float32](t.Context(), x, host.Nominal()); !errors.Is(err, oocore.ErrPlanned) {
		t.Errorf("a nominal plan was run: %v", err)
	}
}

func TestPlanOnlyReturnsWholeArrayOfAppendAndRegion(t *testing.T) {
	runLog(t)
	path := filepath.Join(t.TempDir(), "x.zarr")
	saved(t, oocore.Ones(oocore.Float32, 4, 6), path, oocore.Chunks(3, 3))
	rows := oocore.Ones(oocore.Float32, 2, 6)
	if x, err := rows.Append(t.Context(), path, 0, host.PlanOnly()); err != nil || !slices.Equal(x.Shape(), []int{6, 6}) {
		t.Errorf("Append returned %v, %v", x, err)
	}
	if x, err := rows.Save(t.Context(), path, oocore.Region("1:3"), host.PlanOnly()); err != nil || !slices.Equal(x.Shape(), []int{4, 6}) {
		t.Errorf("Save of a region returned %v, %v", x, err)
	}
}

func TestInterrupted(t *testing.T) {
	runLog(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := oocore.Random(oocore.Float64, 1, 4000, 1000).Save(ctx, filepath.Join(dir, "x.npy"), oocore.Memory("256MiB"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("it leaves %v", files)
	}
}

func TestMethodsAreNumPys(t *testing.T) {
	runLog(t)
	x := oocore.FromSlice([]float64{-1.5, 0.25, 2.5})
	two, mean := oocore.Full(2.0), 1.25
	mean /= 3 // rounded, as constants are not
	for name, c := range map[string]struct {
		a    *oocore.Array
		want []float64
	}{
		"add": {x.Add(two), []float64{0.5, 2.25, 4.5}}, "sub": {x.Sub(1), []float64{-2.5, -0.75, 1.5}},
		"mul": {x.Mul(x), []float64{2.25, 0.0625, 6.25}}, "div": {x.Div(0.5), []float64{-3, 0.5, 5}},
		"floordiv": {x.FloorDiv(1), []float64{-2, 0, 2}}, "mod": {x.Mod(1), []float64{0.5, 0.25, 0.5}},
		"pow": {x.Pow(2), []float64{2.25, 0.0625, 6.25}}, "neg": {x.Neg(), []float64{1.5, -0.25, -2.5}},
		"abs": {x.Abs(), []float64{1.5, 0.25, 2.5}}, "sign": {x.Sign(), []float64{-1, 1, 1}},
		"minimum": {x.Minimum(0.5), []float64{-1.5, 0.25, 0.5}}, "maximum": {x.Maximum(0), []float64{0, 0.25, 2.5}},
		"clip": {x.Clip(-1, 1), []float64{-1, 0.25, 1}}, "clip below": {x.Clip(0, nil), []float64{0, 0.25, 2.5}},
		"round": {x.Round(0), []float64{-2, 0, 2}}, "round 1": {x.Round(1), []float64{-1.5, 0.2, 2.5}},
		"floor": {x.Floor(), []float64{-2, 0, 2}}, "ceil": {x.Ceil(), []float64{-1, 1, 3}}, "trunc": {x.Trunc(), []float64{-1, 0, 2}},
		"where":   {oocore.Where(x.Less(0), 0, x), []float64{0, 0.25, 2.5}},
		"hypot":   {x.Mul(0).Add(3).Hypot(4), []float64{5, 5, 5}},
		"mean":    {x.Sub(x.Mean()), []float64{-1.5 - mean, 0.25 - mean, 2.5 - mean}},
		"std":     {oocore.FromSlice([]float64{1, 3}).Std(), []float64{1}},
		"dims":    {x.ExpandDims(0).T().Squeeze(), []float64{-1.5, 0.25, 2.5}},
		"product": {x.MatMul(x), []float64{2.25 + 0.0625 + 6.25}}, "spread": {two.BroadcastTo(2), []float64{2, 2}},
		"masked": {x.Reduce(oocore.ReduceSum, oocore.ReduceOptions{Where: x.Greater(0), KeepDims: true}), []float64{2.75}},
		"lowest": {x.Reduce(oocore.ReduceMin, oocore.ReduceOptions{Where: x.Greater(9)}), []float64{math.Inf(1)}},
	} {
		if got := collect[float64](t, c.a); !slices.Equal(got, c.want) {
			t.Errorf("%s is %v, want %v", name, got, c.want)
		}
	}
	if got := collect[int64](t, x.ArgMin()); got[0] != 0 {
		t.Errorf("argmin %v", got)
	}
	if got := collect[bool](t, x.IsNaN().LogicalOr(x.GreaterEqual(0.25)).LogicalXor(true)); !slices.Equal(got, []bool{true, false, false}) {
		t.Errorf("logic %v", got)
	}
	if got := collect[uint8](t, oocore.FromSlice([]uint8{6}).BitwiseAnd(3).LeftShift(2).BitwiseOr(1).Invert()); got[0] != 0xf6 {
		t.Errorf("bits %v", got)
	}
	if got := collect[float32](t, x.AsType(oocore.Float32).Reduce(oocore.ReduceSum, oocore.ReduceOptions{DType: oocore.Float32})); got[0] != 1.25 {
		t.Errorf("sum %v", got)
	}
	if got := x.AsType(oocore.Float16); got.DType() != oocore.Float16 || got.Dims() != 1 || got.Bytes() != 6 {
		t.Errorf("%v", got)
	}
}
