package size

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/record"
)

// workload collects the work of a stage.
type workload struct {
	plan   *Plan
	stage  *Stage
	device bool // computes: what is left are reads and writes
	all    []record.Work
}

// work is what a stage takes time for.
func (p *Plan) work(stage int) []record.Work {
	return p.workOf(p.Placed(stage), p.OnDevice[stage] != nil)
}

// workOf is the work of a stage as the host or a device is to do it.
func (p *Plan) workOf(s *Stage, device bool) []record.Work {
	w := &workload{plan: p, stage: s, device: device}
	tasks := float64(s.Tasks())
	if tasks == 0 {
		return nil
	}
	w.add(record.Work{Of: record.Organising, Kind: "stage", Nanos: cost.Stage})
	w.add(record.Work{Of: record.Organising, Kind: "tasks", Nanos: tasks * cost.Task})
	w.add(record.Work{Of: record.Organising, Kind: "buffers", Nanos: float64(s.Predicted.Host()) * cost.Touch})
	if s.Kind == plan.MatMulStage {
		w.product()
	} else {
		w.program(&s.Programs[0], s.Tile, s.Grid.Chunks, 1)
		for i, l := range s.Buffers.Slot.Levels {
			w.program(&s.Programs[i+1], l.Box, l.Box, 1)
		}
		if !w.device {
			w.folds()
		}
	}
	for _, a := range s.Outputs {
		w.output(a)
	}
	return w.all
}

// add adds work to that of the same kind.
func (w *workload) add(one record.Work) {
	if one.Nanos <= 0 {
		return
	}
	i := slices.IndexFunc(w.all, func(o record.Work) bool { return o.Of == one.Of && o.Kind == one.Kind && o.Path == one.Path })
	if i < 0 {
		w.all = append(w.all, one)
		return
	}
	w.all[i].Nanos += one.Nanos
	w.all[i].Bytes += one.Bytes
}

func (w *workload) compute(kind string, nanos float64) {
	if !w.device {
		w.add(record.Work{Of: record.Computing, Kind: kind, Nanos: nanos})
	}
}

// program adds the work of computing a program's values so many times over, tile by tile of
// the boxes that tasks compute.
func (w *workload) program(prog *plan.Program, tile, box []int, times float64) {
	elements := float64(grid.Size(prog.Domain)) * times
	for i := range prog.Loads {
		w.load(prog, &prog.Loads[i], tile, box, times)
	}
	for _, in := range prog.Code {
		if in.Op == kernel.Invalid {
			w.compute("cast "+in.Type.String()+" "+in.To.String(), elements*cost.Cast(in.Type, in.To))
			continue
		}
		w.compute(in.Op.String()+" "+in.Type.String(), elements*cost.Elementwise(in.Op, in.Type))
	}
}

// load adds the work of filling a load.
func (w *workload) load(prog *plan.Program, l *plan.Load, tile, box []int, times float64) {
	elements := float64(grid.Size(prog.Domain)) * times
	switch l.Kind {
	case plan.LoadRandom:
		w.compute("random "+l.Type.String(), elements*cost.Generator(true, l.View))
	case plan.LoadIota:
		w.compute("arange", elements*cost.Generator(false, l.View))
	case plan.LoadArray:
		w.array(prog, l, tile, box, times)
	case plan.LoadBlocks:
		w.operation(l, tile, box, times)
	}
	if l.Reads() && !l.Dense() {
		kind, nanos := "broadcast", cost.Broadcast
		if l.Permuted() {
			kind, nanos = "transpose", cost.Transpose
		}
		w.compute(kind, elements*nanos*float64(l.Type.Size()))
	}
}

// array adds the reads of an array: what is broadcast along an axis is read again for every
// tile along it.
func (w *workload) array(prog *plan.Program, l *plan.Load, tile, box []int, times float64) {
	bytes := float64(movedBytes(l, prog.Domain, tile)) * times
	a := &w.plan.Arrays[l.Array]
	place := w.plan.Place(l.Array)
	one := record.Work{Of: record.Reading, Kind: "memory", Nanos: bytes * cost.Copy}
	switch {
	case place == plan.InData || place == InArena || slices.Contains(w.stage.Outputs, l.Array):
	case place == InSpill:
		one.Kind, one.Bytes = "spill", int64(bytes)
	case a.Store.Network:
		one.Kind, one.Bytes, one.Path = record.Network, int64(bytes), a.Path
	default:
		one.Kind, one.Bytes, one.Path = "file", int64(bytes), a.Path
	}
	w.add(one)
	if place != plan.InFile {
		return
	}
	decode, _ := cost.Codec(a.Codec)
	w.add(record.Work{Of: record.Decoding, Kind: a.Codec, Path: a.Path, Nanos: bytes * decodings(a, l, box) * decode})
	switch {
	case a.Chunks != nil:
		boxes := a.Chunks
		switch {
		case a.ReadInParts():
			boxes = grid.Clip(shapes.Span(a, l, box), a.Chunks)
		case a.Shards != nil:
			boxes = a.Shards
		}
		w.add(record.Work{Of: record.Organising, Kind: "chunks read", Nanos: bytes / float64(max(grid.Size(boxes)*a.DType.Size(), 1)) * cost.Object})
	default:
		if run := contiguousBytes(l, tile, a.Shape); run > 0 && run < disk.ShortRun {
			w.add(record.Work{Of: record.Reading, Kind: "short runs", Nanos: bytes / float64(run) * cost.ShortRead})
		}
	}
}

// decodings is how often each chunk of an array is decoded where boxes of the domain are read
// for themselves.
func decodings(a *plan.Array, l *plan.Load, box []int) float64 {
	times := 1.0
	for d, axis := range l.View.Axis {
		if axis < 0 || a.Chunks == nil || d >= len(a.Chunks) {
			continue
		}
		n, c := min(box[axis]*l.View.Stride(d), a.Shape[d]), min(a.Chunks[d], a.Shape[d])
		switch {
		case n == 0 || n == a.Shape[d] || n%c == 0:
		case c%n == 0:
			times *= float64(c / n)
		default:
			times *= float64(n+c) / float64(n)
		}
	}
	return times
}

// operation adds the work of an operation of boxes, and of the programs that it reads.
func (w *workload) operation(l *plan.Load, tile, chunk []int, times float64) {
	box := l.Box(tile)
	boxes := times
	for d, n := range l.View.Shape {
		boxes *= float64((n + tile[d] - 1) / max(tile[d], 1))
	}
	need := l.Op.Requirements(box)
	inputs := make([][]int, len(l.Inputs))
	for k := range inputs {
		inputs[k] = l.Inputs[k].Domain
	}
	kind := blockwise.Name(l.Op.Op)
	if kind == "" {
		kind = "Go function"
	}
	w.compute(kind+" "+l.Type.String(), boxes*cost.Boxes(l.Op.Op, l.Type, box, need, inputs))
	if w.stage.Slides(l) && slices.Equal(tile, w.stage.Tile) {
		tile, boxes = w.stage.Grid.Chunks, times
		for d, n := range l.View.Shape {
			boxes *= float64((n + tile[d] - 1) / max(tile[d], 1))
		}
		need = l.Op.Requirements(l.Box(tile))
	}
	for k, reads := range need.Reads {
		in := &l.Inputs[k]
		read := grid.Clip(reads, in.Domain)
		again := times
		if all := boxes * float64(grid.Size(read)); !need.DisjointReads && grid.Size(in.Domain) > 0 {
			again = max(all/float64(grid.Size(in.Domain)), times)
		}
		if op, ok := l.Op.Op.(blockwise.Keeper); ok {
			again = times * float64(w.stage.changes(op, k, l, tile, chunk)*grid.Size(grid.Clip(need.Span(k), in.Domain))) / float64(max(grid.Size(in.Domain), 1))
		}
		w.program(in, read, grid.Clip(need.Span(k), in.Domain), again)
	}
}

// folds adds the work of folding the program's values.
func (w *workload) folds() {
	s := w.stage
	prog := &s.Programs[0]
	elements := float64(grid.Size(s.Grid.Shape))
	for i := range s.Folds {
		t := prog.Type(prog.Out[s.FoldOut(i)])
		along := " along rows"
		if s.Folds[i].Folds(len(prog.Domain) - 1) {
			along = ""
		}
		w.compute(s.Folds[i].Kind.String()+" "+t.String()+along, elements*s.Folds[i].Kind.Row().Cost(t))
	}
}

// product adds the work of a matrix product: each panel of an operand is computed for every
// super-tile that it meets.
func (w *workload) product() {
	m := w.stage.Super
	down, across := m.supers()
	_, columns, depth := m.lengths()
	rows := min(m.SuperM*m.TileM, m.M)
	boxes := [][]int{shapes.Matrix(len(w.stage.Programs[0].Domain), rows, depth), shapes.Matrix(len(w.stage.Programs[1].Domain), depth, columns)}
	for i, times := range []int64{across, down} {
		w.program(&w.stage.Programs[i], boxes[i], boxes[i], float64(times))
	}
	w.compute("matmul "+m.Type.String(), w.stage.multiplications()*cost.Product(m.Type))
}

// output adds the writes of an array.
func (w *workload) output(array int) {
	a := &w.plan.Arrays[array]
	bytes, size := float64(a.Bytes()), a.DType.Size()
	place := w.plan.Place(array)
	_, encode := cost.Codec(a.Layout.Codec)
	one := record.Work{Of: record.Writing, Kind: "memory", Nanos: bytes * (cost.Copy + cost.Touch)} // used for the first time
	if place != InArena && place != plan.InCollect {
		one.Nanos, one.Bytes = bytes*cost.Buffered, a.Bytes()
		run := a.Bytes() // that is written at once
		switch {
		case place == plan.InResult && a.Layout.Unit != nil:
			run = int64(grid.Size(a.Layout.Unit) * size)
		case w.stage.Kind == plan.MapStage && len(w.stage.WriteTile) == len(a.Shape):
			run = int64(grid.Run(w.stage.WriteTile, a.Shape, size))
		}
		if encode > 0 {
			run /= 2 // or less: nobody knows yet
		}
		switch {
		case a.Store.Network:
			one.Kind = record.Network
		case a.Bytes() >= disk.LargeFile && run >= disk.DirectRun:
			one.Kind, one.Nanos = "file, past the page cache", bytes*cost.Direct
		case a.Bytes() >= disk.LargeFile && run >= disk.ShortRun:
			one.Kind = "file, written behind"
		default:
			one.Kind = record.PagesWritten
		}
		if one.Kind == record.PagesWritten && run < disk.ShortRun {
			w.add(record.Work{Of: record.Writing, Kind: "short runs", Nanos: bytes / float64(max(run, 1)) * cost.ShortWrite})
		}
	}
	w.add(one)
	if place != plan.InResult {
		return
	}
	w.add(record.Work{Of: record.Encoding, Kind: a.Layout.Codec, Path: w.source(), Nanos: bytes * encode})
	if a.Layout.Unit != nil {
		w.add(record.Work{Of: record.Organising, Kind: record.ChunksWritten, Nanos: bytes / float64(max(grid.Size(a.Layout.Unit)*size, 1)) * cost.Object})
	}
}

// source is the path of the largest stored array that the stage reads; empty for none.
func (w *workload) source() (path string) {
	var most int64
	for l := range w.stage.Arrays() {
		if a := &w.plan.Arrays[l.Array]; a.Place == plan.InFile && a.Bytes() > most {
			path, most = a.Path, a.Bytes()
		}
	}
	return path
}

// diskSeconds is what a usual disk takes for a stage's traffic. It only says where a device
// gains nothing, and decides nothing.
func (s *Stage) diskSeconds() float64 { return float64(s.Read+s.Written) * cost.Disk / 1e9 }

// compare predicts what the host takes for a stage that the device does, without the
// device and in any case.
func (p *Plan) compare(stage int) {
	v := p.OnDevice[stage]
	v.CPU = p.coreSeconds(&p.Stages[stage]) / float64(max(p.Workers, 1))
	v.Disk = v.diskSeconds()
}

// coreSeconds is what one core takes to compute a stage, without a device and at nominal
// rates.
func (p *Plan) coreSeconds(s *Stage) (seconds float64) {
	for _, w := range p.workOf(s, false) {
		if w.Of == record.Computing {
			seconds += w.Nanos / 1e9
		}
	}
	return seconds
}

// Estimate is about how long a stage takes by the figures of a usual machine and the rates
// of the device, and what limits it.
func (p *Plan) Estimate(stage int) (seconds float64, limit string) {
	seconds, limit = p.coreSeconds(&p.Stages[stage])/float64(max(p.Workers, 1)), "the cores"
	if v := p.OnDevice[stage]; v != nil {
		seconds, limit = v.Seconds, v.Limit
	}
	if disk := p.Placed(stage).diskSeconds(); disk > seconds {
		return disk, "the disk"
	}
	return seconds, limit
}
