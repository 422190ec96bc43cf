// Package budget shares the process's memory among the runs that are active in it at once. A
// budget is of the process: runs that do not fit into it together follow each other.
package budget

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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

// Share is the part of a run.
type Share struct {
	Bytes    int64  // that its buffers may take
	Heap     int64  // of these, what lies in Go's heap
	Overhead int64  // of the process, without the buffers of runs
	Budget   int64  // of the whole process, as the run was given it
	Loop     string // that takes what the run makes, and may start others meanwhile; "" for none
	NoWait   bool   // a run that would wait is an error
}

// Loops are the runs whose results a loop of the program is taking. Such a run ends no sooner
// than its loop, so that a run in the loop must not wait for it.
type Loops struct {
	Bytes  int64 // that their buffers may take
	Budget int64 // the least of theirs
	N      int
	Name   string // of one of them
}

// LoopsError is returned for a run that would wait for loops.
type LoopsError struct{ Loops }

func (e *LoopsError) Error() string { return e.Name + " leaves too little of the budget" }

// BusyError is returned for a run that would wait and is not to.
type BusyError struct {
	Bytes  int64 // that the run's buffers may take
	Active int   // runs
	Taken  int64 // by their buffers
	Budget int64 // the least of theirs and the run's
}

func (e *BusyError) Error() string { return "the budget is taken by other runs" }

// Pool is what runs share that must fit into their budgets together. The others wait in the order in which
// they came. Its zero value is ready for use.
type Pool struct {
	mu     sync.Mutex
	active map[*waiter]struct{}
	queue  []*waiter
	heap   atomic.Int64 // that the active runs leave to Go's heap and runtime
	lower  func()       // ends the limit of Go's heap
}

// Process is the pool of the runs that are in no other.
var Process Pool

// waiter is a run that is active or waits.
type waiter struct {
	Share
	ready chan struct{} // closed when err says how the wait ended
	err   error
}

// Active returns the loops that are running.
func (p *Pool) Active() Loops {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loops()
}

func (p *Pool) loops() (l Loops) {
	for s := range p.active {
		if s.Loop != "" {
			l.Bytes, l.N, l.Name = l.Bytes+s.Bytes, l.N+1, s.Loop
			if l.N == 1 || s.Budget < l.Budget {
				l.Budget = s.Budget
			}
		}
	}
	return l
}

// Take waits until a run's buffers fit into the budgets of all runs of the pool that are active, on top of
// the process's overhead. A run that is active alone has what its plan predicts; so has one that a
// Go function of another run starts, which could otherwise wait for itself. Where loops leave too little the
// error is a *LoopsError. Until release is called Go's heap is kept within what the active runs leave of their budgets.
func (p *Pool) Take(ctx context.Context, s Share) (release func(), err error) {
	w := &waiter{Share: s, ready: make(chan struct{})}
	p.mu.Lock()
	if withinRun() {
		p.admit(w)
	} else {
		p.queue = append(p.queue, w)
		p.next()
		if _, taken := p.active[w]; !taken && w.err == nil && s.NoWait {
			_, w.err = p.fits(w)
			p.leave(w)
		}
	}
	p.mu.Unlock()
	select {
	case <-w.ready:
	case <-ctx.Done():
		p.mu.Lock()
		select {
		case <-w.ready:
		default:
			w.err = context.Cause(ctx)
			p.leave(w)
		}
		p.mu.Unlock()
	}
	if w.err != nil {
		return nil, w.err
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.active, w)
		p.limitHeap()
		p.next()
	}, nil
}

// next admits those of the queue that fit, first come, first served. While a loop runs a later one may go first: the
// loop's body may have started it, and the loop may be what an earlier one waits for.
func (p *Pool) next() {
	for i := 0; i < len(p.queue); {
		w := p.queue[i]
		fits, _ := p.fits(w)
		loops := p.loops()
		switch {
		case fits:
			p.admit(w)
		case loops.N > 0 && w.Overhead+w.Bytes+loops.Bytes > min(w.Budget, loops.Budget):
			w.err = &LoopsError{loops}
			close(w.ready)
		case loops.N == 0:
			return
		default:
			i++
			continue
		}
		p.queue = slices.Delete(p.queue, i, i+1)
		i = 0 // a loop that was admitted may be what others cannot wait for
	}
}

// leave takes a run out of the queue, which may have held up those behind it.
func (p *Pool) leave(w *waiter) {
	p.queue = slices.DeleteFunc(p.queue, func(other *waiter) bool { return other == w })
	close(w.ready)
	p.next()
}

func (p *Pool) admit(w *waiter) {
	if p.active == nil {
		p.active = map[*waiter]struct{}{}
	}
	p.active[w] = struct{}{}
	close(w.ready)
	p.limitHeap()
}

// fits reports whether a further run fits together with those that are active.
func (p *Pool) fits(w *waiter) (bool, error) {
	busy := &BusyError{w.Bytes, len(p.active), 0, w.Budget}
	for other := range p.active {
		busy.Taken += other.Bytes
		busy.Budget = min(busy.Budget, other.Budget)
	}
	return busy.Active == 0 || w.Overhead+w.Bytes+busy.Taken <= busy.Budget, busy
}

// limitHeap leaves to Go's heap what the active runs do not take of the least of their budgets: what the
// program held already, what they have in the heap themselves, and the rest, which a heap that grows may fill.
func (p *Pool) limitHeap() {
	var taken, heap, overhead int64
	least := int64(math.MaxInt64)
	for s := range p.active {
		taken, heap, overhead, least = taken+s.Bytes, heap+s.Heap, max(overhead, s.Overhead), min(least, s.Budget)
	}
	p.heap.Store(max(overhead, least-taken) + heap)
	switch {
	case len(p.active) == 0:
		p.lower()
		p.lower = nil
	case p.lower == nil:
		p.lower = machine.LimitRuntimeTo(p.heap.Load)
	default:
		machine.UpdateRuntimeLimit()
	}
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
