//go:build !linux

package relay

import (
	"os/exec"
	"time"
)

// Without a death signal GoNB ends when it is told to; where the relay is
// killed, Jupyter kills the process group that GoNB is in.
func dieWithParent(*exec.Cmd) {}

// Other processes' environments, by which GoNB's are known, cannot be read
// here.
func (p *process) descendants() []int { return nil }

func (p *process) orphans(time.Time) []int { return nil }

func sweepPipes(string, time.Time) {}

// dir is the folder that the process works in; this system does not tell.
func (p *process) dir() string { return "" }
