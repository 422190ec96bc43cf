package matmul

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/exec/device"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// DeviceProduct is a product whose accumulators stay on a device. Panels of both operands
// are read in strips and stream past them; rows of tiles that are whole come back.
type DeviceProduct struct {
	*Product
	on      *device.Attempt
	strips  chan []byte // free buffers for what goes to the device
	fetched chan []byte // and for what comes from there
	each    [2]int      // rows of a strip of each operand
	rows    int         // that come back at once
}

// NewOnDevice takes the host's memory of a product that is open on a device.
func NewOnDevice(o *device.Attempt) (_ *DeviceProduct, err error) {
	p := newProduct(o.Run, o.Index, &o.Stage.Stage)
	o.Begin(p.slot, o.Stage.DevicePeak)
	d := &DeviceProduct{Product: p, on: o}
	d.each[0], d.each[1], d.rows = o.Stage.Strips()
	if d.strips, err = d.free(o.Stage.Buffers.Product.Strips); err == nil {
		if d.fetched, err = d.free(o.Stage.Buffers.Product.Rows); err == nil {
			err = p.alloc()
		}
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return d, nil
}

// free takes buffers, all of which are free.
func (d *DeviceProduct) free(declared []size.Buffer) (chan []byte, error) {
	all, err := d.on.Pinned(d.slot, declared...)
	free := make(chan []byte, len(all))
	for _, b := range all {
		free <- b
	}
	return free, err
}

// Close ends what the device does with buffers before it frees them.
func (d *DeviceProduct) Close() error { return errors.Join(d.on.Work.Close(), d.Product.Close()) }

// sent is a job of a super-tile, and the buffer that is the device's until it is done.
type sent struct {
	tileRow
	first, rows int // of the super-tile, that come back
	job         device.Job
	buffer      []byte
}

// Run computes tiles. Those that lie in one super-tile are computed together.
func (d *DeviceProduct) Run(ctx context.Context, tasks checkpoint.Tasks, done func(index int)) error {
	c := newPipeline(ctx, d.Product, tasks, done)
	defer c.fail(nil)
	loads, steps, rows := make(chan sent, size.DeviceStrips), make(chan sent, c.m.Depth), make(chan sent, size.DeviceRows)
	var group sync.WaitGroup
	group.Go(func() { d.finish(c, loads, d.strips) })
	group.Go(func() { d.finish(c, steps, nil) })
	group.Go(func() { d.store(c, rows) })
	for batch, box := range d.superTiles(tasks) {
		s := c.newSuperTile(batch, box)
		if !d.compute(c, s, loads, steps) || !d.fetch(c, s, rows) {
			break
		}
	}
	close(loads)
	close(steps)
	close(rows)
	group.Wait()
	return context.Cause(c.ctx)
}

// compute sends all panels of a super-tile, one after the other. It reports that nothing
// has failed.
func (d *DeviceProduct) compute(c *pipeline, s *superTile, loads, steps chan<- sent) bool {
	for step := range s.steps {
		p := device.Panel{Rows: s.box.Shape[0], Cols: s.box.Shape[1], First: step == 0}
		if d.sums.Len() > 0 {
			_, _, p.K = d.step(step)
			if err := d.load(c, s, step, loads); err != nil {
				c.fail(slots.NewTaskError(c.ctx, c.stage, s.box, err))
			}
		}
		if c.ctx.Err() != nil {
			return false
		}
		steps <- sent{tileRow: tileRow{tile: s}, job: d.on.Work.Multiply(p)}
	}
	return true
}

// load reads a panel of each operand, both at once, strip by strip.
func (d *DeviceProduct) load(c *pipeline, s *superTile, step int, loads chan<- sent) error {
	summed, k, length := d.step(step)
	strips := func(operand, total, bytes int, o *operand, box func(first, rows int) grid.Box) error {
		kept, there, err := d.on.Kept.Panel(d.on.Device, d.on.Stage.Memory.Kept[operand], box(0, total).String(), int64(total)*int64(bytes))
		if err != nil {
			return err
		}
		if kept != nil {
			d.on.Work.Place(operand, kept.At)
		}
		if there {
			return nil
		}
		for first := 0; first < total; first += d.each[operand] {
			select {
			case buffer := <-d.strips:
				rows := min(d.each[operand], total-first)
				src := buffer[:rows*bytes]
				if err := o.eval.Eval(c.ctx, box(first, rows), src); err != nil {
					return err
				}
				loads <- sent{tileRow: tileRow{tile: s}, job: d.on.Work.Load(operand, first, bytes, src), buffer: buffer}
			case <-c.ctx.Done():
				return context.Cause(c.ctx)
			}
		}
		if kept != nil {
			d.on.Kept.Fill(kept)
		}
		return nil
	}
	return c.readBoth(s, func() error {
		return strips(0, s.box.Shape[0], length*d.a.size, d.a, func(first, rows int) grid.Box {
			return d.box(d.a, s.batch, summed, s.box.Start[0]+first, rows, k, length)
		})
	}, func() error {
		return strips(1, length, s.box.Shape[1]*d.b.size, d.b, func(first, rows int) grid.Box {
			return d.box(d.b, s.batch, summed, k+first, rows, s.box.Start[1], s.box.Shape[1])
		})
	})
}

// fetch lets the rows of a super-tile come back. The device preserves their order: the
// accumulators are not touched again before.
func (d *DeviceProduct) fetch(c *pipeline, s *superTile, rows chan<- sent) bool {
	size := s.box.Shape[1] * d.m.Type.Size()
	for row := range s.tiles.Count(0) {
		end := min((row+1)*d.m.TileM, s.box.Shape[0])
		for first := row * d.m.TileM; first < end; first += d.rows {
			select {
			case buffer := <-d.fetched:
				n := min(d.rows, end-first)
				rows <- sent{tileRow: tileRow{tile: s, row: row}, first: first, rows: n, job: d.on.Work.Fetch(first, n, buffer[:n*size]), buffer: buffer}
			case <-c.ctx.Done():
				return false
			}
		}
	}
	return true
}

// finish waits for jobs, and takes their buffers back.
func (d *DeviceProduct) finish(c *pipeline, jobs <-chan sent, free chan<- []byte) {
	for j := range jobs {
		if c.ctx.Err() != nil {
			continue
		}
		w := slots.NewSlot(c.run, c.index, 0)
		if err := d.on.Wait(c.ctx, w, j.job); err != nil {
			c.fail(slots.NewTaskError(c.ctx, c.stage, j.tile.box, err))
			continue
		}
		c.mu.Lock()
		for i := range j.tile.spent {
			j.tile.spent[i] += w.Row.Computing / time.Duration(len(j.tile.spent))
		}
		j.tile.moved += w.Row.Moved
		j.tile.upload += w.Row.Upload
		c.mu.Unlock()
		if free != nil {
			free <- j.buffer
		}
	}
}

// store stores rows that come back, and records those of tiles that are whole.
func (d *DeviceProduct) store(c *pipeline, rows <-chan sent) {
	w := slots.NewSlot(c.run, c.index, 0)
	w.Row = c.slot.Row
	for f := range rows {
		if c.ctx.Err() != nil {
			continue
		}
		s := f.tile
		err := d.on.Wait(c.ctx, w, f.job)
		if err == nil {
			err = c.writeRows(w, s, f.first, f.rows, f.buffer[:f.rows*s.box.Shape[1]*d.m.Type.Size()], 0)
		}
		if err != nil {
			c.fail(slots.NewTaskError(c.ctx, c.stage, s.box, err))
			continue
		}
		d.fetched <- f.buffer
		if end := f.first + f.rows; end == s.box.Shape[0] || end == (f.row+1)*d.m.TileM {
			c.record(w, f.tileRow)
			w.Row = c.slot.Row
		}
	}
}
