package expr

import (
	"slices"
	"strings"
	"testing"
)

func TestDefinitionsAreSplitAtSemicolons(t *testing.T) {
	for src, want := range map[string][]Definition{
		"x + 1":                         nil,
		"":                              nil,
		"x == 1":                        nil,
		"mean(x, axis=0)":               nil,
		"m = mean(x, 0)":                {{"m", "mean(x, 0)"}},
		" m=mean(x, 0) ; c = x - m;":    {{"m", "mean(x, 0)"}, {"c", "x - m"}},
		`s = slice(x, "0;1"); t = s==1`: {{"s", `slice(x, "0;1")`}, {"t", "s==1"}},
	} {
		got, err := Definitions(src)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %q, %v; want %q", src, got, err, want)
		}
	}
}

func TestDefinitionsRejectWhatHasNoName(t *testing.T) {
	for src, want := range map[string]string{
		"m = x; x + 1":  "column 8: write NAME = EXPR",
		"m = x; m = 2":  "column 8: m is defined twice",
		"m = ":          "column 1: m has no expression",
		"a = 1; 3 = x":  "column 8: write NAME = EXPR",
		"x + 1; m = 3":  "column 1: write NAME = EXPR",
		"é = x; x == é": "column 8: write NAME = EXPR",
	} {
		if got, err := Definitions(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v; want %q", src, got, err, want)
		}
	}
}

func FuzzDefinitions(f *testing.F) {
	f.Add("m = mean(x, 0); c = x - m")
	f.Fuzz(func(t *testing.T, src string) {
		all, err := Definitions(src)
		for _, d := range all {
			if err == nil && (d.Name == "" || d.Expr == "" || !strings.Contains(src, d.Expr)) {
				t.Errorf("%q has %q", src, all)
			}
		}
	})
}
