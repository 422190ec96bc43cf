package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// submitting puts a Slurm on PATH that takes all jobs and starts none but the first, which answers that it sees everything, and
// makes a folder with an array and a collection.
func submitting(t *testing.T) (dir string) {
	t.Helper()
	bin := t.TempDir()
	for name, script := range map[string]string{
		"sbatch":   `for w; do case $w in --output=*/probe.log) w=${w#*=}; : >"${w%/*}/seen";; esac; done; ` + "cat >/dev/null; echo x >>" + bin + "/jobs; wc -l <" + bin + "/jobs | tr -d ' '",
		"squeue":   "exit 0",
		"scancel":  "exit 0",
		"scontrol": "echo 'MaxArraySize = 1001'",
	} {
		testcases.WriteFile(t, filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755)
	}
	dir = t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	succeed(t, dir, "compute", "arange(1000)*1.5", "-o", "x.npy")
	succeed(t, dir, "compute", "a = x; b = x*2", "x=x.npy", "-o", "a=c.safetensors#a", "-o", "b=c.safetensors#b")
	return dir
}

// A run that goes on by itself is no failure, whatever it writes.
func TestDetached(t *testing.T) {
	dir := submitting(t)
	for name, args := range map[string][]string{
		"array":       {"compute", "x*2", "x=x.npy", "-o", "one.npy"},
		"outputs":     {"compute", "a = x*2; b = x*3", "x=x.npy", "-o", "a=a.npy", "-o", "b=b.npy"},
		"collection":  {"convert", "c.safetensors", "folder.zarr", "--each", "x*2"},
		"expressions": {"compute", "--each", "x*2", "c.safetensors", "-o", "d.safetensors"},
	} {
		t.Run(name, func(t *testing.T) {
			o := finish(t, command(dir, append(args, "--on", "slurm", "--memory", "256MiB", "--detach")...))
			if o.status != 0 || o.stdout != "" || !strings.Contains(o.stderr, "the run goes on by itself") {
				t.Errorf("exit status %d: %s%s", o.status, o.stdout, o.stderr)
			}
		})
	}
}

// Who interrupts the wait for a run is told that its jobs go on.
func TestInterruptedWait(t *testing.T) {
	dir := submitting(t)
	c := command(dir, "compute", "a = x*2; b = x*3", "x=x.npy", "-o", "a=a.npy", "-o", "b=b.npy", "--on", "slurm", "--memory", "256MiB")
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a run whose jobs are submitted", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, ".a.npy.gonbext", "jobs", "run.json"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Contains(string(text), `"whole":true`)
	})
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if o := said.String(); c.ProcessState.ExitCode() != 130 || !strings.Contains(o, "interrupted: ") || !strings.Contains(o, "goes on by itself") || strings.Contains(o, "nothing was written") {
		t.Errorf("exit status %d: %s", c.ProcessState.ExitCode(), o)
	}
}

// Only the list of jobs is of several runs.
func TestJobsOfSeveralRuns(t *testing.T) {
	dir := submitting(t)
	for _, out := range []string{"a.npy", "b.npy"} {
		if o := finish(t, command(dir, "compute", "x*2", "x=x.npy", "-o", out, "--on", "slurm", "--memory", "256MiB", "--detach")); o.status != 0 {
			t.Fatal(o.stderr)
		}
	}
	for _, do := range []string{"cancel", "attach", "logs"} {
		rejected(t, dir, command(dir, "jobs", do, "."), 2, "has 2 runs: name the output of one")
	}
	if said := succeed(t, dir, "jobs"); strings.Count(said, "\n") != 2 {
		t.Errorf("jobs lists %q", said)
	}
	succeed(t, dir, "jobs", "cancel", "a.npy")
	succeed(t, dir, "jobs", "cancel", ".") // the other one
	if o := finish(t, command(dir, "jobs")); o.status != 0 || o.stdout != "" || o.stderr != ".: no run on a cluster computes an output there now\n" {
		t.Errorf("jobs of a folder without runs: exit status %d: %s%s", o.status, o.stdout, o.stderr)
	}
}

// What jobs says of a run, twice and after its end, is one sentence that tells what to do.
func TestJobsAnswer(t *testing.T) {
	dir := submitting(t)
	out := filepath.Join(dir, "a.npy")
	says := func(want string, args ...string) {
		t.Helper()
		if said := succeed(t, dir, append([]string{"jobs"}, args...)...); said != want+"\n" {
			t.Errorf("jobs %s says %q, want %q", strings.Join(args, " "), said, want)
		}
	}
	cannot := func(status int, want string, args ...string) {
		t.Helper()
		rejected(t, dir, command(dir, append([]string{"jobs"}, args...)...), status, want)
	}
	cannot(2, "what is to resume a run is the command that submitted it", "resume", "a.npy")
	cannot(1, "a.npy: no run on a cluster computes it now\n", "attach", "a.npy")
	cannot(1, "gonbext: x.npy: no run on a cluster computes it now: the array that is there is whole\n", "attach", "x.npy")
	cannot(1, "the folder none does not exist", "cancel", "none/a.npy")
	if o := finish(t, command(dir, "compute", "x*2", "x=x.npy", "-o", "a.npy", "--on", "slurm", "--memory", "256MiB", "--detach")); o.status != 0 {
		t.Fatal(o.stderr)
	}
	if o := finish(t, command(dir, "jobs", "logs", "a.npy")); o.status != 0 || o.stdout != "" || o.stderr != out+": the jobs have written nothing\n" {
		t.Errorf("logs of jobs that have not run: exit status %d: %s%s", o.status, o.stdout, o.stderr)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if said := succeed(t, dir, "jobs"); !strings.HasPrefix(said, out) || !strings.Contains(said, "0 of 1 tasks") {
		t.Errorf("without Slurm's commands jobs lists %q", said)
	}
	cannot(1, "Slurm cannot be reached: PATH does not find squeue", "cancel", "a.npy")
	t.Setenv("PATH", path)
	says(out+": the run is cancelled: the same command again resumes it", "cancel", "a.npy")
	for _, do := range []string{"cancel", "attach"} {
		cannot(1, "gonbext: a.npy: the run was cancelled: the same command again resumes it\n", do, "a.npy")
	}
	log := filepath.Join(dir, ".a.npy.gonbext", "jobs", "merge-0-0.log")
	testcases.WriteFile(t, log, []byte("what a job has said\n"), 0o600)
	says("== merge-0-0.log\nwhat a job has said", "logs", "a.npy")
	failed := `{"error":{"text":"sqrt(x): the disk is gone"}}`
	testcases.WriteFile(t, filepath.Join(filepath.Dir(log), "failed.json"), []byte(failed), 0o600)
	cannot(1, "gonbext: a.npy: sqrt(x): the disk is gone\n", "attach", "a.npy")
}
