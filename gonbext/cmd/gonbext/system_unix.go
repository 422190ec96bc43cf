//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
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

// await waits until there is something to read, or the end of it.
func await(ctx context.Context, file *os.File) error {
	for fds := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}}; ctx.Err() == nil; {
		if n, err := unix.Poll(fds, 100); n > 0 || err != nil && err != unix.EINTR {
			return nil // read says what it is
		}
	}
	return ctx.Err()
}

// breakPipe ends the process by SIGPIPE, as one is ended that does not handle it.
func breakPipe() {
	signal.Reset(syscall.SIGPIPE)
	_, _ = os.Stdout.Write([]byte{0}) // to nobody
}
