package slots

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/machine"
)

// Pool is a stage's slots. The first error of a task stops all of them.
type Pool struct {
	run   *Shared
	index int // of the stage
	stage *size.Stage
	all   []prepared
	end   context.CancelCauseFunc // of the context of the last Run, in which writes may go on; nil before the first
}

// NewPool prepares the slots of a stage, sized as it is done; make prepares the tasks of
// one.
func NewPool(r *Shared, stage int, sized *size.Stage, make func(*Slot) (Task, error)) (*Pool, error) {
	p := &Pool{run: r, index: stage, stage: sized}
	for i := range p.stage.Slots {
		s := NewSlot(r, stage, i)
		s.Stage = sized
		w, err := make(s)
		p.all = append(p.all, prepared{s, w})
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		s.Row.Allocations = uint32(len(s.Buffers))
	}
	return p, nil
}

// giveWayAfter is how long the tasks of a stage that gives way compute as others do: a request of a service has ended by then.
const giveWayAfter = 100 * time.Millisecond

// Run lets each slot take the next task until there are none. Its context stays until Close,
// or the next Run, which comes after a Sync: sessions may write what they were given until
// then.
func (p *Pool) Run(ctx context.Context, tasks checkpoint.Tasks, done func(index int)) error {
	if partials := p.run.Partials; partials != nil {
		if err := partials.Begin(tasks); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p.release()
	p.end = cancel
	next := &cursor{left: slices.Clone(tasks)}
	begun := time.Now()
	serve := func(w prepared) error {
		gave := !p.run.GivesWay
		for ctx.Err() == nil {
			if !gave && time.Since(begun) > giveWayAfter {
				machine.GiveWay()
				gave = true
			}
			index, ok := next.take()
			if !ok {
				return nil
			}
			c, box := ChunkOf(p.stage, index)
			w.slot.begin(index, c)
			if err := w.task(ctx, index, box); err != nil {
				return NewTaskError(ctx, p.stage, box, err)
			}
			w.slot.finish()
			done(index)
		}
		return nil
	}
	var group sync.WaitGroup
	for _, w := range p.all {
		group.Go(func() {
			err := ErrGoexit // stays where serve never returns
			defer func() {
				if err != nil {
					cancel(err)
				}
			}()
			err = serve(w)
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// release ends the context of the last Run.
func (p *Pool) release() {
	if p.end != nil {
		p.end(nil)
	}
}

// Close frees the slots' buffers, after what their sessions still write.
func (p *Pool) Close() (err error) {
	defer p.release()
	for _, w := range p.all {
		if failed := w.slot.Free(); err == nil {
			err = failed
		}
	}
	return err
}

// cursor hands out the tasks of a set one by one, in order, to many goroutines.
type cursor struct {
	mu   sync.Mutex
	left checkpoint.Tasks
}

func (c *cursor) take() (index int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.left) == 0 {
		return 0, false
	}
	return c.left.Take(1).First, true
}

// prepared is a slot with what does its tasks.
type prepared struct {
	slot *Slot
	task Task
}

// NewMapPool allocates the slots of a map stage.
func NewMapPool(r *Shared, stage int) (*Pool, error) {
	s := &r.Plan.Stages[stage]
	states := newBoxStates(s)
	var turns chan struct{}
	if n := r.Plan.FirstReads(s); n > 0 {
		turns = make(chan struct{}, n)
	}
	if s.Workspaces > 0 {
		return newPrefetchPool(r, stage, turns)
	}
	p, err := NewPool(r, stage, s, func(sl *Slot) (Task, error) {
		m, err := newMapper(sl)
		if err != nil {
			return nil, err
		}
		m.turns = turns
		if states != nil {
			m.state = states.slot()
			m.eval.plain.(*blockwiseReader).state = m.state
		}
		return m.task, nil
	})
	if err == nil && states != nil {
		r.Unfinished = states
	}
	return p, err
}

// NewReducePool allocates the slots of a reduce stage.
func NewReducePool(r *Shared, stage int) (*Pool, error) {
	f := NewFolding(r, &r.Plan.Stages[stage])
	return NewPool(r, stage, f.Stage, func(sl *Slot) (Task, error) {
		r, err := newReducer(sl, f)
		if err != nil {
			return nil, err
		}
		return r.task, nil
	})
}
