package cuda

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/exec"
)

// event is closed when what it stands for is done. nil stands for nothing, which is done.
type event chan struct{}

// stream does what is enqueued, in that order, on a goroutine of its own.
type stream struct {
	mu    sync.Mutex
	more  *sync.Cond
	queue []func()
	ended bool
}

func newStream() *stream {
	s := &stream{}
	s.more = sync.NewCond(&s.mu)
	return s
}

// run does the work until the stream has ended and nothing is left.
func (s *stream) run() {
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.ended {
			s.more.Wait()
		}
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		f := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		f()
	}
}

func (s *stream) enqueue(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, f)
	s.more.Signal()
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.more.Signal()
}

// streams are those of a stage: of copies in both directions, and of kernels.
type streams struct {
	model                     *model
	upload, compute, download *stream
	group                     sync.WaitGroup

	order   sync.Mutex // in which jobs are enqueued, on all streams alike
	mu      sync.Mutex // of what follows
	closing bool
	failed  error // of a job: those after it fail too, as on a GPU whose kernel failed
}

func newStreams(m *model) *streams {
	s := &streams{model: m, upload: newStream(), compute: newStream(), download: newStream()}
	for _, t := range []*stream{s.upload, s.compute, s.download} {
		s.group.Go(t.run)
	}
	return s
}

// close ends the streams. What is enqueued and has not begun is left out.
func (s *streams) close() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	for _, t := range []*stream{s.upload, s.compute, s.download} {
		t.end()
	}
	s.group.Wait()
}

var errClosed = errors.New("the stage was closed")

// job is a call under way.
type job struct {
	streams *streams
	parts   []event // of each step, when it is done
	times   exec.Times
	err     error
}

// step is a part of a job on one stream: it waits for events first.
type step struct {
	on    *stream
	name  string
	after []event
	do    func() (moved int) // nil where it only keeps the order
}

// start enqueues the steps of a job, each after the one before. Every event that a step
// waits for is of a job enqueued earlier, so that streams never wait for each other in a
// circle.
func (s *streams) start(steps ...step) *job {
	s.order.Lock()
	defer s.order.Unlock()
	j := &job{streams: s}
	for _, t := range steps {
		done := make(event)
		if n := len(j.parts); n > 0 {
			t.after = append(t.after, j.parts[n-1])
		}
		j.parts = append(j.parts, done)
		t.on.enqueue(func() { j.step(t, done) })
	}
	return j
}

func (j *job) step(s step, done event) {
	defer close(done)
	for _, e := range s.after {
		if e != nil {
			<-e
		}
	}
	if j.err = j.streams.state(); j.err != nil || s.do == nil {
		return
	}
	if j.err = j.streams.model.fails(s.name); j.err != nil {
		j.streams.fail(j.err)
		return
	}
	t := time.Now()
	j.times.Moved += int64(s.do())
	switch took := time.Since(t); s.on {
	case j.streams.upload:
		j.times.Upload += took
	case j.streams.compute:
		j.times.Compute += took
	case j.streams.download:
		j.times.Download += took
	}
}

// state is why nothing is done any more.
func (s *streams) state() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil && s.closing {
		return errClosed
	}
	return s.failed
}

func (s *streams) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
}

// Wait returns when the last step is done.
func (j *job) Wait(ctx context.Context) (exec.Times, error) {
	done := j.parts[len(j.parts)-1]
	select {
	case <-done:
		return j.times, j.err
	default:
	}
	select {
	case <-done:
		return j.times, j.err
	case <-ctx.Done():
		return exec.Times{}, context.Cause(ctx)
	}
}
