package cuda_test

import (
	"fmt"
	"sync"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

// faultyDriver is a driver that finds no memory, or locks none, when a test wants it: Fail is asked
// before each "allocate" and "pin".
type faultyDriver struct {
	driver.Driver
	mu   sync.Mutex
	fail func(operation string) error
}

// Fail sets what is asked; nil ends that.
func (f *faultyDriver) Fail(fail func(operation string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

// FailAllocation lets the n-th allocation from now on find no memory, or all where n is 0.
// asked is how many there have been.
func (f *faultyDriver) FailAllocation(n int) (asked func() int) {
	count := 0
	f.Fail(func(operation string) error {
		if operation != "allocate" {
			return nil
		}
		if count++; count == n || n == 0 {
			return &driver.Error{Call: "cuMemAlloc", Status: driver.StatusMemory}
		}
		return nil
	})
	return func() int { return count }
}

func (f *faultyDriver) ask(operation string) error {
	f.mu.Lock()
	fail := f.fail
	f.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(operation)
}

// Open opens the driver's device.
func (f *faultyDriver) Open(device int) (driver.Context, error) {
	c, err := f.Driver.Open(device)
	if err != nil {
		return nil, err
	}
	return &faultyContext{Context: c, driver: f}, nil
}

type faultyContext struct {
	driver.Context
	driver *faultyDriver
}

func (c *faultyContext) Alloc(bytes int64) (driver.Address, error) {
	if err := c.driver.ask("allocate"); err != nil {
		return 0, err
	}
	return c.Context.Alloc(bytes)
}

func (c *faultyContext) Lock(host []byte) error {
	if err := c.driver.ask("pin"); err != nil {
		return err
	}
	return c.Context.Lock(host)
}

// limitedDriver is a driver whose devices have so many bytes free, whatever the card has.
type limitedDriver struct {
	driver.Driver
	Bytes int64
}

// Open opens the driver's device.
func (l *limitedDriver) Open(device int) (driver.Context, error) {
	c, err := l.Driver.Open(device)
	if err != nil {
		return nil, err
	}
	return &limitedContext{Context: c, free: l.Bytes, total: l.Bytes, taken: map[driver.Address]int64{}}, nil
}

type limitedContext struct {
	driver.Context
	mu          sync.Mutex
	free, total int64
	taken       map[driver.Address]int64
}

func (c *limitedContext) Memory() (free, total int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.free, c.total, nil
}

func (c *limitedContext) Alloc(bytes int64) (driver.Address, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes > c.free {
		return 0, fmt.Errorf("%w: %d bytes wanted, %d free", driver.ErrMemory, bytes, c.free)
	}
	at, err := c.Context.Alloc(bytes)
	if err == nil {
		c.taken[at] = bytes
		c.free -= bytes
	}
	return at, err
}

func (c *limitedContext) Free(at driver.Address) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.Context.Free(at)
	if err == nil {
		c.free += c.taken[at]
		delete(c.taken, at)
	}
	return err
}
