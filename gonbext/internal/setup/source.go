package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Module is the path of the module that this binary is built from.
const Module = "github.com/gonbext/gonbext"

// Source is the folder of this module's source, which cells import and GoNB is
// built by: the one that this binary was compiled from, if it is still there,
// else the one in Go's module cache.
func Source() (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok {
		dir := filepath.Join(filepath.Dir(file), "..", "..", "..")
		if isModule(dir) {
			return dir, nil
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "", fmt.Errorf("the source that gonbext was built from is gone: build it again with go install ./gonbext/cmd/gonbext")
	}
	module := Module + "@" + info.Main.Version
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir = os.TempDir() // outside of any module
	out, err := cmd.Output()
	if dir := strings.TrimSpace(string(out)); err == nil && isModule(dir) {
		return dir, nil
	}
	return "", fmt.Errorf("the source that gonbext was built from is gone: fetch it with go mod download %s", module)
}

// isModule reports whether dir is the root of this module.
func isModule(dir string) bool {
	if !filepath.IsAbs(dir) { // a binary built with -trimpath knows no folder
		return false
	}
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(data), "module "+Module+"\n")
}
