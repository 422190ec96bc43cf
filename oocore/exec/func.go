package exec

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/record"
)

// funcStage gives whole chunks to a Go function.
func (r *run) funcStage(ctx context.Context, stage int) error {
	s := &r.plan.Stages[stage]
	f, err := r.funcOf(s)
	if err != nil {
		return err
	}
	return r.noting(ctx, stage, nil, func(ctx context.Context) error {
		return r.pool(ctx, stage, s.Tasks(), func(i int) (int, grid.Box) { return i, s.Grid.Box(i) }, func(sl *slot) (worker, error) {
			return newCaller(sl, f)
		})
	})
}

// caller is a slot of a func stage.
type caller struct {
	slot *slot
	f    *graph.Func
	eval []*evaluator
	in   [][]byte
	out  []byte
	size int
}

func newCaller(s *slot, f *graph.Func) (*caller, error) {
	st := s.stage
	c := &caller{slot: s, f: f, size: s.run.plan.Arrays[st.Outputs[0]].DType.Size()}
	for i := range st.Programs {
		prog := &st.Programs[i]
		in, err := s.alloc(record.Input, int64(grid.Size(st.Grid.Chunks)*prog.Type(prog.Out[0]).Size()))
		if err != nil {
			return nil, err
		}
		e, err := newEvaluator(s, prog, st.Grid.Chunks)
		if err != nil {
			return nil, err
		}
		c.in, c.eval = append(c.in, in), append(c.eval, e)
	}
	var err error
	c.out, err = s.alloc(record.Output, int64(grid.Size(st.Grid.Chunks)*c.size))
	return c, err
}

func (c *caller) task(ctx context.Context, _ int, box grid.Box) error {
	n := box.Size()
	src := make([][]byte, len(c.in))
	for i, e := range c.eval {
		src[i] = c.in[i][:n*e.prog.Type(e.prog.Out[0]).Size()]
		if err := e.eval(ctx, box, src[i]); err != nil {
			return err
		}
	}
	dst := c.out[:n*c.size]
	if err := c.slot.compute(ctx, func() error { return c.call(dst, src, box) }); err != nil {
		return err
	}
	return c.slot.write(ctx, c.slot.stage.Outputs[0], dst, box)
}

// call turns a panic of the user's function into an error: it is one chunk's
// failure, not the process's.
func (c *caller) call(dst []byte, src [][]byte, box grid.Box) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the function panicked: %v", p)
		}
	}()
	return c.f.Call(dst, src, box)
}
