package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// gridEngine starts Grid Engine with three slots on this machine, on ports of its own, and ends it with the test.
func gridEngine(t *testing.T) {
	t.Helper()
	const installed, programs = "/var/lib/gridengine", "/usr/lib/gridengine"
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	port := ports(t, 2)
	t.Setenv("SGE_ROOT", root)
	t.Setenv("SGE_CELL", "test")
	t.Setenv("SGE_QMASTER_PORT", fmt.Sprint(port))
	t.Setenv("SGE_EXECD_PORT", fmt.Sprint(port+1))
	for _, name := range []string{"bin", "lib", "util", "utilbin"} {
		if err := os.Symlink(filepath.Join(installed, name), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"test/common", "db", "master", "exec"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		testcases.WriteFile(t, path, []byte(text), 0o644)
		return path
	}
	do := func(args ...string) string {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	write("test/common/bootstrap", strings.ReplaceAll(`admin_user root
default_domain none
ignore_fqdn true
spooling_method berkeleydb
spooling_lib libspoolb
spooling_params ROOT/db
binary_path /usr/sbin
qmaster_spool_dir ROOT/master
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
`, "ROOT", root))
	write("test/common/act_qmaster", "localhost\n")
	settings := testcases.ReadFile(t, "/usr/share/gridengine/default-configuration")
	replace := func(text string, settings ...string) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			for _, s := range settings {
				if name, _, _ := strings.Cut(s, " "); strings.HasPrefix(line, name+" ") {
					lines[i] = s
				}
			}
		}
		return strings.Join(lines, "\n")
	}
	configuration := write("configuration", replace(string(settings), "execd_spool_dir "+root+"/exec", "mailer /bin/true", "min_uid 0", "min_gid 0"))
	do(programs+"/spoolinit", "berkeleydb", "libspoolb", root+"/db", "init")
	do(programs+"/spooldefaults", "configuration", configuration)
	do(programs+"/spooldefaults", "complexes", "/usr/share/gridengine/util/resources/centry")
	do(programs+"/spooldefaults", "usersets", "/usr/share/gridengine/util/resources/usersets")
	do(programs+"/spooldefaults", "managers", "root")
	t.Cleanup(func() {
		for _, name := range []string{"master/qmaster.pid", "exec/localhost/execd.pid"} {
			if pid := pidOf(filepath.Join(root, name)); pid > 0 {
				for _, p := range append(descendants(pid), pid) {
					_ = syscall.Kill(p, syscall.SIGKILL)
				}
			}
		}
	})
	do("sge_qmaster")
	eventually(t, "a master", func() bool { return exec.Command("qconf", "-as", "localhost").Run() == nil })
	do("qconf", "-Msconf", write("scheduler", replace(do("qconf", "-ssconf"), "schedule_interval 0:0:1", "flush_submit_sec 1", "flush_finish_sec 1", "load_adjustment_decay_time 0:0:0", "job_load_adjustments NONE")))
	do("sge_execd")
	do("qconf", "-Aq", write("queue", replace(do("qconf", "-sq"), "qname main", "hostlist localhost", "slots 3", "shell /bin/sh", "load_thresholds NONE", "rerun TRUE", "pe_list NONE")))
	eventually(t, "a free slot", func() bool {
		out, _ := exec.Command("qstat", "-f").Output()
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) == 5 && f[0] == "main@localhost" {
				return f[3] != "-NA-"
			}
		}
		return false
	})
}

// Grid Engine wants the name of a machine to be what its address resolves to: the test runs again where
// the machine's name is localhost.
func TestGridEngineHasTheBytesOfOneMachine(t *testing.T) {
	for _, program := range []string{"sge_qmaster", "sge_execd", "qsub", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("Grid Engine is not installed: " + program)
		}
	}
	if !testcases.Full() || os.Getuid() != 0 {
		t.Skip("left out: Grid Engine, whose daemons GONBEXT_TEST=full starts as root")
	}
	if host, _ := os.Hostname(); host != "localhost" {
		out, err := exec.Command("unshare", "--uts", "sh", "-c", `hostname localhost && exec "$0" -test.v -test.run "^$1$"`, os.Args[0], t.Name()).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	bucket(t)
	gridEngine(t)
	engine{on: "gridengine", kinds: []string{"reduction", "product", "memory", "bucket"}, active: func() bool {
		out, err := exec.Command("qstat", "-u", "*").Output()
		return err != nil || len(out) > 0
	}}.test(t)
}
