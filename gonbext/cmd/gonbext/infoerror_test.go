package main

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

func TestErrorsStandInTheOrderOfNamesWithBarsThatShowEach(t *testing.T) {
	dir := t.TempDir()
	save := func(path string, of map[string]float64) {
		var outputs []oocore.Output
		for _, name := range []string{"l.10.w", "l.9.w", "l.2.w", "one"} { // the order of the file
			if v, ok := of[name]; ok {
				outputs = append(outputs, oocore.Output{Array: oocore.FromSlice([]float64{v}), Path: dir + "/" + path + "#" + name})
			}
		}
		if _, err := oocore.SaveAll(t.Context(), outputs); err != nil {
			t.Fatal(err)
		}
	}
	lines := func(other string) (all []string) {
		for line := range strings.Lines(succeed(t, dir, "info", "a.npz", "--error", other)) {
			all = append(all, strings.Join(strings.Fields(line), " "))
		}
		return all
	}
	save("a.npz", map[string]float64{"l.2.w": 0, "l.9.w": 0, "l.10.w": 0, "one": 1})
	save("near.npz", map[string]float64{"l.2.w": 2, "l.9.w": 1, "l.10.w": 0.03, "one": 1})
	save("far.npz", map[string]float64{"l.2.w": 1, "l.9.w": 1e-6, "l.10.w": 1e-3, "m": 5})
	bar := func(n int) string { return strings.Repeat("█", n) }
	for other, want := range map[string][]string{
		"near.npz": {"array largest error mean error cosine", `"l.2.w" 2 2 – ` + bar(20), `"l.9.w" 1 1 – ` + bar(10), `"l.10.w" 0.03 0.03 – ` + bar(1), `"one" 0 0 1`},
		"far.npz": {"array largest error mean error cosine mean error from 1e-06 to 1, logarithmic", `"l.2.w" 1 1 – ` + bar(20), `"l.9.w" 1e-06 1e-06 – ` + bar(1),
			`"l.10.w" 0.001 0.001 – ` + bar(11), `"one" it is not in far.npz`},
	} {
		if got := lines(other); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", other, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	text := succeed(t, dir, "info", "a.npz")
	if two, ten := strings.Index(text, "l.2.w"), strings.Index(text, "l.10.w"); two < 0 || two > ten {
		t.Errorf("layer 2 does not stand before layer 10:\n%s", text)
	}
}
