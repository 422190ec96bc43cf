package magic

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestDiskShowsWhatIsKeptAndCleans(t *testing.T) {
	logged(t, 0, 1)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	here := t.TempDir()
	t.Chdir(here)
	unfinished := filepath.Join(here, ".x.zarr.gonbext")
	if err := os.MkdirAll(unfinished, 0o700); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(unfinished, "lock"), nil, 0o600)
	text, err := late(t, "%disk")
	if err != nil || !strings.Contains(text, "2 records of runs") || !strings.Contains(text, "1 unfinished outputs") {
		t.Errorf("%s, %v", text, err)
	}
	if text, err = late(t, "%disk clean unfinished"); err != nil || strings.Contains(text, "1 unfinished outputs") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := os.Stat(unfinished); !os.IsNotExist(err) {
		t.Error("what an unfinished run has left is there still")
	}
	if text, err = late(t, "%disk clean runs"); err != nil || !strings.Contains(text, "removed (runs)") || strings.Contains(text, "2 records") {
		t.Errorf("%s, %v", text, err)
	}
	for _, wrong := range []string{"%disk clean", "%disk clean all", "%disk runs"} {
		if _, err := newSession().Rewrite(wrong); err == nil || !strings.Contains(err.Error(), "clean runs") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
