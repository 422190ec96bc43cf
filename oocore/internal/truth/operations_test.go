package truth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/expr"
)

// fewest is how many cases each operation has at least.
const fewest = 50

// TestOperations asks NumPy, SciPy and TensorLy about every function that an expression
// can call. GONBEXT_OPERATIONS=shape,order leaves the others out.
func TestOperations(t *testing.T) {
	if os.Getenv("GONBEXT_TEST") != "full" {
		t.Skip("left out: cases of operations, for which GONBEXT_TEST=full makes NumPy and SciPy")
	}
	dir := t.TempDir()
	only := os.Getenv("GONBEXT_OPERATIONS")
	run(t, numpy(t), "operations.py", dir, "--only", only)
	check(t, dir)
	if only != "" {
		return
	}
	// Together with the expressions of the reference.
	count := map[string]int{}
	for _, from := range []string{dir, reference(t)} {
		text, err := os.ReadFile(filepath.Join(from, "cases.json"))
		if err != nil {
			t.Fatal(err)
		}
		var all []sample
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			count[c.Family]++
			for name := range called(c.Expression) {
				if name != c.Family {
					count[name]++
				}
			}
		}
	}
	for _, f := range expr.Functions() {
		if f.Alias != "" {
			continue
		}
		if n := count[f.Name]; n < fewest {
			t.Errorf("%s has %d cases, and needs %d", f.Name, n, fewest)
		}
	}
}

// reference makes cases of the functions that have no module of their own.
func reference(t *testing.T) string {
	dir := t.TempDir()
	run(t, numpy(t), "reference.py", dir, "--seed", "2", "--cases", "2000")
	return dir
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
