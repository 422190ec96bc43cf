// Package budget shares the process's memory among the runs that are active in it at once. A
// budget is of the process: runs that do not fit into it together follow each other.
package budget

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/machine"
)

// runtimeBaseline is what Go's runtime and heap take, without buffers, in a small program,
// with room for a run's own bookkeeping.
const runtimeBaseline = 16 << 20

// Nominal is the overhead of a small program, on whatever machine.
const Nominal = runtimeBaseline

// Overhead returns what the process takes without the buffers of runs, for a run with a budget;
// 0 is the default one. It moves in steps, and a program that comes back with the budget that a
// rejection named has the overhead of that rejection, although it has grown a little.
func Overhead(budget int64) int64 { return ofRun.measured(budget) }

// Foreseen returns the overhead that an algorithm of several runs is planned with: it has
// room for what each run leaves behind in Go's runtime and heap.
func Foreseen(budget int64) int64 { return ofAlgorithm.measured(budget) }

// Named notes that a rejection names a budget, for the overheads that were returned last.
func Named(budget int64) {
	for _, s := range []*steps{&ofRun, &ofAlgorithm} {
		s.Lock()
		s.named, s.budget = s.last, budget
		s.Unlock()
	}
}

// steps is an overhead in whole steps.
type steps struct {
	room int64 // to grow in, beside what the program holds already
	sync.Mutex
	last          int64 // the overhead that was returned
	named, budget int64 // the overhead with which a rejection named a budget
}

var (
	ofRun       = steps{room: runtimeBaseline / 2}
	ofAlgorithm = steps{room: runtimeBaseline}
)

func (s *steps) measured(budget int64) int64 {
	m, err := machine.WithoutCache()
	if err != nil {
		return runtimeBaseline
	}
	held := m.Anonymous - arena.Live()
	if detector {
		held = min(held, m.GoHeap+m.GoRuntime)
	}
	return s.next(held+s.room, s.room/4, budget)
}

// next returns an overhead of need bytes, in whole steps. For a budget that was named it is the one that
// this was named with, as long as that lacks no more than slack.
func (s *steps) next(need, slack, budget int64) int64 {
	const step = 16 << 20
	s.Lock()
	defer s.Unlock()
	s.last = max(runtimeBaseline, (need+step-1)/step*step)
	if back := budget == 0 || budget >= s.budget; back && 0 < s.named && s.named < need && need <= s.named+slack {
		s.last = s.named
	}
	return s.last
}

// HasGarbage reports whether the overhead is more than that of a small program, so that
// collecting garbage may lower it.
func HasGarbage(overhead int64) bool { return overhead > runtimeBaseline }

// share is the part of a run.
type share struct {
	bytes  int64  // that its buffers may take
	budget int64  // of the whole process, as the run was given it
	loop   string // that takes what the run makes, and may start others meanwhile; "" for none
}

// Loops are the runs whose results a loop of the program is taking. Such a run ends no sooner
// than its loop, so that a run in the loop must not wait for it.
type Loops struct {
	Bytes  int64 // that their buffers may take
	Budget int64 // the least of theirs
	N      int
	Name   string // of one of them
}

// Active returns the loops that are running.
func Active() Loops {
	active.Lock()
	defer active.Unlock()
	return activeLoops()
}

func activeLoops() (l Loops) {
	for s := range active.shares {
		if s.loop != "" {
			l.Bytes, l.N, l.Name = l.Bytes+s.bytes, l.N+1, s.loop
			if l.N == 1 || s.budget < l.Budget {
				l.Budget = s.budget
			}
		}
	}
	return l
}

// LoopsError is returned for a run that would wait for loops.
type LoopsError struct{ Loops }

func (e *LoopsError) Error() string { return e.Name + " leaves too little of the budget" }

var active struct {
	sync.Mutex
	shares  map[*share]struct{}
	changed chan struct{} // closed when a share is given back
}

// Take waits until bytes for a run's buffers fit into the budgets of all runs that are active,
// on top of overhead. A run that is active alone has what its plan predicts; so has one that a
// Go function of another run starts, which could otherwise wait for itself. loop names the
// loop that takes what the run makes; "" for none. Where loops leave too little the error is a
// *LoopsError.
func Take(ctx context.Context, bytes, overhead, budget int64, loop string) (release func(), err error) {
	s := &share{bytes, budget, loop}
	nested := withinRun()
	for {
		active.Lock()
		if active.shares == nil {
			active.shares, active.changed = map[*share]struct{}{}, make(chan struct{})
		}
		if nested || s.fits(overhead) {
			active.shares[s] = struct{}{}
			active.Unlock()
			return s.release, nil
		}
		changed, loops := active.changed, activeLoops()
		active.Unlock()
		if loops.N > 0 && overhead+bytes+loops.Bytes > min(budget, loops.Budget) {
			return nil, &LoopsError{loops}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// fits reports whether a further share fits together with those that are active.
func (s *share) fits(overhead int64) bool {
	if len(active.shares) == 0 {
		return true
	}
	sum, least := overhead+s.bytes, s.budget
	for other := range active.shares {
		sum += other.bytes
		least = min(least, other.budget)
	}
	return sum <= least
}

func (s *share) release() {
	active.Lock()
	defer active.Unlock()
	delete(active.shares, s)
	close(active.changed)
	active.changed = make(chan struct{})
}

// withinRun reports whether the caller is a function that a run calls.
func withinRun() bool {
	var pcs [128]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "/oocore/internal/exec.") {
			return true
		}
		if !more {
			return false
		}
	}
}
