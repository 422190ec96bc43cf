package testcases

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python returns the Python that GONBEXT_PYTHON names. Without it, or without GONBEXT_TEST=full,
// it skips the test and says what that leaves out.
func Python(t testing.TB, leftOut string) string {
	t.Helper()
	python := os.Getenv("GONBEXT_PYTHON")
	if !Full() || python == "" {
		t.Skipf("left out: %s, for which GONBEXT_TEST=full and GONBEXT_PYTHON name a Python that has it", leftOut)
	}
	return python
}

// Venv returns the Python that GONBEXT_PYTHON names, or one with the given packages from a venv
// in the user's cache, which it makes on first use.
func Venv(t testing.TB, name string, packages ...string) string {
	t.Helper()
	if python := os.Getenv("GONBEXT_PYTHON"); python != "" {
		return python
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	venv := filepath.Join(cache, "gonbext", name)
	python := filepath.Join(venv, "bin", "python")
	var commands [][]string
	if _, err := os.Stat(python); err != nil {
		commands = append(commands, []string{"python3", "-m", "venv", venv})
	}
	for _, c := range append(commands, append([]string{python, "-m", "pip", "install", "-q"}, packages...)) {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	return python
}
