package drivertest

import (
	"fmt"
	"os"
	"sync"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

// OnMachine reports that GONBEXT_TEST_DRIVER is "machine": tests that can run on a card
// take the driver that this machine has, and not its double.
func OnMachine() bool { return os.Getenv("GONBEXT_TEST_DRIVER") == "machine" }

// Limited is a driver whose devices have so many bytes free, whatever the card has.
type Limited struct {
	driver.Driver
	Bytes int64
}

// Open opens the driver's device.
func (l *Limited) Open(device int) (driver.Context, error) {
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
