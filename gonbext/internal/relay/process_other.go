//go:build unix && !linux

package relay

import "os/exec"

// Without a death signal GoNB ends when it is told to; where the relay is
// killed, Jupyter kills the process group that GoNB is in.
func dieWithParent(*exec.Cmd) {}

// descendants cannot be told from other processes without /proc.
func descendants(string) []descendant { return nil }
