package exec

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
)

// deviceProduct is a product whose accumulators stay on a device. Panels of both operands
// stream past them, read as for the CPU; rows of tiles that are whole come back.
type deviceProduct struct {
	*product
	on   *onDevice
	rows chan []byte // buffers for rows of tiles
}

func newDeviceProduct(o *onDevice) (_ Runner, err error) {
	m := o.stage.Super
	p := &product{run: o.run, index: o.index, stage: o.stage, m: m, sums: m.Panels(), slot: &slot{run: o.run, stage: o.stage}}
	p.slot.row.Chunk = -1
	o.begin(p.slot)
	d := &deviceProduct{product: p, on: o, rows: make(chan []byte, plan.DeviceRows)}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	rows, cols, k := min(m.SuperM*m.TileM, m.M), min(m.SuperN*m.TileN, m.N), min(m.TileK, m.K)
	pinned := func(n int) (b []byte) {
		if err == nil {
			b, err = o.pinned(p.slot, int64(n))
		}
		return b
	}
	p.a, p.b = p.operand(0, o.index), p.operand(1, o.index)
	for range m.Depth {
		p.panels = append(p.panels, &panel{a: pinned(rows * k * p.a.size), b: pinned(k * cols * p.b.size)})
	}
	tile := min(m.TileM, m.M) * cols
	for range plan.DeviceRows {
		d.rows <- pinned(tile * m.Type.Size())
	}
	if err != nil {
		return nil, err
	}
	if out := o.run.plan.Arrays[o.stage.Outputs[0]].DType; out != m.Type {
		p.casts, _ = kernel.Cast(m.Type, out)
		cast, err := p.slot.alloc(record.Output, int64(tile*out.Size()))
		if err != nil {
			return nil, err
		}
		p.cast = append(p.cast, cast)
	}
	if p.a.eval, err = newEvaluator(p.a.slot, &o.stage.Programs[0], p.box(p.a, nil, nil, 0, rows, 0, k).Shape); err != nil {
		return nil, err
	}
	if p.b.eval, err = newEvaluator(p.b.slot, &o.stage.Programs[1], p.box(p.b, nil, nil, 0, k, 0, cols).Shape); err != nil {
		return nil, err
	}
	p.allocs = uint32(len(p.slot.buffers))
	return d, nil
}

// Close ends what the device does with panels before it frees them.
func (d *deviceProduct) Close() error { return errors.Join(d.on.work.Close(), d.product.Close()) }

// fetched is a row of tiles on its way from the device.
type fetched struct {
	band
	dst []byte
	job Job
}

// multiplied is a panel that the device has.
type multiplied struct {
	panel *panel
	job   Job
}

// Run computes tiles. Those that lie in one super-tile are computed together.
func (d *deviceProduct) Run(ctx context.Context, tasks Tasks, done func(index int)) error {
	c := newMatmulPipeline(ctx, d.product, tasks, done)
	defer c.fail(nil)
	defer context.AfterFunc(c.ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.moved.Broadcast()
	})()
	panels, rows := make(chan multiplied, len(d.panels)), make(chan fetched, plan.DeviceRows)
	var group sync.WaitGroup
	group.Go(c.read)
	group.Go(func() { d.free(c, panels) })
	group.Go(func() { d.store(c, rows) })
	for x := d.next(c); x != nil; x = d.next(c) {
		s := x.tile
		job := d.on.work.Multiply(x.a, x.b, Panel{Rows: s.box.Shape[0], Cols: s.box.Shape[1], K: x.k, First: x.step == 0})
		last := x.step == s.steps-1
		panels <- multiplied{x, job} // there is room: one for each panel
		if last {
			d.fetch(c, s, rows)
		}
	}
	close(panels)
	close(rows)
	group.Wait()
	return context.Cause(c.ctx)
}

// next waits for the panel that is multiplied next; nil when there is none.
func (d *deviceProduct) next(c *matmulPipeline) *panel {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.ctx.Err() == nil {
		if len(c.panels) > 0 {
			x := c.panels[0]
			c.panels = c.panels[1:]
			return x
		}
		if c.last {
			return nil
		}
		c.moved.Wait()
	}
	return nil
}

// fetch lets the rows of tiles of a super-tile come back. The device keeps their order:
// the accumulators are not touched again before.
func (d *deviceProduct) fetch(c *matmulPipeline, s *superTile, rows chan<- fetched) {
	for row := range s.tiles.Count(0) {
		select {
		case buffer := <-d.rows:
			first := row * c.m.TileM
			n := min(c.m.TileM, s.box.Shape[0]-first)
			dst := buffer[:n*s.box.Shape[1]*c.m.Type.Size()]
			rows <- fetched{band: band{tile: s, row: row}, dst: dst, job: d.on.work.Fetch(first, n, dst)}
		case <-c.ctx.Done():
			return
		}
	}
}

// free takes panels back that the device has multiplied.
func (d *deviceProduct) free(c *matmulPipeline, panels <-chan multiplied) {
	for p := range panels {
		if c.ctx.Err() != nil {
			continue
		}
		s := p.panel.tile
		w := &slot{run: c.run, stage: c.stage}
		if err := d.on.wait(c.ctx, w, p.job); err != nil {
			c.fail(taskError(c.ctx, c.stage, s.box, err))
			continue
		}
		c.mu.Lock()
		for i := range s.spent {
			s.spent[i] += w.row.Computing / time.Duration(len(s.spent))
		}
		s.moved += w.row.Moved
		c.mu.Unlock()
		c.free <- p.panel
	}
}

// store stores rows of tiles that come back.
func (d *deviceProduct) store(c *matmulPipeline, rows <-chan fetched) {
	for f := range rows {
		if c.ctx.Err() != nil {
			continue
		}
		w := &slot{run: c.run, stage: c.stage}
		err := d.on.wait(c.ctx, w, f.job)
		if f.moved = w.row.Moved; err == nil {
			err = c.storeRow(f.band, f.dst, 0)
		}
		if err != nil {
			c.fail(taskError(c.ctx, c.stage, f.tile.box, err))
			continue
		}
		d.rows <- f.dst[:cap(f.dst)]
	}
}
