package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

const (
	fewest = 50 // cases of each operation, at least
	daily  = 4  // of them, at least, where they are sampled
)

// TestOperations asks NumPy, SciPy and TensorLy about every function that an expression
// can call. GONBEXT_OPERATIONS=shape,order leaves the others out.
func TestOperations(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: cases of operations, for which GONBEXT_TEST=full makes NumPy and SciPy")
	}
	only := os.Getenv("GONBEXT_OPERATIONS")
	all, write := operations(t, only)
	if only == "" { // functions that have no module of their own are in the expressions of the reference
		dir := t.TempDir()
		run(t, numpy(t), "reference.py", dir, "--seed", "2", "--cases", "2000")
		all = append(all, read(t, dir)...)
		enough(t, all)
	}
	chosen := testcases.Sample(t, all, daily, sample.strata)
	write(chosen)
	check(t, chosen)
}

// operations lists the cases of the modules in ops. Those that are to run are
// written then, by the same process: making them takes longer than that.
func operations(t *testing.T, only string) (all []sample, write func(chosen []sample)) {
	dir := t.TempDir()
	rows, err := json.Marshal(ordinary())
	if err != nil {
		t.Fatal(err)
	}
	python := exec.Command(numpy(t), "operations.py", dir, "--only", only)
	var problems bytes.Buffer
	python.Stderr = &problems
	stdin, err := python.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := python.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := python.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after a failure; else it has ended
		python.Process.Kill()
		python.Wait()
	})
	if _, err := stdin.Write(append(rows, '\n')); err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(stdout).Decode(&all); err != nil {
		stdin.Close()
		python.Wait()
		t.Fatalf("operations.py: %v\n%s", err, problems.Bytes())
	}
	for i := range all {
		all[i].dir, all[i].number = dir, i
	}
	return all, func(chosen []sample) {
		numbers := []int{}
		for _, c := range chosen {
			if c.dir == dir {
				numbers = append(numbers, c.number)
			}
		}
		err := json.NewEncoder(stdin).Encode(numbers)
		stdin.Close()
		if err := errors.Join(err, python.Wait()); err != nil {
			t.Fatalf("operations.py: %v\n%s", err, problems.Bytes())
		}
	}
}

// ordinary are the rows that operations.py makes ordinary cases of.
func ordinary() (rows []map[string]any) {
	kernels := map[string]*kernel.Row{}
	for _, r := range kernel.Rows() {
		kernels[r.Name] = r
	}
	reductions := map[string]bool{}
	for _, r := range kernel.Reductions() {
		reductions[r.Name] = true
	}
	for _, f := range expr.Functions() {
		if f.Alias != "" {
			continue
		}
		k := kernels[f.Name]
		row := map[string]any{"name": f.Name, "numpy": f.NumPy, "kernel": k != nil, "fused": f.Passes == op.Fused, "family": "", "exact": true}
		arrays := 0
		for _, p := range f.Params {
			if p.Kind == op.Array && !p.Word && !p.Optional {
				arrays++
			} else if p.Kind != op.Type {
				arrays = -100 // it has others
			}
		}
		row["arrays"] = max(arrays, 0)
		switch {
		case k != nil:
			row["exact"] = k.Units[0]+k.Units[1] == 0
			if k.Family == kernel.Bits {
				row["family"] = "bits"
			}
		case reductions[f.Name]:
			row["family"] = "reduction"
		}
		rows = append(rows, row)
	}
	return rows
}

// enough finds operations that have too few cases, those in the expressions of
// other operations among them.
func enough(t *testing.T, all []sample) {
	count := map[string]int{}
	for _, c := range all {
		for _, name := range c.strata() {
			count[name]++
		}
	}
	for _, f := range expr.Functions() {
		if f.Alias != "" || graphtest.OfLabels(f.Name) {
			continue
		}
		if n := count[f.Name]; n < fewest {
			t.Errorf("%s has %d cases, and needs %d", f.Name, n, fewest)
		}
	}
}

// strata are what a case tests: its family, which is a function or a kind of
// expression, and the functions that it calls.
func (c sample) strata() []string {
	names := called(c.Expression)
	names[c.Family] = true
	return slices.Collect(maps.Keys(names))
}

// called are the functions that an expression calls.
func called(expression string) map[string]bool {
	names := map[string]bool{}
	name := ""
	for _, r := range expression {
		switch {
		case r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' && name != "":
			name += string(r)
		case r == '(' && name != "":
			names[name] = true
			name = ""
		default:
			name = ""
		}
	}
	return names
}
