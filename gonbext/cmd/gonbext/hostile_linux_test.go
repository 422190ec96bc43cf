package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// hostile makes a folder whose modules, programs and settings note that they were run, and a run that names an address.
func hostile(t *testing.T) (dir, ran string, called *bool) {
	t.Helper()
	dir, ran, called = t.TempDir(), filepath.Join(t.TempDir(), "ran"), new(bool)
	for _, name := range []string{"argparse", "json", "venv", "http", "ensurepip", "runpy", "jupyterlab", "nbformat", "distributed", "sitecustomize", "usercustomize", "jupyter_config", "jupyter_lab_config"} {
		testcases.WriteFile(t, filepath.Join(dir, name+".py"), []byte("open("+pythonText(ran)+", 'a').write('"+name+"\\n')\n"), 0o600)
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
			*called = true
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

// Every command, in a folder that an enemy has made and with lists of folders that mean the present one, runs nothing of it, and asks
// nobody whom it names.
func TestCommandsTakeNothingFromAHostileFolder(t *testing.T) {
	dir, ran, called := hostile(t)
	t.Setenv("PATH", ".:"+os.Getenv("PATH")+":")
	t.Setenv("PYTHONPATH", ":.")
	t.Setenv("LD_LIBRARY_PATH", ":")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GONBEXT_PYTHON", "/bin/false")
	t.Setenv("GOPROXY", "off")
	args := map[string][][]string{
		"jobs":    {{"jobs"}, {"jobs", "attach", "x.npy"}, {"jobs", "cancel", "x.npy"}, {"jobs", "logs", "x.npy"}},
		"compute": {{"compute", "matmul(ones(64,64), ones(64,64))", "-o", "y.npy", "--processes", "2"}, {"compute", "ones(4)", "-o", "x.npy", "--on", "dask://127.0.0.1:1", "--memory", "256MiB"}},
		"convert": {{"convert", "y.npy", "z.zarr"}},
		"doctor":  {{"doctor"}},
		"info":    {{"info", "y.npy"}},
	}
	for _, c := range newRoot().Commands() {
		if c.Name() == "install" || c.Name() == "lab" || c.Name() == "run" { // which build for minutes: their Python and Go are doctor's
			args[c.Name()] = [][]string{{c.Name(), "--help"}}
		}
		calls := args[c.Name()]
		if calls == nil {
			calls = [][]string{{c.Name()}, {c.Name(), "x.npy"}}
		}
		for _, call := range calls {
			o := finish(t, command(dir, call...))
			if strings.ContainsAny(o.stdout+o.stderr, "\x1b\a\u009b") {
				t.Errorf("%v prints %q", call, o.stdout+o.stderr)
			}
		}
	}
	t.Setenv("GONBEXT_PYTHON", "") // and with the Python that PATH finds
	for _, call := range [][]string{{"doctor"}, {"compute", "ones(4)", "-o", "w.npy", "--on", "dask://127.0.0.1:1", "--memory", "256MiB"}} {
		finish(t, command(dir, call...))
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("of the folder was run: %s", text)
	}
	if *called {
		t.Error("an address was called that only a file names")
	}
}
