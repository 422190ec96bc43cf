package csv_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/csv"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// What is written is read again to the bit, by this package and by NumPy.
func TestWriteIsReadAgain(t *testing.T) {
	random, dir := testcases.Rand(t), t.TempDir()
	var numpy strings.Builder
	for i, dtype := range []oocore.DType{oocore.Bool, oocore.Int8, oocore.Uint16, oocore.Int64, oocore.Uint64, oocore.Float32, oocore.Float64} {
		rows, columns := random.IntN(300), 1+random.IntN(400)
		bits := make([]uint64, rows*columns)
		for k := range bits {
			bits[k] = random.Uint64() >> random.IntN(64)
		}
		x := oocore.FromSlice(bits, rows, columns)
		if dtype == oocore.Float32 || dtype == oocore.Float64 {
			x = x.AsType(oocore.Float64).Sub(1e6).Div(3).AsType(dtype)
		} else {
			x = x.AsType(dtype)
		}
		stored, file := filepath.Join(dir, fmt.Sprint(i, ".npy")), filepath.Join(dir, fmt.Sprint(i, ".csv"))
		x = testcases.Must[*oocore.Array](t)(x.Save(t.Context(), stored))
		if err := csv.Write(t.Context(), x, file, oocore.Memory("64MiB")); err != nil {
			t.Fatal(err)
		}
		back := testcases.Must[*oocore.Array](t)(csv.Save(t.Context(), file, filepath.Join(dir, "back.npy"), csv.Options{DTypes: []oocore.DType{dtype}}))
		if same := testcases.Must[[]bool](t)(oocore.Collect[bool](t.Context(), back.Equal(x).All())); !same[0] || !slices.Equal(back.Shape(), x.Shape()) {
			t.Errorf("%s %v comes back otherwise", dtype, x.Shape())
		}
		if rows > 0 {
			fmt.Fprintf(&numpy, "x = numpy.load(%q); y = numpy.loadtxt(%q, x.dtype if x.dtype != bool else 'i1', delimiter=',', skiprows=1, ndmin=2); assert (x == y).all(), x.dtype\n", stored, file)
		}
	}
	if out, err := exec.Command(testcases.Python(t, "tables that NumPy reads"), "-c", "import numpy\n"+numpy.String()).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The first row has the labels, and a run that fails leaves what was there before and nothing else.
func TestWriteIsWholeOrNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.csv")
	x := oocore.FromSlice([]float64{1, math.NaN(), math.Inf(1), math.Inf(-1), 0, -2e9}, 3, 2).WithCoord("x", oocore.FromSlice([]float64{2.5, 5}, 2))
	if err := csv.Write(t.Context(), x, file); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []*oocore.Array{oocore.Open("none.npy"), x.Reshape(1, 3, 2), x.AsType(oocore.Complex64), oocore.MapChunks(func(_, _ []float64, _ oocore.Block) error { return os.ErrInvalid }, x, oocore.MapOptions{})} {
		if err := csv.Write(t.Context(), bad, file); err == nil {
			t.Error("no error")
		}
	}
	left, _ := os.ReadDir(filepath.Dir(file))
	if text := testcases.ReadFile(t, file); string(text) != "2.5,5\n1,nan\ninf,-inf\n0,-2e+09\n" || len(left) != 1 {
		t.Errorf("%q, %v", text, left)
	}
}
