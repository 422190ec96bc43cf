package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// slurm starts Slurm with three nodes on this machine, on ports of its own, and ends it with the test.
func slurm(t *testing.T) (dir string) {
	t.Helper()
	for _, program := range []string{"slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("Slurm is not installed: " + program)
		}
	}
	if !testcases.Full() || os.Getuid() != 0 {
		t.Skip("left out: Slurm, whose daemons GONBEXT_TEST=full starts as root")
	}
	dir = t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	port := ports(t, 4)
	var conf strings.Builder
	fmt.Fprintf(&conf, `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool-%%n
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/%%n.pid
SlurmctldLogFile=%[3]s/slurmctld.log
SlurmdLogFile=%[3]s/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,default_queue_depth=1000
MaxArraySize=4
SlurmdTimeout=5
InactiveLimit=0
MinJobAge=10
KillWait=2
JobRequeue=1
ReturnToService=2
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
BatchStartTimeout=5
MessageTimeout=10
MailProg=/bin/true
PartitionName=main Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP
`, host, port, dir)
	for n := 1; n <= 3; n++ {
		fmt.Fprintf(&conf, "NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=2048 State=UNKNOWN\n", n, host, port+n)
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("spool-n%d", n)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "slurm.conf")
	testcases.WriteFile(t, file, []byte(conf.String()), 0o644)
	t.Setenv("SLURM_CONF", file)
	t.Cleanup(func() {
		for _, name := range []string{"n1", "n2", "n3", "slurmctld"} {
			if pid := pidOf(filepath.Join(dir, name+".pid")); pid > 0 {
				for _, p := range append(descendants(pid), pid) {
					_ = syscall.Kill(p, syscall.SIGKILL)
				}
			}
		}
		time.Sleep(time.Second)
	})
	daemons := map[string][]string{"slurmctld": {"slurmctld", "-i", "-f", file}}
	for n := 1; n <= 3; n++ {
		name := fmt.Sprintf("n%d", n)
		daemons[name] = []string{"slurmd", "-N", name, "-f", file}
	}
	start := func(name string) error {
		out, err := exec.Command(daemons[name][0], daemons[name][1:]...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%v: %w: %s", daemons[name], err, out)
		}
		return err
	}
	for _, name := range []string{"slurmctld", "n1", "n2", "n3"} {
		if err := start(name); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	eventually(t, "three idle nodes", func() bool {
		out, _ := exec.Command("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").Output()
		if bytes.Count(out, []byte("\n")) == 3 {
			return true
		}
		if time.Since(began) > 20*time.Second { // one may have ended as it began, when what it needs was taken for a moment
			began = time.Now()
			for name := range daemons {
				log, _ := os.ReadFile(filepath.Join(dir, name+".log"))
				t.Logf("%s: %s", name, log[max(len(log)-1000, 0):])
				if pid := pidOf(filepath.Join(dir, name+".pid")); pid == 0 || syscall.Kill(pid, 0) != nil {
					t.Log(name, "begins anew: ", start(name))
				}
			}
		}
		return false
	})
	return dir
}

func pidOf(file string) int {
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// descendants are the processes below one.
func descendants(pid int) (all []int) {
	parents := map[int][]int{}
	for p, parent := range processes() {
		parents[parent] = append(parents[parent], p)
	}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		all = append(all, parents[next[0]]...)
		next = append(next, parents[next[0]]...)
	}
	return all
}

// processes are all processes, each with its parent.
func processes() map[int]int {
	all := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if fields := strings.Fields(rest); len(fields) > 1 && fields[0] != "Z" {
			all[pid], _ = strconv.Atoi(fields[1])
		}
	}
	return all
}

// tasksOf are the processes that run tasks of the plans in a folder.
func tasksOf(dir string) (all []int) {
	for pid := range processes() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(line), "\x00")
		if i := slices.Index(args, "--plan"); i > 0 && i+1 < len(args) && strings.HasPrefix(args[i+1], dir+"/") && slices.Contains(args, "--element") {
			all = append(all, pid)
		}
	}
	return all
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); !f(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 4*time.Minute {
			t.Fatalf("there never is what was waited for: %s", what)
		}
	}
}

// sameFiles compares files, or all files of two folders.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	read := func(root string) map[string]string {
		all := map[string]string{}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, _ := os.ReadFile(path)
				all[strings.TrimPrefix(path, root)] = string(text)
			}
			return err
		})
		return all
	}
	one, other := read(a), read(b)
	if len(one) == 0 || len(one) != len(other) {
		t.Errorf("%s has %d files, %s %d", a, len(one), b, len(other))
	}
	for name, text := range one {
		if other[name] != text {
			t.Errorf("%s differs in %q from %s", b, name, a)
		}
	}
}

// nothingLeft fails the test if a run has left a staging folder in the folder of its output.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.gonbext")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestSlurmHasTheBytesOfOneMachine(t *testing.T) {
	bucket(t)
	spool := slurm(t)
	e := engine{on: "slurm", active: queued}
	e.node = func() []int { // slurmd of one, and the script of each that runs one
		pids := []int{pidOf(filepath.Join(spool, "n1.pid"))}
		for pid := range processes() {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.HasPrefix(string(line), "slurmstepd") {
				pids = append(pids, append(descendants(pid), pid)...)
			}
		}
		return pids
	}
	e.test(t)
}

// queued reports whether Slurm has jobs.
func queued() bool {
	out, err := exec.Command("squeue", "-h").Output()
	return err != nil || len(out) > 0
}

// A job that reaches its time limit is submitted again.
func TestSlurmTimeLimit(t *testing.T) {
	slurm(t)
	dir := t.TempDir()
	args := []string{"compute", "sqrt(arange(100000))", "--memory", "256MiB", "--chunks", "1000", "-o"}
	succeed(t, dir, append(args, "one.zarr")...)
	release := hold(t)
	defer release()
	done := make(chan outcome, 1)
	go func() {
		done <- finish(t, command(dir, append(args, "other.zarr", "--on", "slurm", "--processes", "3", "--time", "1", "--json")...))
	}()
	eventually(t, "a task", func() bool {
		pids := tasksOf(dir)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		return len(pids) > 0
	})
	release()
	select {
	case o := <-done:
		if o.status != 0 {
			t.Fatalf("exit status %d: %s", o.status, o.stderr)
		}
	case <-time.After(4 * time.Minute):
		t.Fatal("the run never ends")
	}
	sameFiles(t, filepath.Join(dir, "one.zarr"), filepath.Join(dir, "other.zarr"))
	eventually(t, "no job", func() bool { return !queued() })
	nothingLeft(t, dir)
}

// Runs go on by themselves on Slurm, and what it rejects leaves nothing.
func TestSlurmRunsGoOnByThemselves(t *testing.T) {
	spool := slurm(t)
	dir := t.TempDir()
	args := engine{on: "slurm", active: queued}.goOn(t, dir)
	for _, option := range []string{"--partition=none", "--engine=--mem=1T", "--time=never"} {
		if o := finish(t, command(dir, args("p.zarr", "--on", "slurm", option)...)); o.status != 1 || !strings.Contains(o.stderr, "Slurm rejects the request") {
			t.Errorf("%s: exit status %d: %s", option, o.status, o.stderr)
		}
	}
	_ = syscall.Kill(pidOf(filepath.Join(spool, "slurmctld.pid")), syscall.SIGSTOP)
	if o := finish(t, command(dir, args("p.zarr", "--on", "slurm")...)); o.status != 1 || !strings.Contains(o.stderr, "Slurm cannot be reached: ") && !strings.Contains(o.stderr, "Slurm does not answer") {
		t.Errorf("a stopped controller: exit status %d: %s", o.status, o.stderr)
	}
	nothingLeft(t, dir)
}

// What cannot run on a cluster is one sentence, before anything is submitted.
func TestClusterRejects(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", t.TempDir())
	on := func(args ...string) []string { return append([]string{"compute"}, append(args, "--on", "slurm")...) }
	rejected(t, dir, command(dir, on("ones(5)*2", "-o", "x.npy", "--memory", "256MiB")...), 1, "PATH does not find scontrol: run this where sbatch is, such as on a login node")
	rejected(t, dir, command(dir, on("ones(5)*2", "-o", "x.npy")...), 2, "--memory")
	rejected(t, dir, command(dir, on("ones(5)*2", "--memory", "256MiB")...), 1, "save it to a path")
	rejected(t, dir, command(dir, on("ones(5)*2", "-o", "x.npy", "--memory", "2MiB")...), 1, "a worker")
	succeed(t, dir, "compute", "ones(5)*2", "-o", "five.npy")
	rejected(t, dir, command(dir, "convert", "five.npy", "x.zarr", "--memory", "256MiB", "--on", "slurm"), 1, "PATH does not find scontrol")
	rejected(t, dir, command(dir, "compute", "ones(5)*2", "-o", "x.npy", "--on", "pbs"), 2, "no batch system")
	rejected(t, dir, command(dir, "compute", "ones(5)*2", "-o", "x.npy", "--detach"), 2, "--on")
	nothingLeft(t, dir)
}
