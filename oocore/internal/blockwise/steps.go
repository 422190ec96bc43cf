package blockwise

import "context"

// Steps is the work of a Fill that may take long, cut into steps of up to about a second.
// Between two steps the run can be cancelled, and save what the next ones need: a run that
// resumes skips the steps that an earlier one has done.
//
//	for k := range n {
//		if s.Next() {
//			… // the step
//			if err := s.End(); err != nil {
//				return err
//			}
//		}
//	}
//
// A Fill goes through all its steps each time, in the same order. So only the state, which is
// memory that the Fill names, and the Op's fields decide which step follows; a step leaves
// what it computes in the state, and nothing else changes the state, also after the last
// step. A step waits for no worker, which is why Compute is around it: a run that is cancelled
// there would lose the state. A nil Steps runs all steps and can be neither cancelled nor
// saved.
type Steps struct {
	ctx   context.Context
	ended <-chan struct{}
	saver Saver // nil where nothing is saved
	at    int   // the last step that was reached
	done  int   // steps that an earlier run has done
}

// State returns the memory that later steps need after so many steps: as many bytes in every
// run.
type State func(done int) [][]byte

// Saver saves the state of a box between steps.
type Saver interface {
	// Restore reads the state that an earlier run has saved of the box that begins there into
	// its memory. It returns the number of steps that are done, 0 where there is none.
	Restore(start []int, state State) (done int)
	// Begin begins a step, when nobody reads the state.
	Begin()
	// End ends a step, the number of which counts from 1. The state may be read until the
	// next Begin.
	End(step int)
}

// Steps begins the steps of a task. A nil state saves none of them.
func (t *Task) Steps(ctx context.Context, state State) *Steps {
	s := &Steps{ctx: ctx, ended: ctx.Done()}
	if t.Saver != nil && state != nil {
		s.saver = t.Saver
		s.done = s.saver.Restore(t.Box.Start, state)
	}
	return s
}

// Skips reports whether an earlier run has done the next step, which then needs no input.
func (s *Steps) Skips() bool { return s != nil && s.at < s.done }

// Next comes to the next step, and reports whether it is to be done: then End follows it.
func (s *Steps) Next() bool {
	if s == nil {
		return true
	}
	if s.at++; s.at <= s.done {
		return false
	}
	if s.saver != nil {
		s.saver.Begin()
	}
	return true
}

// End ends a step. It returns the cause where the context has ended.
func (s *Steps) End() error {
	if s == nil {
		return nil
	}
	if s.saver != nil {
		s.saver.End(s.at)
	}
	select {
	case <-s.ended:
		return context.Cause(s.ctx)
	default:
		return nil
	}
}
