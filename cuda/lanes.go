package cuda

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/device"
)

// lanes are the streams of a stage: of copies in both directions, and of kernels. What is
// enqueued on one is ordered after another's by events alone.
type lanes struct {
	context                   driver.Context
	explain                   func(error) error // what a failure means
	upload, compute, download driver.Stream

	mu     sync.Mutex // in which jobs are enqueued, on all streams alike
	closed bool
	failed error          // of a job: those after it fail too
	events []driver.Event // all
	idle   []driver.Event // for the times of jobs
	waits  sync.WaitGroup
}

var errClosed = errors.New("the stage was closed")

func (l *lanes) open(g *GPU, c driver.Context) (err error) {
	l.context, l.explain = c, g.explain
	for _, s := range []*driver.Stream{&l.upload, &l.compute, &l.download} {
		if *s, err = c.NewStream(); err != nil {
			return err
		}
	}
	return nil
}

// close waits for what is under way.
func (l *lanes) close() (err error) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	for _, s := range []driver.Stream{l.upload, l.compute, l.download} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	l.waits.Wait()
	for _, e := range l.events {
		err = errors.Join(err, e.Close())
	}
	l.events, l.idle = nil, nil
	return err
}

// event makes an event that lives as long as the lanes.
func (l *lanes) event() (driver.Event, error) {
	e, err := l.context.NewEvent()
	if err == nil {
		l.events = append(l.events, e)
	}
	return e, err
}

// marker returns an event that no job needs any more, or a new one.
func (l *lanes) marker() (e driver.Event, err error) {
	if n := len(l.idle); n > 0 {
		e, l.idle = l.idle[n-1], l.idle[:n-1]
		return e, nil
	}
	return l.event()
}

// step is a part of a job on one stream.
type step struct {
	on    driver.Stream
	after []driver.Event // of other jobs; each as it was recorded last
	do    func(driver.Stream) error
	moved int          // bytes over the link
	done  driver.Event // recorded behind the step, for other jobs; nil for none
}

// job is a call under way.
type job struct {
	lanes *lanes
	steps []span
	moved int
	rare  []byte // what the device says of the operands: not zero where the CPU is to compute

	once     sync.Once
	finished chan struct{}
	times    device.Times
	err      error
}

// span is the beginning and the end of a step.
type span struct {
	on         driver.Stream
	begin, end driver.Event
}

// start enqueues the steps of a job, each after the one before.
func (l *lanes) start(steps ...step) *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := &job{lanes: l, finished: make(chan struct{})}
	if l.closed {
		j.err = errClosed
		return j
	}
	if j.err = l.failed; j.err == nil {
		j.err = l.explain(l.enqueue(j, steps))
		l.failed = j.err
	}
	return j
}

// order enqueues a step that no host waits for, and that has no times. Its error comes out of the
// jobs that follow it.
func (l *lanes) order(s step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.failed != nil {
		return
	}
	do := func() error {
		for _, e := range s.after {
			if err := s.on.Wait(e); err != nil {
				return err
			}
		}
		return s.do(s.on)
	}
	l.failed = l.explain(do())
}

func (l *lanes) enqueue(j *job, steps []step) error {
	for i := range steps {
		s := &steps[i]
		after := s.after
		if i > 0 && s.on != steps[i-1].on {
			after = append(slices.Clip(after), j.steps[i-1].end)
		}
		for _, e := range after {
			if err := s.on.Wait(e); err != nil {
				return err
			}
		}
		now := span{on: s.on}
		var err error
		if now.begin, err = l.marker(); err != nil {
			return err
		}
		if now.end, err = l.marker(); err != nil {
			return err
		}
		if err := s.on.Record(now.begin); err != nil {
			return err
		}
		if s.do != nil {
			if err := s.do(s.on); err != nil {
				return err
			}
		}
		if err := s.on.Record(now.end); err != nil {
			return err
		}
		if s.done != nil {
			if err := s.on.Record(s.done); err != nil {
				return err
			}
		}
		j.steps = append(j.steps, now)
		j.moved += s.moved
	}
	return nil
}

// Wait returns when the last step is done. A goroutine waits for the driver, which blocks
// until an event is done and knows nothing of contexts. A callback of the driver instead
// would never come after an error.
func (j *job) Wait(ctx context.Context) (device.Times, error) {
	if !j.begin() {
		return device.Times{}, j.err
	}
	select {
	case <-j.finished:
		return j.times, j.err
	default:
	}
	select {
	case <-j.finished:
		return j.times, j.err
	case <-ctx.Done():
		return device.Times{}, context.Cause(ctx)
	}
}

// begin begins to wait for the driver, once. It returns false for a job that is not under
// way.
func (j *job) begin() bool {
	l := j.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := true
	j.once.Do(func() {
		if l.closed && j.err == nil {
			j.err = errClosed
		}
		if waiting = j.err == nil; waiting {
			l.waits.Go(j.finish)
		} else {
			close(j.finished)
		}
	})
	return waiting
}

// finish waits for the last step, and reads the times of all.
func (j *job) finish() {
	defer close(j.finished)
	l := j.lanes
	if j.err = j.steps[len(j.steps)-1].end.Wait(); j.err == nil {
		j.err = j.measure()
	}
	j.err = l.explain(j.err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = j.err
	}
	if j.err == nil && slices.ContainsFunc(j.rare, func(b byte) bool { return b != 0 }) {
		j.err = device.ErrLeftToCPU
	}
	for _, s := range j.steps {
		l.idle = append(l.idle, s.begin, s.end)
	}
}

func (j *job) measure() error {
	l := j.lanes
	for _, s := range j.steps {
		took, err := s.end.Since(s.begin)
		if err != nil {
			return err
		}
		switch s.on {
		case l.upload:
			j.times.Upload += took
		case l.compute:
			j.times.Compute += took
		case l.download:
			j.times.Download += took
		}
	}
	j.times.Moved = int64(j.moved)
	return nil
}
