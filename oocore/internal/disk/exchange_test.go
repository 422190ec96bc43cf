package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// simple is a file system that cannot exchange.
type simple struct{ disk.FS }

func (simple) Exchange(a, b string) error { return errors.ErrUnsupported }

func TestExchange(t *testing.T) {
	for name, fs := range map[string]disk.FS{"of the system": disk.System(), "in steps": simple{disk.System()}} {
		t.Run(name, func(t *testing.T) {
			defer disk.Use(fs)()
			dir := t.TempDir()
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			for _, name := range []string{a, b} {
				if err := errors.Join(os.Mkdir(name, 0o777), os.WriteFile(filepath.Join(name, "who"), []byte(name), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			if err := disk.Exchange(a, b); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{a: b, b: a} {
				if text, _ := os.ReadFile(filepath.Join(name, "who")); string(text) != want {
					t.Errorf("%s has what was %s", name, text)
				}
			}
			if names, _ := os.ReadDir(dir); len(names) != 2 {
				t.Errorf("there is %v", names)
			}
			if err := disk.Exchange(a, filepath.Join(dir, "none")); err == nil {
				t.Error("exchanged with nothing")
			}
			if _, err := os.Stat(a); err != nil {
				t.Errorf("a failed exchange took a away: %v", err)
			}
		})
	}
}
