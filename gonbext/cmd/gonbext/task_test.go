package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// Expressions computed in worker processes have the bytes of one process.
func TestComputeInProcesses(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(1200, 300)", 1200*300)
	floats(t, filepath.Join(dir, "cube.npy"), "(12, 14, 16)", 12*14*16)
	for i, e := range []string{"sqrt(x) + 1", "mean(x, 0)", "std(x, 1)", "sum(x)", "matmul(transpose(x, 1, 0), x)", "sort(x, 0)",
		"x - mean(x, 0)", `qr(x, "r")`, "transpose(x, 1, 0)", `tucker(c, 3, 3, 3, "core")`} {
		args := []string{"compute", e, "--memory", "400MiB"}
		for _, name := range []string{"x=x.npy", "c=cube.npy"} {
			if strings.Contains(e, name[:1]+",") || strings.Contains(e, name[:1]+")") {
				args = append(args, name)
			}
		}
		if e == "sum(x)" {
			if one, three := succeed(t, dir, args...), succeed(t, dir, append(args, "--processes", "3")...); one != three {
				t.Errorf("%s is %s in three processes, and %s in one", e, three, one)
			}
			continue
		}
		one, three := fmt.Sprintf("one%d.npy", i), fmt.Sprintf("three%d.npy", i)
		succeed(t, dir, append(args, "-o", one)...)
		succeed(t, dir, append(args, "-o", three, "--processes", "3")...)
		same(t, dir, e, one, three)
	}
	succeed(t, dir, "convert", "x.npy", "rows.zarr", "--chunks", "100x300")
	succeed(t, dir, "convert", "rows.zarr", "columns.zarr", "--chunks", "1200x30", "--processes", "2")
	succeed(t, dir, "convert", "columns.zarr", "back.npy")
	same(t, dir, "rechunk", "x.npy", "back.npy")
}

// same checks that two npy files have the same elements.
func same(t *testing.T, dir, what, a, b string) {
	t.Helper()
	elements := func(name string) []byte {
		data := testcases.ReadFile(t, filepath.Join(dir, name))
		return data[10+binary.LittleEndian.Uint16(data[8:]):]
	}
	if !bytes.Equal(elements(a), elements(b)) {
		t.Errorf("%s: %s and %s have other elements", what, a, b)
	}
}

// What is wrong with a call of gonbext task is one line.
func TestTaskRejects(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(5, 6)", 30)
	task := func(more ...string) []string { return append([]string{"task"}, more...) }
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{task(), 2, "--plan"},
		{task("--plan", "p"), 2, "--memory"},
		{task("--plan", "p", "--memory", "lots"), 2, "lots"},
		{task("--plan", "p", "--memory", "64MiB", "--stage", "0"), 2, "--tasks"},
		{task("--plan", "p", "--memory", "64MiB", "--stage", "0", "--tasks", "5"), 2, "0..64"},
		{task("--plan", "p", "--memory", "64MiB", "--stage", "0", "--tasks", "5..5"), 2, "0..64"},
		{task("--plan", "p", "--memory", "64MiB", "--stage", "0", "--tasks", "-1..5"), 2, "0..64"},
		{task("--plan", "p", "--memory", "64MiB", "--stage", "0", "--tasks", "0..99999999999999999999"), 2, "0..64"},
		{task("--plan", "p", "--memory", "64MiB", "--workers", "0"), 2, "--workers"},
		{task("--plan", "p", "--memory", "64MiB", "--stage", "0", "--tasks", "0..5"), 1, "no such file"},
		{task("--plan", "x.npy", "--memory", "64MiB", "--stage", "0", "--tasks", "0..5"), 1, "not a file with a plan"},
		{[]string{"compute", "sqrt(x)", "x=x.npy", "-o", "o.npy", "--processes", "0"}, 2, "--processes"},
		{[]string{"compute", "sqrt(x)", "x=x.npy", "-o", "o.npy", "--processes", "2", "--device", "model:1GiB"}, 2, "--device"},
		{[]string{"compute", "sqrt(x)", "x=x.npy", "-o", "o.npy", "--processes", "2", "--memory", "32MiB"}, 1, "needs a budget of"},
	} {
		rejected(t, dir, command(dir, c.args...), c.status, c.says)
	}
}

// A coordinator that is killed takes its workers with it, and the same call again ends
// what it began.
func TestKilledCoordinator(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3000000,)", 3_000_000)
	args := []string{"compute", "sin(cos(sin(cos(sin(cos(x))))))", "x=x.npy", "-o", "o.npy", "--chunks", "1000", "--memory", "256MiB", "--processes", "2"}
	c := command(dir, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	staging := filepath.Join(dir, ".o.npy.gonbext")
	for len(workersOf(staging)) < 2 {
		if _, err := os.Stat(filepath.Join(dir, "o.npy")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	c.Process.Kill()
	_ = c.Wait()
	for begun := time.Now(); len(workersOf(staging)) > 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("%v continue without their coordinator", workersOf(staging))
		}
	}
	succeed(t, dir, args...)
	succeed(t, dir, "compute", args[1], "x=x.npy", "-o", "p.npy", "--chunks", "1000")
	same(t, dir, "after a kill", "o.npy", "p.npy")
}

// workersOf are the processes that run tasks in a staging folder.
func workersOf(staging string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte("task\x00--plan\x00"+staging)) {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	return pids
}

// Two runs of one output at once: one of them is told of the other.
func TestProcessesOfOneOutputTwice(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3000000,)", 3_000_000)
	args := []string{"compute", "sqrt(x)", "x=x.npy", "-o", "o.npy", "--chunks", "1000", "--memory", "256MiB", "--processes", "2", "--fresh"}
	first, second := command(dir, args...), command(dir, args...)
	var said [2]bytes.Buffer
	first.Stderr, second.Stderr = &said[0], &said[1]
	if err := errors.Join(first.Start(), second.Start()); err != nil {
		t.Fatal(err)
	}
	ends := []error{first.Wait(), second.Wait()}
	for i, err := range ends {
		if err != nil && !strings.Contains(said[i].String(), "is being written by") {
			t.Errorf("%v: %s", err, said[i].String())
		}
	}
	if ends[0] != nil && ends[1] != nil {
		t.Error("both fail")
	}
}
