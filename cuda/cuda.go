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

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
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

// Model returns a modelled GPU with memory of the given size, such as "8GiB", or that of a card of
// Cards by its name, such as "H200". It computes as a real one does: in buffers of its own, to which
// tiles are copied and from which results are copied back, on concurrent streams. Its arithmetic is the
// CPU's. It shows what fits and what moves, not how fast a GPU is: its clock is virtual, and runs by
// the rates of the card, or of a usual one with as much memory. A malformed size is an error of the
// run.
func Model(size string) *GPU {
	g := &GPU{name: "model:" + size, model: true}
	c, err := CardOf(size)
	g.spec = device.Spec{Name: g.name, Memory: c.Usable(), OnHost: true, Computes: modelled(), Rates: c.Rates()}
	g.find = func() (driver.Driver, error) {
		return &model.Driver{Name: g.name, Memory: c.Usable(), Rates: g.spec.Rates}, err
	}
	return g
}

// modelled are the operations that the model has kernels for.
var modelled = sync.OnceValue(device.Loops.Capabilities)
