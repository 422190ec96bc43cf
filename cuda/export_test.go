package cuda

import (
	"time"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore/device"
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
	return g.close()
}

// Products says what multiplies matrices on a device that is open.
func Products(g *GPU) string { return g.products() }

// Pinned is the number of bytes that are page-locked for a device.
func Pinned(d device.Device) int64 {
	g := d.(*GPU)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.locked
}

// NewDevice is a GPU of this machine, in a context of its own.
func NewDevice(n int) *GPU { return newDevice(n) }

// NewModel is a modelled device of the given rates, whose streams take turns in an order.
func NewModel(size string, rates device.Rates, order model.Order) *GPU {
	g := Model(size)
	g.spec.Rates = rates
	Wrap(g, func(d driver.Driver) driver.Driver {
		m := d.(*model.Driver)
		m.Order, m.Rates = order, rates
		return m
	})
	return g
}

// Clock is the time on a modelled device.
func Clock(g *GPU) time.Duration { return g.context.(*model.Context).Clock() }
