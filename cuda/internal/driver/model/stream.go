package model

import (
	"errors"
	"slices"
	"time"

	"github.com/gonbext/gonbext/cuda/internal/driver"
)

// stream does operations in order, on a goroutine of its own.
type stream struct {
	context *Context
	queue   []*operation
	busy    bool // an operation is running
	closed  bool
	ended   chan struct{}
	clock   time.Duration // when the last operation was done
}

// operation is an element of a stream's queue.
type operation struct {
	stream *stream
	name   string                        // what Fail is asked, if anything
	do     func() (time.Duration, error) // nil where it only keeps the order
	after  *operation                    // of another stream; nil for none
	end    time.Duration
	wanted bool // the host waits for it, or for what needs it
	done   bool
}

// NewStream starts a stream.
func (c *Context) NewStream() (driver.Stream, error) {
	s := &stream{context: c, ended: make(chan struct{})}
	c.mu.Lock()
	c.streams = append(c.streams, s)
	c.mu.Unlock()
	go s.run()
	return s, nil
}

// run does what is enqueued until the stream is closed.
func (s *stream) run() {
	c := s.context
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(s.ended)
	for {
		for len(s.queue) == 0 || !c.admits(s) {
			if len(s.queue) == 0 && s.closed {
				return
			}
			c.change.Wait()
		}
		o := s.queue[0]
		s.queue, s.busy = s.queue[1:], true
		var took time.Duration
		if o.do != nil && c.failed == nil {
			c.mu.Unlock()
			err := c.driver.ask(o.name)
			if err == nil {
				took, err = o.do()
			}
			c.mu.Lock()
			if c.failed == nil {
				c.failed = err
			}
		}
		if o.after != nil {
			s.clock = max(s.clock, o.after.end)
		}
		s.clock += took
		o.end, o.done, s.busy = s.clock, true, false
		o.after, o.do = nil, nil
		c.change.Broadcast()
	}
}

// ready reports whether a stream's next operation has nothing to wait for.
func (s *stream) ready() bool {
	return len(s.queue) > 0 && (s.queue[0].after == nil || s.queue[0].after.done)
}

// admits reports whether a stream may continue now.
func (c *Context) admits(s *stream) bool {
	if !s.ready() {
		return false
	}
	switch c.driver.Order {
	case Lazy:
		return s.queue[0].wanted
	case Hasty:
		for _, older := range c.streams[:slices.Index(c.streams, s)] {
			if older.busy || older.ready() {
				return false
			}
		}
	}
	return true
}

// want marks an operation and what must be done before.
func (c *Context) want(o *operation) {
	if !slices.Contains(o.stream.queue, o) {
		return // it is being done, or is done
	}
	for _, before := range o.stream.queue {
		if !before.wanted {
			before.wanted = true
			if before.after != nil {
				c.want(before.after)
			}
		}
		if before == o {
			break
		}
	}
	c.change.Broadcast()
}

// drain waits until all streams have done what was enqueued.
func (c *Context) drain() {
	for _, s := range c.streams {
		if n := len(s.queue); n > 0 {
			c.want(s.queue[n-1])
		}
		for len(s.queue) > 0 || s.busy {
			c.change.Wait()
		}
	}
}

// enqueue returns what has failed on the device before.
func (s *stream) enqueue(o *operation) error {
	c := s.context
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.closed {
		return reject("enqueue", 400, "the stream is closed")
	}
	o.stream = s
	s.queue = append(s.queue, o)
	c.change.Broadcast()
	return c.failed
}

// Upload takes the time of the link.
func (s *stream) Upload(to driver.Address, from []byte) error {
	rate := s.context.driver.Rates.Upload
	return s.enqueue(&operation{name: "upload", do: func() (time.Duration, error) {
		dst, err := s.context.bytes(to, int64(len(from)))
		return s.context.link(from, rate), finish(err, func() { copy(dst, from) })
	}})
}

// Download takes the time of the link.
func (s *stream) Download(to []byte, from driver.Address) error {
	rate := s.context.driver.Rates.Download
	return s.enqueue(&operation{name: "download", do: func() (time.Duration, error) {
		src, err := s.context.bytes(from, int64(len(to)))
		return s.context.link(to, rate), finish(err, func() { copy(to, src) })
	}})
}

func finish(err error, do func()) error {
	if err == nil {
		do()
	}
	return err
}

// link returns the time of a copy. Memory that is not page-locked is copied twice, as a driver does
// through a locked buffer of its own.
func (c *Context) link(host []byte, rate float64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := seconds(int64(len(host)), rate)
	if !c.isLocked(host) {
		took *= 2
	}
	return took
}

func seconds(count int64, rate float64) time.Duration {
	if rate <= 0 {
		return 0
	}
	return time.Duration(float64(count) / rate * float64(time.Second))
}

// Clear takes the time of the device's memory.
func (s *stream) Clear(at driver.Address, bytes int64) error {
	return s.enqueue(&operation{name: "clear", do: func() (time.Duration, error) {
		dst, err := s.context.bytes(at, bytes)
		clear(dst)
		return seconds(bytes, s.context.driver.Rates.Memory), err
	}})
}

// Launch runs the kernel's form in Go.
func (s *stream) Launch(f driver.Function, _, _ [3]uint32, args ...uint64) error {
	c, run := s.context, f.(*function).run
	args = slices.Clone(args)
	return s.enqueue(&operation{name: "compute", do: func() (took time.Duration, err error) {
		defer func() {
			switch bad := recover().(type) {
			case nil:
			case *outside:
				err = bad.error
			default:
				panic(bad)
			}
		}()
		cost, err := run(memory{c}, args)
		r := &c.driver.Rates
		return max(seconds(cost.Operations, r.Arithmetic), seconds(cost.Bytes, r.Memory)), err
	}})
}

// memory ends a kernel that goes outside its allocations.
type memory struct{ context *Context }

type outside struct{ error }

func (m memory) Bytes(a driver.Address, n int64) []byte {
	b, err := m.context.bytes(a, n)
	if err != nil {
		panic(&outside{err})
	}
	return b
}

// Call returns an error: NVIDIA's libraries need a device.
func (s *stream) Call(func(uintptr) error) error {
	return errors.New("a modelled device has no stream for libraries")
}

// event is an operation that was recorded.
type event struct {
	context *Context
	last    *operation
}

// NewEvent makes an event that was never recorded.
func (c *Context) NewEvent() (driver.Event, error) {
	c.open(1)
	return &event{context: c}, nil
}

func (s *stream) Record(e driver.Event) error {
	o := &operation{}
	err := s.enqueue(o)
	s.context.mu.Lock()
	defer s.context.mu.Unlock()
	if o.stream == nil {
		return err
	}
	e.(*event).last = o
	return err
}

func (s *stream) Wait(e driver.Event) error {
	s.context.mu.Lock()
	after := e.(*event).last
	s.context.mu.Unlock()
	return s.enqueue(&operation{after: after})
}

func (s *stream) Close() error {
	c := s.context
	c.mu.Lock()
	s.closed = true
	if n := len(s.queue); n > 0 {
		c.want(s.queue[n-1])
	}
	c.change.Broadcast()
	c.mu.Unlock()
	<-s.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = slices.DeleteFunc(c.streams, func(other *stream) bool { return other == s })
	c.clock = max(c.clock, s.clock)
	if len(c.streams) == 0 && c.driver.Fail != nil {
		c.failed = nil
	}
	return nil
}

func (e *event) Wait() error {
	c := e.context
	c.mu.Lock()
	defer c.mu.Unlock()
	o := e.last
	if o == nil {
		return c.failed
	}
	c.want(o)
	for !o.done {
		c.change.Wait()
	}
	return c.failed
}

func (e *event) Since(first driver.Event) (time.Duration, error) {
	c := e.context
	c.mu.Lock()
	defer c.mu.Unlock()
	from, to := first.(*event).last, e.last
	if from == nil || to == nil || !from.done || !to.done {
		return 0, reject("time", 600, "an event is not done")
	}
	return to.end - from.end, nil
}

func (e *event) Close() error {
	e.context.open(-1)
	return nil
}
