package main

import (
	"bytes"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	engine "github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestPageIsCurrent(t *testing.T) {
	text := testcases.ReadFile(t, "../../OPERATIONS.md")
	want, err := page()
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Error("oocore/OPERATIONS.md is stale: run go generate ./oocore/internal/operations")
	}
}

func TestArrayAPIPageIsCurrent(t *testing.T) {
	want, err := arrayAPI()
	if err != nil {
		t.Fatal(err)
	}
	text := testcases.ReadFile(t, "../../ARRAY_API.md")
	if string(text) != want {
		t.Error("oocore/ARRAY_API.md is stale: run go generate ./oocore/internal/operations")
	}
}

// What the page says that an expression is called must be there.
func TestStandardFunctionsExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range expr.Functions() {
		known[f.Name] = true
	}
	rows, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, name := range regexp.MustCompile(`[a-z_0-9]+\(`).FindAllString(r[2], -1) {
			if name = strings.TrimSuffix(name, "("); !known[name] {
				t.Errorf("%s: %s has no function %q", r[1], r[2], name)
			}
		}
		if r[2] == "" && !strings.HasPrefix(r[3], "not applicable: ") {
			t.Errorf("%s has no expression", r[1])
		}
	}
}

func TestEveryOperationIsDocumented(t *testing.T) {
	for _, f := range expr.Functions() {
		if f.NumPy == "" || f.Passes == "" || f.Holds == "" {
			t.Errorf("%s has no NumPy name, passes or working set: document it where it is defined", f.Name)
		}
	}
}

// Names that the page has of NumPy, SciPy and others, as far as Python has them, are theirs; and what is nobody's is not.
func TestNamesOfNumPyExist(t *testing.T) {
	python := testcases.Python(t, "names of NumPy and SciPy")
	names := map[string]bool{}
	for _, f := range expr.Functions() {
		for _, name := range regexp.MustCompile(`\b(?:np|scipy|da|xr|tensorly|torch|sklearn|skimage)(?:\.[A-Za-z_0-9]+)+`).FindAllString(f.NumPy, -1) {
			names[name] = true
		}
		if f.NumPy == op.None {
			names["!np."+f.Name], names["!scipy.special."+f.Name] = true, true
		}
	}
	const script = `
import importlib, importlib.util, sys
short = {"np": "numpy", "da": "dask.array", "xr": "xarray"}
for name in sys.argv[1:]:
    root, _, rest = name.lstrip("!").partition(".")
    parts = (short.get(root, root) + "." + rest).split(".")
    if importlib.util.find_spec(parts[0]) is None and root not in ("np", "scipy"):
        continue
    for k in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:k]))
            break
        except ImportError:
            pass
    for part in parts[k:]:
        found = getattr(found, part, None)
    if (found is None) != name.startswith("!"):
        print(name)
`
	out, err := exec.Command(python, slices.Concat([]string{"-c", script}, slices.Sorted(maps.Keys(names)))...).CombinedOutput()
	if err != nil || len(out) > 0 || len(names) < 200 {
		t.Errorf("%d names, of which they do not have (the row's NumPy says what there is instead, or op.None), or have where a row says none: %v\n%s", len(names), err, out)
	}
}

// Each operation has the bytes on the modelled device that it has on the CPU.
func TestOperationsHaveTheSameBytesOnTheDevice(t *testing.T) {
	g, err := newGPUs()
	if err != nil {
		t.Fatal(err)
	}
	gpu := cuda.Model("1GiB")
	compute := func(n *graph.Node, d device.Device) ([]byte, error) {
		p, err := compile.New(n, compile.Target{})
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		o, env := size.Options{Budget: 1 << 30, Workers: 2}, engine.Env{}
		if d != nil {
			o.Device, env.Executor = d.Spec(), engine.OnDevice{Device: d}
		}
		s, err := size.New(p, o)
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		env.Into = make([]byte, p.Arrays[p.Output].Bytes())
		_, err = engine.Run(t.Context(), s, env)
		return env.Into, err
	}
	count := 0
	for _, f := range expr.Functions() {
		n, ok := g.example(f)
		if !ok || f.Alias != "" {
			continue
		}
		want, err := compute(n, nil)
		got, failed := compute(n, gpu)
		if err == nil {
			count++
		}
		if (failed == nil) != (err == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than on the CPU (%v, %v)", n, failed, err)
		}
		if used := gpu.Usage().Used; used != 0 {
			t.Fatalf("%s leaves %d bytes of the device in use", n, used)
		}
	}
	if count < 200 {
		t.Errorf("only %d operations have an example", count)
	}
}
