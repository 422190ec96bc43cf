package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestPatternIsOneWhereFilesMatchIt(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"m1.npz", "m2.npz", "a[1].npz", "x.bin", "x.bin-shape=3&dtype=int8"} {
		testcases.WriteFile(t, filepath.FromSlash(name), nil, 0o600)
	}
	if err := os.Mkdir("m", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"m?.npz": "m?.npz?axis=0", "m[12].npz#a": "m[12].npz#a?axis=0", "m*.npz": "m*.npz?axis=0", "m?.npz?concat=1#a": "m?.npz?concat=1#a",
		"n?.npz": "n?.npz", "a[1].npz#x": "a[1].npz#x", "x.bin?shape=3&dtype=int8": "x.bin?shape=3&dtype=int8",
	} {
		if got := stacked(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
