package cuda

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/device"
)

// work is a stage on a GPU.
type work struct {
	lanes
	gpu     *GPU
	stage   *device.Stage
	kernels []*function
	taken   []allocation
	scratch driver.Address

	// Of a map or a reduction.
	evaluate *function // nil where folds read what is uploaded, and nothing else is wanted
	folds    []fold
	values   []driver.Address // of the program's values that are only folded
	slots    []*slot
	rare     []byte // the host's copies of the flags of sets; none where kernels raise none
	unlock   func() error

	// Of a product.
	product *function // nil where the BLAS multiplies
	sum     driver.Address
	panels  []*panels
	next    int
	fetched driver.Event // the last rows were fetched
}

// allocation is memory of the device.
type allocation struct {
	at    driver.Address
	bytes int64
}

// fold is a fold of the stage: what empties accumulators, what folds a tile, and what joins
// partial results; nil where there are none.
type fold struct{ empty, add, merge *function }

// slot is what a slot of the stage has on the device.
type slot struct {
	sets     []*set
	next     int // set of the next tile
	states   []driver.Address
	partials []driver.Address // of the accumulators of each fold, where they have several
	stopped  driver.Address   // a flag: a tile was left to the CPU, and nothing is folded; 0 for none
	chunk    device.Box       // of the present task
	copied   driver.Event     // the partials of the task before
}

// set holds the elements of one tile in flight.
type set struct {
	in         []driver.Address
	out        driver.Address
	flag       driver.Address // 0 for none
	rare       []byte         // the host's copy of the flag
	computed   driver.Event   // its elements are not needed any more
	downloaded driver.Event   // nor is its result
}

// panels are those of a step of a product.
type panels struct {
	own      [2]driver.Address
	kept     [2]driver.Address // memory that outlives the stage, in which a panel is instead
	computed driver.Event
}

// at returns where a panel of an operand is.
func (p *panels) at(operand int) driver.Address {
	if p.kept[operand] != 0 {
		return p.kept[operand]
	}
	return p.own[operand]
}

// Open takes the memory of a stage: for each slot its tiles in flight and its partials,
// and the values of a tile that are folded; of a product its accumulators and panels in
// flight.
func (g *GPU) Open(s *device.Stage) (device.Work, error) {
	c, err := g.opened()
	if err != nil {
		return nil, err
	}
	w := &work{gpu: g, stage: s}
	if err = w.lanes.open(g, c); err == nil {
		if s.Kind == device.MatMulStage {
			err = w.openProduct()
		} else {
			err = w.openTiles()
		}
	}
	if err == nil {
		return w, nil
	}
	return nil, errors.Join(g.explain(err), w.Close())
}

// Close waits for what runs, and gives the memory back.
func (w *work) Close() error {
	err := w.lanes.close()
	for _, k := range w.kernels {
		err = errors.Join(err, k.Close())
	}
	for _, t := range w.taken {
		err = errors.Join(err, w.gpu.free(t))
	}
	if w.unlock != nil {
		err = errors.Join(err, w.unlock())
	}
	w.kernels, w.taken, w.unlock = nil, nil, nil
	return w.gpu.explain(err)
}

// take allocates what is declared; 0 for none.
func (w *work) take(declared device.Buffer) (driver.Address, error) {
	if declared.Bytes() == 0 {
		return 0, nil
	}
	t, err := w.gpu.alloc(declared.Bytes())
	if err != nil {
		return 0, err
	}
	w.taken = append(w.taken, t)
	return t.at, nil
}

// load makes a kernel ready.
func (w *work) load(code device.Kernel) (*function, error) {
	f, err := w.context.Load(code)
	if err != nil {
		return nil, err
	}
	k := &function{Function: f, sizes: code.Launch}
	w.kernels = append(w.kernels, k)
	return k, nil
}

func (w *work) openTiles() (err error) {
	s := w.stage
	d := &s.Buffers
	take := func(declared device.Buffer) (at driver.Address) {
		if err == nil {
			at, err = w.take(declared)
		}
		return at
	}
	event := func() (e driver.Event) {
		if err == nil {
			e, err = w.event()
		}
		return e
	}
	w.scratch = take(w.stage.Memory.Scratch)
	for _, declared := range w.stage.Memory.Values {
		w.values = append(w.values, take(declared))
	}
	flag := w.scratch
	flags := s.Slots * (len(d.Slot.Sets) + 1)
	if w.gpu.ptx && err == nil {
		if flags*flagBytes > flagsBytes {
			return fmt.Errorf("%s has flags for %d tiles in flight: give fewer workers", w.gpu.name, flagsBytes/flagBytes)
		}
		w.rare = lockable(flagBytes * flags)
		w.unlock, _ = w.gpu.Pin(w.rare) // else copies of the flags hold the caller
	}
	for range s.Slots {
		on := &slot{copied: event()}
		if w.gpu.ptx {
			on.stopped = flag
			flag += flagBytes
		}
		for _, declared := range d.Slot.Sets {
			t := &set{out: take(declared.Out), computed: event(), downloaded: event()}
			for _, in := range declared.In {
				t.in = append(t.in, take(in))
			}
			if w.gpu.ptx && err == nil {
				at := int(flag - w.scratch)
				t.flag, t.rare = flag, w.rare[at:at+flagBytes]
				flag += flagBytes
			}
			on.sets = append(on.sets, t)
		}
		for _, state := range d.Slot.States {
			on.states = append(on.states, take(state))
		}
		for _, partials := range w.stage.Memory.Partials {
			on.partials = append(on.partials, take(partials))
		}
		w.slots = append(w.slots, on)
	}
	if err != nil {
		return err
	}
	return w.loadTiles()
}

// loadTiles makes the kernels of a map or a reduction ready.
func (w *work) loadTiles() error {
	s := w.stage
	if s.Kind == device.MapStage || len(w.values) > 0 {
		code, err := w.gpu.form().Map(s, w.scratch)
		if err != nil {
			return err
		}
		if w.evaluate, err = w.load(code); err != nil {
			return err
		}
	}
	for i := range s.Folds {
		all, err := w.gpu.form().Fold(s, i)
		if err != nil {
			return err
		}
		var f fold
		for k, to := range []**function{&f.empty, &f.add, &f.merge}[:len(all)] {
			if *to, err = w.load(all[k]); err != nil {
				return err
			}
		}
		w.folds = append(w.folds, f)
	}
	return nil
}

// Begin empties a slot's partials when those of its task before are copied.
func (w *work) Begin(number int, chunk device.Box) {
	on := w.slots[number]
	on.chunk = chunk
	n := w.accumulators(chunk) * w.stage.Partials
	w.order(step{on: w.compute, after: []driver.Event{on.copied}, do: func(s driver.Stream) error {
		for i, f := range w.folds {
			if err := f.empty.launch(s, [][]int{{n}}, uint64(on.folded(i)), uint64(n)); err != nil {
				return err
			}
		}
		return w.goOn(s, on)
	}})
}

// folded returns what blocks are added to: partial results, or accumulators.
func (on *slot) folded(i int) driver.Address {
	if len(on.partials) > 0 {
		return on.partials[i]
	}
	return on.states[i]
}

// goOn lets tiles of a slot be folded.
func (w *work) goOn(s driver.Stream, on *slot) error {
	if on.stopped == 0 {
		return nil
	}
	return s.Clear(on.stopped, flagBytes)
}

// Resume lets tiles of a slot be folded again.
func (w *work) Resume(number int) {
	on := w.slots[number]
	w.order(step{on: w.compute, do: func(s driver.Stream) error { return w.goOn(s, on) }})
}

// accumulators returns the number of accumulators that each fold has for a chunk.
func (w *work) accumulators(chunk device.Box) int {
	n := 1
	for d, length := range chunk.Shape {
		if len(w.stage.Folds) > 0 && !w.stage.Folds[0].Folds(d) {
			n *= length
		}
	}
	return n
}

// Map copies a tile to the device, computes it there and copies the result back.
func (w *work) Map(number int, tile device.Box, in [][]byte, out []byte) device.Job {
	return w.tile(number, tile, in, out)
}

// Reduce copies a tile to the device and folds it there.
func (w *work) Reduce(number int, tile device.Box, in [][]byte) device.Job {
	return w.tile(number, tile, in, nil)
}

// tile enqueues the work of a tile.
func (w *work) tile(number int, tile device.Box, in [][]byte, out []byte) *job {
	on := w.slots[number]
	t := on.sets[on.next%len(on.sets)]
	on.next++
	// The host fills its side of a set again when the result is there.
	upload := step{on: w.upload, after: []driver.Event{t.computed, t.downloaded}, do: func(s driver.Stream) error {
		for i, at := range t.in {
			if at != 0 && len(in[i]) > 0 {
				if err := s.Upload(at, in[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}}
	for i, at := range t.in {
		if at != 0 {
			upload.moved += len(in[i])
		}
	}
	compute := step{on: w.compute, after: []driver.Event{t.downloaded}, done: t.computed, do: func(s driver.Stream) error { return w.enqueueTile(s, on, t, tile) }}
	if out == nil && t.flag == 0 {
		return w.start(upload, compute)
	}
	j := w.start(upload, compute, step{on: w.download, done: t.downloaded, moved: len(out), do: func(s driver.Stream) error {
		if t.flag != 0 {
			if err := s.Download(t.rare, t.flag); err != nil {
				return err
			}
		}
		if len(out) == 0 {
			return nil
		}
		return s.Download(out, t.out)
	}})
	j.rare = t.rare
	return j
}

// enqueueTile launches the kernels of a tile.
func (w *work) enqueueTile(s driver.Stream, on *slot, t *set, tile device.Box) error {
	prog := &w.stage.Programs[0]
	if t.flag != 0 {
		if err := s.Clear(t.flag, flagBytes); err != nil {
			return err
		}
	}
	folded := w.stage.FoldTemporaries()
	if w.evaluate != nil {
		args := []uint64{uint64(t.flag)}
		for k, v := range prog.Out {
			switch first := slices.Index(prog.Out, v) == k; {
			case !first:
				args = append(args, 0)
			case k == 0 && w.stage.Kind == device.MapStage:
				args = append(args, uint64(t.out))
			case slices.Contains(folded, v):
				args = append(args, uint64(w.values[slices.Index(folded, v)]))
			default:
				args = append(args, 0)
			}
		}
		for i := range prog.Loads {
			if prog.Loads[i].Reads() {
				args = append(args, uint64(t.in[i]))
			}
		}
		args = append(args, uint64(tile.Size()))
		for d := range tile.Shape {
			args = append(args, uint64(tile.Start[d]), uint64(tile.Shape[d]))
		}
		if err := w.evaluate.launch(s, [][]int{tile.Shape}, args...); err != nil {
			return err
		}
	}
	for i := range w.folds {
		if err := w.fold(s, on, t, i, tile); err != nil {
			return err
		}
	}
	return nil
}

// elements returns where the values of a set's tile are that the i-th fold takes.
func (w *work) elements(t *set, i int) driver.Address {
	prog := &w.stage.Programs[0]
	v := prog.Out[w.stage.FoldOut(i)]
	if k := slices.Index(w.stage.FoldTemporaries(), v); k >= 0 {
		return w.values[k]
	}
	if w.stage.Kind == device.ReduceStage || v != prog.Out[0] {
		return t.in[v]
	}
	return t.out
}

// fold launches the i-th fold of a set's tile, or of a block whose elements are in its
// place.
func (w *work) fold(s driver.Stream, on *slot, t *set, i int, tile device.Box) error {
	args := []uint64{uint64(t.flag), uint64(on.stopped), uint64(on.folded(i)), uint64(w.elements(t, i)), uint64(w.accumulators(on.chunk)), uint64(w.stage.BlocksBefore(on.chunk, tile))}
	for d := range tile.Shape {
		args = append(args, uint64(tile.Start[d]), uint64(tile.Shape[d]), uint64(on.chunk.Start[d]), uint64(on.chunk.Shape[d]))
	}
	return w.folds[i].add.launch(s, [][]int{tile.Shape}, args...)
}

// Fold copies the values of a block that the CPU has computed to the device, and folds them
// there. The slot has no other tile in flight.
func (w *work) Fold(number int, block device.Box, values [][]byte) device.Job {
	on := w.slots[number]
	t := on.sets[on.next%len(on.sets)]
	moved := 0
	for _, b := range values {
		moved += len(b)
	}
	return w.start(step{on: w.compute, done: t.computed, moved: moved, do: func(s driver.Stream) error {
		if err := s.Clear(t.flag, flagBytes); err != nil {
			return err
		}
		for i, b := range values { // on this stream, since slots share the memory of values
			if err := s.Upload(w.elements(t, i), b); err != nil {
				return err
			}
			if err := w.fold(s, on, t, i, block); err != nil {
				return err
			}
		}
		return nil
	}})
}

// Partials copies a slot's partials to the host.
func (w *work) Partials(number int, dst [][]byte) device.Job {
	on := w.slots[number]
	moved, n := 0, w.accumulators(on.chunk)
	for _, b := range dst {
		moved += len(b)
	}
	merge := step{on: w.compute, do: func(s driver.Stream) error {
		for i, partials := range on.partials {
			if err := w.folds[i].merge.launch(s, [][]int{{n}}, uint64(on.states[i]), uint64(partials), uint64(n)); err != nil {
				return err
			}
		}
		return nil
	}}
	return w.start(merge, step{on: w.download, done: on.copied, moved: moved, do: func(s driver.Stream) error {
		for i, state := range on.states {
			if err := s.Download(dst[i], state); err != nil {
				return err
			}
		}
		return nil
	}})
}

func (w *work) openProduct() (err error) {
	d := &w.stage.Memory
	if w.sum, err = w.take(d.Sums); err != nil {
		return err
	}
	if w.scratch, err = w.take(d.Scratch); err != nil {
		return err
	}
	if w.fetched, err = w.event(); err != nil {
		return err
	}
	for _, both := range d.Panels {
		p := &panels{}
		if p.computed, err = w.event(); err != nil {
			return err
		}
		for i := range both {
			if p.own[i], err = w.take(both[i]); err != nil {
				return err
			}
		}
		w.panels = append(w.panels, p)
	}
	if w.gpu.multiplies(w.stage) {
		return nil
	}
	code, err := w.gpu.form().Product(w.stage, w.scratch)
	if err != nil {
		return err
	}
	w.product, err = w.load(code)
	return err
}

// Load copies a strip to the panel of the next product.
func (w *work) Load(operand, first, n int, src []byte) device.Job {
	t := w.panels[w.next%len(w.panels)]
	to := t.at(operand) + driver.Address(first*n)
	return w.start(step{on: w.upload, after: []driver.Event{t.computed}, moved: len(src), do: func(s driver.Stream) error {
		if len(src) == 0 {
			return nil
		}
		return s.Upload(to, src)
	}})
}

// Place lets a panel of the next product be in memory that is kept.
func (w *work) Place(operand int, at device.Resident) {
	w.panels[w.next%len(w.panels)].kept[operand] = at.(*Buffer).taken.at
}

// Multiply multiplies the panels that are loaded.
func (w *work) Multiply(p device.Panel) device.Job {
	t := w.panels[w.next%len(w.panels)]
	w.next++
	a, b := t.at(0), t.at(1)
	t.kept = [2]driver.Address{}
	compute := step{on: w.compute, done: t.computed, do: func(s driver.Stream) error {
		if bytes := int64(p.Rows) * int64(p.Cols) * int64(w.stage.Super.Type.Size()); p.First && bytes > 0 {
			if err := s.Clear(w.sum, bytes); err != nil {
				return err
			}
		}
		if p.Rows == 0 || p.Cols == 0 || p.K == 0 {
			return nil
		}
		if w.product == nil {
			return w.gpu.blas.MultiplyAdd(s, w.scratch, operand(w.stage), p.Rows, p.Cols, p.K, w.sum, a, b)
		}
		return w.product.launch(s, [][]int{{p.Rows, p.Cols}}, uint64(w.sum), uint64(a), uint64(b), uint64(p.Rows), uint64(p.Cols), uint64(p.K))
	}}
	if p.First {
		compute.after = []driver.Event{w.fetched}
	}
	return w.start(step{on: w.upload}, compute)
}

// Fetch copies rows of the accumulators to the host.
func (w *work) Fetch(first, rows int, dst []byte) device.Job {
	row := len(dst) / max(rows, 1)
	return w.start(step{on: w.compute}, step{on: w.download, done: w.fetched, moved: len(dst), do: func(s driver.Stream) error {
		if len(dst) == 0 {
			return nil
		}
		return s.Download(dst, w.sum+driver.Address(first*row))
	}})
}
