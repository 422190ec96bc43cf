package drivertest

import (
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

// Faulty is a driver whose operations fail when a test wants it. Its streams ask Fail when
// they come to an operation, not when it is enqueued: before each "upload", "compute" and
// "download"; "allocate" and "pin" are asked for at the call. After a failure all operations
// are left out until the last stream is closed.
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
	driver  *Faulty
	mu      sync.Mutex
	streams int
	failed  error
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

func (c *faultyContext) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// try does an operation unless one has failed.
func (c *faultyContext) try(operation string, do func() error) {
	err := c.failure()
	if err != nil {
		return
	}
	if operation != "" {
		err = c.driver.ask(operation)
	}
	if err == nil {
		err = do()
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failed == nil {
			c.failed = err
		}
	}
}

// faultyStream hands operations on from a goroutine.
type faultyStream struct {
	inner   driver.Stream
	context *faultyContext
	mu      sync.Mutex
	more    *sync.Cond
	queue   []func()
	closed  bool
	ended   chan struct{}
}

func (c *faultyContext) NewStream() (driver.Stream, error) {
	inner, err := c.Context.NewStream()
	if err != nil {
		return nil, err
	}
	s := &faultyStream{inner: inner, context: c, ended: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	c.mu.Lock()
	c.streams++
	c.mu.Unlock()
	go s.run()
	return s, nil
}

func (s *faultyStream) run() {
	defer close(s.ended)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.closed {
			s.more.Wait()
		}
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		do := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		do()
	}
}

func (s *faultyStream) enqueue(do func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, do)
	s.more.Signal()
	return nil
}

func (s *faultyStream) try(operation string, do func() error) error {
	return s.enqueue(func() { s.context.try(operation, do) })
}

func (s *faultyStream) Upload(to driver.Address, from []byte) error {
	return s.try("upload", func() error { return s.inner.Upload(to, from) })
}

func (s *faultyStream) Download(to []byte, from driver.Address) error {
	return s.try("download", func() error { return s.inner.Download(to, from) })
}

func (s *faultyStream) Clear(at driver.Address, bytes int64) error {
	return s.try("", func() error { return s.inner.Clear(at, bytes) })
}

func (s *faultyStream) Launch(f driver.Function, grid, block [3]uint32, args ...uint64) error {
	args = slices.Clone(args)
	return s.try("compute", func() error { return s.inner.Launch(f, grid, block, args...) })
}

func (s *faultyStream) Call(f func(stream uintptr) error) error {
	return s.try("compute", func() error { return s.inner.Call(f) })
}

// faultyEvent has an event of the driver for each time that it is recorded.
type faultyEvent struct {
	context *faultyContext
	mu      sync.Mutex
	all     []*recorded
}

type recorded struct {
	event driver.Event
	done  chan struct{} // it is recorded on the driver's stream
}

func (c *faultyContext) NewEvent() (driver.Event, error) { return &faultyEvent{context: c}, nil }

func (e *faultyEvent) last() *recorded {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.all) == 0 {
		return nil
	}
	return e.all[len(e.all)-1]
}

func (s *faultyStream) Record(e driver.Event) error {
	event := e.(*faultyEvent)
	inner, err := s.context.Context.NewEvent()
	if err != nil {
		return err
	}
	r := &recorded{inner, make(chan struct{})}
	event.mu.Lock()
	event.all = append(event.all, r)
	event.mu.Unlock()
	return s.enqueue(func() {
		defer close(r.done)
		_ = s.inner.Record(inner)
	})
}

func (s *faultyStream) Wait(e driver.Event) error {
	r := e.(*faultyEvent).last()
	if r == nil {
		return nil
	}
	return s.enqueue(func() {
		<-r.done
		_ = s.inner.Wait(r.event)
	})
}

func (s *faultyStream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.more.Signal()
	s.mu.Unlock()
	<-s.ended
	c := s.context
	c.mu.Lock()
	if c.streams--; c.streams == 0 {
		c.failed = nil
	}
	c.mu.Unlock()
	return s.inner.Close()
}

func (e *faultyEvent) Wait() error {
	r := e.last()
	if r == nil {
		return e.context.failure()
	}
	<-r.done
	err := r.event.Wait()
	if failed := e.context.failure(); failed != nil {
		return failed
	}
	return err
}

func (e *faultyEvent) Since(first driver.Event) (time.Duration, error) {
	return e.last().event.Since(first.(*faultyEvent).last().event)
}

func (e *faultyEvent) Close() (err error) {
	for _, r := range e.all {
		if closed := r.event.Close(); err == nil {
			err = closed
		}
	}
	return err
}
