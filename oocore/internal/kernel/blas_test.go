package kernel

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestBLASChoice has the environment name the library, or none.
func TestBLASChoice(t *testing.T) {
	t.Setenv("GONBEXT_BLAS", "none")
	if got := blasLibraries(); len(got) != 0 {
		t.Errorf("none: %q are tried", got)
	}
	t.Setenv("GONBEXT_BLAS", "elsewhere/libblas.so")
	if got := blasLibraries(); len(got) != 1 || got[0] != "elsewhere/libblas.so" {
		t.Errorf("a library of one's own: %q are tried", got)
	}
	if _, err := openLibrary("elsewhere/libblas.so"); err == nil {
		t.Error("a library that does not exist was opened")
	}
}

// TestBLASMemory has the budget count a buffer for each caller exactly where
// there is a library.
func TestBLASMemory(t *testing.T) {
	version, ok := OpenBLAS()
	want := int64(0)
	if ok {
		want = blasImage + int64(runtime.GOMAXPROCS(0))*blasBuffer
		if version == "" {
			t.Error("the library has no name")
		}
	}
	if got := BLASMemory(); got != want {
		t.Errorf("BLASMemory is %d, want %d (library: %v)", got, want, ok)
	}
}

// TestBLASCore has OpenBLAS take loops of the processor's width, whatever it knows of
// the processor.
func TestBLASCore(t *testing.T) {
	version, ok := OpenBLAS()
	want := coreType()
	if !ok || want == "" || !strings.HasPrefix(version, "OpenBLAS") || os.Getenv("OPENBLAS_CORETYPE") != "" {
		return // nothing was asked for
	}
	if !strings.Contains(version, want) {
		t.Errorf("it is %s, where %s was asked for", version, want)
	}
}
