package expr

import (
	"slices"
	"strings"
	"testing"
)

func TestDefinitionsAreSplitAtSemicolons(t *testing.T) {
	for src, want := range map[string][]string{
		"x + 1":                         {"", "x + 1"},
		"":                              {"", ""},
		"x == 1":                        {"", "x == 1"},
		"mean(x, axis=0)":               {"", "mean(x, axis=0)"},
		"m = mean(x, 0)  ":              {"m", "mean(x, 0)"},
		" m=mean(x, 0) ; c = x - m;":    {"m", "mean(x, 0)", "c", "x - m"},
		`s = slice(x, "0;1"); t = s==1`: {"s", `slice(x, "0;1")`, "t", "s==1"},
	} {
		all, err := Definitions(src)
		var got []string
		for _, d := range all {
			got = append(got, d.Name, d.String())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %q, %v; want %q", src, got, err, want)
		}
	}
}

// Columns are those of the definition's own expression.
func TestErrorsOfDefinitions(t *testing.T) {
	for src, want := range map[string]string{
		"m = x; c = m // 2":          "column 3: // is not",
		"m = x; c = mean(m, axis=0)": "column 9: ",
		"m = x; c = 'x'":             "column 1: text stands in double quotes",
		"m = x; c = m +":             "column 4: ",
		"m = x; c = var(m)) ":        "column 7: ",
	} {
		all, err := Definitions(src)
		if err != nil || len(all) != 2 {
			t.Errorf("%q is %q, %v", src, all, err)
			continue
		}
		_, err = all[1].Build(nil, nil)
		_, alone := Parse(all[1].String(), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) || alone == nil || alone.Error() != err.Error() {
			t.Errorf("%q: %v, alone %v", src, err, alone)
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
			if err == nil && (d.Name != "" && d.String() == "" || !strings.Contains(src, d.String())) {
				t.Errorf("%q has %q", src, all)
			}
		}
	})
}
