package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// rejected holds a call to a status, one clear line, and nothing left behind.
func rejected(t *testing.T, dir string, c *exec.Cmd, status int, says ...string) {
	t.Helper()
	before := listing(t, dir)
	failed(t, finish(t, c), status, says...)
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("files were\n%s\nand are\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// failed holds what a call said to a status and one clear line.
func failed(t *testing.T, o outcome, status int, says ...string) {
	t.Helper()
	if o.status != status {
		t.Errorf("status %d, want %d: %s", o.status, status, o.stderr)
	}
	if strings.Count(o.stderr, "\n") != 1 || !strings.HasPrefix(o.stderr, "gonbext: ") || o.stdout != "" {
		t.Errorf("it says %q and prints %q, want one line", o.stderr, o.stdout)
	}
	for _, s := range says {
		if !strings.Contains(o.stderr, s) {
			t.Errorf("%q does not say %q", strings.TrimSpace(o.stderr), s)
		}
	}
}

func TestRejections(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	floats(t, in("x.npy"), "(5, 6)", 30)
	floats(t, in("y.npy"), "(4, 3)", 12)
	floats(t, in("row.npy"), "(1, 3000000)", 3000000)
	floats(t, in("cut.npy"), "(5, 7)", 30)
	floats(t, in("huge.npy"), "(9223372036854775807, 6)", 30)
	floats(t, in("negative.npy"), "(-5, 6)", 30)
	floats(t, in("many.npy"), "("+strings.Repeat("1, ", 33)+")", 1)
	npyFile(t, in("object.npy"), "'|O'", "(2,)", make([]byte, 16))
	npyFile(t, in("string.npy"), "'<U2'", "(2,)", make([]byte, 16))
	npyFile(t, in("structured.npy"), "[('a', '<f4'), ('b', '<i2')]", "(3,)", make([]byte, 18))
	for name, text := range map[string]string{"empty.npy": "", "magic.npy": "\x93NUMPX\x01\x00", "header.npy": "\x93NUMPY\x01\x00\x76",
		"short.bin": "abc"} {
		testcases.WriteFile(t, in(name), []byte(text), 0o644)
	}
	for _, name := range []string{"two.zarr/a", "two.zarr/b"} {
		succeed(t, dir, "convert", "x.npy", name)
	}
	roots := func(more ...string) []string {
		return append([]string{"compute", "sqrt(x)", "x=x.npy", "-o", "out.npy"}, more...)
	}
	of := func(file string) []string { return []string{"compute", "sqrt(x)", "x=" + file, "-o", "out.npy"} }
	to := func(file string) []string { return []string{"compute", "sqrt(x)", "x=x.npy", "-o", file} }
	expr := func(e string) []string { return []string{"compute", e, "x=x.npy", "y=y.npy", "-o", "out.npy"} }
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   []string
	}{
		{"a report in no folder", roots("--report", "none/page.html"), 2, []string{"--report", "no folder none"}},
		{"a report for a folder", roots("--report", "."), 2, []string{"--report", "a folder"}},
		{"empty file", of("empty.npy"), 1, []string{"empty.npy"}},
		{"another format", of("magic.npy"), 1, []string{"magic.npy"}},
		{"header cut short", of("header.npy"), 1, []string{"header.npy", "short"}},
		{"data cut short", of("cut.npy"), 1, []string{"cut.npy", "short"}},
		{"shape beyond int64", of("huge.npy"), 1, []string{"huge.npy", "9223372036854775807"}},
		{"negative length", of("negative.npy"), 1, []string{"negative.npy", "-5"}},
		{"33 dimensions", of("many.npy"), 1, []string{"many.npy", "33 dimensions"}},
		{"objects", of("object.npy"), 1, []string{"object.npy", "object"}},
		{"strings", of("string.npy"), 1, []string{"string.npy", "string"}},
		{"structures", of("structured.npy"), 1, []string{"structured.npy", "structured"}},
		{"info of a bad file", []string{"info", "cut.npy"}, 1, []string{"cut.npy", "short"}},
		{"a name of two lines", of("none\n.npy"), 1, []string{"none; .npy", "no such file"}},
		{"an expression like a flag", expr("-x"), 2, []string{"(-x)"}},
		{"several indices in brackets", expr("x[0, 0]"), 2, []string{"slice(x, "}},
		{"footprint of a length left out", []string{"footprint", "3x"}, 2, []string{"3x", "3075200x512"}},
		{"chunks of a length left out", roots("--chunks", "2xx3"), 2, []string{"2xx3"}},
		{"no such file", of("none.npy"), 1, []string{"none.npy", "no such file"}},
		{"a folder", of("."), 1, nil},
		{"raw without a shape", of("short.bin"), 1, []string{"short.bin", "shape="}},
		{"raw of another size", of("short.bin?shape=2&dtype=float32"), 1, []string{"short.bin", "8 bytes", "3"}},
		{"output is input", to("x.npy"), 1, []string{"x.npy", "input"}},
		{"output is input by another name", to("./x.npy"), 1, []string{"x.npy", "input"}},
		{"output's folder missing", to("none/out.npy"), 1, []string{"none"}},
		{"output is a folder", to("folder.npy"), 1, []string{"folder.npy"}},
		{"output of no format", to("out.txt"), 1, []string{"out.txt", "npy"}},
		{"output larger than the disk", []string{"compute", "x + transpose(x)", "x=row.npy", "-o", "out.npy"}, 1, []string{"out.npy", "free"}},
		{"shapes that do not meet", expr("x + y"), 1, []string{"(5, 6)", "(4, 3)"}},
		{"product of shapes that do not meet", expr("matmul(x, y)"), 1, []string{"(5, 6)", "(4, 3)"}},
		{"dtypes that do not meet", expr("x & y"), 1, []string{"float32"}},
		{"axis out of range", expr("mean(x, 2)"), 1, []string{"2"}},
		{"minimum of nothing", expr(`min(slice(x, "0:0"))`), 1, []string{"min"}},
		{"unknown name", expr("sqrt(z)"), 2, []string{`"z"`, "column 6"}},
		{"unknown function", expr("sqroot(x)"), 2, []string{"sqroot", "column 1"}},
		{"syntax", expr("sqrt(x"), 2, []string{"column 7"}},
		{"no expression", expr(""), 2, []string{"expression"}},
		{"no names", []string{"compute", "sqrt(x)", "-o", "out.npy"}, 2, []string{`"x"`}},
		{"no path", []string{"compute", "sqrt(x)", "x", "-o", "out.npy"}, 2, []string{"NAME=PATH"}},
		{"no name", []string{"compute", "sqrt(x)", "=x.npy", "-o", "out.npy"}, 2, []string{"name"}},
		{"a name twice", []string{"compute", "sqrt(x)", "x=x.npy", "x=y.npy", "-o", "out.npy"}, 2, []string{"twice"}},
		{"nowhere to write", []string{"compute", "sqrt(x)", "x=row.npy"}, 2, []string{"-o"}},
		{"budget in words", roots("--memory", "lots"), 2, []string{"lots", "512MiB"}},
		{"budget without a unit", roots("--memory", "512"), 2, []string{"did you mean 512MiB?"}},
		{"a name that is not used", []string{"compute", "sqrt(x)", "x=x.npy", "y=y.npy", "-o", "out.npy"}, 2, []string{"y is not used"}},
		{"nested 10,000 deep", expr(strings.Repeat("sqrt(", 10000) + "x" + strings.Repeat(")", 10000)), 2, []string{"nested more than 1000 deep"}},
		{"a megabyte of text", expr("x" + strings.Repeat("+x", 60000)), 2, []string{"more than 65536"}},
		{"no budget", roots("--memory", "0"), 2, []string{"0"}},
		{"negative budget", roots("--memory", "-1"), 2, []string{"-1"}},
		{"budget too small", roots("--memory", "1KiB"), 1, []string{"needs", "MiB"}},
		{"budget beyond the machine", roots("--memory", "1000TiB"), 1, []string{"1000 TiB"}},
		{"no chunks", roots("--chunks", "0x3"), 2, []string{"0x3"}},
		{"chunks in words", roots("--chunks", "big"), 2, []string{"big"}},
		{"chunks of another number of dimensions", roots("--chunks", "3"), 1, []string{"(3,)", "(5, 6)"}},
		{"no workers", roots("--workers", "0"), 2, []string{"0"}},
		{"no driver", roots("--device", "cuda:0"), 1, []string{"no NVIDIA driver"}},
		{"unknown device", roots("--device", "gpu"), 2, []string{"gpu"}},
		{"device without memory", roots("--device", "model:0"), 2, []string{"model:0"}},
		{"unknown flag", roots("--bugdet", "1MiB"), 2, []string{"--bugdet"}},
		{"convert to an unknown dtype", []string{"convert", "x.npy", "out.npy", "--dtype", "float23"}, 2, []string{"float23", "float32"}},
		{"convert with an unknown codec", []string{"convert", "x.npy", "out.npy", "--codec", "zip"}, 2, []string{"zip"}},
		{"convert onto itself", []string{"convert", "x.npy", "x.npy"}, 1, []string{"x.npy"}},
		{"no levels", []string{"convert", "x.npy", "out.zarr", "--levels", "0"}, 2, []string{"--levels 0"}},
		{"levels of several arrays", []string{"convert", "two.zarr", "out.zarr", "--levels", "2"}, 2, []string{"--levels is of one array", "two.zarr/a"}},
		{"info of differences within a budget in words", []string{"info", "x.npy", "--error", "y.npy", "--memory", "lots"}, 2, []string{"--memory", "lots"}},
		{"jobs of no kind", []string{"jobs", "atach"}, 2, []string{"atach", "attach"}},
		{"convert alone", []string{"convert", "x.npy"}, 2, []string{"2"}},
		{"footprint of no shape", []string{"footprint", "lots"}, 2, []string{"lots", "3075200x512"}},
		{"footprint of a negative length", []string{"footprint", "3x-1"}, 2, []string{"3x-1"}},
		{"footprint beyond int64", []string{"footprint", "9223372036854775807x6"}, 2, []string{"9223372036854775807"}},
		{"footprint of 33 dimensions", []string{"footprint", strings.Repeat("1x", 32) + "1"}, 2, []string{"33 dimensions"}},
		{"footprint of an unknown dtype", []string{"footprint", "3", "float23"}, 2, []string{"float23"}},
		{"footprint for a device in words", []string{"footprint", "3", "--device", "big"}, 2, []string{"big"}},
		{"info of nothing", []string{"info"}, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "output is a folder" {
				if err := os.Mkdir(in("folder.npy"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			rejected(t, dir, command(dir, c.args...), c.status, c.says...)
		})
	}
}

// Nothing that a command writes beside its arrays replaces one of them, or lies in one, by
// whatever name; nor is it written to what is no file, where a command could wait for ever.
func TestFilesBesideArraysReplaceNone(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	floats(t, in("x.npy"), "(5, 6)", 30)
	floats(t, in("f1.npy"), "(5, 6)", 30)
	succeed(t, dir, "convert", "x.npy", "x.zarr")
	notebook := []byte(`{"nbformat": 4, "cells": []}`)
	if err := errors.Join(os.Link(in("x.npy"), in("hard")), os.Symlink("x.npy", in("soft")), os.Symlink("out.npy", in("dangling")), os.Symlink(".", in("here")),
		os.WriteFile(in("n.ipynb"), notebook, 0o600), os.WriteFile(in("plan.json"), []byte("{}"), 0o600), syscall.Mkfifo(in("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	compute := func(more ...string) []string { return append([]string{"compute", "x+1", "-o", "out.npy"}, more...) }
	check := func(more ...string) []string { return append([]string{"check", "x+1", "-o", "out.npy"}, more...) }
	for _, args := range [][]string{
		compute("x=x.npy", "--report", "x.npy"), compute("x=x.npy", "--report", "hard"), compute("x=x.npy", "--report", "soft"),
		compute("x=x.npy", "--report", "out.npy"), compute("x=x.npy", "--report", "dangling"), compute("x=x.npy", "--report", "here/here/out.npy"),
		compute("x=x.zarr", "--report", "x.zarr/page.html"), compute("x=f*.npy", "--report", "f1.npy"),
		{"compute", "x+1", "x=x.npy", "-o", "new.zarr", "--report", "new.zarr"},
		{"compute", "a = x+1; b = a*2", "x=x.npy", "-o", "a=a.npy", "-o", "b=b.npy", "--report", "b.npy"},
		{"convert", "x.npy", "y.zarr", "--report", "soft"}, {"convert", "x.npy", "y.npz#a", "--report", "y.npz"},
		check("x=x.npy", "--write", "--against", "hard"), check("x=x.npy", "--write", "--against", "out.npy"), check("x=x.npy", "--against", "x.npy"),
		{"check", "n.ipynb", "--write", "--against", "n.ipynb"},
		{"run", "n.ipynb", "--html", "n.ipynb"}, {"run", "n.ipynb", "-o", "n.ipynb"}, {"run", "n.ipynb", "-o", "e", "--html", "here/e"},
	} {
		rejected(t, dir, command(dir, args...), 2, "which the command reads or writes")
	}
	for _, args := range [][]string{compute("x=x.npy", "--report", "pipe"), check("x=x.npy", "--against", "pipe"), check("x=x.npy", "--against", "/dev/zero"),
		check("x=x.npy", "--against", "pipe", "--write"), {"run", "n.ipynb", "-o", "pipe"}} {
		rejected(t, dir, command(dir, args...), 2, "not a regular file")
	}
	rejected(t, dir, command(dir, "run", "pipe"), 1, "pipe is not a notebook that can be read")
	rejected(t, dir, command(dir, "run", "plan.json"), 1, "plan.json is not a notebook: it has no nbformat")
	succeed(t, dir, "compute", "x+1", "x=f*.npy", "-o", "out.npy", "--report", "page.html") // beside the files of a pattern
}

// A budget that is rejected names one that works.
func TestNeedWorks(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(1000, 1000)", 1000000)
	o := finish(t, command(dir, "compute", "sqrt(x)", "x=x.npy", "-o", "out.npy", "--memory", "1KiB"))
	_, need, ok := strings.Cut(strings.TrimSpace(o.stderr), "needs a budget of ")
	need, _, _ = strings.Cut(need, " ")
	if !ok {
		t.Fatalf("the rejection %q names no budget", o.stderr)
	}
	succeed(t, dir, "compute", "sqrt(x)", "x=x.npy", "-o", "out.npy", "--memory", need)
}

func TestNoPermission(t *testing.T) {
	dir, err := os.MkdirTemp("", "gonbext")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary := testcases.ReadFile(t, os.Args[0])
	tool := filepath.Join(dir, "gonbext")
	testcases.WriteFile(t, tool, binary, 0o755)
	floats(t, filepath.Join(dir, "x.npy"), "(3,)", 3)
	floats(t, filepath.Join(dir, "secret.npy"), "(3,)", 3)
	if err := os.Chmod(filepath.Join(dir, "secret.npy"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"info", "secret.npy"}, {"compute", "sqrt(x)", "x=x.npy", "-o", "out.npy"}} {
		c := command(dir, args...)
		c.Path = tool
		if os.Getuid() == 0 { // who may do everything
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		rejected(t, dir, c, 1, "permission denied")
	}
}

// slow is a computation of seconds over a file that takes no disk.
func slow(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "x.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(2 << 30); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return command(dir, append(args, "x=x.bin?shape=1024x524288&dtype=float32", "--memory", "64MiB", "--workers", "1")...)
}

// begun waits until a run has written its first record.
func begun(t *testing.T, dir string) {
	t.Helper()
	for range 12_000 { // a minute
		if found, _ := filepath.Glob(filepath.Join(dir, ".runs", "*.gonbrun")); len(found) > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the run has not begun")
}

// during starts a computation of seconds and does something while it lasts.
func during(t *testing.T, dir string, do func(*os.Process), more ...string) outcome {
	t.Helper()
	c := slow(t, dir, append([]string{"compute", "sum(tanh(sin(x)) + arctan(cos(x)) + arcsinh(exp(x)), 0)", "-o", "out.npy"}, more...)...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	begun(t, dir)
	do(c.Process)
	c.Wait() // the state says the rest
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestSignalsEndWithTheirExitStatus(t *testing.T) {
	for s, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		o := during(t, dir, func(p *os.Process) {
			if err := p.Signal(s); err != nil {
				t.Error(err)
			}
		})
		failed(t, o, status, "interrupted")
		onlyKept(t, dir, o)
	}
}

// onlyKept wants nothing besides the input but what an outcome says is saved, if a chunk was
// done by then.
func onlyKept(t *testing.T, dir string, o outcome) {
	t.Helper()
	files := slices.DeleteFunc(listing(t, dir), func(f string) bool {
		return strings.Contains(o.stderr, "chunks are saved") && strings.Contains(f, "/.out.npy.gonbext/")
	})
	if len(files) != 1 {
		t.Errorf("left behind: %v, and it says %q", files, o.stderr)
	}
}

func TestCutShortWhileRead(t *testing.T) {
	dir := t.TempDir()
	o := during(t, dir, func(*os.Process) {
		if err := os.Truncate(filepath.Join(dir, "x.bin"), 4096); err != nil {
			t.Error(err)
		}
	})
	failed(t, o, 1, "x.bin")
	onlyKept(t, dir, o)
}

// TestComputeHoldsHeadersToItsBudget opens references that hold more memory than the run may take.
func TestComputeHoldsHeadersToItsBudget(t *testing.T) {
	dir := t.TempDir()
	var refs strings.Builder
	const n = 400_000
	fmt.Fprintf(&refs, `{"x/.zarray": {"zarr_format": 2, "shape": [%d], "chunks": [1], "dtype": "|u1", "order": "C", "filters": null, "compressor": null, "fill_value": 0}`, n)
	for i := range n {
		fmt.Fprintf(&refs, `, "x/%d": ["x.bin", %d, 1]`, i, i)
	}
	refs.WriteString("}")
	testcases.WriteFile(t, filepath.Join(dir, "refs.json"), []byte(refs.String()), 0o600)
	if got := finish(t, command(dir, "compute", "sum(x)", "x=refs.json#x", "--memory", "36MiB")); got.status != 1 || !strings.Contains(got.stderr, "its header needs a budget of ") {
		t.Errorf("%+v", got)
	}
}
