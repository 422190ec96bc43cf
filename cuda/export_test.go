package cuda

import (
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/exec"
)

// Wrap puts something between a device that has not been used yet and its driver.
func Wrap(g *GPU, wrap func(driver.Driver) driver.Driver) {
	find := g.find
	g.find = func() (driver.Driver, error) {
		d, err := find()
		if err != nil {
			return nil, err
		}
		return wrap(d), nil
	}
}

// Release closes a device's context, and returns what is left on it.
func Release(g *GPU) error {
	if g.context == nil {
		return nil
	}
	return g.context.Close()
}

// Pinned is the number of bytes that are page-locked for a device.
func Pinned(d exec.Device) int64 {
	g := d.(*GPU)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.locked
}

// NewDevice is a GPU of this machine, in a context of its own.
func NewDevice(n int) *GPU { return newDevice(n) }
