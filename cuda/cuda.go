// Package cuda offers GPUs as devices of the executor, and a modelled GPU of any
// memory for machines without one.
//
// Work on a device is streamed: a tile is copied to it, computed in its memory
// and copied back, while others are copied and computed, so that an array larger
// than the device's memory passes through it tile by tile.
package cuda

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/plan"
)

// ErrNoDriver is returned where a GPU is asked for that this build cannot use.
var ErrNoDriver = errors.New("this build of gonbext " + lacks + ": " + instead)

const instead = "use --device cpu, or model:SIZE for a modelled GPU of that memory"

// Open finds a device by its name: cpu, cuda:0 or model:8GiB.
func Open(name string) (exec.Device, error) {
	kind, rest, _ := strings.Cut(name, ":")
	var d exec.Device
	switch kind {
	case "", "cpu":
		d = exec.CPU{}
	case "model":
		d = Model(rest)
	case "cuda":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return nil, fmt.Errorf("device %q has no number: use cuda:0", name)
		}
		d = Device(n)
	default:
		return nil, fmt.Errorf("device %q is unknown: use cpu, cuda:0 or model:8GiB", name)
	}
	if a, ok := d.(absent); ok {
		return nil, a.err
	}
	return d, nil
}

// Device is the n-th GPU of the machine. Like an array's operations it never
// fails at the call: what is wrong comes out of the run that it is given to.
func Device(n int) exec.Device { return absent{name: fmt.Sprintf("cuda:%d", n), err: ErrNoDriver} }

// absent is a device that is not to be had.
type absent struct {
	exec.CPU
	name string
	err  error
}

// Spec has only the device's name.
func (a absent) Spec() plan.DeviceSpec { return plan.DeviceSpec{Name: a.name} }

// Err is why. Options reject such a device.
func (a absent) Err() error { return a.err }
