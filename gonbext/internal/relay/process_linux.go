package relay

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// dieWithParent lets the kernel end GoNB when the relay is killed. SIGTERM, not
// SIGKILL: GoNB then ends its cell and removes its folder.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

// descendants are the processes of this process group whose environment has the
// variable. One that moved to a group of its own (setsid, a daemon that the
// user started) is meant to stay.
func descendants(variable string) (all []descendant) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil {
			continue // ended, or another user's
		}
		d, ok := parseEnviron(env, variable)
		if !ok {
			continue
		}
		d.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if group, err := syscall.Getpgid(d.pid); err == nil && group == syscall.Getpgrp() {
			all = append(all, d)
		}
	}
	return all
}

// parseEnviron reports whether environ has the variable, and the named pipes
// that GoNB has made for the process.
func parseEnviron(environ []byte, variable string) (d descendant, ok bool) {
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := bytes.Cut(v, []byte{'='})
		switch string(name) {
		case "GONB_PIPE", "GONB_PIPE_BACK":
			d.pipes = append(d.pipes, string(value))
		}
		ok = ok || string(v) == variable
	}
	return d, ok
}
