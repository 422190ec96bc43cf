package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// terminalColumns is the width of a terminal; 0 where it is unknown.
func terminalColumns(terminal *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(terminal.Fd()), &info); err != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}

// startAgain does nothing: the system looks for libraries along PATH.
func startAgain() {}

// apart gives a command a process group of its own.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// askToEnd ends a process: here it cannot be asked to.
func askToEnd(p *os.Process) error { return p.Kill() }

func await(ctx context.Context, _ *os.File) error { return ctx.Err() }

func breakPipe() {}
