package cuda

import (
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
)

// Model is a GPU with memory of the given size, such as "8GiB", or a card of Cards by its
// name, such as "H200", that computes as
// a real one does: in buffers of its own, to which tiles are copied and from
// which results come back, on streams that go on at the same time. Its arithmetic
// is the CPU's. It shows what fits and what moves, not how fast a GPU is: its clock is
// virtual, and goes by the rates of the card, or of a usual one with as much memory. A
// malformed size comes out of the run.
func Model(size string) *GPU {
	g := &GPU{name: "model:" + size, model: true}
	c, err := CardOf(size)
	g.spec = plan.DeviceSpec{Name: g.name, Memory: c.Usable(), OnHost: true, Computes: modelled, Rates: c.Rates()}
	g.find = func() (driver.Driver, error) {
		return &model.Driver{Name: g.name, Memory: c.Usable(), Rates: g.spec.Rates}, err
	}
	return g
}

// modelled are the operations that the model has kernels for: those of the CPU, except on
// complex numbers, which GPU code leaves to the CPU.
var modelled = capabilities()

func capabilities() plan.Capabilities {
	real := func(t dtype.Type) bool { return t.Kind() != dtype.KindComplex }
	c := plan.Capabilities{Elementwise: map[kernel.Op]plan.Types{}, Folds: map[kernel.Reduction]plan.Types{},
		Casts: plan.TypesOf(real), Products: plan.TypesOf(real)}
	for _, op := range kernel.Ops() {
		c.Elementwise[op] = plan.TypesOf(func(t dtype.Type) bool {
			_, ok := kernel.Lookup(op, t)
			return ok && real(t)
		})
	}
	for _, row := range kernel.Reductions() {
		r := row.Reduction
		c.Folds[r] = plan.TypesOf(func(t dtype.Type) bool {
			_, ok := kernel.NewFolder(r, t)
			return ok && real(t)
		})
	}
	return c
}
