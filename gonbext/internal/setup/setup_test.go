package setup

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// alone gives the test a home of its own.
func alone(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, v := range []string{"XDG_CACHE_HOME", "XDG_DATA_HOME", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "GONBEXT_GONB", "GONBEXT_PYTHON"} {
		t.Setenv(v, "")
	}
	return home
}

// program puts an executable of that name in dir.
func program(t *testing.T, dir, name, script string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	testcases.WriteFile(t, path, []byte("#!/bin/sh\n"+script), 0o755)
	return path
}

func TestPinsAreThoseOfGoMod(t *testing.T) {
	source, err := Source()
	if err != nil {
		t.Fatal(err)
	}
	data := testcases.ReadFile(t, filepath.Join(source, "go.mod"))
	for _, want := range []string{
		"github.com/janpfeifer/gonb " + gonbVersion, "golang.org/x/tools " + toolsVersion,
		"\ngo " + minGo, "\tgithub.com/janpfeifer/gonb\n", "\tgolang.org/x/tools/cmd/goimports\n",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("go.mod has no %q", want)
		}
	}
}

func TestOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "tool")
	broken := errors.New("broken")
	err := once(t.Context(), dir, func() error {
		if err := os.WriteFile(filepath.Join(dir, "half"), nil, 0o600); err != nil {
			t.Error(err)
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a build that failed leaves %s: %v", dir, err)
	}
	builds := 0
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := once(t.Context(), dir, func() error { builds++; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if builds != 1 {
		t.Errorf("built %d times", builds)
	}
}

func TestToolsAreLookedForInOrder(t *testing.T) {
	home := alone(t)
	path := t.TempDir()
	t.Setenv("PATH", path)
	if _, err := FindTools(); err == nil || !strings.Contains(err.Error(), "gonbext install") {
		t.Errorf("nothing there: %v", err)
	}
	inPath, imports := program(t, path, "gonb", ""), program(t, path, "goimports", "")
	if got, err := FindTools(); err != nil || got != (Tools{inPath, imports}) {
		t.Errorf("in PATH: %v, %v", got, err)
	}
	dir, err := toolsDir()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(dir, home) {
		t.Errorf("tools in %s", dir)
	}
	if err := once(t.Context(), dir, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got, err := FindTools(); err != nil || got != (Tools{filepath.Join(dir, "gonb"), filepath.Join(dir, "goimports")}) {
		t.Errorf("built: %v, %v", got, err)
	}
	t.Setenv("GONBEXT_GONB", inPath)
	if got, err := FindTools(); err != nil || got.GoNB != inPath {
		t.Errorf("named: %v, %v", got, err)
	}
	t.Setenv("GONBEXT_GONB", "/does/not/exist")
	if _, err := FindTools(); err == nil {
		t.Error("named, and not there")
	}
}

func TestEnvIsThatOfAWorkspace(t *testing.T) {
	path := t.TempDir()
	program(t, path, "go", `echo "-trimpath -mod=mod -tags=x"`)
	t.Setenv("PATH", path)
	t.Setenv("XDG_CACHE_HOME", path) // without gopls
	env := Tools{GoImports: "/tools/goimports"}.Env([]string{"A=1", "GOWORK=off", "GOFLAGS=-mod=mod"})
	want := []string{"CGO_ENABLED=0", "A=1", "PATH=" + path + ":/tools", "GOFLAGS=-trimpath -tags=x -ldflags=-s -buildvcs=false", "GOWORK=auto"}
	if strings.Join(env, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", env, want)
	}
	program(t, path, "go", `echo "-ldflags=-w"`)
	if env := (Tools{GoImports: "/tools/goimports"}).Env(nil); !slices.Contains(env, "GOFLAGS=-ldflags=-w -buildvcs=false") {
		t.Errorf("what the user says of linking is overruled: %q", env)
	}
	if env := (Tools{GoImports: "/tools/goimports"}).Env([]string{"CGO_ENABLED=1"}); env[0] != "CGO_ENABLED=1" {
		t.Errorf("what the user says of cgo is overruled: %q", env)
	}
}

func TestKernelIsInstalledWhereJupyterLooks(t *testing.T) {
	home := alone(t)
	path := t.TempDir()
	program(t, path, "gonb", "")
	program(t, path, "goimports", "")
	t.Setenv("PATH", path)
	data := map[string]string{"linux": ".local/share/jupyter", "darwin": "Library/Jupyter"}[runtime.GOOS]
	for _, own := range []string{"", filepath.Join(home, "elsewhere")} {
		t.Setenv("JUPYTER_DATA_DIR", own)
		want := own
		if own == "" {
			want = filepath.Join(home, data)
		}
		if got, err := InstalledKernel(); got != "" || err != nil {
			t.Errorf("before: %q, %v", got, err)
		}
		dir, err := Install(t.Context(), t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		if dir != filepath.Join(want, "kernels", "gonbext") {
			t.Errorf("installed in %s", dir)
		}
		content := testcases.ReadFile(t, filepath.Join(dir, "kernel.json"))
		var spec kernelSpec
		if err := json.Unmarshal(content, &spec); err != nil {
			t.Fatal(err)
		}
		if spec.DisplayName != "Go (gonbext)" || spec.Language != "go" || len(spec.Argv) != 3 || spec.Argv[1] != "kernel" || spec.Argv[2] != "{connection_file}" {
			t.Errorf("kernel.json %s", content)
		}
		binary, err := InstalledKernel()
		if err != nil || !filepath.IsAbs(binary) || !strings.HasPrefix(binary, home) {
			t.Errorf("binary %q, %v", binary, err)
		}
		if st, err := os.Stat(binary); err != nil || st.Mode().Perm()&0o100 == 0 {
			t.Errorf("%v, %v", st, err)
		}
	}
}

func TestPythonIsLookedFor(t *testing.T) {
	alone(t)
	for _, c := range []struct{ python3, python, want string }{
		{"", "", "needs Python 3.10"},
		{"echo 3 9", "", "found"},
		{"echo 3 9", "echo 3 12", ""},
		{"exit 1", "echo 3 10", ""},
		{"echo 2 7", "", "2.7"},
		{"echo 4 11", "", "4.11"},
	} {
		path := t.TempDir()
		t.Setenv("PATH", path)
		for name, script := range map[string]string{"python3": c.python3, "python": c.python} {
			if script != "" {
				program(t, path, name, script)
			}
		}
		p, err := findPython(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, %v", c, p, err)
		}
		if err == nil && p.minor < minPython {
			t.Errorf("%+v: %v", c, p)
		}
	}
}

func TestPythonWithoutVenvIsSaid(t *testing.T) {
	alone(t)
	path := t.TempDir()
	t.Setenv("PATH", path)
	program(t, path, "python3", `case "$3" in *venv*) echo "No module named ensurepip"; exit 1;; *) echo 3 11;; esac`)
	_, err := Jupyter(t.Context(), t.Logf)
	if err == nil || !strings.Contains(err.Error(), "apt install python3-venv") {
		t.Error(err)
	}
}

func TestJupyterIsSetUpOnce(t *testing.T) {
	home := alone(t)
	path := t.TempDir()
	t.Setenv("PATH", path+":"+os.Getenv("PATH"))
	log := filepath.Join(home, "log")
	// A Python whose environments hold itself, and that notes what it is asked.
	script := `case "$*" in
*version_info*) echo 3 11;;
*"import venv"*) ;;
"-I -m venv "*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python";;
*) echo "$*" >> "` + log + `";;
esac`
	program(t, path, "python3", script)
	var said []string
	say := func(format string, args ...any) { said = append(said, format) }
	first, err := Jupyter(t.Context(), say)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Jupyter(t.Context(), say)
	if err != nil {
		t.Fatal(err)
	}
	if first != second || !strings.HasPrefix(first, home) || len(said) != 1 {
		t.Errorf("%s, %s, said %q", first, second, said)
	}
	pip := testcases.ReadFile(t, log)
	if got := strings.Count(string(pip), "\n"); got != 1 || !strings.Contains(string(pip), "--require-hashes -r "+filepath.Dir(filepath.Dir(first))) {
		t.Errorf("pip was called %d times: %s", got, pip)
	}
	settings := filepath.Join(filepath.Dir(filepath.Dir(first)), "share", "jupyter", "lab", "settings", "overrides.json")
	if data, err := os.ReadFile(settings); err != nil || !json.Valid(data) {
		t.Errorf("%s, %v", data, err)
	}
}

// Each requirement is one version, with the hashes of its files.
func TestRequirementsAreLocked(t *testing.T) {
	asked := testcases.ReadFile(t, "requirements.in")
	for pin := range strings.FieldsSeq(string(asked)) {
		if !strings.Contains("\n"+requirements, "\n"+pin+" ") {
			t.Errorf("%s is not in requirements.txt", pin)
		}
	}
	entries := 0
	for entry := range strings.SplitSeq(strings.ReplaceAll(requirements, "\\\n", " "), "\n") {
		if entry = strings.TrimSpace(entry); entry == "" || entry[0] == '#' {
			continue
		}
		entries++
		if !strings.Contains(entry, "==") || !strings.Contains(entry, "--hash=sha256:") {
			t.Errorf("not locked: %s", entry)
		}
	}
	if entries < 20 {
		t.Errorf("%d requirements", entries)
	}
}

func TestFailingPipIsSaid(t *testing.T) {
	home := alone(t)
	path := t.TempDir()
	t.Setenv("PATH", path+":"+os.Getenv("PATH"))
	program(t, path, "python3", `case "$*" in
*version_info*) echo 3 11;;
*"import venv"*) ;;
"-I -m venv "*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python";;
*) echo "many lines"; echo "ERROR: no network"; exit 1;;
esac`)
	_, err := Jupyter(t.Context(), t.Logf)
	if err == nil || !strings.Contains(err.Error(), "ERROR: no network") || strings.Contains(err.Error(), "many lines") {
		t.Error(err)
	}
	cache, err := cacheDir()
	if err != nil || !strings.HasPrefix(cache, home) {
		t.Fatal(cache, err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "jupyter-*3.11-????????"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDoctorNamesFixes(t *testing.T) {
	alone(t)
	t.Setenv("PATH", t.TempDir())
	missing := 0
	for _, c := range Doctor(context.Background()) {
		if c.OK() {
			if c.Found == "" {
				t.Errorf("%s is there, but what it is is not said", c.Name)
			}
			continue
		}
		missing++
		if c.Fix == "" {
			t.Errorf("%s is missing, and nothing fixes it", c.Name)
		}
	}
	if missing < 5 { // Go, GoNB, kernel, Python, JupyterLab
		t.Errorf("on a machine with nothing, %d things are missing", missing)
	}
	for name, want := range map[string]bool{"1.26.0": true, "1.26": true, "1.27rc1": true, "2.0": true, "1.25.9": false, "": false} {
		if newEnough("go"+name) != want {
			t.Errorf("Go %q is new enough: %v", name, !want)
		}
	}
}

// What is removed is what was installed; lessons with a person's work in them are not.
func TestUninstallLeavesNothing(t *testing.T) {
	home := alone(t)
	path := t.TempDir()
	program(t, path, "gonb", "")
	program(t, path, "goimports", "")
	t.Setenv("PATH", path)
	if removed, kept, err := Uninstall(); len(removed) > 0 || kept != "" || err != nil {
		t.Errorf("on a machine with nothing: %v, %q, %v", removed, kept, err)
	}
	files := func() (all []string) {
		t.Helper()
		err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	lessons := filepath.Join(cache, lessonsCopy)
	for _, own := range []bool{false, true} {
		if _, err := Install(t.Context(), t.Logf); err != nil {
			t.Fatal(err)
		}
		if err := once(t.Context(), filepath.Join(cache, "jupyter-x"), func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		source, err := Source()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(lessons, os.DirFS(filepath.Join(source, "notebooks"))); err != nil {
			t.Fatal(err)
		}
		if own {
			testcases.WriteFile(t, filepath.Join(lessons, "mine.ipynb"), []byte("{}"), 0o600)
		}
		removed, kept, err := Uninstall()
		if err != nil || len(removed) < 3 {
			t.Errorf("removed %v, %v", removed, err)
		}
		left := files()
		if !own && (len(left) > 0 || kept != "") {
			t.Errorf("left behind: %v, kept %q", left, kept)
		}
		if own && (kept != lessons || len(left) == 0 || strings.Contains(strings.Join(left, "\n"), "kernel.json")) {
			t.Errorf("a person's lessons: kept %q, left %v", kept, left)
		}
	}
}

func TestStepIsSaidAtOnce(t *testing.T) {
	var said []string
	say := func(format string, args ...any) { said = append(said, format) }
	err := step(say, "x", func() error {
		if len(said) != 1 {
			t.Errorf("said before it began: %q", said)
		}
		return errors.New("broken")
	})
	if err == nil || len(said) != 1 {
		t.Errorf("%v, said %q", err, said)
	}
}

func TestSourceIsThisModule(t *testing.T) {
	dir, err := Source()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "oocore", "save.go")); err != nil || !isModule(dir) {
		t.Error(dir, err)
	}
	if isModule(t.TempDir()) || isModule("") || isModule("relative") {
		t.Error("a folder without this module's go.mod is taken for it")
	}
}

func TestSourceThatOthersCanChangeIsRejected(t *testing.T) {
	made := func() string {
		dir := filepath.Join(t.TempDir(), "m")
		for name, text := range map[string]string{"go.mod": "module " + Module + "\n", "go.sum": "", "oocore/a.go": "package oocore\n", "cuda/a.go": "package cuda\n", "gonbext/a.go": "package gonbext\n"} {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	if err := ownedSource(made()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(dir string) error{
		"missing":         func(dir string) error { return os.Remove(filepath.Join(dir, "go.mod")) },
		"writable file":   func(dir string) error { return os.Chmod(filepath.Join(dir, "oocore/a.go"), 0o666) },
		"writable folder": func(dir string) error { return os.Chmod(filepath.Join(dir, "cuda"), 0o777) },
		"folder of a link": func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "cuda"), dir+"-a"), os.Symlink(dir+"-a", filepath.Join(dir, "cuda")))
		},
	} {
		dir := made()
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if ownedSource(dir) == nil {
			t.Errorf("%s: is trusted", name)
		}
	}
}

// JupyterLab's settings are set where the user has none, and taken away where they are still
// those.
func TestCompleterSettings(t *testing.T) {
	home := alone(t)
	path := filepath.Join(home, ".jupyter", "lab", "user-settings", "@jupyterlab", "completer-extension", "manager.jupyterlab-settings")
	for _, own := range []string{"", "{}"} {
		if err := AwaitCompletions(); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"providerTimeout": 10000`) {
			t.Fatalf("%s: %v", text, err)
		}
		if own != "" {
			testcases.WriteFile(t, path, []byte(own), 0o600)
			if err := AwaitCompletions(); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := Uninstall(); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(path); string(text) != own {
			t.Errorf("%q is left, want %q", text, own)
		}
	}
}
