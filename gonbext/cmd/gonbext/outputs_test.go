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

// Worker processes write the bytes that one process writes, whole arrays and regions.
func TestComputeSeveralOutputsInProcesses(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(64, 32)", 64*32)
	compute := func(m, c string, more ...string) {
		args := []string{"compute", "m = mean(x, 0); c = x - m", "x=x.npy", "-o", "m=" + m, "-o", "c=" + c}
		succeed(t, dir, append(args, more...)...)
	}
	compute("m.npy", "c.npy")
	compute("m2.npy", "c2.npy", "--processes", "2", "--memory", "256MiB")
	for one, other := range map[string]string{"m.npy": "m2.npy", "c.npy": "c2.npy"} {
		if want, got := elements[float32](t, filepath.Join(dir, one)), elements[float32](t, filepath.Join(dir, other)); !slices.Equal(got, want) {
			t.Errorf("%s of worker processes differs from %s of one", other, one)
		}
	}
	succeed(t, dir, "compute", "zeros(80, 32)", "-o", "r.zarr", "--chunks", "8x32")
	succeed(t, dir, "compute", "zeros(80, 32)", "-o", "s.npy")
	succeed(t, dir, "compute", `a = x + x; b = astype(x - 1, "float64"); r = astype(a, "float64")`, "x=x.npy",
		"-o", "r=r.zarr", "-o", "b=s.npy", "--region", "8:72", "--processes", "2", "--memory", "256MiB")
	succeed(t, dir, "compute", "r + 0", "r=r.zarr", "-o", "r.npy")
	x, r, s := elements[float32](t, filepath.Join(dir, "x.npy")), elements[float64](t, filepath.Join(dir, "r.npy")), elements[float64](t, filepath.Join(dir, "s.npy"))
	for k := range 80 * 32 {
		var wantR, wantS float64
		if row := k / 32; row >= 8 && row < 72 {
			v := x[k-8*32]
			wantR, wantS = float64(v+v), float64(v-1)
		}
		if r[k] != wantR || s[k] != wantS {
			t.Fatalf("element %d is %v and %v, want %v and %v", k, r[k], s[k], wantR, wantS)
		}
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
	} {
		rejected(t, dir, command(dir, append([]string{"compute"}, c.args...)...), c.status, c.says)
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
	rejected(t, dir, command(dir, "compute", "ones(7, 143)"), 2, "-o")
	if got := object(t, dir, 2, "compute", "ones(7, 143)", "--json"); !strings.Contains(got["error"].(string), "-o") {
		t.Errorf("%v", got)
	}
}
