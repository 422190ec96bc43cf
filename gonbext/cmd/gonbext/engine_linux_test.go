package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// engine is a cluster on this machine.
type engine struct {
	on     string
	node   func() []int // the processes of one of its nodes
	active func() bool  // whether it has jobs that have not ended
	kinds  []string     // of plans; nil for all
}

// ports returns the first of n successive ports on which nobody listens. They are below those that
// Linux gives to connections, so that none is taken before a server of the test listens on it.
func ports(t *testing.T, n int) (first int) {
	t.Helper()
	free := func(port int) bool {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		return err == nil && l.Close() == nil
	}
	for first = 12000 + os.Getpid()%10000; first < 32000; first += n {
		taken := 0
		for taken < n && free(first+taken) {
			taken++
		}
		if taken == n {
			return first
		}
	}
	t.Fatal("no port is free")
	return 0
}

// bucket starts an S3 server with the bucket data, and sets what is needed to reach it.
func bucket(t *testing.T) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() {
		prefix := gofakes3.NewPrefix(nil, nil)
		list, err := backend.ListBucket("data", &prefix, gofakes3.ListBucketPage{})
		if err != nil {
			t.Error(err)
			return
		}
		for _, o := range list.Contents {
			if strings.Contains(o.Key, ".gonbext") {
				t.Errorf("%s is left in the bucket", o.Key)
			}
		}
	})
}

// groups makes the jobs of clusters run in cgroups, and checks their notes when the test has ended.
func groups(t *testing.T) {
	t.Helper()
	notes, err := os.MkdirTemp("", "gonbext-jobs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(jobGroups, notes)
	t.Cleanup(func() {
		defer os.RemoveAll(notes)
		left, _ := filepath.Glob("/sys/fs/cgroup/memory/" + filepath.Base(notes) + "-*")
		more, _ := filepath.Glob("/sys/fs/cgroup/" + filepath.Base(notes) + "-*")
		for _, dir := range append(left, more...) { // of jobs that were killed
			_ = os.Remove(dir)
		}
		files, _ := filepath.Glob(filepath.Join(notes, "[0-9]*"))
		elements := 0
		most := 0.0
		for _, name := range files {
			text, err := os.ReadFile(name)
			var n groupNote
			if err == nil {
				err = json.Unmarshal(text, &n)
			}
			if err != nil || n.Peak > n.Limit {
				t.Errorf("a job has %+v: %v", n, err)
			}
			if n.Element {
				elements++
				most = max(most, float64(n.Used)/float64(n.Limit))
			}
		}
		if elements == 0 {
			t.Error("no element has run in a cgroup")
		}
		if most < 0.8 { // of the plan whose memory is mostly buffers
			t.Errorf("no element has used more than %.0f %% of the memory that was asked for", 100*most)
		}
		t.Logf("%d jobs, of which %d elements; the most of an element's memory that was used is %.0f %%", len(files), elements, 100*most)
	})
}

// hold makes elements wait until the function that it returns is called.
func hold(t *testing.T) (release func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hold")
	testcases.WriteFile(t, file, nil, 0o600)
	t.Setenv(heldBy, file)
	return func() { _ = os.Remove(file) }
}

// test computes plans of each kind on a cluster, each worker in a cgroup of what was asked for
// it. They have the bytes of one machine, also where tasks and a node are killed, and nothing is
// left over.
func (e engine) test(t *testing.T) {
	groups(t)
	dir := t.TempDir()
	succeed(t, dir, "compute", "reshape(sin(arange(2000000)*0.37), 4000, 500)", "-o", "x.npy")
	for _, c := range []struct {
		name, expression, format string
		more                     []string
		kill                     string // what is killed in the middle
	}{
		{"elementwise", "tanh(sqrt(abs(x))*2)", ".npy", []string{"--chunks", "500x500"}, ""},
		{"reduction", "x - mean(x, 0)", ".zarr", []string{"--chunks", "500x500"}, ""},
		{"product", "matmul(transpose(x, 1, 0), x)", ".npy", []string{"--chunks", "250x250"}, "task"},
		{"rechunk", "x*1", ".zarr", []string{"--chunks", "4000x50"}, ""},
		{"memory", "tile(x, 6, 1)", ".zarr", []string{"--chunks", "24000x500"}, ""}, // whose chunk is encoded as a whole
		{"sort", "sort(x, 0)", ".npy", nil, ""},
		{"decomposition", `qr(x, "q")`, ".npy", nil, ""},
		{"node", "exp(x)", ".zarr", []string{"--chunks", "250x500"}, "node"},
		{"bucket", "x - mean(x, 0)", ".zarr", []string{"--chunks", "500x500"}, "task"},
	} {
		if e.kinds != nil && !slices.Contains(e.kinds, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			one, other := "one-"+c.name+c.format, "other-"+c.name+c.format
			if c.name == "bucket" {
				other = "s3://data/" + other
			}
			args := func(out string, more ...string) []string {
				return slices.Concat([]string{"compute", c.expression, "x=x.npy", "-o", out, "--memory", "256MiB"}, c.more, more)
			}
			succeed(t, dir, args(one)...)
			release := func() {}
			if c.kill != "" {
				release = hold(t)
			}
			defer release()
			done := make(chan outcome, 1)
			go func() {
				done <- finish(t, command(dir, args(other, "--on", e.on, "--json", "--processes", "3", "--element-time", "1ms")...))
			}()
			if c.kill != "" {
				var pids []int
				eventually(t, "a task", func() bool { pids = tasksOf(dir); return len(pids) > 0 })
				if c.kill == "node" {
					pids = append(pids, e.node()...)
				}
				for _, pid := range pids {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				release()
			}
			select {
			case o := <-done:
				if o.status != 0 {
					t.Fatalf("exit status %d: %s", o.status, o.stderr)
				}
				var f struct{ Chunks, Computed, Skipped int }
				if err := json.Unmarshal([]byte(o.stdout), &f); err != nil || c.kill != "node" && (f.Computed != f.Chunks || f.Skipped != 0) {
					t.Errorf("the record has %+v: %v", f, err) // of the tasks of all stages; those of a node that was lost may run twice
				}
			case <-time.After(8 * time.Minute):
				t.Fatal("the run never ends")
			}
			if c.name == "bucket" {
				succeed(t, dir, "convert", one, "one.npy")
				succeed(t, dir, "convert", other, "other.npy")
				one, other = "one.npy", "other.npy"
			}
			sameFiles(t, filepath.Join(dir, one), filepath.Join(dir, other))
			eventually(t, "no job", func() bool { return !e.active() })
			nothingLeft(t, dir)
		})
	}
}

// ends calls gonbext, which tells on its standard error how far it is.
func ends(t *testing.T, dir string, args ...string) {
	t.Helper()
	if o := finish(t, command(dir, args...)); o.status != 0 {
		t.Fatalf("gonbext %s: exit status %d: %s", strings.Join(args, " "), o.status, o.stderr)
	}
}

// goOn is a run that goes on by itself: any process that sees its folder attaches to it, or
// cancels it, and the same command resumes what was cancelled. It returns the command for other outputs.
func (e engine) goOn(t *testing.T, dir string) (args func(out string, more ...string) []string) {
	succeed(t, dir, "compute", "reshape(sin(arange(2000000)*0.37), 4000, 500)", "-o", "x.npy")
	args = func(out string, more ...string) []string {
		return append([]string{"compute", "cos(x) - mean(x, 0)", "x=x.npy", "-o", out, "--memory", "256MiB", "--chunks", "100x500"}, more...)
	}
	succeed(t, dir, args("one.zarr")...)
	submitted := args("other.zarr", "--on", e.on, "--processes", "3", "--element-time", "1ms")
	detached := append(slices.Clone(submitted), "--detach")
	release := hold(t)
	defer release()
	ends(t, dir, detached...)
	if said := succeed(t, dir, "jobs"); !strings.Contains(said, "other.zarr") {
		t.Errorf("jobs lists %q", said)
	}
	rejected(t, dir, command(dir, detached...), 1, "computes it already")
	rejected(t, dir, command(dir, "compute", "x*3", "x=x.npy", "-o", "other.zarr"), 1, "being computed on a cluster")
	rejected(t, dir, command(dir, args("other.zarr")...), 1, "being computed on a cluster")
	eventually(t, "a task", func() bool { return len(tasksOf(dir)) > 0 })
	elsewhere := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	rejected(t, elsewhere, command(elsewhere, "jobs", "cancel", filepath.Join(dir, "other.zarr")), 1, "is not in this machine's list of those that you have submitted: name its batch system with --on")
	ends(t, elsewhere, "jobs", "cancel", filepath.Join(dir, "other.zarr"), "--on", e.on)
	release()
	if e.active() {
		t.Error("jobs go on after they were cancelled")
	}
	if _, err := os.Stat(filepath.Join(dir, "other.zarr")); err == nil {
		t.Error("a cancelled run has put its output in place")
	}
	eventually(t, "no task", func() bool { return len(tasksOf(dir)) == 0 })
	release = hold(t)
	defer release()
	c := command(dir, submitted...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a task", func() bool { return len(tasksOf(dir)) > 0 })
	_ = c.Process.Kill()
	_ = c.Wait()
	release()
	ends(t, elsewhere, "jobs", "attach", filepath.Join(dir, "other.zarr"), "--on", e.on)
	sameFiles(t, filepath.Join(dir, "one.zarr"), filepath.Join(dir, "other.zarr"))
	eventually(t, "no job", func() bool { return !e.active() })
	nothingLeft(t, dir)
	rejected(t, dir, command(dir, "jobs", "attach", "other.zarr"), 1, "no run on a cluster")
	return args
}

// goOnInBucket is a run whose output is in an object store: from another folder, as another user's cache has it, it is listed,
// cancelled, resumed and attached to.
func (e engine) goOnInBucket(t *testing.T) {
	const out = "s3://data/a/other.zarr"
	dir := t.TempDir()
	succeed(t, dir, "compute", "reshape(sin(arange(200000)*0.37), 400, 500)", "-o", "x.npy")
	args := func(out string, more ...string) []string {
		return append([]string{"compute", "cos(x) - mean(x, 0)", "x=" + filepath.Join(dir, "x.npy"), "-o", out, "--memory", "256MiB", "--chunks", "10x500"}, more...)
	}
	succeed(t, dir, args("one.npy")...)
	detached := args(out, "--on", e.on, "--processes", "3", "--element-time", "1ms", "--detach")
	release := hold(t)
	defer release()
	ends(t, dir, detached...)
	eventually(t, "a task", func() bool { return len(tasksOf(dir)) > 0 })
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	elsewhere := t.TempDir()
	for _, of := range []string{out, "s3://data/a", "s3://data/a/"} {
		if said := succeed(t, elsewhere, "jobs", "list", of); strings.Count(said, out) != 1 {
			t.Errorf("jobs list %s: %q", of, said)
		}
	}
	rejected(t, elsewhere, command(elsewhere, detached...), 1, "computes it already")
	rejected(t, elsewhere, command(elsewhere, args(out)...), 1, "is being computed on a cluster")
	ends(t, elsewhere, "jobs", "cancel", out, "--on", e.on)
	release()
	eventually(t, "no task", func() bool { return len(tasksOf(dir)) == 0 })
	release = hold(t)
	defer release()
	ends(t, elsewhere, detached...)
	eventually(t, "a task", func() bool { return len(tasksOf(dir)) > 0 })
	nothingLeft(t, elsewhere)
	release()
	ends(t, t.TempDir(), "jobs", "attach", out, "--on", e.on)
	succeed(t, dir, "convert", out, "other.npy")
	sameFiles(t, filepath.Join(dir, "one.npy"), filepath.Join(dir, "other.npy"))
	eventually(t, "no job", func() bool { return !e.active() })
	nothingLeft(t, dir)
	rejected(t, elsewhere, command(elsewhere, "jobs", "attach", out), 1, "no run on a cluster")

	// What was cancelled, one machine resumes.
	const plain = "s3://data/a/plain.zarr"
	release = hold(t)
	defer release()
	ends(t, dir, args(plain, "--on", e.on, "--processes", "3", "--element-time", "1ms", "--detach")...)
	eventually(t, "a task", func() bool { return len(tasksOf(dir)) > 0 })
	ends(t, elsewhere, "jobs", "cancel", plain, "--on", e.on)
	release()
	eventually(t, "no task", func() bool { return len(tasksOf(dir)) == 0 })
	succeed(t, elsewhere, args(plain)...)
	succeed(t, dir, "convert", plain, "plain.npy")
	sameFiles(t, filepath.Join(dir, "one.npy"), filepath.Join(dir, "plain.npy"))
	nothingLeft(t, dir)
	nothingLeft(t, elsewhere)
}
