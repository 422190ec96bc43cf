package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The tools that go.mod pins. A test compares them with it: they name the
// folder that the built ones are kept in, so that a new pin builds anew.
const (
	gonbVersion  = "v0.11.4"
	toolsVersion = "v0.52.0" // of golang.org/x/tools, which goimports is part of
)

// Tools are the programs behind the kernel.
type Tools struct {
	GoNB      string // path of the binary
	GoImports string // path of the binary, which GoNB looks for in PATH
}

// toolsDir is where BuildTools puts the tools.
func toolsDir() (string, error) {
	cache, err := cacheDir()
	return filepath.Join(cache, "tools-gonb-"+gonbVersion+"-goimports-"+toolsVersion), err
}

// FindTools looks for GoNB in $GONBEXT_GONB, in what BuildTools has built and
// in PATH, in this order; for goimports alike, without the variable.
func FindTools() (t Tools, err error) {
	t.GoNB = os.Getenv("GONBEXT_GONB")
	if t.GoNB != "" {
		if _, err := exec.LookPath(t.GoNB); err != nil {
			return t, fmt.Errorf("GONBEXT_GONB: %w", err)
		}
	}
	if dir, err := toolsDir(); err == nil && complete(dir) {
		if t.GoNB == "" {
			t.GoNB = filepath.Join(dir, "gonb")
		}
		t.GoImports = filepath.Join(dir, "goimports")
	}
	if t.GoNB == "" {
		if t.GoNB, err = exec.LookPath("gonb"); err != nil {
			return t, fmt.Errorf("GoNB is not set up: run gonbext install")
		}
	}
	if t.GoImports == "" {
		if t.GoImports, err = exec.LookPath("goimports"); err != nil {
			return t, fmt.Errorf("goimports, which GoNB needs, is not set up: run gonbext install")
		}
	}
	return t, nil
}

// Env is the environment for GoNB: base with goimports, this command, and gopls where it is
// set up, in PATH, and without settings of go that a workspace, which makes gonbext
// importable, cannot have.
// Unless base says otherwise, cells do without cgo: they link in half the time
// and need no C compiler. %env CGO_ENABLED 1 brings it back for the cells after it.
func (t Tools) Env(base []string) []string {
	env := make([]string, 0, len(base)+4)
	if !slices.ContainsFunc(base, func(v string) bool { return strings.HasPrefix(v, "CGO_ENABLED=") }) {
		env = append(env, "CGO_ENABLED=0")
	}
	for _, v := range base {
		if name, _, _ := strings.Cut(v, "="); name != "PATH" && name != "GOFLAGS" && name != "GOWORK" {
			env = append(env, v)
		}
	}
	path := os.Getenv("PATH")
	if _, err := exec.LookPath("goimports"); err != nil {
		path += string(filepath.ListSeparator) + filepath.Dir(t.GoImports)
	}
	if _, err := exec.LookPath("gopls"); err != nil {
		if gopls, err := FindGopls(); err == nil {
			path += string(filepath.ListSeparator) + filepath.Dir(gopls)
		}
	}
	if _, err := exec.LookPath("gonbext"); err != nil { // hints in notebooks are lines that call it
		if self, err := os.Executable(); err == nil && filepath.Base(self) == "gonbext" {
			path += string(filepath.ListSeparator) + filepath.Dir(self)
		}
	}
	return append(env, "PATH="+path, "GOFLAGS="+workspaceFlags(), "GOWORK=auto")
}

// goEnv returns a setting of go, whatever module or workspace the present folder is in.
func goEnv(ctx context.Context, name string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", name)
	cmd.Dir = Elsewhere()
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// GoSource returns the folder of Go's library.
func GoSource() string {
	root, err := goEnv(context.Background(), "GOROOT")
	if err != nil {
		return ""
	}
	return filepath.Join(root, "src")
}

// workspaceFlags is GOFLAGS, as set in the environment or by go env -w, without -mod, which
// a workspace rejects. Unless it says how to link, cells have no debug information: no
// debugger comes near them, and linking takes two thirds of the time. Traces of panics need
// none.
func workspaceFlags() string {
	out, err := goEnv(context.Background(), "GOFLAGS")
	if err != nil {
		return "" // no go: GoNB says so
	}
	var keep []string
	for _, f := range strings.Fields(out) {
		if !strings.HasPrefix(strings.TrimLeft(f, "-"), "mod=") {
			keep = append(keep, f)
		}
	}
	if !slices.ContainsFunc(keep, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "ldflags=") }) {
		keep = append(keep, "-ldflags=-s")
	}
	if !slices.ContainsFunc(keep, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "buildvcs=") }) {
		keep = append(keep, "-buildvcs=false") // go would run git on a repository that somebody has made in the folder of temporary files
	}
	return strings.Join(keep, " ")
}

// BuildTools builds GoNB and goimports as this module's go.mod pins them, where
// they are not built yet.
func BuildTools(ctx context.Context, say Progress) error {
	dir, err := toolsDir()
	if err != nil {
		return err
	}
	return once(ctx, dir, func() error {
		source, err := Source()
		if err != nil {
			return err
		}
		if _, err := exec.LookPath("go"); err != nil {
			return fmt.Errorf("no go in PATH: install Go from https://go.dev/dl")
		}
		return step(say, "Building GoNB "+gonbVersion+" and goimports "+toolsVersion+" (once)", func() error {
			for name, pkg := range map[string]string{
				"gonb":      "github.com/janpfeifer/gonb",
				"goimports": "golang.org/x/tools/cmd/goimports",
			} {
				cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-buildvcs=false", "-o", filepath.Join(dir, name), pkg)
				cmd.Dir = source
				cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
				if out, err := cmd.CombinedOutput(); err != nil {
					return fmt.Errorf("build %s: %w\n%s", name, err, strings.TrimSpace(string(out)))
				}
			}
			return nil
		})
	})
}
