package cluster

import (
	osexec "os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent ends this process when the script that runs it is killed, so that no orphan goes on.
func dieWithParent() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) }

// endWhole makes the end of a command's context the end of what it has started, too: sites put scripts
// of their own before the commands of a batch system.
func endWhole(c *osexec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return unix.Kill(-c.Process.Pid, unix.SIGKILL) }
}
