package cgrouptest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// budget is what every operation gets, and the limit of the cgroup that it runs
// in. The array is 16 times as large.
const (
	budget = 64 << 20
	rows   = 1 << 20
	cols   = 16 * budget / 4 / rows
)

// views are the array's bytes as other types see them. Those of x and y are
// floats between 0.1 and 0.9.
var views = map[string]string{
	"x": fmt.Sprintf("shape=%dx%d&dtype=float32", rows, cols),
	"y": fmt.Sprintf("shape=%dx%d&dtype=float32", rows, cols),
	"s": fmt.Sprintf("shape=%dx%d&dtype=float32", 1<<14, 1<<14),
	"c": fmt.Sprintf("shape=%dx8x512x512&dtype=float32", rows*cols>>21),
	"t": fmt.Sprintf("shape=512x512x%d&dtype=float32", rows*cols>>18),
	"m": fmt.Sprintf("shape=%dx8x8&dtype=float32", rows*cols>>6),
	"v": fmt.Sprintf("shape=%dx4x2048x128&dtype=float32", rows*cols>>20),
	"n": fmt.Sprintf("shape=%dx%d&dtype=float32", 4*rows, cols/4),
	"i": fmt.Sprintf("shape=%dx%d&dtype=int32", rows, cols),
	"j": fmt.Sprintf("shape=%dx%d&dtype=int32", rows, cols),
	"z": fmt.Sprintf("shape=%dx%d&dtype=complex64", rows, cols/2),
}

// more are expressions beside the examples of rows.
var more = []string{
	"reshape(transpose(s), 4096, 65536)",
	`take_along_axis(x, astype(slice(i, ":, 0:4") & 255, "int64"), 1)`,
	`cov(n, "columns", "aweights", slice(n, ":, 0"))`, `min(x, 0, "initial=0.5")`,
	`kron(slice(s, "0:4096, 0:4096"), full(2.0, 2, 4))`, "vdot(x, y)",
}

// examples are those of rows: of functions of each element by the number of its operands, those
// of one number run the same plan and differ in their inner loop; of reductions; and of others.
func examples() (elements map[int][]string, reductions, others []string) {
	arity := map[string]int{}
	for _, r := range kernel.Rows() {
		arity[r.Name] = r.Arity
	}
	for _, r := range kernel.Reductions() {
		arity[r.Name] = -1
	}
	elements = map[int][]string{}
	for _, o := range expr.Functions() {
		all := strings.Split(o.Examples, "; ")
		switch n := arity[o.Name]; {
		case o.Alias != "" || o.Examples == "":
		case n > 0:
			elements[n] = append(elements[n], all...)
		case n < 0:
			reductions = append(reductions, all...)
		default:
			others = append(others, all...)
		}
	}
	return elements, reductions, others
}

// mixed are expressions of several operations, and of views.
var mixed = []string{
	"tanh(sqrt(x)*2 + exp(-x))",
	"x - mean(x, 0)",
	"(x - mean(x, 0)) / std(x, 0)",
	`astype(x, "float16")`,
	`astype(i, "float64")`,
	`slice(x, "::-2, 1::3")`,
	"transpose(x)",
	"transpose(s)",
	`fft2(slice(s, "0:8192"))`, // whose first stage writes through buffers that the second has no room for
	"s + transpose(s)",
	"matmul(x, transpose(slice(x, \"0:64\")))",
	"argtopk(1 - matmul(x, transpose(slice(x, \"0:64\"))), 5, 1)",
	"matmul(transpose(x), x)",
	"matmul(m, m)",
	"transpose(v, 2, 3, 0, 1)",
}

// operations are the expressions that run: of those that only differ in their inner
// loop a few, of those that read boxes an eighth, other ones every day.
func operations(t *testing.T) []string {
	sample := func(all []string, n int) []string {
		return testcases.Sample(t, all, n, func(string) []string { return []string{""} })
	}
	var all []string
	of, reductions, boxes := examples()
	boxes = append(boxes, more...)
	for _, arity := range slices.Sorted(maps.Keys(of)) {
		all = append(all, sample(of[arity], 3)...)
	}
	all = append(all, sample(reductions, 6)...)
	all = append(all, sample(boxes, len(boxes)/8)...)
	return append(all, mixed...)
}

// TestEveryOperation runs each operation, or a sample, on an array of 16 times its
// budget, in a cgroup of the budget.
func TestEveryOperation(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: every operation in a memory cgroup, which GONBEXT_TEST=full runs as root")
	}
	gonbext, input := prepared(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	for _, e := range operations(t) {
		t.Run(e, func(t *testing.T) {
			args := []string{"compute", e, "-o", filepath.Join(dir, "out.npy")}
			for name, view := range views {
				if regexp.MustCompile(`\b` + name + `\b`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(e, "")) {
					args = append(args, name+"="+input+"?"+view)
				}
			}
			within(t, gonbext, args...)
			removed(t, dir, "out.npy")
		})
	}
}

// Arrays that are stored by chunks: smaller than the budget, four times as large, in
// shards, and across what is read.
func TestStoresWithinABudget(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: stores in memory cgroups, which need root, 4 GiB of disk and a minute: GONBEXT_TEST=full runs them")
	}
	gonbext, input := prepared(t)
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs"))
	raw := input + "?" + views["x"]
	at := func(name string) string { return filepath.Join(dir, name) }
	rowsOf := func(n int) string { return fmt.Sprintf("%dx%d", n, cols) }
	for _, job := range [][]string{
		{"convert", raw, at("small.zarr"), "--codec", "blosc:lz4:1:shuffle"},
		{"convert", raw, at("large.zarr"), "--chunks", rowsOf(rows / 4), "--codec", "zstd:1"},
		{"convert", raw, at("blosc.zarr"), "--chunks", rowsOf(rows / 4), "--codec", "blosc:lz4:1:shuffle"},
		{"convert", at("small.zarr"), at("out.zarr"), "--shards", rowsOf(rows / 2), "--chunks", rowsOf(4096), "--codec", "zstd:1"},
		{"convert", at("large.zarr"), at("out.zarr"), "--codec", "gzip:1", "--dtype", "float16", "--chunks", rowsOf(rows / 8)},
		{"convert", at("small.zarr"), at("out.zarr"), "--chunks", fmt.Sprintf("%dx4", rows), "--codec", "blosc:lz4:1:shuffle"},
		{"convert", raw, at("out.zarr"), "--chunks", fmt.Sprintf("%dx4", rows), "--codec", "none"},
		{"convert", at("blosc.zarr"), at("out.npz#x")},
		{"convert", at("small.zarr"), at("out.safetensors#x")},
		{"compute", "sqrt(x)*2", "x=" + at("large.zarr"), "-o", at("out.zarr")},
		{"compute", "sqrt(x) + y", "x=" + at("blosc.zarr"), "y=" + at("small.zarr"), "-o", at("out.npy")},
		{"compute", "std(x, 0)", "x=" + at("small.zarr"), "-o", at("out.zarr")},
		{"compute", "mean(x, 1)", "x=" + at("large.zarr"), "-o", at("out.npy")},
		{"compute", "x - mean(x, 0)", "x=" + at("small.zarr"), "-o", at("out.zarr")},
		{"compute", "matmul(transpose(x), x)", "x=" + at("small.zarr"), "-o", at("out.zarr")},
		{"compute", "transpose(x)", "x=" + at("small.zarr"), "-o", at("out.zarr")},
	} {
		name := strings.ReplaceAll(strings.Join(job, " "), dir+"/", "")
		t.Run(name, func(t *testing.T) {
			within(t, gonbext, job...)
			removed(t, dir, "out.zarr", "out.npy", "out.npz", "out.safetensors")
		})
	}
}

// shared is the folder of what all tests use: the command and the array.
var shared string

func TestMain(m *testing.M) {
	if text := os.Getenv(iterationRequest); text != "" {
		if err := iterate(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if err := os.RemoveAll(shared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// prepared makes the command and the array for the first test that asks.
func prepared(t *testing.T) (gonbext, input string) {
	t.Helper()
	first := shared == ""
	if first {
		var err error
		if shared, err = os.MkdirTemp("", "cgrouptest"); err != nil {
			t.Fatal(err)
		}
	}
	gonbext, input = filepath.Join(shared, "gonbext"), filepath.Join(shared, "input.bin")
	if first {
		if out, err := exec.Command("go", "build", "-o", gonbext, "../../../gonbext/cmd/gonbext").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		fill(t, input)
	}
	return gonbext, input
}

var groups atomic.Int64

// within runs the command with the budget, in a cgroup of that size, and holds what
// it measured to what it predicted.
func within(t *testing.T, gonbext string, args ...string) {
	t.Helper()
	var f struct {
		Budget        int64
		PredictedPeak int64 `json:"predicted_peak"`
		MeasuredPeak  int64 `json:"measured_peak"`
		Computed      int64
	}
	inGroup(t, budget, 5*time.Minute, &f, nil, gonbext, append(args, "--memory", strconv.Itoa(budget), "--json")...)
	if f.Budget != budget || f.Computed == 0 {
		t.Errorf("it ran within %d bytes and computed %d chunks", f.Budget, f.Computed)
	}
	if f.MeasuredPeak > f.PredictedPeak || f.MeasuredPeak*5 < f.PredictedPeak*4 {
		t.Errorf("predicted %d bytes, measured %d", f.PredictedPeak, f.MeasuredPeak)
	}
}

// removed takes away a command's output, and finds anything else that it left.
func removed(t *testing.T, dir string, outputs ...string) {
	t.Helper()
	for _, o := range outputs {
		if err := os.RemoveAll(filepath.Join(dir, o)); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*out.*")); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
}

// fill writes the array, in pieces.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	random := rand.New(rand.NewPCG(1, 2))
	piece := make([]float32, 1<<20)
	for range rows * cols / len(piece) {
		for i := range piece {
			piece[i] = 0.1 + 0.8*random.Float32()
		}
		if _, err := f.Write(dtype.Bytes(piece)); err != nil {
			t.Fatal(err)
		}
	}
}
