package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext/internal/setup"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// full is for what needs Python: under GONBEXT_TEST=full, GONBEXT_PYTHON names
// one that has jupyter_client and nbclient, or one is set up here.
func full(t *testing.T, leftOut string) (python string) {
	t.Helper()
	if !testcases.Full() {
		t.Skip("left out without GONBEXT_TEST=full: " + leftOut)
	}
	python, err := setup.Jupyter(t.Context(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return python
}

// build builds the command and installs its kernel in a Jupyter of the test's
// own; env is the environment for both.
func build(t *testing.T) (binary string, env []string) {
	t.Helper()
	dir := t.TempDir()
	// Short, since sockets have to be in it.
	tmp, err := os.MkdirTemp("", "g")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	if err := setup.BuildTools(t.Context(), t.Logf); err != nil {
		t.Fatal(err)
	}
	tools, err := setup.FindTools()
	if err != nil {
		t.Fatal(err)
	}
	gocache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	env = append(os.Environ(), "JUPYTER_DATA_DIR="+filepath.Join(dir, "jupyter"), "JUPYTER_CONFIG_DIR="+filepath.Join(dir, "config"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"),
		"GOCACHE="+strings.TrimSpace(string(gocache)), "GONBEXT_GONB="+tools.GoNB, "GONBEXT_RUNS="+filepath.Join(dir, "runs"),
		"TMPDIR="+tmp, "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(tools.GoImports))
	binary = filepath.Join(dir, "gonbext")
	for _, command := range [][]string{{"go", "build", "-o", binary, "."}, {binary, "install"}} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	return binary, env
}

func TestKernelUnderJupyter(t *testing.T) {
	python := full(t, "the kernel with GoNB behind it and a Jupyter client before it")
	_, env := build(t)
	cmd := exec.Command(python, "testdata/client.py")
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunNotebook(t *testing.T) {
	python := full(t, "gonbext run on notebooks that succeed and fail")
	binary, env := build(t)
	env = append(env, "GONBEXT_PYTHON="+python)
	dir := t.TempDir()
	write := func(name string, cells ...string) string {
		t.Helper()
		var b strings.Builder
		for i, c := range cells {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(`{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":"` + c + `"}`)
		}
		path := filepath.Join(dir, name)
		text := `{"cells":[` + b.String() + `],"metadata":{"kernelspec":{"name":"gonbext","display_name":"Go (gonbext)","language":"go"}},"nbformat":4,"nbformat_minor":4}`
		testcases.WriteFile(t, path, []byte(text), 0o600)
		return path
	}
	run := func(args ...string) (stdout, stderr string, status int) {
		t.Helper()
		cmd := exec.Command(binary, append([]string{"run"}, args...)...)
		cmd.Env = env
		var o, e bytes.Buffer
		cmd.Stdout, cmd.Stderr = &o, &e
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return o.String(), e.String(), cmd.ProcessState.ExitCode()
	}

	good := write("good.ipynb", `%%\nfmt.Println(\"shown\")`)
	before := testcases.ReadFile(t, good)
	out, html := filepath.Join(dir, "out.ipynb"), filepath.Join(dir, "out.html")
	stdout, stderr, status := run(good, "-o", out, "--html", html)
	if stdout != "shown\n" || status != 0 || !strings.Contains(stderr, "[1/1]") {
		t.Errorf("exit status %d\n%s\n%s", status, stdout, stderr)
	}
	for _, path := range []string{out, html} {
		if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "shown") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if after, err := os.ReadFile(good); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the notebook itself has changed: %v", err)
	}

	failed := filepath.Join(dir, "failed.ipynb")
	bad := write("bad.ipynb", `%%\nfmt.Println(1)`, `%%\nvar x int = \"s\"`, `%%\nfmt.Println(3)`)
	stdout, stderr, status = run(bad, "-o", failed)
	if stdout != "1\n" || status != 1 || !strings.Contains(stderr, "cell 2 of "+bad) || !strings.Contains(stderr, "cannot use") {
		t.Errorf("exit status %d\n%s\n%s", status, stdout, stderr)
	}
	if text := string(testcases.ReadFile(t, failed)); !strings.Contains(text, `"1\n"`) || !strings.Contains(text, `"output_type": "error"`) || strings.Contains(text, `"3\n"`) {
		t.Errorf("the notebook that failed is written as\n%s", text)
	}
	if stdout, _, status = run(bad, "--allow-errors"); stdout != "1\n3\n" || status != 0 {
		t.Errorf("with --allow-errors: exit status %d\n%s", status, stdout)
	}

	tagged := write("tagged.ipynb", `rows, name := 1, \"none\"`, `fmt.Println(rows*2, name)`)
	testcases.WriteFile(t, tagged, bytes.Replace(testcases.ReadFile(t, tagged), []byte(`"metadata":{}`), []byte(`"metadata":{"tags":["parameters"]}`), 1), 0o600)
	if stdout, stderr, status = run(tagged, "-p", "rows", "21", "-p", "name", "two words"); stdout != "42 two words\n" || status != 0 {
		t.Errorf("with parameters: exit status %d\n%s\n%s", status, stdout, stderr)
	}
	for _, c := range [][]string{{tagged, "-p", "rows"}, {tagged, "-p", "no name", "1"}, {tagged, "rows", "1"}, {good, "-p", "rows", "1"}} {
		if _, stderr, status := run(c...); status == 0 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit status %d, %s", c, status, stderr)
		}
	}

	ended := write("ended.ipynb", `gonbext.Save(oocore.Ones(oocore.Float32, 3).Reshape(5), \"none.npy\")`)
	if _, stderr, _ = run(ended); strings.Count(stderr, "do not fill (5,)") != 1 || strings.Contains(stderr, "exit status") {
		t.Errorf("why a cell was ended: %s", stderr)
	}

	testcases.WriteFile(t, filepath.Join(dir, "text.ipynb"), []byte("text"), 0o600)
	for _, c := range []struct {
		status int
		args   []string
	}{
		{1, []string{filepath.Join(dir, "text.ipynb")}}, {1, []string{filepath.Join(dir, "none.ipynb")}}, {1, []string{dir}},
		{2, []string{good, "-o", filepath.Join(dir, "no", "folder.ipynb")}},
	} {
		if _, stderr, status := run(c.args...); status != c.status || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit status %d\n%s", c.args, status, stderr)
		}
	}
}

func TestCheckOfNotebookPlansItsCellsAndComputesNothing(t *testing.T) {
	python := full(t, "gonbext check on the cells of a notebook")
	binary, env := build(t)
	env = append(env, "GONBEXT_PYTHON="+python)
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(4000, 500)", 2_000_000)
	check := func(expression string, status int, args ...string) string {
		t.Helper()
		source := `%%memory\nx := oocore.Open(\"x.npy\")\ngonbext.Save(` + expression + `, \"y.npy\")`
		text := `{"cells":[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":"` + source +
			`"}],"metadata":{"kernelspec":{"name":"gonbext","display_name":"Go (gonbext)","language":"go"}},"nbformat":4,"nbformat_minor":4}`
		testcases.WriteFile(t, filepath.Join(dir, "n.ipynb"), []byte(text), 0o600)
		cmd := exec.Command(binary, append([]string{"check", "n.ipynb", "--against", "plan.json"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		out, _ := cmd.Output()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("status %d, want %d: %s", got, status, out)
		}
		return string(out)
	}
	check("x.Sub(x.Mean(0))", 0, "--memory", "64MiB", "--write")
	has(t, check("x.Sub(x.Mean(0))", 0), "one plan: none grew")
	has(t, check("x.Sub(x.Mean(0)).Div(x.Sub(x.Mean(0)).Std(0))", 1), "y.npy grew", "passes 2 → 3")
	if _, err := os.Stat(filepath.Join(dir, "y.npy")); err == nil {
		t.Error("a cell was run")
	}
}

// GoNB's own tutorial gives here what it gives there, where there is no network too: cells that fail in GoNB itself for
// want of a module are left out.
func TestTutorialOfGoNBGivesTheSame(t *testing.T) {
	python := full(t, "GoNB's tutorial, in GoNB and in the kernel")
	_, env := build(t)
	tools, err := setup.FindTools()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.TrimSpace(string(cache))
	env = append(env, "GOPROXY=file://"+modules+"/cache/download,https://proxy.golang.org,direct", "GOSUMDB=off")
	for _, e := range env {
		if dir, ok := strings.CutPrefix(e, "JUPYTER_DATA_DIR="); ok {
			folder := filepath.Join(dir, "kernels", "gonb")
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			testcases.WriteFile(t, filepath.Join(folder, "kernel.json"),
				[]byte(`{"argv": ["`+tools.GoNB+`", "--kernel", "{connection_file}"], "display_name": "GoNB", "language": "go"}`), 0o600)
		}
	}
	tutorial, _ := filepath.Glob(filepath.Join(modules, "github.com", "janpfeifer", "gonb@*", "examples", "tutorial.ipynb")) // of the GoNB that was built
	if len(tutorial) == 0 {
		t.Fatal("GoNB's module is not in the cache")
	}
	type cell struct {
		Source string
		Gives  map[string]any
	}
	run := func(kernel string) (cells []cell) {
		cmd := exec.Command(python, "testdata/tutorial.py", tutorial[len(tutorial)-1], kernel)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := json.Unmarshal(out, &cells); err != nil {
			t.Fatal(err)
		}
		return cells
	}
	theirs, ours := run("gonb"), run("gonbext")
	same := 0
	for i, c := range theirs {
		switch {
		case c.Gives["error"] != nil:
			t.Logf("left out, since GoNB gives %v: %.60q", c.Gives["error"], c.Source)
		case fmt.Sprint(c.Gives) != fmt.Sprint(ours[i].Gives):
			t.Errorf("%s\ngives\n%v\nand in GoNB\n%v", c.Source, ours[i].Gives, c.Gives)
		default:
			same++
		}
	}
	if same < 18 {
		t.Errorf("%d of %d cells give the same", same, len(theirs))
	}
}
