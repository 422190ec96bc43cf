package oocore_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// packed writes a Zarr array of int16 of one dimension with attributes, and opens it.
func packed(t *testing.T, path, attributes string, values ...int16) *oocore.Array {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(path, "c"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"zarr.json": fmt.Sprintf(`{"zarr_format":3,"node_type":"array","shape":[%d],"data_type":"int16","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[%[1]d]}},
			"chunk_key_encoding":{"name":"default"},"fill_value":0,"codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"dimension_names":["x"],"attributes":%s}`, len(values), attributes),
		"c/0": "",
	} {
		if name == "c/0" {
			var b []byte
			for _, v := range values {
				b = binary.LittleEndian.AppendUint16(b, uint16(v))
			}
			text = string(b)
		}
		testcases.WriteFile(t, filepath.Join(path, name), []byte(text), 0o666)
	}
	a := oocore.Open(path)
	if a.Err() != nil {
		t.Fatal(a.Err())
	}
	return a
}

// warnings are those of the plan of an expression to a path.
func warnings(t *testing.T, a *oocore.Array, path string) (all []string) {
	t.Helper()
	if _, err := a.Plan(path, host.Warn(func(w string) { all = append(all, w) })); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPlanWarnsOfPackedNumbers(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	x := packed(t, filepath.Join(dir, "x.zarr"), `{"scale_factor":0.5,"add_offset":10,"_FillValue":-1,"units":"K"}`, 2, 4, -1)
	plain := packed(t, filepath.Join(dir, "plain.zarr"), `{"scale_factor":1,"add_offset":0.0,"units":"K"}`, 2, 4, -1)
	valid := packed(t, filepath.Join(dir, "valid.zarr"), `{"valid_range":[0,3]}`, 2, 4, -1)
	for _, c := range []struct {
		expression, path string
		says             string // "" is nothing
	}{
		{"mean(x)", "", "x.zarr holds packed numbers (scale_factor 0.5, add_offset 10, _FillValue -1), which are used as they are stored: decode_cf(x) decodes them"},
		{"x", "", "used as they are stored"},
		{"x + 1", "o.zarr", "used as they are stored"},
		{"max(x, 0)", "o.zarr", "used as they are stored"}, // of missing values, too
		{"x + decode_cf(p)", "o.zarr", "x.zarr holds"},
		{"slice(x, \"1:\")", "o.npy", "o.npy does not keep what says so: NAME.zarr does, or decode_cf(x) decodes them"},
		{"x", "o.safetensors#x", "does not keep"},
		{"mean(v)", "", "valid.zarr has valid_range [0,3], which nothing applies: where(v >= 0 && v <= 3, v, nan) leaves out what is not valid"},
		{"x", "o.zarr", ""}, // which has the attributes
		{"concatenate(x, slice(x, \"1:\"), 0)", "o.zarr", ""},
		{"astype(x, \"int32\")", "o.zarr", ""},
		{"mean(decode_cf(x))", "", ""},
		{"slice(decode_cf(x), \"1:\") + 1", "o.npy", ""},
		{"where(x > 3, decode_cf(x), nan)", "o.npy", ""},
		{"p + 1", "", ""},
		{"where(v >= 0 && v <= 3, v, nan)", "", ""},
	} {
		names := oocore.Names{}
		for name, a := range map[string]*oocore.Array{"x": x, "p": plain, "v": valid} {
			if regexp.MustCompile(`\b` + name + `\b`).MatchString(c.expression) {
				names[name] = a
			}
		}
		a := oocore.Eval(c.expression, names)
		path := c.path
		if path != "" {
			path = filepath.Join(dir, path)
		}
		got := warnings(t, a, path)
		if c.says == "" && len(got) > 0 || c.says != "" && (len(got) != 1 || !strings.Contains(got[0], c.says)) {
			t.Errorf("%s to %q: %q, want %q", c.expression, c.path, got, c.says)
		}
		text, err := a.Explain(path)
		if err != nil || strings.Contains(text, "warning: ") != (c.says != "") {
			t.Errorf("%s to %q: plan %s, %v", c.expression, c.path, text, err)
		}
	}
	days := packed(t, filepath.Join(dir, "days.zarr"), `{"units":"days since 2000-01-01","calendar":"noleap"}`, 2, 4)
	if got := warnings(t, days, filepath.Join(dir, "days.npy")); len(got) != 1 || !strings.Contains(got[0], `holds dates (units "days since 2000-01-01", calendar "noleap"), and `) ||
		!strings.Contains(got[0], `NAME.zarr does; decode_cf does not decode them: dates of the calendar noleap are not decoded`) {
		t.Errorf("dates of another calendar: %q", got)
	}
	if got := warnings(t, days, ""); len(got) > 0 {
		t.Errorf("dates that are collected: %q", got)
	}
	var r oocore.RunReport
	if _, err := oocore.Collect[float64](t.Context(), x.Mean(), oocore.Report(&r)); err != nil || len(r.Warnings) != 1 {
		t.Errorf("report %+v, %v", r, err)
	}
}

// TestAdviceOnPackedNumbersHolds computes what a warning advises: that warns of nothing, and has the
// numbers that the attributes mean.
func TestAdviceOnPackedNumbersHolds(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	advice := regexp.MustCompile(`: (.*) (decodes them|leaves out)`)
	for i, c := range []struct {
		attributes string
		want       []float64
	}{
		{`{"scale_factor":0.5,"add_offset":10}`, []float64{11, 12, 9.5}},
		{`{"scale_factor":[0.5],"missing_value":[-1]}`, []float64{1, 2, math.NaN()}},
		{`{"_FillValue":4}`, []float64{2, math.NaN(), -1}},
		{`{"_Unsigned":"true"}`, []float64{2, 4, 65535}},
		{`{"valid_min":0}`, []float64{2, 4, math.NaN()}},
		{`{"valid_max":[3],"valid_min":0}`, []float64{2, math.NaN(), math.NaN()}},
		{`{"scale_factor":2,"valid_range":[0,3]}`, []float64{4, math.NaN(), math.NaN()}},
	} {
		x := packed(t, filepath.Join(dir, fmt.Sprint(i, ".zarr")), c.attributes, 2, 4, -1)
		warned := warnings(t, oocore.Eval("x + 0", oocore.Names{"x": x}), "")
		if len(warned) == 0 {
			t.Errorf("%s: no warning", c.attributes)
			continue
		}
		m := advice.FindStringSubmatch(warned[len(warned)-1])
		if m == nil {
			t.Errorf("%s: no advice in %q", c.attributes, warned)
			continue
		}
		followed := oocore.Eval("("+m[1]+") + 0", oocore.Names{"x": x})
		if again := warnings(t, followed, ""); len(again) > 0 {
			t.Errorf("%s: %s warns of %q", c.attributes, m[1], again)
		}
		got, err := oocore.Collect[float64](t.Context(), followed.AsType(oocore.Float64))
		if err != nil || !slices.EqualFunc(got, c.want, func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%s: %s is %v, want %v; %v", c.attributes, m[1], got, c.want, err)
		}
	}
}

func TestNumbersOfOtherMeaningAreNotMixed(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	packed(t, at("a1.zarr"), `{"scale_factor":0.5}`, 1, 2)
	packed(t, at("c1.zarr"), `{"scale_factor":0.25}`, 1, 2)
	packed(t, at("a3.zarr"), `{"scale_factor":0.5}`, 1, 2)
	packed(t, at("b3.zarr"), `{"long_name":"not packed"}`, 1, 2)
	a := packed(t, at("a2.zarr"), `{"scale_factor":0.5,"history":"first"}`, 1, 2)
	b := packed(t, at("b2.zarr"), `{"scale_factor":0.5,"history":"second"}`, 3, 4)
	c := packed(t, at("c.zarr"), `{"scale_factor":0.25}`, 3, 4)
	days := packed(t, at("first-rs.zarr"), `{"units":"days since 2000-01-01"}`, 3, 4)
	later := packed(t, at("later-rs.zarr"), `{"units":"days since 2001-01-01"}`, 3, 4)
	for pattern, want := range map[string][]float64{"?1.zarr?axis=0": {.5, 1, .25, .5}, "?1.zarr?concat=0": {.5, 1, .25, .5}, "?2.zarr?concat=0": {.5, 1, 1.5, 2},
		"?3.zarr?concat=0": {.5, 1, 1, 2}} {
		x := oocore.Open(at(pattern))
		if got := collected(x); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v; %v", pattern, got, want, x.Err())
		}
		if got := collected(x.DecodeCF("")); !slices.Equal(got, want) {
			t.Errorf("%s decoded again is %v, want %v", pattern, got, want)
		}
	}
	x := oocore.OpenStack(at("*rs.zarr"), 0)
	if got := collected(x.Year()); !slices.Equal(got, []float64{2000, 2000, 2001, 2001}) {
		t.Errorf("the years of a stack of dates are %v; %v", got, x.Err())
	}
	for name, x := range map[string]*oocore.Array{"stack": oocore.OpenStack(at("?2.zarr"), 0), "joined": oocore.Concatenate(0, a, b)} {
		save(t, x, at(name+".zarr"))
		if w, _ := readWritten(t, at(name+".zarr")); w.Attributes["scale_factor"] != 0.5 || w.Attributes["history"] != nil {
			t.Errorf("%s has %v", name, w.Attributes)
		}
	}
	save(t, oocore.Concatenate(0, a, c), at("mixed.zarr"))
	if w, _ := readWritten(t, at("mixed.zarr")); w.Attributes["scale_factor"] != nil {
		t.Errorf("of two factors: %v", w.Attributes)
	}
	if got := warnings(t, oocore.Concatenate(0, a, c), at("mixed2.zarr")); len(got) != 2 {
		t.Errorf("of two factors: %q", got)
	}
	save(t, a, at("all.zarr"))
	if _, err := b.Append(t.Context(), at("all.zarr"), 0); err != nil {
		t.Errorf("appending of one factor: %v", err)
	}
	if _, err := c.Append(t.Context(), at("all.zarr"), 0); err == nil || !strings.Contains(err.Error(), "has scale_factor 0.5, and what is written into it has scale_factor 0.25") {
		t.Errorf("appending of another factor: %v", err)
	}
	if _, err := c.Save(t.Context(), at("all.zarr"), oocore.Region("1:3")); err == nil {
		t.Error("a region has another factor than the whole, without an error")
	}
	save(t, days, at("dates.zarr"))
	if _, err := later.Append(t.Context(), at("dates.zarr"), 0); err == nil || !strings.Contains(err.Error(), "since 2001-01-01") {
		t.Errorf("appending of other dates: %v", err)
	}
	var r oocore.RunReport
	if _, err := oocore.FromSlice([]int16{1}).Append(t.Context(), at("all.zarr"), 0, oocore.Report(&r)); err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "is stored as it is") {
		t.Errorf("appending of plain numbers: %q, %v", r.Warnings, err)
	}
}

// TestResultsHaveAttributesThatHold is the table of what results keep of the attributes of their inputs.
func TestResultsHaveAttributesThatHold(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	x := packed(t, filepath.Join(dir, "x.zarr"), `{"scale_factor":0.5,"missing_value":-1,"units":"K"}`, 2, 4, -1)
	u := packed(t, filepath.Join(dir, "u.zarr"), `{"_Unsigned":"true","units":"K"}`, 2, 4, -1)
	p := packed(t, filepath.Join(dir, "p.zarr"), `{"units":"K","long_name":"air"}`, 2, 4, -1)
	for i, c := range []struct {
		expression, want string
	}{
		{"slice(x, \"::-1\")", "map[missing_value:-1 scale_factor:0.5 units:K]"},
		{"astype(x, \"uint16\")", "map[units:K]"}, // -1 wraps
		{"astype(x, \"float32\")", "map[missing_value:-1 scale_factor:0.5 units:K]"},
		{"max(x, 0, \"keepdims\")", "map[missing_value:-1 scale_factor:0.5 units:K]"},
		{"astype(x, \"bool\")", "map[]"},
		{"decode_cf(x)", "map[units:K]"},
		{"mean(decode_cf(x), 0, \"keepdims\")", "map[units:K]"},
		{"mean(x, 0, \"keepdims\")", "map[]"},
		{"mean(p, 0, \"keepdims\")", "map[units:K]"},
		{"x * 2", "map[]"},
		{"decode_cf(x) - 273.15", "map[]"},
		{"p + p", "map[]"},
		{"u", "map[_Unsigned:true units:K]"},
		{"astype(u, \"int32\")", "map[units:K]"},
		{"decode_cf(u)", "map[units:K]"},
		{"astype(decode_cf(u), \"int32\")", "map[units:K]"},
	} {
		names := oocore.Names{}
		for name, a := range map[string]*oocore.Array{"x": x, "u": u, "p": p} {
			if regexp.MustCompile(`\b` + name + `\b`).MatchString(c.expression) {
				names[name] = a
			}
		}
		out := filepath.Join(dir, fmt.Sprint(i, "o.zarr"))
		save(t, oocore.Eval(c.expression, names), out)
		if w, _ := readWritten(t, out); fmt.Sprint(w.Attributes) != c.want {
			t.Errorf("%s has %v, want %s", c.expression, w.Attributes, c.want)
		}
	}
}

// Titles are expressions that whoever wrote the program knows.
func TestTitlesAreExpressionsOfTheProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	x := packed(t, filepath.Join(t.TempDir(), "x.zarr"), `{"scale_factor":0.5,"add_offset":10,"_FillValue":-1,"missing_value":-2}`, 2, 4, -1)
	days := packed(t, filepath.Join(t.TempDir(), "t.zarr"), `{"units":"days since 2000-01-01","_FillValue":-1}`, 2, 4, -1)
	for want, a := range map[string]*oocore.Array{
		"decode_cf(x.zarr) + 1": x.DecodeCF("").Add(1), "decode_cf(x.zarr[1:3])": x.Slice("1:").DecodeCF(""), "decode_cf(t.zarr)": days.DecodeCF(""),
	} {
		p, err := a.Plan("")
		if err != nil || p.Title != want {
			t.Errorf("the title is %q, want %q (%v)", p.Title, want, err)
		}
	}
	for _, err := range oocore.Batches[int16](t.Context(), x, 0, 2, host.Cell("cell")) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if all, err := record.List(dir); err != nil || len(all) == 0 || all[0].Header.Title != "x.zarr" {
		t.Errorf("%v, %v", all, err)
	}
}
