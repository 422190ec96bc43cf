package gonbext

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// A row of the table from xarray: what Python and Go write.
var fromXarray = regexp.MustCompile("(?m)^\\| `(.*)` \\| `(.*)` \\|$")

// labelledValues are the elements of an array, with null for NaN, and the labels of the dimensions that have numbers or dates.
type labelledValues struct {
	Shape  []int
	Values []*float64
	Labels map[string][]float64
}

// TestLinesFromXarrayGiveTheSame evaluates both columns of each row: equal elements, and equal labels where xarray has them.
func TestLinesFromXarrayGiveTheSame(t *testing.T) {
	python := testcases.Python(t, "lines of xarray beside those of Go")
	_, table, _ := strings.Cut(string(testcases.ReadFile(t, "../notebooks/README.md")), "From xarray,")
	table, _, _ = strings.Cut(table, "From PyTorch")
	rows := fromXarray.FindAllStringSubmatch(table, -1)
	if len(rows) < 30 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	dir := t.TempDir()
	var theirs []string
	var program strings.Builder
	for _, r := range rows {
		theirs = append(theirs, r[1])
		fmt.Fprintf(&program, "show(%s)\n", strings.NewReplacer(`"x.zarr`, "group+`", `"y.zarr/t")`, "filepath.Join(dir, `y.zarr/t`))", `/t").DecodeCF`, "/t`).DecodeCF").Replace(r[2]))
	}
	arguments, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	var want []labelledValues
	if err := json.Unmarshal(outputOf(t, python, "testdata/fromxarray.py", dir, string(arguments)), &want); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "rows.go")
	source := strings.Replace(string(testcases.ReadFile(t, "testdata/fromxarray.go.txt")), "\t// rows\n", program.String(), 1)
	testcases.WriteFile(t, file, []byte(source), 0o600)
	lines := strings.Split(strings.TrimSpace(string(outputOf(t, "go", "run", file, dir))), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("%d of %d rows are shown", len(lines), len(rows))
	}
	for i, r := range rows {
		var got labelledValues
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Errorf("%s: %s", r[2], lines[i])
			continue
		}
		if !slices.Equal(got.Shape, want[i].Shape) || !slices.EqualFunc(got.Values, want[i].Values, near) {
			t.Errorf("%s is %v, and %s is %v", r[2], got.Shape, r[1], want[i].Shape)
		}
		for dim, labels := range want[i].Labels {
			if !slices.Equal(labels, got.Labels[dim]) {
				t.Errorf("%s has the labels %v along %s, and %s %v", r[2], got.Labels[dim], dim, r[1], labels)
			}
		}
	}
}

// outputOf is what a command prints, without its warnings.
func outputOf(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	var message strings.Builder
	cmd.Stderr = &message
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, message.String())
	}
	return out
}

func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= 1e-9*max(1, math.Abs(*b))
}
