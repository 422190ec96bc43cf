package plan

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// What the work of a stage takes at nominal rates, in nanoseconds of one core. Whoever
// predicts a run's time knows by how much his machine differs, for each kind of work.
const (
	copyNanos = 0.15 // of a byte that is read from the page cache or from memory
	// Of a byte that is written through the page cache, and past it.
	bufferedNanos, directNanos      = 1.2, 0.08
	readPieceNanos, writePieceNanos = 1500, 3000 // of a contiguous piece of a file, where they are short
	orderNanos                      = 0.8        // of a byte that is transposed
	broadcastNanos                  = 0.02       // of a byte that is repeated, or read with steps
	touchNanos                      = 0.5        // of a byte of a buffer, when it is first used
	objectNanos                     = 150e3      // of a file that is written for a chunk, or of one that is read
	taskNanos                       = 15e3
	passNanos                       = 3e6 // of a stage, besides its tasks
	randomNanos                     = 2   // of an element
	iotaNanos                       = 0.3
)

// What is written past the page cache: runs and files of at least so many bytes.
const (
	directRun   = 1 << 20
	directBytes = 16 << 20
)

// shortPiece is the length from which on pieces of a file cost what their bytes do.
const shortPiece = 32 << 10

// codecNanos are those of a byte that is decoded, and that is encoded, by the first word of
// a codec's name.
var codecNanos = map[string][2]float64{"zstd": {1, 2.2}, "gzip": {3, 20}, "zlib": {3, 20}, "blosc": {0.12, 0.8}, "lz4": {0.3, 0.8}}

// workload collects the work of a stage.
type workload struct {
	plan   *Sized
	stage  *SizedStage
	device bool // computes: what is left are reads and writes
	all    []record.Work
}

// work is what a stage takes time for.
func (p *Sized) work(s *SizedStage) []record.Work { return p.workOf(s.OnDevice(), s.Device != nil) }

// workOf is the work of a stage as the host or a device is to do it.
func (p *Sized) workOf(s *SizedStage, device bool) []record.Work {
	w := &workload{plan: p, stage: s, device: device}
	tasks := float64(s.Tasks())
	if tasks == 0 {
		return nil
	}
	w.add(record.Work{Of: record.Organising, Kind: "stage", Nanos: passNanos})
	w.add(record.Work{Of: record.Organising, Kind: "tasks", Nanos: tasks * taskNanos})
	w.add(record.Work{Of: record.Organising, Kind: "buffers", Nanos: float64(s.Predicted.Host()) * touchNanos})
	if s.Kind == MatMulStage {
		w.product()
	} else {
		w.program(&s.Programs[0], s.Tile, s.Grid.Chunks, 1)
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
func (w *workload) program(prog *Program, tile, box []int, times float64) {
	elements := float64(grid.Size(prog.Domain)) * times
	for i := range prog.Loads {
		w.load(prog, &prog.Loads[i], tile, box, times)
	}
	for _, in := range prog.Code {
		if in.Op == kernel.Invalid {
			w.compute("cast "+in.Type.String()+" "+in.To.String(), elements*castNanos(in.Type, in.To)*float64(max(in.Type.Size(), in.To.Size())))
			continue
		}
		nanos := arithmeticNanos(in.Op, in.Type.Kind()) * float64(in.Type.Size())
		w.compute(in.Op.String()+" "+in.Type.String(), elements*nanos)
	}
}

// arithmeticNanos is what an elementwise operation takes for each byte of its operands, in
// the cache and with vectors where the kernels have them.
func arithmeticNanos(op kernel.Op, kind dtype.Kind) float64 {
	switch {
	case kind == dtype.KindComplex:
		const without = 30 // vectors
		return without * arithmeticNanos(op, dtype.KindFloat)
	case kind == dtype.KindFloat && (op == kernel.Remainder || op == kernel.FloorDivide):
		return 2.5
	case op == kernel.Power || op == kernel.Remainder || op == kernel.FloorDivide:
		return 1
	case op == kernel.Arctan2:
		return 0.2
	case op >= kernel.Cbrt && op <= kernel.Arctanh:
		return 0.12
	case op == kernel.Divide || op == kernel.Sqrt || op == kernel.Reciprocal || op == kernel.Hypot:
		return 0.03
	}
	return 0.015
}

// castNanos is what a cast takes for each byte of the larger type.
func castNanos(from, to dtype.Type) float64 {
	if from.Size() >= 4*to.Size() { // without vectors
		return 1
	}
	return 0.015
}

// load adds the work of filling a load.
func (w *workload) load(prog *Program, l *Load, tile, box []int, times float64) {
	elements := float64(grid.Size(prog.Domain)) * times
	switch l.Kind {
	case LoadRandom:
		w.compute("random "+l.Type.String(), elements*randomNanos)
	case LoadIota:
		w.compute("arange", elements*iotaNanos)
	case LoadArray:
		w.array(prog, l, tile, box, times)
	case LoadBlocks:
		w.operation(l, tile, times)
	}
	if l.Reads() && !l.Dense() {
		kind, nanos := "broadcast", broadcastNanos
		if l.Permuted() {
			kind, nanos = "transpose", orderNanos
		}
		w.compute(kind, elements*nanos*float64(l.Type.Size()))
	}
}

// array adds the reads of an array: what is broadcast along an axis is read again for every
// tile along it.
func (w *workload) array(prog *Program, l *Load, tile, box []int, times float64) {
	bytes := float64(l.moved(prog.Domain, tile)) * times
	a := &w.plan.Arrays[l.Array]
	place := w.plan.Place(l.Array)
	one := record.Work{Of: record.Reading, Kind: "memory", Nanos: bytes * copyNanos}
	switch {
	case place == InData || place == InArena:
	case place == InSpill:
		one.Kind, one.Bytes = "spill", int64(bytes)
	case blob.Remote(a.Path):
		one.Kind, one.Bytes, one.Path = record.Network, int64(bytes), a.Path
	default:
		one.Kind, one.Bytes, one.Path = "file", int64(bytes), a.Path
	}
	w.add(one)
	if place != InFile {
		return
	}
	if word, ok := codecWord(a.Codec); ok {
		w.add(record.Work{Of: record.Decoding, Kind: a.Codec, Path: a.Path, Nanos: bytes * a.decodings(l, box) * codecNanos[word][0]})
	}
	switch {
	case a.Chunks != nil:
		boxes := a.Chunks
		if a.Shards != nil {
			boxes = a.Shards
		}
		w.add(record.Work{Of: record.Organising, Kind: "chunks read", Nanos: bytes / float64(max(grid.Size(boxes)*a.DType.Size(), 1)) * objectNanos})
	default:
		if run := l.run(tile, a.Shape); run > 0 && run < shortPiece {
			w.add(record.Work{Of: record.Reading, Kind: "short pieces", Nanos: bytes / float64(run) * readPieceNanos})
		}
	}
}

// decodings is how often each chunk of an array is decoded where boxes of the domain are read
// for themselves.
func (a *Array) decodings(l *Load, box []int) float64 {
	times := 1.0
	for d, axis := range l.View.Axis {
		if axis < 0 || a.Chunks == nil || d >= len(a.Chunks) {
			continue
		}
		n, c := min(box[axis]*abs(l.View.Step[d]), a.Shape[d]), min(a.Chunks[d], a.Shape[d])
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

// boxNanos are those of a byte of operations of boxes that take more than moving it does.
var boxNanos = map[string]float64{
	"sort_lines": 1.4, "sort_runs": 1.4, "quantiles": 3, "searchsorted": 3.5, "unique_table": 2.5,
	"rolling": 1.3, "count": 1, "special": 3.5,
}

// operation adds the work of an operation of boxes, and of the programs that it reads.
func (w *workload) operation(l *Load, tile []int, times float64) {
	box := l.Box(tile)
	boxes := times
	for d, n := range l.View.Shape {
		boxes *= float64((n + tile[d] - 1) / max(tile[d], 1))
	}
	need := l.Op.Requirements(box)
	elements := float64(grid.Size(box))
	for k, reads := range need.Reads {
		elements += float64(grid.Size(clip(reads, l.Inputs[k].Domain)))
	}
	kind := blockwise.Name(l.Op.Op)
	if kind == "" {
		kind = "Go function"
	}
	nanos := max(boxNanos[kind], moveNanos)
	w.compute(kind+" "+l.Type.String(), boxes*max(float64(need.Work), elements*nanos*float64(l.Type.Size())))
	for k, reads := range need.Reads {
		in := &l.Inputs[k]
		read := clip(reads, in.Domain)
		again := times
		if all := boxes * float64(grid.Size(read)); !need.DisjointReads && grid.Size(in.Domain) > 0 {
			again = max(all/float64(grid.Size(in.Domain)), times)
		}
		w.program(in, read, read, again)
	}
}

// folds adds the work of folding the program's values.
func (w *workload) folds() {
	s := w.stage
	prog := &s.Programs[0]
	elements := float64(grid.Size(s.Grid.Shape))
	for i := range s.Folds {
		t := prog.Type(prog.Out[s.Folded(i)])
		nanos, along := 0.06, " along rows"
		if s.Folds[i].Folds(len(prog.Domain) - 1) {
			along = ""
		}
		switch s.Folds[i].Kind {
		case kernel.Var, kernel.Std:
			nanos = 0.35
			if along == "" {
				nanos = 0.04
			}
		case kernel.ArgMin, kernel.ArgMax, kernel.Prod:
			nanos = 0.12
		}
		if t.Kind() < dtype.KindFloat {
			nanos *= 2.5
		}
		w.compute(s.Folds[i].Kind.String()+" "+t.String()+along, elements*nanos*float64(t.Size()))
	}
}

// product adds the work of a matrix product: each panel of an operand is computed for every
// super-tile that it meets.
func (w *workload) product() {
	m := w.stage.Super
	down, across := m.supers()
	_, columns, depth := m.lengths()
	rows := min(m.SuperM*m.TileM, m.M)
	boxes := [][]int{panel(len(w.stage.Programs[0].Domain), rows, depth), panel(len(w.stage.Programs[1].Domain), depth, columns)}
	for i, times := range []int64{across, down} {
		w.program(&w.stage.Programs[i], boxes[i], boxes[i], float64(times))
	}
	nanos := 0.01
	switch {
	case m.Type.Kind() < dtype.KindFloat:
		nanos = 0.5
	case m.Type.Kind() == dtype.KindComplex:
		nanos = 0.04
	}
	w.compute("matmul "+m.Type.String(), w.stage.multiplications()*nanos*float64(m.Type.Size())/4)
}

// multiplications are those of a product, and as many additions.
func (s *SizedStage) multiplications() float64 {
	m := s.Super
	batch := grid.Size(s.Grid.Shape[:len(s.Grid.Shape)-2])
	return 2 * float64(batch) * float64(m.M) * float64(m.N) * float64(m.depth())
}

// output adds the writes of an array.
func (w *workload) output(array int) {
	a := &w.plan.Arrays[array]
	bytes, size := float64(a.Bytes()), a.DType.Size()
	place := w.plan.Place(array)
	one := record.Work{Of: record.Writing, Kind: "memory", Nanos: bytes * (copyNanos + touchNanos)} // used for the first time
	if place != InArena && place != InCollect {
		one.Nanos, one.Bytes = bytes*bufferedNanos, a.Bytes()
		run := a.Bytes() // that is written at once
		switch {
		case place == InResult && a.Layout.Unit != nil:
			run = int64(grid.Size(a.Layout.Unit) * size)
		case w.stage.Kind == MapStage && len(w.stage.Piece) == len(a.Shape):
			run = int64(runOf(w.stage.Piece, a.Shape, size))
		}
		if _, ok := codecWord(a.Layout.Codec); ok {
			run /= 2 // or less: nobody knows yet
		}
		switch {
		case blob.Remote(a.Path):
			one.Kind = record.Network
		case a.Bytes() >= directBytes && run >= directRun:
			one.Kind, one.Nanos = "file, past the page cache", bytes*directNanos
		case a.Bytes() >= directBytes && run >= shortPiece:
			one.Kind = "file, written behind"
		default:
			one.Kind = record.PagesWritten
		}
		if one.Kind == record.PagesWritten && run < shortPiece {
			w.add(record.Work{Of: record.Writing, Kind: "short pieces", Nanos: bytes / float64(max(run, 1)) * writePieceNanos})
		}
	}
	w.add(one)
	if place != InResult {
		return
	}
	if word, ok := codecWord(a.Layout.Codec); ok {
		w.add(record.Work{Of: record.Encoding, Kind: a.Layout.Codec, Path: w.source(), Nanos: bytes * codecNanos[word][1]})
	}
	if a.Layout.Unit != nil {
		w.add(record.Work{Of: record.Organising, Kind: record.ChunksWritten, Nanos: bytes / float64(max(grid.Size(a.Layout.Unit)*size, 1)) * objectNanos})
	}
}

// source is the path of the largest stored array that the stage reads; empty for none.
func (w *workload) source() (path string) {
	var most int64
	for l := range w.stage.Arrays() {
		if a := &w.plan.Arrays[l.Array]; a.Place == InFile && a.Bytes() > most {
			path, most = a.Path, a.Bytes()
		}
	}
	return path
}

// codecWord is the first word of a codec's name, where it has rates.
func codecWord(codec string) (word string, ok bool) {
	for word := range codecNanos {
		if len(codec) >= len(word) && codec[:len(word)] == word {
			return word, true
		}
	}
	return "", false
}
