package testcases

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// made is a case of a function, on a type.
type made struct{ function, dtype string }

func (m made) strata() []string { return []string{m.function, m.dtype} }

func cases() (all []made) {
	for f := range 20 {
		for i := range 30 {
			all = append(all, made{fmt.Sprint("f", f), fmt.Sprint("t", i%3)})
		}
	}
	return append(all, made{"rare", "t0"})
}

func TestSampleTakesSomeOfEachStratum(t *testing.T) {
	t.Setenv("GONBEXT_TEST", "full")
	for seed := range 50 {
		t.Setenv("GONBEXT_SEED", fmt.Sprint(seed))
		count := map[string]int{}
		chosen := Sample(t, cases(), 4, made.strata)
		for _, c := range chosen {
			for _, s := range c.strata() {
				count[s]++
			}
		}
		for f := range 20 {
			if n := count[fmt.Sprint("f", f)]; n < 4 {
				t.Errorf("seed %d: %d cases of f%d, want at least 4", seed, n, f)
			}
		}
		if count["rare"] != 1 {
			t.Errorf("seed %d: the only case of its stratum is left out", seed)
		}
		if len(chosen) > 4*(20+3)+1 {
			t.Errorf("seed %d: %d cases, more than the strata ask for", seed, len(chosen))
		}
	}
}

func TestSampleFollowsFromTheSeed(t *testing.T) {
	all := make([]int, 500)
	for i := range all {
		all[i] = i
	}
	sample := func(seed string) []int {
		t.Setenv("GONBEXT_SEED", seed)
		return Sample(t, all, 20, func(i int) []string { return []string{fmt.Sprint(i % 2)} })
	}
	t.Setenv("GONBEXT_TEST", "full")
	first, other := sample("20261122"), sample("20261123")
	if again := sample("20261122"); !slices.Equal(first, again) {
		t.Error("one seed gives two samples")
	}
	if slices.Equal(first, other) {
		t.Error("two seeds give one sample")
	}
	if !slices.IsSorted(first) || len(first) != 40 {
		t.Errorf("%d cases in the order %v, want 40 in their own order", len(first), first)
	}
	t.Setenv("GONBEXT_TEST", "all")
	if got := sample("20261122"); !slices.Equal(got, all) {
		t.Errorf("GONBEXT_TEST=all runs %d of %d cases", len(got), len(all))
	}
}

// Within two months every case has been among those that ran.
func TestSamplesOfManyDaysCoverAll(t *testing.T) {
	t.Setenv("GONBEXT_TEST", "")
	seen := make([]bool, 50)
	all := make([]int, len(seen))
	for i := range all {
		all[i] = i
	}
	for day := 20261101; day < 20261101+60; day++ {
		t.Setenv("GONBEXT_SEED", fmt.Sprint(day))
		for _, i := range Sample(t, all, 8, func(int) []string { return []string{"f"} }) {
			seen[i] = true
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		t.Errorf("case %d of 50 ran on none of 60 days", i)
	}
}

// Without Seeded, rapid draws other cases in each run, and fails where nothing has changed.
func TestRapidIsSeededEverywhere(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text := string(ReadFile(t, path))
		if checks := "rapid." + "Check("; strings.Count(text, checks) > strings.Count(text, checks+"testcases.Seeded(") {
			t.Errorf("%s: %s is called without testcases.Seeded", path, checks)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
