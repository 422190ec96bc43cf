package surface

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The examples of extensions are modules of their own, which import what any program can.
func TestExtensionsFromOutsidePassTheirSuites(t *testing.T) {
	modules, err := filepath.Glob("../../examples/*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatalf("no modules of examples, %v", err)
	}
	for _, file := range modules {
		cmd := exec.Command("go", "test", "./...")
		cmd.Dir = filepath.Dir(file)
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", cmd.Dir, err, out)
		}
	}
}
