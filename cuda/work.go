package cuda

import (
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/exec"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/vm"
)

// Open takes the memory of a stage: for each slot its tiles in flight and its partials,
// and registers that all share; of a product its accumulators, panels in flight and what
// kernels pack into.
func (m *model) Open(s *plan.SizedStage) (exec.Work, error) {
	w := &work{streams: newStreams(m), stage: s, model: m}
	err := w.allocate()
	if err == nil {
		return w, nil
	}
	return nil, errors.Join(err, w.Close())
}

// work is a stage on the model.
type work struct {
	*streams
	model   *model
	stage   *plan.SizedStage
	buffers []*arena.Buffer

	// Of a map or a reduction. The machine belongs to the compute stream.
	machine *vm.Machine
	size    int
	folders []kernel.Folder
	slots   []*slot

	// Of a product.
	sum     []byte
	packed  []byte
	panels  []*set
	next    int
	fetched event // the last row that was fetched
}

// slot is what a slot of the stage has on the device.
type slot struct {
	sets    []*set
	next    int // set of the next tile
	states  [][]byte
	layouts []vm.Layout
	n       int   // accumulators of the present chunk
	copied  event // the partials of the task before
}

// set holds the elements of one tile in flight, or one panel of each operand.
type set struct {
	in   [][]byte
	out  []byte
	kept [2][]byte // memory that is kept, in which a panel is instead
	read event     // its elements are not needed any more
	free event     // nor is its result
}

// take allocates what is declared; nil for none.
func (w *work) take(declared plan.Buffer) ([]byte, error) {
	if declared.Bytes() == 0 {
		return nil, nil
	}
	b, err := w.model.alloc(declared.Bytes())
	if err != nil {
		return nil, err
	}
	w.buffers = append(w.buffers, b)
	return b.Data, nil
}

func (w *work) allocate() (err error) {
	if w.stage.Kind == plan.MatMulStage {
		return w.allocateProduct()
	}
	s := w.stage
	prog := &s.Programs[0]
	w.size = prog.Type(prog.Out[0]).Size()
	d := &s.Buffers
	take := func(declared plan.Buffer) (b []byte) {
		if err == nil {
			b, err = w.take(declared)
		}
		return b
	}
	registers := take(d.Device.Registers)
	for i := range s.Folds {
		w.folders = append(w.folders, s.Folder(i))
	}
	for range s.Slots {
		on := &slot{}
		for _, declared := range d.Slot.Sets {
			t := &set{out: take(declared.Out)}
			for _, in := range declared.In {
				t.in = append(t.in, take(in))
			}
			on.sets = append(on.sets, t)
		}
		for i, state := range d.Slot.States {
			on.states = append(on.states, take(state))
			on.layouts = append(on.layouts, vm.NewLayout(s.Stage, i))
		}
		w.slots = append(w.slots, on)
	}
	if err != nil {
		return err
	}
	w.machine, err = vm.New(prog, registers, false)
	return err
}

// keptOf is the number of accumulators of a chunk.
func keptOf(s *plan.SizedStage, chunk []int) int {
	n := 1
	for d, length := range chunk {
		if !s.Folds[0].Folds(d) {
			n *= length
		}
	}
	return n
}

// Close waits for what runs, and gives the memory back.
func (w *work) Close() error {
	w.close()
	for _, b := range w.buffers {
		b.Free()
	}
	w.buffers = nil
	return nil
}

// Begin empties a slot's partials when those of its task before are copied.
func (w *work) Begin(number int, chunk grid.Box) {
	on := w.slots[number]
	n := 1
	if w.stage.Kind == plan.ReduceStage {
		n = keptOf(w.stage, chunk.Shape)
	}
	w.start(step{on: w.compute, name: "begin", after: []event{on.copied}, do: func() int {
		on.n = n
		for i, f := range w.folders {
			f.Init(on.states[i], n)
			on.layouts[i].Chunk(chunk)
		}
		return 0
	}})
}

// Map copies a tile to the device, computes it there and copies the result back.
func (w *work) Map(number int, tile grid.Box, in [][]byte, out []byte) exec.Job {
	return w.tile(number, tile, in, out)
}

// Reduce copies a tile to the device and folds it there.
func (w *work) Reduce(number int, tile grid.Box, in [][]byte) exec.Job {
	return w.tile(number, tile, in, nil)
}

// tile enqueues the work of a tile.
func (w *work) tile(number int, tile grid.Box, in [][]byte, out []byte) *job {
	on := w.slots[number]
	t := on.sets[on.next%len(on.sets)]
	on.next++
	in = slices.Clone(in) // the caller's list is for its next tile
	loaded := make([][]byte, len(in))
	upload := step{on: w.upload, name: "upload", after: []event{t.read}, do: func() (moved int) {
		for i, b := range t.in {
			if b != nil {
				loaded[i] = b[:copy(b, in[i])]
				moved += len(loaded[i])
			}
		}
		return moved
	}}
	compute := step{on: w.compute, name: "compute", after: []event{t.free}, do: func() int {
		w.evaluate(on, tile, loaded, t.out)
		return 0
	}}
	if out == nil {
		j := w.start(upload, compute)
		t.read = j.parts[1]
		return j
	}
	j := w.start(upload, compute, step{on: w.download, name: "download", do: func() int { return copy(out, t.out) }})
	t.read, t.free = j.parts[1], j.parts[2]
	return j
}

// evaluate runs the stage's program for a tile, block by block.
func (w *work) evaluate(on *slot, tile grid.Box, in [][]byte, out []byte) {
	w.machine.Tile(tile, in)
	at := 0
	for b := range tile.Split(w.stage.Block) {
		w.machine.Block(b, at, nil)
		n := b.Size()
		if out != nil {
			copy(out[at*w.size:], w.machine.Result(0)[:n*w.size])
		}
		for i, f := range w.folders {
			on.layouts[i].Fold(f, on.states[i], on.n, w.machine.Result(w.stage.Folded(i)), b)
		}
		at += n
	}
}

// Partials copies a slot's partials to the host.
func (w *work) Partials(number int, dst [][]byte) exec.Job {
	on := w.slots[number]
	j := w.start(step{on: w.compute}, step{on: w.download, name: "download", do: func() (moved int) {
		for i, state := range on.states {
			moved += copy(dst[i], state)
		}
		return moved
	}})
	on.copied = j.parts[1]
	return j
}

func (w *work) allocateProduct() (err error) {
	d := &w.stage.Buffers.Device
	if w.sum, err = w.take(d.Sums); err == nil {
		w.packed, err = w.take(d.Pack)
	}
	for _, both := range d.Panels {
		t := &set{in: make([][]byte, 2)}
		for i := range both {
			if err == nil {
				t.in[i], err = w.take(both[i])
			}
		}
		w.panels = append(w.panels, t)
	}
	return err
}

// element is the type of an operand.
func (w *work) element(operand int) dtype.Type {
	prog := &w.stage.Programs[operand]
	return prog.Type(prog.Out[0])
}

// Load copies a strip to the panel of the next product.
func (w *work) Load(operand, first, n int, src []byte) exec.Job {
	t := w.panels[w.next%len(w.panels)]
	dst := t.at(operand)
	return w.start(step{on: w.upload, name: "upload", after: []event{t.read}, do: func() int { return copy(dst[first*n:], src) }})
}

// Place lets a panel of the next product be in memory that is kept.
func (w *work) Place(operand int, at exec.Resident) {
	w.panels[w.next%len(w.panels)].kept[operand] = at.(resident).Data
}

// at is where a panel of an operand is.
func (t *set) at(operand int) []byte {
	if t.kept[operand] != nil {
		return t.kept[operand]
	}
	return t.in[operand]
}

// Multiply multiplies the panels that are loaded, tile by tile in the order of the CPU.
func (w *work) Multiply(p exec.Panel) exec.Job {
	t := w.panels[w.next%len(w.panels)]
	w.next++
	a, b := t.at(0), t.at(1)
	t.kept = [2][]byte{}
	compute := step{on: w.compute, name: "compute", do: func() int {
		w.multiply(a, b, p)
		return 0
	}}
	if p.First {
		compute.after = []event{w.fetched}
	}
	j := w.start(step{on: w.upload}, compute)
	t.read = j.parts[1]
	return j
}

func (w *work) multiply(a, b []byte, p exec.Panel) {
	m := w.stage.Super
	size := m.Type.Size()
	if p.First {
		clear(w.sum[:p.Rows*p.Cols*size])
	}
	in := w.element(0)
	gemm := kernel.Gemm
	if m.Type == dtype.Int32 && in != dtype.Int32 {
		gemm = kernel.GemmInt32
	}
	if p.K == 0 {
		return
	}
	for row := 0; row < p.Rows; row += m.TileM {
		for col := 0; col < p.Cols; col += m.TileN {
			gemm(in, min(m.TileM, p.Rows-row), min(m.TileN, p.Cols-col), p.K, a[row*p.K*in.Size():], p.K,
				b[col*w.element(1).Size():], p.Cols, w.sum[(row*p.Cols+col)*size:], p.Cols, w.packed)
		}
	}
}

// Fetch copies rows of the accumulators to the host.
func (w *work) Fetch(first, rows int, dst []byte) exec.Job {
	j := w.start(step{on: w.compute}, step{on: w.download, name: "download", do: func() int {
		row := len(dst) / max(rows, 1)
		return copy(dst, w.sum[first*row:])
	}})
	w.fetched = j.parts[1]
	return j
}
