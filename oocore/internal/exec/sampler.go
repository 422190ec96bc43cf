package exec

import (
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// The sampler looks often at first, for short runs to have a curve, and seldom
// later, for long ones not to fill the disk.
const (
	sampleOften = 10 * time.Millisecond
	sampleMost  = 500 * time.Millisecond
	sampleUntil = 200 // samples at one interval, before it doubles
)

// sampler records the process's memory while a run lasts: by the clock, and where
// stages take and give back theirs, so that a short run has its shape too.
type sampler struct {
	run   *run
	done  chan struct{}
	group sync.WaitGroup

	mu          sync.Mutex
	processPeak int64
	last        time.Duration // when the last sample was taken
}

// startSampler takes a first sample of a run, and begins to take others.
func startSampler(r *run) *sampler {
	s := &sampler{run: r, done: make(chan struct{})}
	s.sample()
	s.group.Go(func() {
		every := sampleOften
		timer := time.NewTimer(every)
		defer timer.Stop()
		for n := 1; ; n++ {
			select {
			case <-s.done:
				return
			case <-timer.C:
			}
			s.sample()
			if n%sampleUntil == 0 {
				every = min(2*every, sampleMost)
			}
			timer.Reset(every)
		}
	})
	return s
}

// stop ends sampling with one more sample.
func (s *sampler) stop() {
	close(s.done)
	s.group.Wait()
	s.sample()
}

// stage samples where a stage begins or ends: of many small ones not each.
func (s *sampler) stage() {
	const many = 100
	s.mu.Lock()
	recent := time.Since(s.run.start)-s.last < sampleOften
	s.mu.Unlock()
	if len(s.run.plan.Stages) < many || !recent {
		s.sample()
	}
}

func (s *sampler) sample() {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.run.counts
	device := s.run.device.Usage()
	s.last = time.Since(s.run.start)
	row := record.Sample{At: s.last, Arena: s.run.arena.Now(), Cached: -1,
		Device: device.Used, Kept: s.run.kept.Total(), Context: device.Context, Others: device.Others,
		Done: c.tasks.Load(), Read: c.read.Load(), Written: c.written.Load()}
	if m, err := machine.Process(); err == nil {
		row.Anonymous, row.Mapped, row.Cached = m.Anonymous, m.Mapped, m.Cached
		row.GoHeap, row.GoRuntime = m.GoHeap, m.GoRuntime
	}
	s.run.coordinator.sample(&row)
	s.processPeak = max(s.processPeak, row.Anonymous)
	s.run.env.Record.Sample(row)
	s.run.progress()
}
