package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// jobsOf are the processes of a run's jobs, by what they do.
func jobsOf(dir string) map[int]string {
	all := map[int]string{}
	for pid := range processes() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(line), "\x00")
		if i := slices.Index(args, "--plan"); i > 0 && i+1 < len(args) && strings.HasPrefix(args[i+1], dir+"/") && !slices.Contains(args, "-c") {
			all[pid] = strings.TrimSpace(strings.Join(args[i+2:], " "))
		}
	}
	return all
}

// kills computes a plan of two stages again and again, with jobs and the process that waits for them killed at random
// moments, until so many were killed as GONBEXT_KILLS says, 8 otherwise. Each output has the digest of one machine,
// no report of tasks that are done is written again, and each chunk is in the record once.
func (e engine) kills(t *testing.T) {
	want, err := strconv.Atoi(os.Getenv("GONBEXT_KILLS"))
	if err != nil {
		want = 8
	}
	dir := t.TempDir()
	digest := func(name string) string {
		text := testcases.ReadFile(t, filepath.Join(dir, name))
		return fmt.Sprintf("%x", sha256.Sum256(text))
	}
	succeed(t, dir, "compute", "reshape(sin(arange(2000000)*0.37), 4000, 500)", "-o", "x.npy")
	args := func(out string, more ...string) []string {
		return append([]string{"compute", "cos(x) - mean(x, 0)", "x=x.npy", "-o", out, "--memory", "256MiB", "--chunks", "20x500"}, more...)
	}
	succeed(t, dir, args("one.npy")...)
	one := digest("one.npy")
	killed, deaths, runs, kept := 0, 0, 0, 0
	for ; killed < want; runs++ {
		out := fmt.Sprintf("other-%d.npy", runs)
		reports := map[string]os.FileInfo{}
		look := func() { // a run that has ended removes its files meanwhile
			names, _ := filepath.Glob(filepath.Join(dir, "."+out+".gonbext", "jobs", "done-*", "*-*.json"))
			for _, name := range names {
				now, err := os.Stat(name)
				if err == nil && reports[name] != nil && !os.SameFile(now, reports[name]) {
					t.Errorf("%s was done, and is computed again", name)
				}
				if err == nil && reports[name] == nil {
					reports[name] = now
				}
			}
		}
		start := func(args ...string) (*exec.Cmd, chan error) {
			c, ended := command(dir, args...), make(chan error, 1)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { ended <- c.Wait() }()
			return c, ended
		}
		submit := args(out, "--on", e.on, "--processes", "3", "--element-time", "50ms")
		c, ended := start(submit...)
		times := map[string]int{} // that a job was killed
		whole := func() bool { _, err := os.Stat(filepath.Join(dir, out)); return err == nil }
		for began := time.Now(); !whole(); time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) {
			if time.Since(began) > 5*time.Minute {
				t.Fatalf("the run never ends")
			}
			look()
			select {
			case <-ended: // all jobs have ended, or it was attached to a run that has: what is missing is computed
				if !whole() {
					c, ended = start(submit...)
				}
			default:
			}
			jobs := jobsOf(dir)
			submitted, _ := os.ReadFile(filepath.Join(dir, "."+out+".gonbext", "jobs", "run.json"))
			if len(reports) > 0 && rand.IntN(60) == 0 && strings.Contains(string(submitted), `"whole":true`) {
				_ = c.Process.Kill()
				<-ended
				c, ended = start("jobs", "attach", out)
				killed++
			}
			for pid, job := range jobs {
				if times[job] < 2 && rand.IntN(3) == 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
					times[job]++
					killed++
					deaths++
					break
				}
			}
		}
		<-ended
		kept += len(reports)
		if digest(out) != one {
			t.Errorf("%s has another digest than one machine", out)
		}
		eventually(t, "no job", func() bool { return !e.active() })
		nothingLeft(t, dir)
		e.recorded(t, dir, out, times["--merge 1"] > 0)
	}
	t.Logf("%d processes killed, %d of them of jobs, in %d runs: one SHA-256, %s; none of %d reports was written again", killed, deaths, runs, one, kept)
}

// recorded holds the record of a run to have each chunk once. One whose last job was killed after it had put the output
// in its place has no end.
func (e engine) recorded(t *testing.T, dir, out string, cut bool) {
	t.Helper()
	all, err := record.List(filepath.Join(dir, ".runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if filepath.Base(s.Header.Output) != out || s.End == nil || s.End.Status != record.Done {
			continue
		}
		r, err := record.Read(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		times := map[[2]int64]int{}
		for row := range r.Tasks() {
			times[[2]int64{int64(row.Stage), row.Chunk}]++
		}
		tasks := 0
		for _, st := range r.Header.Stages {
			tasks += st.Tasks
		}
		for chunk, n := range times {
			if n != 1 {
				t.Errorf("the record has chunk %d of stage %d %d times", chunk[1], chunk[0], n)
			}
		}
		if len(times) != tasks {
			t.Errorf("the record has %d of %d chunks", len(times), tasks)
		}
		return
	}
	if !cut {
		t.Errorf("there is no record of %s", out)
	}
}

func TestSlurmJobsKilled(t *testing.T) {
	slurm(t)
	engine{on: "slurm", active: queued}.kills(t)
}

func TestDaskJobsKilled(t *testing.T) { dask(t).kills(t) }
