package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// dask starts a scheduler with three workers of the Python of GONBEXT_PYTHON, and ends them with the test.
func dask(t *testing.T) engine {
	t.Helper()
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" || exec.Command(python, "-c", "import distributed").Run() != nil {
		t.Skip("left out: a Dask scheduler, whose Python GONBEXT_PYTHON names")
	}
	port := fmt.Sprint(ports(t, 1))
	address := "127.0.0.1:" + port
	dir := t.TempDir()
	t.Setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "10")
	start := func(args ...string) *exec.Cmd {
		c := exec.Command(python, append([]string{"-m", "distributed.cli." + args[0]}, args[1:]...)...)
		c.Dir = dir
		c.Env = append(os.Environ(), asCommand+"=1")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		return c
	}
	start("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
	var workers []*exec.Cmd
	for i := range 3 {
		workers = append(workers, start("dask_worker", "tcp://"+address, "--no-nanny", "--nthreads", "1", "--memory-limit", "1GB", "--no-dashboard",
			"--local-directory", filepath.Join(dir, fmt.Sprint(i))))
	}
	ask := func(script string) string {
		out, _ := exec.Command(python, "-c", "from distributed import Client\nwith Client('tcp://"+address+"') as c: "+script).Output()
		return strings.TrimSpace(string(out))
	}
	eventually(t, "three workers", func() bool { return ask("print(len(c.scheduler_info(n_workers=-1)['workers']))") == "3" })
	return engine{
		on:   "dask://" + address,
		node: func() []int { return []int{workers[0].Process.Pid} },
		active: func() bool {
			return ask("print(len(c.list_datasets()), len(c.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))))") != "0 0"
		},
	}
}

func TestDaskHasTheBytesOfOneMachine(t *testing.T) {
	bucket(t)
	dask(t).test(t)
}

func TestDaskRunsGoOnByThemselves(t *testing.T) { dask(t).goOn(t, t.TempDir()) }

func TestDaskRunOfAnObjectStoreIsFoundFromAnywhere(t *testing.T) {
	bucket(t)
	dask(t).goOnInBucket(t)
}

// What a Dask scheduler cannot do is one sentence.
func TestDaskRejects(t *testing.T) {
	dir := t.TempDir()
	args := func(more ...string) []string {
		return append([]string{"compute", "ones(5)*2", "-o", "x.npy", "--memory", "256MiB", "--on"}, more...)
	}
	rejected(t, dir, command(dir, args("dask://127.0.0.1:1", "--partition", "p")...), 2, "Dask has no partitions")
	rejected(t, dir, command(dir, args("dask://127.0.0.1:1", "--engine", "--nice=1")...), 2, "Dask has no command that takes --nice=1")
	rejected(t, dir, command(dir, args("dask://127.0.0.1")...), 2, "give the host and the port of a Dask scheduler")
	if os.Getenv("GONBEXT_PYTHON") != "" {
		rejected(t, dir, command(dir, args("dask://127.0.0.1:1")...), 1, "no Dask scheduler answers at tcp://127.0.0.1:1")
		without := t.TempDir()
		testcases.WriteFile(t, filepath.Join(without, "distributed.py"), []byte("raise ImportError('there is none')\n"), 0o600)
		t.Setenv("PYTHONPATH", without)
		rejected(t, dir, command(dir, args("dask://127.0.0.1:1")...), 1, "cannot import the package distributed (there is none): pip install distributed")
	}
	t.Setenv("GONBEXT_PYTHON", "/bin/false")
	rejected(t, dir, command(dir, args("dask://127.0.0.1:1")...), 1, "Dask cannot be asked: /bin/false: exit status 1\n")
	t.Setenv("GONBEXT_PYTHON", filepath.Join(dir, "python"))
	rejected(t, dir, command(dir, args("dask://127.0.0.1:1")...), 1, "there is no such program: name a Python that has the package distributed in GONBEXT_PYTHON")
	nothingLeft(t, dir)
}
