package arrow_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/arrow"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var kinds = []oocore.DType{oocore.Bool, oocore.Int8, oocore.Int16, oocore.Int32, oocore.Int64, oocore.Uint8, oocore.Uint16, oocore.Uint32, oocore.Uint64, oocore.Float16, oocore.Float32, oocore.Float64}

// What is written is read by pandas and by this package to the bit: rows × columns, a column alone, and collections with lists.
func TestWriteIsReadByPandas(t *testing.T) {
	random, dir := testcases.Rand(t), t.TempDir()
	var script strings.Builder
	all := new(oocore.Collection)
	shared := random.IntN(20_000)
	for i, kind := range kinds {
		rows, columns := random.IntN(9000), 1+random.IntN(30)
		random64 := func(n int) []uint64 {
			bits := make([]uint64, n)
			for k := range bits {
				bits[k] = random.Uint64() >> random.IntN(64)
			}
			return bits
		}
		x := oocore.FromSlice(random64(rows*columns), rows, columns).AsType(kind)
		stored, file := filepath.Join(dir, fmt.Sprint(i, ".npy")), filepath.Join(dir, fmt.Sprint(i, ".parquet"))
		x = testcases.Must[*oocore.Array](t)(x.Save(t.Context(), stored))
		if err := arrow.Write(t.Context(), x, file, oocore.Memory("96MiB")); err != nil {
			t.Fatal(err)
		}
		same(t, oocore.Open(file+"#table").Slice(fmt.Sprintf(":, :%d", columns)), x)
		fmt.Fprintf(&script, "x = numpy.load(%q); y = pandas.read_parquet(%q); assert list(y) == [str(i) for i in range(x.shape[1])]; assert (y.dtypes == x.dtype).all() and numpy.array_equal(y.to_numpy(), x, equal_nan=x.dtype.kind == 'f'), x.dtype\n", stored, file)
		length := random.IntN(4)
		c := oocore.FromSlice(random64(shared*max(length, 1)), shared, max(length, 1)).AsType(kind)
		if length == 0 {
			c = c.Reshape(shared)
		}
		name := fmt.Sprint("column.", kind)
		c = testcases.Must[*oocore.Array](t)(c.Save(t.Context(), filepath.Join(dir, name+".npy")))
		all = all.With(name, c)
		fmt.Fprintf(&script, "x = numpy.load(%q); y = numpy.array(pandas.read_parquet(%q)[%q].tolist(), x.dtype).reshape(x.shape); assert numpy.array_equal(y, x, equal_nan=x.dtype.kind == 'f'), x.dtype\n", filepath.Join(dir, name+".npy"), filepath.Join(dir, "all.parquet"), name)
	}
	if err := arrow.WriteColumns(t.Context(), all, filepath.Join(dir, "all.parquet"), oocore.Memory("96MiB")); err != nil {
		t.Fatal(err)
	}
	back := oocore.OpenAll(filepath.Join(dir, "all.parquet"))
	if !slices.Equal(back.Names(), all.Names()) {
		t.Errorf("the columns are %q", back.Names())
	}
	for name, x := range all.All() {
		same(t, back.Get(name), x)
	}
	if out, err := exec.Command(testcases.Python(t, "tables that pandas reads"), "-c", "import numpy, pandas\n"+script.String()).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// same reports arrays that differ.
func same(t *testing.T, got, want *oocore.Array) {
	t.Helper()
	equal, err := oocore.Collect[bool](t.Context(), got.Equal(want).LogicalOr(want.NotEqual(want)).All())
	if err != nil || !equal[0] || got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%v %v for %v %v: %v", got.DType(), got.Shape(), want.DType(), want.Shape(), err)
	}
}

// Row groups are bounded, and dates stay dates.
func TestWriteInRowGroups(t *testing.T) {
	dir := t.TempDir()
	x := oocore.Arange(0, 3<<20, 1).Reshape(1<<20, 3)
	if err := arrow.Write(t.Context(), x, filepath.Join(dir, "x.parquet"), oocore.Memory("128MiB")); err != nil {
		t.Fatal(err)
	}
	same(t, oocore.Open(filepath.Join(dir, "x.parquet#table")), x)
	if n := oocore.Open(filepath.Join(dir, "x.parquet#1")).Chunks()[0]; n != 8<<20/24 {
		t.Errorf("groups of %d rows", n)
	}
	stamps := oocore.OpenAll(small).Get("day")
	if err := arrow.WriteColumns(t.Context(), new(oocore.Collection).With("d", stamps), filepath.Join(dir, "d.parquet")); err != nil {
		t.Fatal(err)
	}
	d := oocore.Open(filepath.Join(dir, "d.parquet"))
	same(t, d, stamps)
	if year := testcases.Must[[]int64](t)(oocore.Collect[int64](t.Context(), oocore.Eval("year(decode_cf(d))", oocore.Names{"d": d}).AsType(dtype.Int64))); year[0] != 1970 {
		t.Errorf("the year is %v", year)
	}
}

// A run that fails leaves what was there before and nothing else.
func TestWriteIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.parquet")
	x := oocore.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	if err := arrow.Write(t.Context(), x, file); err != nil {
		t.Fatal(err)
	}
	before := testcases.ReadFile(t, file)
	fails := oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error { return os.ErrInvalid }, x, oocore.MapOptions{})
	for _, bad := range []*oocore.Array{oocore.Open("none.npy"), x.Reshape(1, 2, 2), x.AsType(oocore.Complex64), x.AsType(oocore.BFloat16), fails, oocore.Zeros(oocore.Int8, 1, 10_001), oocore.Zeros(oocore.Int8, 3, 0)} {
		if err := arrow.Write(t.Context(), bad, file); err == nil || !strings.Contains(err.Error(), "write_test.go") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
	for name, bad := range map[string]*oocore.Array{"of other length": oocore.Zeros(oocore.Int8, 3), "of dimensions": x.Reshape(2, 1, 2), "that fails": fails, "none": oocore.Open("none.npy"), "": oocore.Zeros(oocore.Int8, 2, 0)} {
		if err := arrow.WriteColumns(t.Context(), new(oocore.Collection).With("x", x).With(name, bad), file); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 || string(testcases.ReadFile(t, file)) != string(before) {
		t.Errorf("%v is left", left)
	}
}
