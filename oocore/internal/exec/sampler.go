package exec

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// The sampler looks often at first, for short runs to have a curve, and seldom
// later, for long ones not to fill the disk.
const (
	sampleOften = 10 * time.Millisecond
	sampleMost  = 500 * time.Millisecond
	sampleUntil = 200 // samples at one interval, before it doubles
	// Reading the process's memory takes some 40 µs, so that it holds for this long.
	sampleFresh = 500 * time.Microsecond
)

// sampler records the process's memory while a run lasts: by the clock, and where
// stages take and give back theirs, so that a short run has its shape too.
type sampler struct {
	mu          sync.Mutex
	run         *run        // nil when it is over
	timer       *time.Timer // of the next sample
	every       time.Duration
	timed       int // samples by the timer
	processPeak int64
	last        time.Duration // when the last sample was taken
	memory      machine.Memory
	known       time.Time // when memory was read
}

// startSampler takes a first sample of a run, and begins to take others.
func startSampler(r *run) *sampler {
	s := &sampler{run: r, every: sampleOften, memory: machine.Memory{Cached: -1}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sample()
	s.timer = time.AfterFunc(s.every, s.tick)
	return s
}

// tick takes a sample, lets Go's memory limit follow the heap, and sets the timer for the next one.
func (s *sampler) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return
	}
	s.sample()
	machine.FollowHeap()
	if s.timed++; s.timed%sampleUntil == 0 {
		s.every = min(2*s.every, sampleMost)
	}
	s.timer.Reset(s.every)
}

// stop ends sampling with one more sample.
func (s *sampler) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Stop()
	s.sample()
	s.run = nil // the runtime keeps a stopped timer for a while, and with it the sampler
}

// stage samples where a stage begins or ends: of many small ones not each.
func (s *sampler) stage() {
	const many = 100
	s.mu.Lock()
	defer s.mu.Unlock()
	recent := time.Since(s.run.Start)-s.last < sampleOften
	if len(s.run.Plan.Stages) < many || !recent {
		s.sample()
	}
}

// sample takes one, with mu held.
func (s *sampler) sample() {
	c := &s.run.Counts
	device := s.run.device.Usage()
	s.last = time.Since(s.run.Start)
	row := record.Sample{At: s.last, Arena: s.run.Arena.Now(),
		Device: device.Used, Kept: s.run.kept.Total(), Context: device.Context, Others: device.Others,
		Done: c.Tasks.Load(), Read: c.Read.Load(), Written: c.Written.Load()}
	if time.Since(s.known) > sampleFresh {
		if m, err := machine.Process(); err == nil {
			s.memory, s.known = m, time.Now()
		}
	}
	m := &s.memory
	row.Anonymous, row.Mapped, row.Cached = m.Anonymous, m.Mapped, m.Cached
	row.GoHeap, row.GoRuntime = m.GoHeap, m.GoRuntime
	s.run.coordinator.sample(&row)
	s.processPeak = max(s.processPeak, row.Anonymous)
	s.run.env.Record.Sample(row)
	s.run.progress()
}

// Progress is how far a run has come.
type Progress struct {
	Stage             int   // index of the stage that runs, or that ran last
	Computed, Skipped int64 // tasks of all stages
	Read, Written     int64 // bytes
	Memory            int64 // bytes of the run's buffers at this moment
	Elapsed           time.Duration
}

// progress tells the environment how far the run has come.
func (r *run) progress() {
	if r.env.Progress == nil {
		return
	}
	c := &r.Counts
	r.env.Progress(Progress{Stage: int(r.current.Load()), Computed: c.Tasks.Load(), Skipped: c.Skipped.Load(),
		Read: c.Read.Load(), Written: c.Written.Load(), Memory: r.Arena.Now().Host(), Elapsed: time.Since(r.Start)})
}

// logStage logs the start of a stage.
func (r *run) logStage(ctx context.Context, i int) {
	if !slog.Default().Enabled(ctx, slog.LevelDebug) {
		return
	}
	s := &r.Plan.Stages[i]
	slog.DebugContext(ctx, "gonbext: stage", "stage", i+1, "of", len(r.Plan.Stages), "kind", string(s.Kind), "name", s.Name,
		"shape", grid.Format(s.Grid.Shape), "chunks", s.Tasks(), "device", r.device.Spec().Name)
}
