package cuda

import "github.com/gonbext/gonbext/oocore/exec"

// Fail lets operations of a modelled device fail.
func Fail(d exec.Device, f func(operation string) error) { d.(*model).fault = f }

// Pinned is the number of bytes that are page-locked for a modelled device.
func Pinned(d exec.Device) int64 { return d.(*model).pinned.Load() }
