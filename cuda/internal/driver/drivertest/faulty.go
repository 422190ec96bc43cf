package drivertest

import (
	"sync"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

// Faulty is a driver that finds no memory, or locks none, when a test wants it: Fail is asked
// before each "allocate" and "pin".
type Faulty struct {
	driver.Driver
	mu   sync.Mutex
	fail func(operation string) error
}

// Fail sets what is asked; nil ends that.
func (f *Faulty) Fail(fail func(operation string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

// FailAllocation lets the n-th allocation from now on find no memory, or all where n is 0.
// asked is how many there have been.
func (f *Faulty) FailAllocation(n int) (asked func() int) {
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

func (f *Faulty) ask(operation string) error {
	f.mu.Lock()
	fail := f.fail
	f.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(operation)
}

// Open opens the driver's device.
func (f *Faulty) Open(device int) (driver.Context, error) {
	c, err := f.Driver.Open(device)
	if err != nil {
		return nil, err
	}
	return &faultyContext{Context: c, driver: f}, nil
}

type faultyContext struct {
	driver.Context
	driver *Faulty
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
