package cuda

import (
	"fmt"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/units"
)

// Model is a GPU with memory of the given size, such as "8GiB", that computes as
// a real one does: in buffers of its own, to which tiles are copied and from
// which results come back, on streams that go on at the same time. Its arithmetic
// is the CPU's. It shows what fits and what moves, not how fast a GPU is: its clock is
// virtual, and goes by the rates of a usual card with as much memory. A malformed size
// comes out of the run.
func Model(size string) *GPU {
	g := &GPU{name: "model:" + size, model: true}
	n, err := units.ParseSize(size)
	if err == nil && n == 0 {
		err = fmt.Errorf("%s has no memory: give it some, as in model:8GiB", g.name)
	}
	g.spec = plan.DeviceSpec{Name: g.name, Memory: n, OnHost: true, Computes: modelled, Rates: ratesOf(n)}
	g.find = func() (driver.Driver, error) {
		return &model.Driver{Name: g.name, Memory: n, Rates: g.spec.Rates}, err
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
	for op := kernel.Add; op <= kernel.Where; op++ {
		c.Elementwise[op] = plan.TypesOf(func(t dtype.Type) bool {
			_, ok := kernel.Lookup(op, t)
			return ok && real(t)
		})
	}
	for r := kernel.Sum; r.Known(); r++ {
		c.Folds[r] = plan.TypesOf(func(t dtype.Type) bool {
			_, ok := kernel.NewFolder(r, t)
			return ok && real(t)
		})
	}
	return c
}

// cards are the rates of usual cards by their memory, from their makers' data sheets; of
// the link's nominal rate four fifths, which copies reach.
var cards = []struct {
	memory int64
	rates  plan.Rates
}{
	{12 << 30, plan.Rates{Upload: 12.6e9, Download: 12.6e9, Memory: 224e9, Arithmetic: 9.1e12}},  // GeForce RTX 3050, 8 GB, PCIe 4.0 x8
	{48 << 30, plan.Rates{Upload: 25.2e9, Download: 25.2e9, Memory: 600e9, Arithmetic: 31.2e12}}, // A10, 24 GB, PCIe 4.0 x16
	{1 << 62, plan.Rates{Upload: 50.4e9, Download: 50.4e9, Memory: 2e12, Arithmetic: 51e12}},     // H100 PCIe, 80 GB, PCIe 5.0 x16
}

func ratesOf(memory int64) plan.Rates {
	for _, c := range cards {
		if memory <= c.memory {
			return c.rates
		}
	}
	return plan.Rates{}
}
