package main

import (
	"context"
	"os/exec"
	"time"
)

// python is a command that ends with ctx: asked to, so that it ends its kernels
// too, and killed where it does not. It has a process group of its own, since a
// terminal's Ctrl-C would reach it beside the request.
func python(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	apart(cmd)
	cmd.Cancel = func() error { return askToEnd(cmd.Process) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
