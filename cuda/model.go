// Package cuda offers GPUs as devices of the executor, and a modelled GPU of any
// memory for machines without one.
//
// Work on a device is streamed: a tile is copied to it, computed in its memory
// and copied back, on plan.DeviceLanes streams, so that an array larger than the
// device's memory passes through it piece by piece.
package cuda

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
	"github.com/gonbext/gonbext/oocore/vm"
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
func Device(n int) exec.Device { return absent{fmt.Sprintf("cuda:%d", n), ErrNoDriver} }

// Model is a GPU with memory of the given size, such as "8GiB", that computes as
// a real one does: in buffers of its own, to which tiles are copied and from
// which results come back. Its arithmetic is the CPU's. It shows what fits and
// what moves, not how fast a GPU is. A malformed size comes out of the run.
func Model(size string) exec.Device {
	n, err := units.ParseSize(size)
	if err != nil {
		return absent{"model:" + size, err}
	}
	return &model{name: "model:" + size, size: n, memory: arena.New(n)}
}

// absent is a device that is not to be had.
type absent struct {
	name string
	err  error
}

func (a absent) Name() string { return a.name }

// Err is why. Options refuse such a device.
func (a absent) Err() error { return a.err }

func (a absent) Memory() int64 { return 0 }

func (a absent) OnHost() bool { return true }

func (a absent) Peak() int64 { return 0 }

func (a absent) Used() int64 { return 0 }

func (a absent) Lane(*plan.Program, []int, *arena.Arena, int) (exec.Lane, error) { return nil, a.err }

type model struct {
	name   string
	size   int64
	mu     sync.Mutex
	memory *arena.Arena
}

func (m *model) Name() string { return m.name }

func (m *model) Memory() int64 { return m.size }

func (m *model) OnHost() bool { return true }

// Used is what is allocated on the device now.
func (m *model) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.memory.Now()[record.Device]
}

// Peak is the most that was allocated on the device since the last call.
func (m *model) Peak() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	peak, _ := m.memory.Peak()
	if m.memory.Now() == (record.Bytes{}) {
		m.memory = arena.New(m.size)
	}
	return peak
}

// Lane is one stream: device buffers for the inputs and the result of a tile,
// and a machine whose registers are the device's.
func (m *model) Lane(p *plan.Program, tile []int, _ *arena.Arena, stage int) (exec.Lane, error) {
	m.mu.Lock()
	memory := m.memory
	m.mu.Unlock()
	l := &lane{prog: p, block: grid.Auto(tile, 1, plan.BlockElems), size: p.Type(p.Out[0]).Size(), inputs: make([]*arena.Buffer, len(p.Loads))}
	var err error
	alloc := func(n int64) (b *arena.Buffer) {
		if err == nil && n > 0 {
			b, err = memory.Alloc(arena.Tag{Stage: stage, Chunk: -1, Class: record.Device}, n)
		}
		return b
	}
	for i := range p.Loads {
		l.inputs[i] = alloc(p.Loads[i].InputBytes(tile))
	}
	l.regs = alloc(p.RegisterBytes(false))
	l.out = alloc(int64(grid.Size(tile) * l.size))
	if err == nil {
		l.machine, err = vm.New(p, l.regs.Bytes(), false)
	}
	if err == nil {
		return l, nil
	}
	var full *arena.FullError
	if errors.As(err, &full) {
		err = fmt.Errorf("%s: %w: %d bytes wanted, %d of %d taken", m.name, exec.ErrDeviceMemory, full.Want, full.Used, full.Limit)
	}
	return nil, errors.Join(err, l.Close())
}

type lane struct {
	prog    *plan.Program
	block   []int
	size    int
	machine *vm.Machine
	inputs  []*arena.Buffer
	regs    *arena.Buffer
	out     *arena.Buffer
}

func (l *lane) Compute(ctx context.Context, tile grid.Box, inputs [][]byte, dst []byte) (moved int64, err error) {
	on := make([][]byte, len(inputs))
	for i, b := range l.inputs {
		if b != nil {
			on[i] = b.Data[:copy(b.Data, inputs[i])]
			moved += int64(len(on[i]))
		}
	}
	l.machine.Tile(tile, on)
	at := 0
	for b := range tile.Split(l.block) {
		if ctx.Err() != nil {
			return moved, context.Cause(ctx)
		}
		l.machine.Block(b, at, nil)
		n := b.Size()
		copy(l.out.Data[at*l.size:], l.machine.Result(0)[:n*l.size])
		at += n
	}
	return moved + int64(copy(dst, l.out.Data[:at*l.size])), nil
}

func (l *lane) Close() error {
	for _, b := range l.inputs {
		b.Free()
	}
	l.regs.Free()
	l.out.Free()
	return nil
}
