package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestComputeSeveralOutputs(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(5, 6)", 30)
	args := []string{"compute", "m = mean(x, 0); c = x - m", "x=x.npy", "-o", "m=m.npy", "-o", "c=c.npy", "--json"}
	got := object(t, dir, 0, args...)
	if outputs, _ := got["outputs"].([]any); len(outputs) != 2 || outputs[0] != "m.npy" || outputs[1] != "c.npy" || got["status"] != "done" || got["passes"] != 2.0 {
		t.Errorf("%v", got)
	}
	// Column j of row i is (6i+j)²; its mean over i is 36·6 + 2·6·2·j + j².
	mean, centred := elements[float32](t, filepath.Join(dir, "m.npy")), elements[float32](t, filepath.Join(dir, "c.npy"))
	var want []float32
	for i := range 5 {
		for j := range 6 {
			m := float32(216 + 24*j + j*j)
			if mean[j] != m {
				t.Errorf("the mean of column %d is %v, want %v", j, mean[j], m)
			}
			want = append(want, float32((6*i+j)*(6*i+j))-m)
		}
	}
	if !slices.Equal(centred, want) {
		t.Errorf("%v, want %v", centred, want)
	}
	if got := object(t, dir, 0, args...); got["status"] != "skipped" {
		t.Errorf("the same again: %v", got)
	}
}

func TestComputeSeveralOutputsRejects(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(5, 6)", 30)
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{2, "-o NAME=PATH", []string{"m = mean(x, 0)", "x=x.npy"}},
		{2, "write NAME=PATH", []string{"m = mean(x, 0)", "x=x.npy", "-o", "m.npy"}},
		{2, "write NAME=PATH", []string{"m = mean(x, 0)", "x=x.npy", "-o", "m.bin?shape=6&dtype=float32"}},
		{2, "defines no k", []string{"m = mean(x, 0)", "x=x.npy", "-o", "k=m.npy"}},
		{2, "output already", []string{"m = mean(x, 0)", "x=x.npy", "-o", "m=m.npy", "-o", "m=n.npy"}},
		{2, "several outputs have names", []string{"mean(x, 0)", "x=x.npy", "-o", "m.npy", "-o", "n.npy"}},
		{2, "x is defined", []string{"x = mean(x, 0)", "x=x.npy", "-o", "x=m.npy"}},
		{2, "c is not used", []string{"m = mean(x, 0); c = x - m", "x=x.npy", "-o", "m=m.npy"}},
		{2, "y is not used", []string{"m = mean(x, 0)", "x=x.npy", "y=x.npy", "-o", "m=m.npy"}},
		{2, "of their own", []string{"m = cp(x, 2)", "x=x.npy", "-o", "m=m.npy"}},
		{2, "c: expression, column 5", []string{"m = mean(x, 0); c = m + zz", "x=x.npy", "-o", "m=m.npy", "-o", "c=c.npy"}},
		{1, "one file", []string{"m = mean(x, 0); c = x - m", "x=x.npy", "-o", "m=m.npy", "-o", "c=m.npy"}},
		{2, "--processes are for one output", []string{"m = mean(x, 0); c = x - m", "x=x.npy", "-o", "m=m.npy", "-o", "c=c.npy", "--processes", "2"}},
	} {
		refused(t, dir, command(dir, append([]string{"compute"}, c.args...)...), c.status, c.says)
	}
}

func TestComputePrintsSmallArray(t *testing.T) {
	dir := t.TempDir()
	for expression, want := range map[string]string{ // as NumPy prints them
		"reshape(arange(0, 6, 1), 2, 3)": "[[0 1 2]\n [3 4 5]]\n",
		"linspace(0, 1, 4) > 0.5":        "[False False  True  True]\n",
		"arange(0, 3, 1) / 3":            "[0.         0.33333333 0.66666667]\n",
		"zeros(2, 0)":                    "[]\n",
	} {
		if got := succeed(t, dir, "compute", expression); got != want {
			t.Errorf("%s is\n%swant\n%s", expression, got, want)
		}
	}
	if got := succeed(t, dir, "compute", "ones(2)", "--plan"); strings.Contains(got, "[") {
		t.Errorf("a plan prints %s", got)
	}
	refused(t, dir, command(dir, "compute", "ones(7, 143)"), 2, "-o")
	if got := object(t, dir, 2, "compute", "ones(2)", "--json"); !strings.Contains(got["error"].(string), "-o") {
		t.Errorf("%v", got)
	}
}
