// Package model is a driver of a GPU that is not there: real values in memory of a real
// limit, computed by kernels' forms in Go, on streams that go on at the same time. Its
// clock is virtual: copies and kernels take the time that the given rates say, whatever
// this machine takes for them. The host takes none: events alone order streams.
package model

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/units"
)

// Driver is a driver with one device.
type Driver struct {
	Name   string
	Memory int64
	Rates  device.Rates
	Order  Order

	// Fail is for tests: it is asked before each "allocate" and "pin", and by a stream that comes
	// to an "upload", "compute" or "download". After a failure of these all operations are left
	// out until the last stream is closed.
	Fail func(operation string) error
}

func (d *Driver) ask(operation string) error {
	if d.Fail == nil {
		return nil
	}
	return d.Fail(operation)
}

// Order is how streams take turns. Whatever events do not order is legal on a GPU; tests
// use the orders that are far from the usual one.
type Order int

const (
	Concurrent Order = iota // each stream continues as it can
	Lazy                    // nothing is done before the host waits for it
	Hasty                   // a stream continues only where none that is older can
)

// Version is that of the newest CUDA that package cuda knows.
func (d *Driver) Version() (int, error) { return 12090, nil }

// Count is 1.
func (d *Driver) Count() (int, error) { return 1, nil }

// Properties has the model's name.
func (d *Driver) Properties(ordinal int) (driver.Properties, error) {
	if ordinal != 0 {
		return driver.Properties{}, reject("properties", 101, "invalid device ordinal")
	}
	return driver.Properties{Name: d.Name}, nil
}

// Open makes a device. Each has memory of its own.
func (d *Driver) Open(ordinal int) (driver.Context, error) {
	if ordinal != 0 {
		return nil, reject("open", 101, "invalid device ordinal")
	}
	c := &Context{driver: d, memory: device.NewMemory(d.Memory)}
	c.change = sync.NewCond(&c.mu)
	return c, nil
}

func reject(call string, status int, text string) error {
	return &driver.Error{Call: "model: " + call, Status: status, Text: text}
}

// base is the address of the device's first byte.
const base driver.Address = 1 << 40

// Context is a modelled device.
type Context struct {
	driver *Driver
	memory *device.Memory

	mu      sync.Mutex
	change  *sync.Cond // of anything below
	blocks  []block    // by address
	locked  [][]byte
	streams []*stream
	failed  error         // all that is enqueued later does nothing
	clock   time.Duration // when the last stream that was closed was done
	objects int           // events and functions that are not closed
}

// block is an allocation.
type block struct {
	at     driver.Address
	buffer *device.Block
}

func (b block) end() driver.Address { return b.at + driver.Address(b.buffer.Reserved()) }

// Memory is the model's alone.
func (c *Context) Memory() (free, total int64, err error) {
	return c.driver.Memory - c.memory.Used(), c.driver.Memory, nil
}

// Alloc takes the first gap that is long enough: as on a GPU, memory that is free and
// scattered does not make a long block.
func (c *Context) Alloc(bytes int64) (driver.Address, error) {
	if bytes <= 0 {
		return 0, reject("allocate", 1, "no bytes are wanted")
	}
	if err := c.driver.ask("allocate"); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, i := base, 0
	for ; i < len(c.blocks) && c.blocks[i].at-at < driver.Address(device.Reserved(bytes)); i++ {
		at = c.blocks[i].end()
	}
	if int64(at-base)+device.Reserved(bytes) > c.driver.Memory {
		free, _, _ := c.Memory()
		return 0, fmt.Errorf("%w: %s wanted, %s of %s free", driver.ErrMemory, units.Exact(bytes), units.Exact(free), units.Exact(c.driver.Memory))
	}
	b, err := c.memory.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	c.blocks = slices.Insert(c.blocks, i, block{at, b})
	return at, nil
}

// Free waits for the streams, as CUDA does.
func (c *Context) Free(a driver.Address) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drain()
	i, ok := slices.BinarySearchFunc(c.blocks, a, func(b block, a driver.Address) int { return int(int64(b.at) - int64(a)) })
	if !ok {
		return reject("free", 1, "the address is of no allocation")
	}
	c.blocks[i].buffer.Free()
	c.blocks = slices.Delete(c.blocks, i, i+1)
	return nil
}

// bytes is memory of one allocation.
func (c *Context) bytes(a driver.Address, n int64) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.blocks {
		if a >= b.at && a < b.end() && int64(a-b.at)+n <= int64(len(b.buffer.Data)) && n >= 0 {
			return b.buffer.Data[a-b.at:][:n:n], nil
		}
	}
	return nil, reject("access", 700, fmt.Sprintf("%d bytes at %#x are of no allocation", n, uint64(a)))
}

// Lock remembers the range.
func (c *Context) Lock(host []byte) error {
	if err := c.driver.ask("pin"); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(host) == 0 || c.isLocked(host) {
		return reject("lock", 712, "part or all of the memory is locked already")
	}
	c.locked = append(c.locked, host)
	return nil
}

// Unlock forgets a range.
func (c *Context) Unlock(host []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.locked, func(l []byte) bool { return len(host) > 0 && &l[0] == &host[0] })
	if i < 0 {
		return reject("unlock", 713, "the memory is not locked")
	}
	c.locked = slices.Delete(c.locked, i, i+1)
	return nil
}

// isLocked reports whether a range lies in one that is locked.
func (c *Context) isLocked(host []byte) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(host)))
	return slices.ContainsFunc(c.locked, func(l []byte) bool {
		first := uintptr(unsafe.Pointer(unsafe.SliceData(l)))
		return at >= first && at+uintptr(len(host)) <= first+uintptr(len(l))
	})
}

// Close reports what was not closed before.
func (c *Context) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left error
	if n := len(c.streams) + len(c.blocks) + len(c.locked) + c.objects; n > 0 {
		left = fmt.Errorf("model: %d streams, %d allocations, %d locked ranges and %d events and functions are left", len(c.streams), len(c.blocks), len(c.locked), c.objects)
	}
	return errors.Join(left, c.memory.Close())
}

// Load takes the kernel's form in Go.
func (c *Context) Load(k driver.Kernel) (driver.Function, error) {
	if k.Go == nil {
		return nil, reject("load", 500, fmt.Sprintf("kernel %s has no form in Go", k.Name))
	}
	c.open(1)
	return &function{context: c, run: k.Go}, nil
}

func (c *Context) open(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects += n
}

type function struct {
	context *Context
	run     func(driver.Memory, []uint64) (driver.Cost, error)
}

func (f *function) Close() error {
	f.context.open(-1)
	return nil
}

// Clock is the time on the device when all that was done until now was done.
func (c *Context) Clock() (now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.clock
	for _, s := range c.streams {
		now = max(now, s.clock)
	}
	return now
}
