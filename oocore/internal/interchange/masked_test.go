package interchange

import (
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestMaskedArraysAreNumPys evaluates both sides of the table of masked arrays.
func TestMaskedArraysAreNumPys(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	_, section, _ := strings.Cut(string(testcases.ReadFile(t, "../../../notebooks/README.md")), "## Masked arrays\n")
	section, _, _ = strings.Cut(section, "\n## ")
	args := []string{"masked_check.py", dir, strconv.FormatUint(testcases.Seed(t), 10)}
	var here [][]string
	code := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); len(cells) == 2 && strings.HasPrefix(line, "| `") {
			args = append(args, code.FindStringSubmatch(cells[0])[1])
			var expressions []string
			for _, found := range code.FindAllStringSubmatch(cells[1], -1) {
				expressions = append(expressions, found[1])
			}
			here = append(here, expressions)
		}
	}
	if len(here) < 20 {
		t.Fatalf("%d rows are too few", len(here))
	}
	run(t, python, args...)
	names := oocore.Names{}
	for _, name := range []string{"x", "i", "m", "w"} {
		names[name] = oocore.Open(filepath.Join(dir, name+".npy"))
	}
	names["n"] = oocore.Eval("where(m, nan, x)", names)
	for k, expressions := range here {
		want := oocore.Open(filepath.Join(dir, "want"+strconv.Itoa(k)+".npy"))
		b, err := oocore.Collect[float64](t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		for _, expression := range expressions {
			got := oocore.Eval(expression, names)
			a, err := oocore.Collect[float64](t.Context(), got.AsType(oocore.Float64))
			if err != nil || !slices.Equal(got.Shape(), want.Shape()) {
				t.Errorf("%s: %v, %v, want %v as of %s", expression, got, err, want, args[3+k])
				continue
			}
			for i := range b {
				if math.Abs(a[i]-b[i]) > 1e-12*(1+math.Abs(b[i])) || math.IsNaN(a[i]) != math.IsNaN(b[i]) {
					t.Errorf("%s: element %d is %v, want %v as of %s", expression, i, a[i], b[i], args[3+k])
					break
				}
			}
		}
	}
}
