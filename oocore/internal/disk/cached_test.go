package disk

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestCachedSeesWhatWasJustWritten(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "c", "0", "x")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, make([]byte, 9<<20+5), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{name, dir} {
		part, ok := Cached(path)
		if ok != (runtime.GOOS == "linux") || ok && (part < 0.5 || part > 1) {
			t.Errorf("%s: %g, %v", path, part, ok)
		}
	}
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{name, filepath.Join(dir, "none")} {
		if part, ok := Cached(path); ok {
			t.Errorf("%s: %g", path, part)
		}
	}
}
