package cuda

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Model is a GPU with memory of the given size, such as "8GiB", or a card of Cards by its
// name, such as "H200", that computes as
// a real one does: in buffers of its own, to which tiles are copied and from
// which results come back, on streams that go on at the same time. Its arithmetic
// is the CPU's. It shows what fits and what moves, not how fast a GPU is: the rates
// by which plans predict times are those of the card, or of a usual one with as much
// memory. A malformed size comes out of the run.
func Model(size string) exec.Device {
	c, err := CardOf(size)
	if err != nil {
		return absent{name: "model:" + size, err: err}
	}
	return &model{name: "model:" + size, card: c, size: c.Usable(), memory: arena.New(c.Usable())}
}

type model struct {
	name   string
	card   Card
	size   int64
	memory *arena.Arena
	pinned atomic.Int64                 // bytes of buffers
	fault  func(operation string) error // fails operations of tests; nil otherwise
}

// fails returns the error that a test wants of an operation.
func (m *model) fails(operation string) error {
	if m.fault == nil {
		return nil
	}
	return m.fault(operation)
}

func (m *model) Spec() plan.DeviceSpec {
	return plan.DeviceSpec{Name: m.name, Memory: m.size, OnHost: true, Computes: modelled, Rates: m.card.Rates()}
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

// Pin counts the buffer's bytes: the model copies from any memory alike.
func (m *model) Pin(b []byte) (func() error, error) {
	if err := m.fails("pin"); err != nil {
		return nil, err
	}
	n := int64(len(b))
	m.pinned.Add(n)
	return func() error {
		m.pinned.Add(-n)
		return nil
	}, nil
}

func (m *model) Usage() exec.Usage {
	used := m.memory.Now()[record.Device]
	peak, _ := m.memory.Peak()
	return exec.Usage{Used: used, Peak: peak, Free: m.size - used}
}

// Keep takes memory that outlives a stage.
func (m *model) Keep(bytes int64) (exec.Resident, error) {
	b, err := m.alloc(bytes)
	if err != nil {
		return nil, err
	}
	return resident{b}, nil
}

// resident is memory that outlives a stage.
type resident struct{ *arena.Buffer }

func (r resident) Free() error {
	r.Buffer.Free()
	return nil
}

// alloc takes a buffer of the device.
func (m *model) alloc(n int64) (*arena.Buffer, error) {
	err := m.fails("allocate")
	if err == nil {
		var b *arena.Buffer
		if b, err = m.memory.Alloc(arena.Tag{Chunk: -1, Class: record.Device}, n); err == nil {
			return b, nil
		}
	}
	if full, ok := errors.AsType[*arena.FullError](err); ok {
		return nil, fmt.Errorf("%w: %s wanted, %s of %s taken", exec.ErrDeviceMemory, units.Exact(full.Want), units.Exact(full.Used), units.Exact(full.Limit))
	}
	return nil, err
}
