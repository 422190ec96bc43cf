// Package cuda offers GPUs as devices of the executor, and a modelled GPU of any
// memory for machines without one.
//
// Work on a device is streamed: a tile is copied to it, computed in its memory
// and copied back, while others are copied and computed, so that an array larger
// than the device's memory passes through it tile by tile.
package cuda

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/device"
)

const instead = "use --device cpu, or model:SIZE for a modelled GPU of that memory"

// Open finds a device by its name: cpu, cuda:0 or model:8GiB.
func Open(name string) (device.Device, error) {
	kind, rest, _ := strings.Cut(name, ":")
	var g *GPU
	switch kind {
	case "", "cpu":
		return device.CPU{}, nil
	case "model":
		g = Model(rest)
	case "cuda":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return nil, fmt.Errorf("device %q has no number: use cuda:0", name)
		}
		g = Device(n)
	default:
		return nil, fmt.Errorf("device %q is unknown: use cpu, cuda:0 or model:8GiB", name)
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	return g, nil
}

var gpus struct {
	sync.Mutex
	byNumber map[int]*GPU
}

// Device is the n-th GPU of the machine, the same at each call. Like an array's operations
// it never fails at the call: what is wrong comes out of the run that it is given to.
func Device(n int) *GPU {
	gpus.Lock()
	defer gpus.Unlock()
	g := gpus.byNumber[n]
	if g == nil {
		g = newDevice(n)
		if gpus.byNumber == nil {
			gpus.byNumber = map[int]*GPU{}
		}
		gpus.byNumber[n] = g
	}
	return g
}

func newDevice(n int) *GPU {
	name := fmt.Sprintf("cuda:%d", n)
	return &GPU{name: name, ordinal: n, ptx: true, find: nvidia, spec: device.Spec{Name: name}}
}
