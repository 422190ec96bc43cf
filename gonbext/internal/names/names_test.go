package names_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore/testcases"
	"pgregory.net/rapid"
)

func fold(all ...string) (lines []string) {
	for _, g := range names.Fold(all, func(i int) string { return all[i][:1] }) {
		lines = append(lines, fmt.Sprint(g.Name, g.Members))
	}
	return lines
}

func TestFold(t *testing.T) {
	for want, all := range map[string][]string{
		"[layers.{0–10}.w[0 2 3] embed[1]]":  {"layers.0.w", "embed", "layers.2.w", "layers.10.w"},
		"[x.{0–1}.y.{2–3}.w[0 1 2]]":         {"x.0.y.2.w", "x.1.y.3.w", "x.1.y.2.w"},
		"[x.1.w[0]]":                         {"x.1.w"},
		"[x.{0–1}.7.w[0 1]]":                 {"x.0.7.w", "x.1.7.w"},
		"[x/frame_{0007–0100}[0 1]]":         {"x/frame_0100", "x/frame_0007"},
		"[w1[0] w2[1]]":                      {"w1", "w2"},
		"[a.1[0] b.1[1]]":                    {"a.1", "b.1"},
		"[a.99999999999999999999[0] a.1[1]]": {"a.99999999999999999999", "a.1"},
		"[w.{0–1}[0 1]]":                     {"w.0", "w.1"},
	} {
		if got := fmt.Sprint(fold(all...)); got != want {
			t.Errorf("%q fold to %s, want %s", all, got, want)
		}
	}
}

// Every name is in one group, and what is not alike is not together.
func TestFoldKeepsNames(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		all := rapid.SliceOf(rapid.StringMatching(`[ab][.]?[0-9]{0,2}[._]?[0-9]{0,2}[._]?w?`)).Draw(t, "names")
		var seen []int
		for _, g := range names.Fold(all, func(i int) string { return all[i][:1] }) {
			for _, i := range g.Members {
				if all[i][0] != all[g.Members[0]][0] {
					t.Errorf("%q and %q are in one group", all[i], all[g.Members[0]])
				}
			}
			if len(g.Members) == 1 && g.Name != all[g.Members[0]] {
				t.Errorf("%q became %q", all[g.Members[0]], g.Name)
			}
			if !slices.IsSorted(g.Members) {
				t.Errorf("%v are not in order", g.Members)
			}
			seen = append(seen, g.Members...)
		}
		slices.Sort(seen)
		for i, at := range seen {
			if i != at {
				t.Fatalf("members %v of %d names", seen, len(all))
			}
		}
		if len(seen) != len(all) {
			t.Errorf("%d members of %d names", len(seen), len(all))
		}
	})
}
