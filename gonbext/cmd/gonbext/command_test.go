package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// asCommand makes the test's binary be the command.
const asCommand = "GONBEXT_TEST_COMMAND"

func init() {
	if os.Getenv(asCommand) != "" {
		if notes := os.Getenv(jobGroups); notes != "" {
			inGroup(notes)
		}
		waitHeld()
		main()
	}
}

// command is a call of gonbext in a folder, with a run log of its own.
func command(dir string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), asCommand+"=1", "GONBEXT_RUNS="+filepath.Join(dir, ".runs"))
	return c
}

// outcome is what a call of gonbext leaves.
type outcome struct {
	status         int
	stdout, stderr string
}

func finish(t *testing.T, c *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// succeed calls gonbext and returns what it prints.
func succeed(t *testing.T, dir string, args ...string) string {
	t.Helper()
	o := finish(t, command(dir, args...))
	if o.status != 0 || o.stderr != "" {
		t.Fatalf("gonbext %s: status %d, %s", strings.Join(args, " "), o.status, o.stderr)
	}
	return o.stdout
}

// npyFile writes an npy file of version 1 with a header of these words.
func npyFile(t *testing.T, path, descr, shape string, data []byte) {
	t.Helper()
	header := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	file := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(file[8:], uint16(len(header)))
	testcases.WriteFile(t, path, append(append(file, header...), data...), 0o644)
}

// floats writes a float32 array of squares: 0, 1, 4, …
func floats(t *testing.T, path, shape string, n int) {
	t.Helper()
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i * i)
	}
	npyFile(t, path, "'<f4'", shape, dtype.Bytes(v))
}

// elements are those of an npy file of version 1.
func elements[T dtype.Element](t *testing.T, path string) []T {
	t.Helper()
	file := testcases.ReadFile(t, path)
	return slices.Clone(dtype.Slice[T](bytes.Clone(file[10+int(binary.LittleEndian.Uint16(file[8:])):])))
}

// listing is every file below dir, with its size, but the run log's and what tasks on a cluster say.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".runs":
			return fs.SkipDir
		case d.IsDir(), filepath.Base(filepath.Dir(path)) == "jobs" && filepath.Ext(path) == ".log":
			return nil
		}
		i, err := d.Info()
		if err == nil {
			all = append(all, fmt.Sprintf("%s %d", path, i.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCompute(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3, 4)", 12)
	out := succeed(t, dir, "compute", "sqrt(x)", "x=x.npy", "-o", "roots.npy", "--memory", "64MiB", "--json")
	var f map[string]any
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run", "seconds", "budget", "predicted_peak", "measured_peak", "chunks", "computed", "skipped",
		"read_bytes", "written_bytes", "device", "stages"} {
		if _, ok := f[name]; !ok {
			t.Errorf("%s is not in %s", name, out)
		}
	}
	if f["budget"] != 64.0*(1<<20) || f["computed"] != f["chunks"] || f["written_bytes"] != 48.0 {
		t.Errorf("figures: %s", out)
	}
	for i, v := range elements[float32](t, filepath.Join(dir, "roots.npy")) {
		if v != float32(i) {
			t.Errorf("root %d is %v", i, v)
		}
	}
	again := succeed(t, dir, "compute", "sqrt(x)", "x=x.npy", "-o", "roots.npy", "--memory", "128MiB", "--json")
	if err := json.Unmarshal([]byte(again), &f); err != nil || f["computed"] != 0.0 || f["skipped"] != f["chunks"] {
		t.Errorf("the same again is not skipped: %v, %s", err, again)
	}
	fresh := succeed(t, dir, "compute", "sqrt(x)", "x=x.npy", "-o", "roots.npy", "--fresh", "--json", "--device", "model:1MiB", "--workers", "1")
	if err := json.Unmarshal([]byte(fresh), &f); err != nil || f["skipped"] != 0.0 || f["device"].(map[string]any)["name"] != "model:1MiB" {
		t.Errorf("fresh, on a modelled device: %v, %s", err, fresh)
	}
	if got := succeed(t, dir, "compute", "sum(sqrt(x))", "x=x.npy"); got != "66\n" {
		t.Errorf("the sum of 0…11 is printed as %q", got)
	}
	if got := succeed(t, dir, "compute", "any(x > 120)", "x=x.npy"); got != "true\n" {
		t.Errorf("any is printed as %q", got)
	}
	if got := succeed(t, dir, "compute", "var(x) > 0", "x=x.npy"); got != "true\n" {
		t.Errorf("var is printed as %q", got)
	}
}

func TestComputePlan(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(12,)", 12)
	before := listing(t, dir)
	out := succeed(t, dir, "compute", "sqrt(x)", "x=x.npy", "-o", "roots.npy", "--plan")
	if !strings.Contains(out, "sqrt(x)") || !strings.Contains(out, "nothing was run") {
		t.Errorf("plan: %s", out)
	}
	out = succeed(t, dir, "compute", "mean(astype(x, \"complex64\"))", "x=x.npy", "--device", "model:1MiB", "--plan")
	if !strings.Contains(out, "complex64: on the CPU") {
		t.Errorf("the plan does not say what the device leaves to the CPU: %s", out)
	}
	var f figures
	out = succeed(t, dir, "compute", "sqrt(x)", "x=x.npy", "-o", "roots.npy", "--plan", "--json")
	if err := json.Unmarshal([]byte(out), &f); err != nil || f.PredictedPeak == 0 || f.Computed != 0 || f.MeasuredPeak != 0 {
		t.Errorf("plan in figures: %v, %s", err, out)
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("a plan leaves %v", after)
	}
}

func TestComputeReport(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(12,)", 12)
	succeed(t, dir, "compute", "sqrt(x)", "x=x.npy", "-o", "<u>.npy", "--report", "run.html")
	page := testcases.ReadFile(t, filepath.Join(dir, "run.html"))
	if !bytes.Contains(page, []byte("sqrt(x)")) || !bytes.Contains(page, []byte("Peak")) {
		t.Error("the report does not say what was run, or its peak")
	}
	if bytes.Contains(page, []byte("<u>")) {
		t.Error("a file's name is not escaped in the report")
	}
}

func TestConvertAndInfo(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(2, 3)", 6)
	succeed(t, dir, "convert", "x.npy", "half.npy", "--dtype", "float16", "--memory", "64MiB")
	want := []dtype.Float16Bits{0, 0x3c00, 0x4400, 0x4880, 0x4c00, 0x4e40} // 0 1 4 9 16 25
	if got := elements[dtype.Float16Bits](t, filepath.Join(dir, "half.npy")); !slices.Equal(got, want) {
		t.Errorf("squares in float16: %x", got)
	}
	var i struct {
		Shape  []int
		DType  string
		Chunks []int
		Bytes  int64
		Codec  string
	}
	if err := json.Unmarshal([]byte(succeed(t, dir, "info", "half.npy", "--json")), &i); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(i.Shape, []int{2, 3}) || i.DType != "float16" || i.Bytes != 12 || i.Codec != "none" {
		t.Errorf("info: %+v", i)
	}
	if text := succeed(t, dir, "info", "x.npy"); !strings.Contains(text, "2 × 3") || !strings.Contains(text, "24 bytes") {
		t.Errorf("info: %s", text)
	}
}

func TestFootprint(t *testing.T) {
	out := succeed(t, t.TempDir(), "footprint", "3075200x512", "float32", "float16", "--json")
	var f struct {
		Shape  []int
		DTypes []struct {
			DType string
			Bytes int64
		}
	}
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Shape, []int{3075200, 512}) || len(f.DTypes) != 2 || f.DTypes[0].Bytes != 6298009600 || f.DTypes[1].DType != "float16" {
		t.Errorf("footprint: %+v", f)
	}
}

func TestShorten(t *testing.T) {
	const line = "[███░░] 45 % · 3 of 9 chunks · 1 MB read · 2 s left"
	for columns, want := range map[int]string{
		80: line,
		45: "45 % · 3 of 9 chunks · 1 MB read · 2 s left",
		35: "45 % · 3 of 9 chunks · 2 s left",
		16: "45 % · 2 s left",
		4:  "45 %",
		0:  "",
	} {
		if got := shorten(line, columns); got != want {
			t.Errorf("in %d columns: %q, want %q", columns, got, want)
		}
	}
}

// NaN, infinities and arrays without elements give what NumPy gives.
func TestSpecialValues(t *testing.T) {
	dir := t.TempDir()
	inf := float32(math.Inf(1))
	npyFile(t, filepath.Join(dir, "nan.npy"), "'<f4'", "(3,)", dtype.Bytes([]float32{1, float32(math.NaN()), 3}))
	npyFile(t, filepath.Join(dir, "inf.npy"), "'<f4'", "(3,)", dtype.Bytes([]float32{1, inf, -inf}))
	npyFile(t, filepath.Join(dir, "none.npy"), "'<f4'", "(0, 3)", nil)
	npyFile(t, filepath.Join(dir, "one.npy"), "'<i8'", "()", dtype.Bytes([]int64{7}))
	for _, c := range []struct{ expr, file, want string }{
		{"sum(x)", "nan", "NaN"}, {"prod(x)", "nan", "NaN"}, {"mean(x)", "nan", "NaN"}, {"var(x)", "nan", "NaN"}, {"std(x)", "nan", "NaN"},
		{"min(x)", "nan", "NaN"}, {"max(x)", "nan", "NaN"}, {"argmin(x)", "nan", "1"}, {"argmax(x)", "nan", "1"},
		{"any(x)", "nan", "true"}, {"all(x)", "nan", "true"}, {"count_nonzero(x)", "nan", "3"},
		{"sum(x)", "inf", "NaN"}, {"prod(x)", "inf", "-Inf"}, {"mean(x)", "inf", "NaN"}, {"var(x)", "inf", "NaN"}, {"std(x)", "inf", "NaN"},
		{"min(x)", "inf", "-Inf"}, {"max(x)", "inf", "+Inf"}, {"argmin(x)", "inf", "2"}, {"argmax(x)", "inf", "1"},
		{"any(x)", "inf", "true"}, {"all(x)", "inf", "true"}, {"count_nonzero(x)", "inf", "3"},
		{"sum(x)", "none", "0"}, {"prod(x)", "none", "1"}, {"mean(x)", "none", "NaN"}, {"var(x)", "none", "NaN"}, {"std(x)", "none", "NaN"},
		{"any(x)", "none", "false"}, {"all(x)", "none", "true"}, {"count_nonzero(x)", "none", "0"},
		{"x + 1", "one", "8"}, {"sum(x)", "one", "7"}, {"std(x)", "one", "0"}, {"argmax(x)", "one", "0"},
	} {
		if got := succeed(t, dir, "compute", c.expr, "x="+c.file+".npy"); got != c.want+"\n" {
			t.Errorf("%s of %s is %q, want %s", c.expr, c.file, got, c.want)
		}
	}
	succeed(t, dir, "compute", "sqrt(x)", "x=none.npy", "-o", "out.npy")
	if got := elements[float32](t, filepath.Join(dir, "out.npy")); len(got) != 0 {
		t.Errorf("the roots of nothing are %v", got)
	}
}
