package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// hostile makes a folder whose modules, programs and settings note that they were run, and a run that names an address.
func hostile(t *testing.T) (dir, ran string, called *atomic.Bool) {
	t.Helper()
	dir, ran, called = t.TempDir(), filepath.Join(t.TempDir(), "ran"), new(atomic.Bool)
	for _, name := range []string{"argparse", "json", "venv", "http", "ensurepip", "runpy", "jupyterlab", "nbformat", "nbclient", "zmq", "distributed", "sitecustomize", "usercustomize",
		"jupyter_config", "jupyter_lab_config", "jupyter_server_config", "jupyter_nbconvert_config", "ipython_config", "lib/python3/site-packages/usercustomize"} {
		plant(t, filepath.Join(dir, name+".py"), "open("+pythonText(ran)+", 'a').write('"+name+"\\n')\n")
	}
	notes := func(what string) string { return "echo " + what + " >>'" + ran + "'" }
	for _, folder := range []string{"lab", "base", "nbconvert/templates/lab"} {
		plant(t, filepath.Join(dir, folder, "conf.json"), `{"base_template":null}`)
		plant(t, filepath.Join(dir, folder, "index.html.j2"), `{{ cycler.__init__.__globals__.os.system("`+notes("template")+`") }}`)
	}
	plant(t, filepath.Join(dir, "kernels/gonbext/kernel.json"), `{"argv":["/bin/sh","-c","`+notes("kernel")+`"],"display_name":"x","language":"go"}`)
	plant(t, filepath.Join(dir, "go.work"), "go 1.26\n\nuse ./vendor\n")
	plant(t, filepath.Join(dir, "vendor/go.mod"), "module fmt\n")
	repository(t, dir, notes("git"))
	for _, name := range []string{".npmrc", ".env", ".envrc", "package.json", "node_modules/x/package.json", ".python-version", "pyvenv.cfg", "pip.conf", "go.env", ".sge_request"} {
		plant(t, filepath.Join(dir, name), "9.9.9\n")
	}
	for _, name := range []string{"python3", "python", "go", "node", "sh", "sbatch", "squeue", "scancel", "qstat", "gonb", "gopls", "goimports", "xdg-open"} {
		testcases.WriteFile(t, filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" >>'"+ran+"'\n"), 0o700)
	}
	testcases.WriteFile(t, filepath.Join(dir, "go.mod"), []byte("module x\n\ngo 1.999\n"), 0o600)
	testcases.WriteFile(t, filepath.Join(dir, "libopenblas.so.0"), []byte("no library"), 0o700)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			called.Store(true)
			c.Close()
		}
	}()
	id := strings.Repeat("A", 26)
	jobs := filepath.Join(dir, ".x.npy.gonbext", "jobs")
	if err := os.MkdirAll(jobs, 0o700); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "x.npy")
	testcases.WriteFile(t, filepath.Join(jobs, "run.json"), []byte(`{"id":"`+id+`","on":"dask://`+l.Addr().String()+`","output":"`+out+`","in":"`+out+`","plan":"`+filepath.Join(filepath.Dir(jobs), "plan")+
		`","probe":"gonbext-`+id+`-B","stages":[{"name":"a","token":"`+id+`","tasks":1,"each":1,"step":1}]}`), 0o600)
	testcases.WriteFile(t, filepath.Join(jobs, "a.log"), []byte("\x1b]0;title\x07 said\u009b31m\n"), 0o600)
	return dir, ran, called
}

func pythonText(s string) string { return "'" + strings.ReplaceAll(s, "'", `\\'`) + "'" }

// plant writes a file, and the folders above it.
func plant(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, path, []byte(text), 0o600)
}

// repository makes a folder a repository of Git whose settings run a command.
func repository(t *testing.T, dir, command string) {
	t.Helper()
	plant(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/main\n")
	plant(t, filepath.Join(dir, ".git/config"), "[core]\n\tfsmonitor = "+command+"\n")
	for _, name := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(dir, ".git", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// sharedTemporary makes a folder of temporary files that all can write to, with what another user has made there under names that
// gonbext and Go look for, and a folder that its links lead to.
func sharedTemporary(t *testing.T, ran string) (dir, victim string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "h") // short: sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	victim = t.TempDir()
	plant(t, filepath.Join(victim, "kept"), "kept")
	plant(t, filepath.Join(dir, "go.work"), "go 1.26\n\nuse ./evil\n")
	plant(t, filepath.Join(dir, "evil/go.mod"), "module fmt\n")
	plant(t, filepath.Join(dir, ".gonbext-1/unowned"), "")
	repository(t, dir, "echo git >>'"+ran+"'")
	for _, name := range []string{fmt.Sprint("gonbext-", os.Getuid()), ".gonbext-2", ".gonbext-1/lock", "gonbext-.json"} {
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() == 0 {
		err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && path != dir {
				err = os.Lchown(path, 65534, 65534)
			}
			return err
		})
	}
	if err != nil || os.Chmod(dir, 0o777|fs.ModeSticky) != nil {
		t.Fatal(err)
	}
	return dir, victim
}

// filesBelow are those below folders.
func filesBelow(t *testing.T, folders ...string) (all []string) {
	t.Helper()
	for _, dir := range folders {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.Contains(path, ".x.npy.gonbext") {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

var (
	executed  = regexp.MustCompile(`execve(?:at)?\(.*?"([^"]*)"`)
	opened    = regexp.MustCompile(`open.* = \d+<([^>]*)>$`)
	connected = regexp.MustCompile(`connect\(.*sin6?_port=htons\((\d+)\).*"([^"]*)"`)
)

// watch has strace tell what a command, and all that it starts, executes, opens and connects to, where tests may need more than Go.
// The function that it returns reports what is planted, and addresses but 127.0.0.1 with port 1 and those that are allowed.
func watch(t *testing.T, c *exec.Cmd, planted []string, allowed ...string) (check func()) {
	t.Helper()
	if !testcases.Full() {
		return func() {}
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	c.Args = append([]string{strace, "-f", "-y", "-qq", "-s", "4096", "--seccomp-bpf", "-e", "trace=execve,execveat,open,openat,openat2,connect", "-o", log, c.Path}, c.Args[1:]...)
	c.Path = strace
	args := slices.Clone(c.Args[len(c.Args)-1:])
	return func() {
		t.Helper()
		text := string(testcases.ReadFile(t, log))
		if !strings.Contains(text, "execve(") {
			t.Fatalf("strace says nothing of %v", args)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if m := executed.FindStringSubmatch(line); m != nil && (slices.Contains(planted, m[1]) || m[1] != "" && !filepath.IsAbs(m[1])) {
				t.Errorf("%v executes %s", args, line)
			}
			if m := opened.FindStringSubmatch(line); m != nil && slices.Contains(planted, m[1]) {
				t.Errorf("%v opens %s", args, line)
			}
			if m := connected.FindStringSubmatch(line); m != nil && (!slices.Contains(append(allowed, "1"), m[1]) || m[2] != "127.0.0.1") {
				t.Errorf("%v calls %s", args, line)
			}
		}
	}
}

// Every command, in a folder that an enemy has made, with a folder of temporary files in which another user has made what they look for,
// and with lists of folders that mean the present one, runs and opens nothing of these, and asks nobody whom a file names.
func TestCommandsTakeNothingFromAHostileFolder(t *testing.T) {
	dir, ran, called := hostile(t)
	tmp, victim := sharedTemporary(t, ran)
	home, bin := t.TempDir(), t.TempDir()
	for _, name := range []string{".npmrc", ".pythonrc.py", ".bashrc", ".profile", ".gitconfig", ".ipython/profile_default/startup/x.py", ".jupyter/jupyter_server_config.py"} {
		plant(t, filepath.Join(home, name), "import")
	}
	for _, name := range []string{"sbatch", "squeue", "scontrol", "scancel", "qsub", "qstat", "qconf", "qdel"} { // Grid Engine's take options from files of the folder that they run in
		testcases.WriteFile(t, filepath.Join(bin, name), []byte("#!/bin/sh\n[ \"$(pwd)\" = / ] || echo "+name+" >>'"+ran+"'\nexit 1\n"), 0o700)
	}
	planted := filesBelow(t, dir, tmp, home)
	t.Setenv("PATH", ".:"+bin+":"+os.Getenv("PATH")+":")
	t.Setenv("PYTHONPATH", ":.")
	t.Setenv("PYTHONUSERBASE", ".")
	t.Setenv("JUPYTER_PATH", ":")
	t.Setenv("JUPYTER_CONFIG_PATH", ":.")
	t.Setenv("LD_LIBRARY_PATH", ":")
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GONBEXT_PYTHON", "/bin/false")
	t.Setenv("GOPROXY", "off")
	args := map[string][][]string{
		"jobs": {{"jobs"}, {"jobs", "attach", "x.npy"}, {"jobs", "cancel", "x.npy"}, {"jobs", "logs", "x.npy"}},
		"compute": {{"compute", "matmul(ones(64,64), ones(64,64))", "-o", "y.npy", "--processes", "2"}, {"compute", "sum(sort(ones(64)))"},
			{"compute", "ones(4)", "-o", "x.npy", "--on", "dask://127.0.0.1:1", "--memory", "256MiB"}, {"compute", "ones(4)", "-o", "v.npy", "--on", "gridengine", "--memory", "256MiB"},
			{"compute", "ones(4)", "-o", "v.npy", "--on", "slurm", "--memory", "256MiB"}},
		"convert": {{"convert", "y.npy", "z.zarr"}},
		"doctor":  {{"doctor"}},
		"info":    {{"info", "y.npy"}},
	}
	run := func(call []string) outcome {
		c := command(dir, call...)
		check := watch(t, c, planted)
		o := finish(t, c)
		check()
		return o
	}
	for _, c := range newRoot().Commands() {
		if c.Name() == "install" || c.Name() == "lab" || c.Name() == "run" { // which build for minutes: TestNotebookTakesNothingFromAHostileFolder
			args[c.Name()] = [][]string{{c.Name(), "--help"}}
		}
		calls := args[c.Name()]
		if calls == nil {
			calls = [][]string{{c.Name()}, {c.Name(), "x.npy"}}
		}
		for _, call := range calls {
			o := run(call)
			if strings.ContainsAny(o.stdout+o.stderr, "\x1b\a\u009b") {
				t.Errorf("%v prints %q", call, o.stdout+o.stderr)
			}
		}
	}
	t.Setenv("GONBEXT_PYTHON", "") // and with the Python that PATH finds, and homes and caches that are none
	t.Setenv("PYTHONHOME", ".")
	for _, home := range []string{home, ".", ""} {
		t.Setenv("HOME", home)
		for _, call := range [][]string{{"doctor"}, {"compute", "ones(4)", "-o", "w.npy", "--on", "dask://127.0.0.1:1", "--memory", "256MiB"}, {"compute", "sum(sort(ones(64)))"}} {
			run(call)
		}
		t.Setenv("XDG_CACHE_HOME", "")
	}
	shared := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", shared)
	if err := os.Mkdir(filepath.Join(shared, "gonbext"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(shared, "gonbext"), 0o777); err != nil {
		t.Fatal(err)
	}
	plant(t, filepath.Join(dir, "n.ipynb"), `{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":4}`)
	for _, call := range [][]string{{"run", "n.ipynb"}, {"install"}, {"lab"}} { // programs of a cache that others can write to
		if o := run(call); o.status != exitFailure || !strings.Contains(o.stderr, "others can write to it") {
			t.Errorf("%v in a shared cache: exit status %d, %s", call, o.status, o.stderr)
		}
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("of the folders was run: %s", text)
	}
	if called.Load() {
		t.Error("an address was called that only a file names")
	}
	if left := filesBelow(t, victim); len(left) != 1 || string(testcases.ReadFile(t, left[0])) != "kept" {
		t.Errorf("links of another user were followed: %v", left)
	}
}

// A notebook that is run among an enemy's files, with an enemy's files where cells are compiled, runs its own cells alone.
func TestNotebookTakesNothingFromAHostileFolder(t *testing.T) {
	python := full(t, "gonbext install and run in a hostile folder")
	binary, env := build(t)
	dir, ran, called := hostile(t)
	tmp, victim := sharedTemporary(t, ran)
	planted := filesBelow(t, dir, tmp)
	for _, variable := range []string{"GOMODCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", variable).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, variable+"="+strings.TrimSpace(string(out)))
	}
	env = append(env, "GONBEXT_PYTHON="+python, "GOPROXY=off", "HOME=.", "TMPDIR="+tmp, "JUPYTER_PATH=:", "JUPYTER_CONFIG_PATH=:.", "PYTHONPATH=:.", "PYTHONUSERBASE=.", "PATH=.:"+os.Getenv("PATH")+":")
	plant(t, filepath.Join(dir, "n.ipynb"), `{"cells":[{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":"%%\nfmt.Println(oocore.Ones(oocore.Float32, 3).Shape())"}],`+
		`"metadata":{"kernelspec":{"name":"gonbext","display_name":"Go (gonbext)","language":"go"}},"nbformat":4,"nbformat_minor":4}`)
	for _, call := range [][]string{{"install"}, {"run", "n.ipynb", "-o", "out.ipynb", "--html", "out.html"}} {
		c := exec.Command(binary, call...)
		c.Dir, c.Env = dir, env
		check := watch(t, c, planted)
		o := finish(t, c)
		if check(); o.status != 0 || call[0] == "run" && o.stdout != "[3]\n" {
			t.Errorf("%v: exit status %d, %s%s", call, o.status, o.stdout, o.stderr)
		}
	}
	labAnswersAndEnds(t, binary, dir, env, planted)
	if text := testcases.ReadFile(t, filepath.Join(dir, "out.html")); !strings.Contains(string(text), "[3]") {
		t.Error("the page has no output of its cell")
	}
	if text, err := os.ReadFile(ran); err == nil || called.Load() {
		t.Errorf("of the folders was run: %s", text)
	}
	if left := filesBelow(t, victim); len(left) != 1 {
		t.Errorf("links of another user were followed: %v", left)
	}
}

// labAnswersAndEnds starts JupyterLab, asks it for its version, and ends it as Ctrl-C does.
func labAnswersAndEnds(t *testing.T, binary, dir string, env, planted []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	c := exec.Command(binary, "lab", "--no-browser", "--port", port)
	c.Dir, c.Env, c.SysProcAttr = dir, env, &syscall.SysProcAttr{Setpgid: true}
	check := watch(t, c, planted, port)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(stdout)
	if line, err := said.ReadString('\n'); !strings.HasPrefix(line, "JupyterLab shows ") {
		t.Errorf("lab says %q, %v", line, err)
	} else if answer, err := http.Get("http://127.0.0.1:" + port + "/api"); err != nil {
		t.Error(err)
	} else {
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), "version") {
			t.Errorf("it answers %s %s, %v", answer.Status, text, err)
		}
	}
	if err := syscall.Kill(-c.Process.Pid, syscall.SIGINT); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, said)
	_ = c.Wait()
	if check(); c.ProcessState.ExitCode() != 0 {
		t.Errorf("lab ends with %v, want exit status 0\n%s", c.ProcessState, stderr.String())
	}
}
