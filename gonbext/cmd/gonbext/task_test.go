package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/exec/exectest"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
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
	x, err := exectest.Elements(filepath.Join(dir, a))
	if err != nil {
		t.Fatal(err)
	}
	y, err := exectest.Elements(filepath.Join(dir, b))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s: %s and %s have other elements", what, a, b)
	}
}

// Each range of tasks is run by a call of gonbext task that ends with it, as a cluster's
// engine does: the suite's results have the bytes of one process.
func TestTaskRunsOneRange(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	exectest.Test(t, func(p *plan.Plan, env exec.Env) (record.End, error) {
		s, err := p.Size(plan.Options{Budget: 512 << 20, Overhead: 16 << 20, Workers: 2, Processes: 2})
		if err != nil {
			return record.End{}, err
		}
		env.Processes = &exec.Processes{N: 2, Command: func(file string, budget int64, workers int) []string {
			return []string{os.Args[0], singly, file, strconv.FormatInt(budget, 10)}
		}}
		return exec.Run(context.Background(), s, env)
	})
}

// singly makes the test's binary a worker that calls gonbext task for each request.
const singly = "gonbext-test-singly"

func init() {
	if len(os.Args) > 1 && os.Args[1] == singly {
		if err := serveSingly(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func serveSingly(file, budget string) error {
	fmt.Println("{}")
	requests := json.NewDecoder(os.Stdin)
	for {
		var q struct {
			Stage int
			Tasks exec.Range
		}
		if err := requests.Decode(&q); err != nil {
			return nil
		}
		c := osexec.Command(os.Args[0], "task", "--plan", file, "--memory", budget, "--stage", strconv.Itoa(q.Stage),
			"--tasks", fmt.Sprintf("%d..%d", q.Tasks.First, q.Tasks.End))
		c.Env, c.Stderr = append(os.Environ(), asCommand+"=1"), os.Stderr
		out, err := c.Output()
		if err != nil {
			return err
		}
		var line bytes.Buffer
		if err := json.Compact(&line, out); err != nil {
			return err
		}
		fmt.Println(line.String())
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
