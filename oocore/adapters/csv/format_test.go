package csv_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/csv"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestFilesAreReadAsPandasReadsThem(t *testing.T) {
	storetest.Foreign(t, "tables that pandas reads", "testdata/read.py", 150)
}

// A file of many groups of rows has the elements that were written, by rows and by columns.
func TestGroupsOfRowsAreReadInPlace(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("a,\"b\n,\",flag\n")
	const rows = 300_000
	for i := range rows {
		fmt.Fprintf(&text, "%d,\"%d.5\",%v\n", i, i*i, i%3 == 0)
	}
	file := filepath.Join(dir, "x.csv")
	testcases.WriteFile(t, file, []byte(text.String()), 0o600)
	a, err := store.Open(file + "#a")
	if err != nil {
		t.Fatal(err)
	}
	if info := a.Info(); info.Chunks[0] >= rows || info.DType != oocore.Int64 {
		t.Errorf("%+v", info)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	i := oocore.Arange(0, rows, 1)
	want := oocore.Stack(1, i.AsType(oocore.Float64), i.Mul(i).AsType(oocore.Float64).Add(0.5), i.Mod(3).Equal(0).AsType(oocore.Float64))
	for path, want := range map[string]*oocore.Array{"#table": want, "#b\n,": want.Slice(":, 1"), "#flag": want.Slice(":, 2").AsType(oocore.Bool), "#a": i} {
		got := oocore.Open(file + path)
		same, err := oocore.Collect[bool](t.Context(), got.Slice("::-7").Equal(want.Slice("::-7")).All(), oocore.Memory("128MiB"))
		if err != nil || !same[0] || got.DType() != want.DType() {
			t.Errorf("%q: %v of %v: %v", path, same, got.DType(), err)
		}
	}
}

func TestOpenRejectsAndNamesLineAndColumn(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, path, words string }{
		"several":  {"a,b,c\n1,2,x\n", "", `the file has "a", "b": add #NAME to the path, or #table`},
		"none":     {"a,b\n1,2\n", "#c", `there is no column "c": the file has "a", "b"`},
		"text":     {"a,b\n1,2\n3,four\n", "#b", `column "b": line 3 has "four"`},
		"table":    {"a,b\n1,2\n3,four\n", "#table", `column "b": line 3 has "four": arrays have numbers and bools; a table is of numbers alone`},
		"beyond":   {"a\n18446744073709551615\n", "#a", "beyond int64"},
		"mixed":    {"a\n1\ntrue\n", "#a", "numbers or bools"},
		"gap":      {"a,b\ntrue,1\n,2\n", "#a", "bools have no missing values"},
		"few":      {"a,b\n1\n", "#a", "line 2 has 1 fields"},
		"empty":    {"", "", "the file is empty"},
		"unclosed": {"a\n\"1\n", "#a", "line"},
	} {
		file := filepath.Join(dir, name+".csv")
		testcases.WriteFile(t, file, []byte(c.text), 0o600)
		if err := oocore.Open(file + c.path).Err(); err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.words)
		}
	}
	if _, err := oocore.Zeros(oocore.Uint8, 4).Save(t.Context(), filepath.Join(dir, "o.csv")); err == nil || !strings.Contains(err.Error(), "gonbext convert or by Write") {
		t.Errorf("saving: %v", err)
	}
}

// Labels that are texts or dates name the columns, which are arrays again under these names.
func TestLabelsNameColumns(t *testing.T) {
	dir := t.TempDir()
	x := oocore.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 3, 2)
	for i, c := range []struct {
		labels           []int64
		attributes, want string
	}{
		{[]int64{1, 0}, `{"flag_values":[0,1],"flag_meanings":["a, b","price"]}`, `price "a, b"`},
		{[]int64{1, 0}, `{"flag_values":[0,1],"flag_meanings":"volume price"}`, `price volume`},
		{[]int64{0, -1}, `{"units":"days since 2000-03-01","calendar":"proleptic_gregorian"}`, `"2000-03-01 00:00:00" "2000-02-29 00:00:00"`},
		{[]int64{1500, 0}, `{"units":"milliseconds since 1970-01-01"}`, `"1970-01-01 00:00:01.5" "1970-01-01 00:00:00"`},
		{[]int64{1 << 60, -3}, `{}`, `1152921504606846976 -3`},
	} {
		attributes := map[string]any{}
		if err := json.Unmarshal([]byte(c.attributes), &attributes); err != nil {
			t.Fatal(err)
		}
		labels := testcases.Must[*oocore.Array](t)(oocore.FromSlice(c.labels, 2).Save(t.Context(), filepath.Join(dir, fmt.Sprint(i, ".zarr")), oocore.Attributes(attributes)))
		labelled := x.WithCoord("x", labels)
		names, err := host.Columns(t.Context(), labelled)
		if got := fmt.Sprintf("%s %s", quoted(names[0]), quoted(names[1])); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.attributes, got, err, c.want)
		}
		file := filepath.Join(dir, fmt.Sprint(i, ".csv"))
		if err := csv.Write(t.Context(), labelled, file); err != nil {
			t.Fatal(err)
		}
		if got, err := oocore.Collect[int64](t.Context(), oocore.Open(file+"#"+names[1]).AsType(oocore.Int64)); err != nil || !slices.Equal(got, []int64{2, 4, 6}) {
			t.Errorf("column %q is %v: %v", names[1], got, err)
		}
	}
}

func quoted(name string) string {
	if strings.ContainsAny(name, " ,") {
		return fmt.Sprintf("%q", name)
	}
	return name
}
