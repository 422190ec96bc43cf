package storage_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	_ "github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// A pipe under an array's name is an error: to open it would wait for who writes to it.
func TestOpenOfPipeIsRejected(t *testing.T) {
	for _, name := range []string{"x.npy", "x.bin?shape=3&dtype=int8", "x.zarr", "x.npz#a", "x.safetensors#a"} {
		file, _, _ := strings.Cut(strings.ReplaceAll(name, "?", "#"), "#")
		dir := t.TempDir()
		if err := exec.Command("mkfifo", filepath.Join(dir, file)).Run(); err != nil {
			t.Fatal(err)
		}
		if a, err := storage.Open(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s opens: %v", name, a.Info())
		}
	}
}
