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

// killMarked kills the processes of this process group whose environment has
// the variable. One that moved to a group of its own (setsid, a daemon that the
// user started) is meant to stay.
func killMarked(variable string) {
	for found := true; found; { // again: a process may have started another meanwhile
		found = false
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			env, err := os.ReadFile(path)
			if err != nil || !hasVariable(env, variable) {
				continue // ended, or another user's
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				continue
			}
			if group, err := syscall.Getpgid(pid); err != nil || group != syscall.Getpgrp() {
				continue
			}
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
	}
}

func hasVariable(environ []byte, variable string) bool {
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if string(v) == variable {
			return true
		}
	}
	return false
}
