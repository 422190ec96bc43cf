package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A plan, the run and fits name one smallest budget; the run is accepted with it and rejected with a byte less.
func TestFitsAndPlanNameTheBudgetThatRunTakes(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3000, 400)", 1200000)
	for _, c := range [][]string{
		{"sqrt(x)", "x=x.npy", "-o", "y.npy"},
		{"sort(x, 0)", "x=x.npy", "-o", "y.npy"},
		{"unique(x)", "x=x.npy", "-o", "y.npy"},
		{"cp(x, 2)", "x=x.npy", "-o", "y.npy"},
		{"m = mean(x, 0); d = mask(x, x > m)", "x=x.npy", "-o", "m=m.npy", "-o", "d=d.npy"},
		{"sum(x)", "x=x.npy"},
		{"matmul(x, transpose(x))", "x=x.npy", "-o", "y.zarr", "--processes", "2"},
	} {
		with := func(more ...string) []string { return append(c[:len(c):len(c)], more...) }
		fits := object(t, dir, 0, append([]string{"fits"}, with("--memory", "4TiB", "--json")...)...)
		need := int64(fits["need"].(float64))
		exit := 0
		if strings.Contains(c[0], "mask") || strings.Contains(c[0], "unique") { // whose plans follow from values
			exit = 1
		}
		if planned := object(t, dir, exit, append([]string{"compute"}, with("--plan", "--json")...)...); int64(planned["need"].(float64)) != need {
			t.Errorf("%s: the plan needs %v, and fits says %d", c[0], planned["need"], need)
		}
		for budget, status := range map[int64]int{need: 0, need - 1: 1} {
			memory := []string{"--memory", fmt.Sprint(budget)}
			o := finish(t, command(dir, append([]string{"fits"}, with(memory...)...)...))
			if o.status != status || o.stderr != "" || strings.Count(o.stdout, "\n") != 1 {
				t.Errorf("%s fits %d: status %d, %q %q", c[0], budget, o.status, o.stdout, o.stderr)
			}
			ran := object(t, dir, status, append([]string{"compute", "--json", "--fresh"}, with(memory...)...)...)
			if got := int64(ran["need"].(float64)); got > need || status == 1 && got != need {
				t.Errorf("%s within %d needs %d, and fits says %d", c[0], budget, got, need)
			}
		}
	}
}

func TestFitsExitStatus(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(30, 40)", 1200)
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{0, "fits within 1 GiB", []string{"sqrt(x)", "x=x.npy", "--memory", "1GiB"}},
		{0, "3 workers and the one that starts them", []string{"sqrt(x)", "x=x.npy", "--memory", "1GiB", "--processes", "3"}},
		{0, "fits", []string{"sqrt(x)", "x=x.npy", "--device", "model:8GiB"}},
		{1, "smallest budget that would do is", []string{"sqrt(x)", "x=x.npy", "--memory", "1MiB"}},
		{2, "no such file", []string{"sqrt(x)", "x=none.npy", "--memory", "1GiB"}},
		{2, "unknown", []string{"sqrt(y)", "x=x.npy", "--memory", "1GiB"}},
		{2, "not used", []string{"sqrt(x)", "x=x.npy", "y=x.npy", "--memory", "1GiB"}},
		{2, "--memory", []string{"sqrt(x)", "x=x.npy", "--memory", "much"}},
		{2, "do not broadcast", []string{"x + arange(0, 7, 1)", "x=x.npy", "--memory", "1GiB"}},
		{2, "arg(s)", nil},
	} {
		o := finish(t, command(dir, append([]string{"fits"}, c.args...)...))
		if said := o.stdout + o.stderr; o.status != c.status || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1 {
			t.Errorf("%v: status %d: %q", c.args, o.status, said)
		}
	}
	if left := listing(t, dir); len(left) != 1 {
		t.Errorf("%v are left", left)
	}
}

// What a model takes is said tensor by tensor, as it is and converted: of 131,072 elements 512 blocks of 144 bytes, and of 512
// four bytes each.
func TestFootprintOfModel(t *testing.T) {
	dir := t.TempDir()
	for _, c := range [][]string{{"full(1.5, 256, 512)", "m.safetensors#blk.0.attn_q.weight"}, {"full(1.5, 512)", "m.safetensors#blk.0.attn_norm.weight"}} {
		if o := finish(t, command(dir, "compute", "astype("+c[0]+", \"float16\")", "-o", c[1])); o.status != 0 {
			t.Fatalf("%s: %s", c[0], o.stderr)
		}
	}
	for _, c := range []struct {
		more  []string
		bytes float64
		fits  bool
	}{
		{nil, 2 * (131072 + 512), false},
		{[]string{"--codec", "q4_k_m", "--device", "8GiB"}, 512*144 + 512*4, true},
		{[]string{"--codec", "q8_0", "--device", "8GiB"}, 4096*34 + 512*4, true},
	} {
		got := object(t, dir, 0, append([]string{"footprint", "m.safetensors", "--json"}, c.more...)...)
		if got["bytes"] != c.bytes || got["fits_device"] != c.fits || len(got["tensors"].([]any)) != 2 {
			t.Errorf("%q: %v", c.more, got)
		}
	}
	for _, args := range [][]string{{"m.safetensors", "--codec", "q9"}, {"m.safetensors", "float16"}, {"3x4", "--codec", "q8_0"}} {
		if o := finish(t, command(dir, append([]string{"footprint"}, args...)...)); o.status != 2 || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q", args, o.status, o.stderr)
		}
	}
}
