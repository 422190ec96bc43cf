//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminalColumns is the width of a terminal; 0 where it is unknown.
func terminalColumns(terminal *os.File) int {
	size, err := unix.IoctlGetWinsize(int(terminal.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// startAgain has this process begin anew with its present environment.
func startAgain() {
	if self, err := os.Executable(); err == nil {
		_ = unix.Exec(self, os.Args, os.Environ())
	}
}

// apart gives a command a process group of its own.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// askToEnd lets a process end itself.
func askToEnd(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
