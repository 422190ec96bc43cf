package cuda

import (
	"sync"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore/device"
)

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
