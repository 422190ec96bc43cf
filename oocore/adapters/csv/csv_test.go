package csv_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/csv"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "trades.csv")
	if err := os.WriteFile(file, []byte("day,price,count\n1,2.5,3\n2,4.5,1\n"), 0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	x, err := csv.Save(ctx, file, filepath.Join(dir, "trades.npy"), csv.Options{Columns: []string{"price", "count"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(oocore.Collect[float64](ctx, x.Mean(0)))
	all, err := csv.SaveColumns(ctx, file, filepath.Join(dir, "trades.zarr"),
		csv.Options{DTypes: []oocore.DType{oocore.Int16, oocore.Float32, oocore.Int64}})
	if err != nil {
		panic(err)
	}
	for name, column := range all.All() {
		fmt.Println(name, column.DType(), column.Shape())
	}
	// Output:
	// [3.5 2] <nil>
	// count int64 [2]
	// day int16 [2]
	// price float32 [2]
}

// save saves a text as one array.
func save(t *testing.T, text string, o csv.Options) (*oocore.Array, error) {
	t.Helper()
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "x.csv")
	testcases.WriteFile(t, file, []byte(text), 0o600)
	a, err := csv.Save(t.Context(), file, filepath.Join(dir, "o.npy"), o)
	checkFiles(t, dir, err)
	return a, err
}

// checkFiles fails where a folder has more than the input and the output, which an error leaves out.
func checkFiles(t *testing.T, dir string, failed error) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	want := 2
	if failed != nil {
		want = 1
	}
	if err != nil || len(entries) != want {
		t.Errorf("%v is left after %v: %v", entries, failed, err)
	}
}

func TestSaveHasNumPysElements(t *testing.T) {
	python := testcases.Python(t, "files that numpy.loadtxt reads")
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir, seed := t.TempDir(), testcases.Seed(t)
	if out, err := exec.Command(python, "testdata/make.py", dir, strconv.FormatUint(seed, 10), "80").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := testcases.ReadFile(t, filepath.Join(dir, "cases.json"))
	var cases []struct {
		File, Want, DType, Comma string
		Header                   bool
		Columns                  []string
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		want := oocore.Open(filepath.Join(dir, c.Want))
		o := csv.Options{Columns: c.Columns, DTypes: []oocore.DType{want.DType()}, NoHeader: !c.Header, Comma: rune(c.Comma[0])}
		a, err := csv.Save(t.Context(), filepath.Join(dir, c.File), filepath.Join(dir, "o.npy"), o)
		if err != nil {
			t.Errorf("%s of seed %d: %v", c.File, seed, err)
			continue
		}
		same := a.Equal(want)
		if want.DType() == oocore.Float32 || want.DType() == oocore.Float64 {
			same = same.LogicalOr(a.IsNaN().LogicalAnd(want.IsNaN()))
		}
		if all, err := oocore.Item[bool](t.Context(), same.All()); err != nil || !all || !slices.Equal(a.Shape(), want.Shape()) || a.DType().String() != c.DType {
			t.Errorf("%s of seed %d: %v, want %v: %v", c.File, seed, a, want, err)
		}
	}
	if len(cases) < 80 {
		t.Errorf("only %d cases", len(cases))
	}
}

func TestSaveOfFormsOfText(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		o     csv.Options
		shape []int
		want  []float64
	}{
		"header":              {"a,b\n1,2\n3,4\n", csv.Options{}, []int{2, 2}, []float64{1, 2, 3, 4}},
		"no end of line":      {"a,b\n1,2\n3,4", csv.Options{}, []int{2, 2}, []float64{1, 2, 3, 4}},
		"no header":           {"1,2\n3,4\n", csv.Options{NoHeader: true}, []int{2, 2}, []float64{1, 2, 3, 4}},
		"columns":             {"a,b,c\n1,x,3\n4,,6\n", csv.Options{Columns: []string{"c", "a"}}, []int{2, 2}, []float64{3, 1, 6, 4}},
		"columns by number":   {"1,x,3\n4,,6\n", csv.Options{Columns: []string{"2"}, NoHeader: true}, []int{2, 1}, []float64{3, 6}},
		"quotes":              {"\"a\nb\",\"c\"\n\"1\",\"2\"\n", csv.Options{}, []int{1, 2}, []float64{1, 2}},
		"spaces":              {" a , b \n 1 , 2\n", csv.Options{Columns: []string{"a", "b"}}, []int{1, 2}, []float64{1, 2}},
		"byte order mark":     {"\ufeffa,b\n1,2\n", csv.Options{Columns: []string{"a"}}, []int{1, 1}, []float64{1}},
		"semicolons":          {"a;b\n1;2\n", csv.Options{Comma: ';'}, []int{1, 2}, []float64{1, 2}},
		"empty lines":         {"a\n\n1\n\n2\n", csv.Options{}, []int{2, 1}, []float64{1, 2}},
		"header alone":        {"a,b\n", csv.Options{}, []int{0, 2}, nil},
		"one name twice":      {"a,a\n1,2\n", csv.Options{}, []int{1, 2}, []float64{1, 2}},
		"numbers of any form": {"a\n1e-3\n-inf\n+5\n", csv.Options{}, []int{3, 1}, []float64{1e-3, math.Inf(-1), 5}},
	} {
		a, err := save(t, c.text, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := oocore.Collect[float64](t.Context(), a)
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(a.Shape(), c.shape) {
			t.Errorf("%s: %v of shape %v, want %v of %v: %v", name, got, a.Shape(), c.want, c.shape, err)
		}
	}
}

func TestSaveRejectsAndNamesLineAndColumn(t *testing.T) {
	types := func(all ...oocore.DType) csv.Options { return csv.Options{DTypes: all} }
	for name, c := range map[string]struct {
		text  string
		o     csv.Options
		words string
	}{
		"no number":          {"a,b\n1,2\n3,four\n", csv.Options{}, `x.csv: line 3, column "b": "four" is no float64`},
		"after lines quoted": {"\"a\nb\",c\n1,x\n", csv.Options{}, `line 3, column "c"`},
		"empty":              {"a,b\n1,\n", csv.Options{}, `line 2, column "b": the field is empty: write nan`},
		"few fields":         {"a,b\n1,2\n3\n", csv.Options{}, "line 3 has 1 fields, the first row has 2"},
		"many fields":        {"1,2\n3,4,5\n", csv.Options{NoHeader: true}, "line 2 has 3 fields, the first row has 2"},
		"first row":          {"a,b\n1,2\n", csv.Options{NoHeader: true}, `line 1, column "0": "a" is no float64`},
		"fraction":           {"a\n1.5\n", types(oocore.Int32), `"1.5" is no int32`},
		"range":              {"a\n300\n", types(oocore.Uint8), `"300" is beyond the range of uint8`},
		"range of floats":    {"a\n1e39\n", types(oocore.Float32), `"1e39" is beyond the range of float32`},
		"negative":           {"a\n-1\n", types(oocore.Uint8), `"-1" is no uint8`},
		"type":               {"a\n1\n", types(oocore.Float16), "float16 are not read from text"},
		"types":              {"a,b\n1,2\n", types(oocore.Int8, oocore.Int16), "use SaveColumns"},
		"column":             {"a,b\n1,2\n", csv.Options{Columns: []string{"c"}}, `no column "c": the first row has "a", "b"`},
		"no columns":         {"a,b\n1,2\n", csv.Options{Columns: []string{}}, "Options.Columns is empty"},
		"empty file":         {"", csv.Options{}, "the file is empty"},
		"quote":              {"a\n\"1\n", csv.Options{}, "line 2"},
		"long row":           {"a\n\"" + strings.Repeat("1\n", 9<<20), csv.Options{}, "is a quote not closed"},
		"wide row":           {strings.Repeat(",", 1<<20), csv.Options{}, "a row has more than 262,144 fields: is a quote not closed"},
		"comma":              {"a\n", csv.Options{Comma: '\n'}, "delimiter"},
	} {
		a, err := save(t, c.text, c.o)
		if err == nil || a != nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "csv_test.go") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.words)
		}
	}
	_, err := csv.Save(t.Context(), "missing.csv", "o.npy", csv.Options{})
	if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "missing.csv") != 1 {
		t.Errorf("a missing file: %v", err)
	}
}

func TestSaveColumnsOfTypes(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	types := []oocore.DType{dtype.Bool, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64, dtype.Float32, dtype.Float64}
	rows := [][]string{
		{"true", "-128", "-32768", "-2147483648", "-9223372036854775808", "0", "0", "0", "0", "-1.5", "0.1"},
		{"0", "127", "32767", "2147483647", "9223372036854775807", "255", "65535", "4294967295", "18446744073709551615", "1e10", "-1e300"},
	}
	want := []string{"[true false]", "[-128 127]", "[-32768 32767]", "[-2147483648 2147483647]", "[-9223372036854775808 9223372036854775807]",
		"[0 255]", "[0 65535]", "[0 4294967295]", "[0 18446744073709551615]", "[-1.5 1e+10]", "[0.1 -1e+300]"}
	var names []string
	for _, dt := range types {
		names = append(names, "column of "+dt.String())
	}
	text := strings.Join(names, ",") + "\n" + strings.Join(rows[0], ",") + "\n" + strings.Join(rows[1], ",") + "\n"
	for _, output := range []string{"o.zarr", "o.npz", "o.safetensors", "o"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "x.csv")
		testcases.WriteFile(t, file, []byte(text), 0o600)
		path := filepath.Join(dir, output)
		if output == "o" {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		all, err := csv.SaveColumns(t.Context(), file, path, csv.Options{DTypes: types})
		checkFiles(t, dir, err)
		if err != nil {
			t.Errorf("%s: %v", output, err)
			continue
		}
		for i, name := range names {
			a := all.Get(name)
			var got any
			var err error
			switch types[i] {
			case dtype.Bool:
				got, err = oocore.Collect[bool](t.Context(), a)
			case dtype.Float32:
				got, err = oocore.Collect[float32](t.Context(), a)
			case dtype.Float64:
				got, err = oocore.Collect[float64](t.Context(), a)
			case dtype.Uint64:
				got, err = oocore.Collect[uint64](t.Context(), a)
			default:
				got, err = oocore.Collect[int64](t.Context(), a.AsType(oocore.Int64))
			}
			if err != nil || a.DType() != types[i] || fmt.Sprint(got) != want[i] {
				t.Errorf("%s: %s is %v of %v, want %s: %v", output, name, got, a.DType(), want[i], err)
			}
		}
	}
}

// watched is a context that notes the most live memory of Go's heap when it was asked.
type watched struct {
	context.Context
	most *uint64
}

func (w watched) Err() error {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	*w.most = max(*w.most, m.HeapAlloc)
	return w.Context.Err()
}

// A file of any size takes the memory of its buffers; where its last row has an error, nothing is left.
func TestSaveHoldsNoMoreThanBuffers(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "x.csv"))
	if err != nil {
		t.Fatal(err)
	}
	const rows, columns = 30_000, 200 // 48 MB of elements
	row := []byte(strings.Repeat("1,", columns-1) + "1\n")
	for range rows {
		if _, err := f.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString("x\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, most uint64
	_ = watched{t.Context(), &before}.Err()
	_, err = csv.Save(watched{t.Context(), &most}, f.Name(), filepath.Join(dir, "o.npy"), csv.Options{NoHeader: true})
	if err == nil || !strings.Contains(err.Error(), "line 30001 has 1 fields") {
		t.Errorf("an error in the last row: %v", err)
	}
	checkFiles(t, dir, err)
	if held := int64(most - before); most == 0 || held > 9<<20 {
		t.Errorf("%d bytes were held", held)
	}
}

func TestSaveEndsWithContext(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.csv")
	testcases.WriteFile(t, file, []byte("a\n1\n"), 0o600)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := csv.Save(ctx, file, filepath.Join(dir, "o.npy"), csv.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run: %v", err)
	}
	checkFiles(t, dir, err)
}
