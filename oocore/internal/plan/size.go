package plan

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/record"
)

// alwaysKept is the size up to which a temporary array gets no file.
const alwaysKept = 64 << 10

// Size decides how a run with the given resources does the plan. A budget that is too
// small is a *MemoryError, whose Need would do.
func (p *Plan) Size(o Options) (s *Sized, err error) {
	if o.Processes > 0 {
		return p.share(o)
	}
	none := o
	none.Budget = 0
	least := &MemoryError{Op: p.Title, Need: WholeMiB(o.Overhead)} // of a plan without elements
	if _, err = p.sizeFor(none, 0); err != nil && !errors.As(err, &least) {
		return nil, err
	}
	if o.Budget < least.Need {
		return nil, &MemoryError{Op: least.Op, Need: least.Need, Limit: o.Budget}
	}
	for _, part := range []int64{5, 2, 0} { // eighths of the room, unless that leaves too little to work in
		if s, err = p.sizeFor(o, max(o.Budget-o.Overhead, 0)/8*part); !errors.As(err, new(*MemoryError)) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	s.Need = least.Need
	for i := range s.Stages {
		if !o.Attached { // worker processes save no states
			s.noteStates(i)
		}
	}
	return s, nil
}

// WholeMiB rounds a number of bytes up.
func WholeMiB(n int64) int64 { return (n + 1<<20 - 1) >> 20 << 20 }

// sizeFor sizes for exactly the given budget, of which temporary arrays may take keep bytes;
// the rest of them are spilled.
func (p *Plan) sizeFor(o Options, keep int64) (*Sized, error) {
	s := &Sized{Plan: p, Budget: o.Budget, Arena: max(o.Budget-o.Overhead, 0), Workers: max(o.Workers, 1), Device: o.Device, kept: maps.Clone(o.Kept), attached: o.Attached,
		Stages: make([]SizedStage, len(p.Stages)), OnDevice: make([]*DeviceStage, len(p.Stages)), spilled: make([]bool, len(p.Arrays))}
	if o.Attached {
		for i := range p.Arrays {
			s.spilled[i] = p.Arrays[i].Place == InTemp
		}
	} else {
		p.spill(keep, s.spilled)
	}
	for i := range s.Stages {
		st := &s.Stages[i]
		st.Stage = &p.Stages[i]
		if st.MatMul != nil {
			st.Super = &SuperTile{MatMul: st.MatMul}
		}
		st.Note = st.Stage.Note
	}
	return s, s.size(o.Overhead)
}

// spill marks the temporary arrays to be spilled: those that do not fit into keep bytes
// together with the others that are live at the same time. A small one always fits.
func (p *Plan) spill(keep int64, spilled []bool) {
	_, dies := p.lifetimes()
	last := make([][]int, len(p.Stages)) // arrays that each stage is the last to need
	taken := make([]int64, len(p.Arrays))
	for a, i := range dies {
		if len(last) > 0 && p.Arrays[a].Place == InTemp {
			last[i] = append(last[i], a)
		}
	}
	for i := range p.Stages {
		for _, a := range p.Stages[i].Outputs {
			if p.Arrays[a].Place != InTemp {
				continue
			}
			if bytes := arena.Reserved(p.Arrays[a].Bytes()); bytes <= keep {
				taken[a] = bytes
				keep -= bytes
			} else {
				spilled[a] = bytes > alwaysKept
			}
		}
		for _, a := range last[i] {
			keep += taken[a]
		}
	}
}

// size decides how much of each stage is in flight, and predicts the peak. Where
// stages do not fit, its error is that of the one that needs the most.
func (p *Sized) size(overhead int64) error {
	var short *MemoryError
	born, dies := p.lifetimes()
	var steady int64 // what Collect returns exists from the first stage on
	if p.Place(p.Output) == InCollect {
		steady = p.ArrayBuffer(p.Output).reserved()
	}
	change := make([]int64, len(p.Stages)+1) // of what temporary arrays take, with each stage
	for a := range p.Arrays {
		if p.Place(a) == InArena {
			bytes := p.ArrayBuffer(a).reserved()
			change[born[a]] += bytes
			change[dies[a]+1] -= bytes
		}
	}
	var held int64
	for i := range p.Stages {
		s := &p.Stages[i]
		var base record.Bytes
		held += change[i]
		base[record.Output], base[record.Scratch] = steady, held
		room := p.Arena - base.Host()
		if p.Device.OnHost {
			room -= p.kept.total()
		}
		least := p.sizeStage(s, room)
		if s.Predicted.Host() > room {
			need := WholeMiB(base.Host() + least + overhead)
			if short == nil || need > short.Need {
				short = &MemoryError{Op: s.Name, Need: need, Limit: p.Budget}
			}
			continue
		}
		v := p.offload(s, room)
		p.OnDevice[i] = v
		on := p.Placed(i)
		add(&base, on.Predicted, 1)
		if base.Host() > p.Peak.Host() {
			p.Peak = base
		}
		p.traffic(on)
		if v == nil {
			continue
		}
		p.DevicePeak = max(p.DevicePeak, min(v.DevicePeak+p.kept.total(), p.Device.Memory))
		for _, o := range v.Memory.Kept {
			if o.Name != "" {
				p.kept[o.Name] = o.Bytes
			}
		}
		p.compare(i)
	}
	if short != nil {
		return short
	}
	return nil
}

// lifetimes are the first and last stage that each array is needed in.
func (p *Plan) lifetimes() (born, dies []int) {
	born, dies = make([]int, len(p.Arrays)), make([]int, len(p.Arrays))
	for i := range p.Stages {
		for _, a := range p.Stages[i].Outputs {
			born[a], dies[a] = i, i
		}
		for l := range p.Stages[i].Arrays() {
			dies[l.Array] = i
		}
	}
	return born, dies
}

// LastUses are the last stages that need each array.
func (p *Plan) LastUses() []int {
	_, dies := p.lifetimes()
	return dies
}

// sizeStage fills in the stage's shapes and prediction for as many slots as room
// allows, or for one where it does not. It returns the bytes of that one.
func (p *Sized) sizeStage(s *SizedStage, room int64) (least int64) {
	if s.Kind == MatMulStage {
		return p.sizeMatMul(s, room)
	}
	few := max(min(p.Workers, s.Tasks()), 1)
	modes := p.modes(s)
	// Long writes and reads gain more than slots beyond the workers; a slot for
	// each worker gains more than long ones, or than chunks decoded in one go.
	for _, s.DecodeWholeChunks = range modes {
		for bytes := p.longest(s); ; bytes /= 2 {
			smallest := p.shapes(s, bytes)
			for _, s.Workspaces = range p.workspaces(s, room) {
				p.declare(s)
				for s.Slots = p.mostSlots(s); s.Slots >= cmp.Or(4*s.Workspaces, few); s.Slots-- {
					if s.predict(); s.Predicted.Host() <= room {
						return 0
					}
				}
			}
			if smallest {
				break
			}
		}
	}
	for s.Slots = max(few-1, 1); ; s.Slots-- {
		for _, s.DecodeWholeChunks = range modes {
			p.declare(s)
			if s.predict(); s.Predicted.Host() <= room {
				return s.Predicted.Host()
			}
		}
		if s.Slots == 1 {
			return s.Predicted.Host()
		}
	}
}

// workspaces are how many a stage's slots may share, the best first, and 0. They share them where
// requests bring one encoded chunk of each input, and store one, which takes less memory than what decodes and
// encodes it: so there is room for more requests at once. Workspaces take a quarter of the room.
func (p *Sized) workspaces(s *SizedStage, room int64) []int {
	s.Workspaces = 0
	if !p.prefetches(s) {
		return []int{0}
	}
	p.declare(s)
	own, t := s.Buffers.slot.sum.Host(), tally{plan: p.Plan}
	if t.encoded(s); 2*t.sum.Host() > own {
		return []int{0}
	}
	return []int{int(max(min(room/4/own, int64(p.Workers)), 1)), 0}
}

// prefetches reports a stage of which each task reads one whole stored chunk of each input by a request, and
// stores one by another.
func (p *Sized) prefetches(s *SizedStage) bool {
	out := &p.Arrays[s.Outputs[0]]
	if s.Kind != MapStage || len(s.Folds)+len(s.Factors) > 0 || s.Grid.Offset != nil || !s.DecodeWholeChunks || out.Layout.Work.Encoded == 0 ||
		!slices.Equal(s.Grid.Chunks, out.Layout.Unit) || !slices.Equal(s.Grid.Chunks, s.Tile) || !slices.Equal(s.Grid.Chunks, s.WriteTile) {
		return false
	}
	prog, arrays := &s.Programs[0], 0
	if prog.Plain() && len(prog.Loads) > 1 { // of which one is read
		return false
	}
	for i := range prog.Loads {
		switch l := &prog.Loads[i]; l.Kind {
		case LoadBlocks:
			return false
		case LoadArray:
			arrays++
			if a := &p.Arrays[l.Array]; a.Work.Encoded == 0 || !l.inOneChunk(a.Chunks, s.Grid.Chunks) {
				return false
			}
		}
	}
	return arrays > 0
}

// inOneChunk reports that what a load needs for a box of a grid lies in one stored chunk.
func (l *Load) inOneChunk(stored, boxes []int) bool {
	for d, n := range stored {
		if a := l.View.Axis[d]; a >= 0 && (l.View.Step[d] != 1 || l.View.Start[d]%n != 0 || boxes[a] != n) {
			return false
		}
	}
	return true
}

// The most tasks that are in flight where each waits for the network: between these, as many as have remoteBytes
// of buffers. With 100 ms a request, of which one reads a chunk and one writes one, chunks of 1 MiB need all to
// fill a link of 5 Gbit/s, and chunks of 4 MiB need 60 for one of 10 Gbit/s.
const (
	fewRemoteSlots, mostRemoteSlots = 32, 128
	remoteBytes                     = 1 << 30
)

// MostLocalSlots is how many slots a stage can make use of that does not wait for a network.
func (p *Sized) MostLocalSlots() int { return 2*p.Workers + 2 }

// mostSlots is how many slots a stage, whose buffers are declared, can make use of.
func (p *Sized) mostSlots(s *SizedStage) int {
	most := p.MostLocalSlots()
	switch {
	case p.remote(s):
		most = int(min(max(remoteBytes/max(s.Buffers.slot.sum.Host(), 1), fewRemoteSlots), mostRemoteSlots))
		most = max(most, p.Workers)
	case s.Kind == MapStage && s.StoreChunk == nil && grid.Size(s.Grid.Chunks)*p.Arrays[s.Outputs[0]].DType.Size() > passBytes:
		most = min(p.Workers, s.Tasks()) + 1
	}
	return max(min(most, s.Tasks()), 1)
}

// turnBytes are what is read first: they fill a link of 5 Gbit/s with 100 ms a request.
const turnBytes = 64 << 20

// FirstReads is how many slots of a stage that copies from an object store to one read their first tile
// at the same time; 0 is all. If all began together, all would end reading together, then
// write together, and so on: the link would be used in one direction at a time.
func (p *Sized) FirstReads(s *SizedStage) int {
	if s.Kind != MapStage || !p.Arrays[s.Outputs[0]].Store.Network || !p.readsRemote(s.Arrays()) {
		return 0
	}
	if few := max(s.Slots/4, int(turnBytes/max(s.Buffers.slot.sum.Host(), 1))); few < s.Slots {
		return few
	}
	return 0
}

// remote reports a stage that reads from an object store, or writes to one.
func (p *Sized) remote(s *SizedStage) bool {
	for _, a := range s.Outputs {
		if p.Arrays[a].Store.Network {
			return true
		}
	}
	return p.readsRemote(s.Arrays())
}

// readsRemote reports that one of the loads reads from an object store.
func (p *Plan) readsRemote(loads iter.Seq[*Load]) bool {
	for l := range loads {
		if p.Arrays[l.Array].Store.Network {
			return true
		}
	}
	return false
}

// modes are the ways to decode and encode that a stage has to choose from: whole
// chunks at once, and streams where those take less.
func (p *Sized) modes(s *SizedStage) []bool {
	out := &p.Arrays[s.Outputs[0]].Layout
	streams := out.Sessions() && out.Work.Stream < out.Work.Whole
	for l := range s.Arrays() {
		if w := p.Arrays[l.Array].Work; w.Stream < w.Whole {
			streams = true
		}
	}
	if streams {
		return []bool{true, false}
	}
	return []bool{true}
}

// longest is how many bytes a stage reads and writes at once, where there is room.
func (p *Sized) longest(s *SizedStage) int {
	if s.Kind != MapStage {
		return chunkBytes
	}
	prog := &s.Programs[0]
	size := prog.itemSize(p.Arrays[s.Outputs[0]].DType.Size())
	stored := p.wholeChunks(s)
	most := passBytes
	if s.StoreChunk == nil && stored != nil {
		most = rowBytes
	}
	bytes := max(chunkBytes, min(grid.Size(s.Grid.Chunks)*size, most))
	if s.StoreChunk != nil {
		bytes = max(bytes, grid.Size(s.StoreChunk)*size)
	}
	if stored != nil {
		bytes = max(bytes, grid.Size(stored)*size)
	}
	return bytes
}

// shapes cuts the stage's chunks into what is written at once, of about the given bytes, tiles and
// blocks. It reports that they cannot be smaller.
func (p *Sized) shapes(s *SizedStage, bytes int) (smallest bool) {
	chunk := s.Grid.Chunks
	prog := &s.Programs[0]
	stored := p.wholeChunks(s)
	s.Chunk = chunk
	s.Block = grid.Auto(chunk, 1, BlockElems)
	least := max(p.rowElems(prog), BlockElems)
	if s.FixedChunks {
		s.WriteTile, s.Tile = chunk, chunk
		if s.StoreChunk != nil {
			s.Chunk, s.WriteTile = clip(s.StoreChunk, chunk), clip(s.StoreChunk, chunk)
		}
		return true
	}
	switch s.Kind {
	case ReduceStage:
		s.Chunk, s.WriteTile, s.Block = s.FoldTile, chunk, s.FoldBlock
		if stored == nil {
			most := p.tileBytes(prog)
			if prog.blocks() || crossed(prog) != nil { // rows of a tile across a file are short runs of it
				most = chunkBytes
			}
			s.Tile = within(chunk, max(min(bytes, most)/prog.itemSize(1), least), s.Block)
			return bytes <= tileBytes/8
		}
		elems := max(bytes/prog.itemSize(1), least)
		s.Tile = within(s.Chunk, elems, s.Block)
		return elems == least
	}
	out := p.Arrays[s.Outputs[0]].DType.Size()
	elems := max(bytes/out, least)
	if len(s.Folds) > 0 { // tiles depend on the budget, and the order of additions does not
		s.Chunk, s.Block = s.FoldTile, s.FoldBlock
		s.WriteTile = within(s.Chunk, elems, s.Block)
		if s.Tile = s.WriteTile; stored == nil && crossed(prog) == nil && !prog.blocks() {
			s.Tile = within(s.WriteTile, max(p.tileBytes(prog)/prog.itemSize(out), BlockElems), s.Block)
		}
		return elems == least
	}
	switch input := crossed(prog); {
	case s.StoreChunk != nil:
		s.Chunk = s.StoreChunk
		if p.rows(s, elems); s.Factors != nil { // the next level is made of it
			s.WriteTile = s.Chunk
		}
	case stored != nil:
		if grid.Size(chunk) > elems {
			s.Chunk = grow(clip(stored, chunk), chunk, elems)
		}
		p.rows(s, elems)
		if s.Tile = s.WriteTile; !prog.blocks() && grid.Size(s.WriteTile)*prog.itemSize(out) > chunkBytes {
			s.Tile = grow(clip(stored, s.WriteTile), s.WriteTile, chunkBytes/prog.itemSize(out))
		}
		return elems == least
	case prog.blocks():
		s.WriteTile = p.compact(prog, chunk, elems)
		s.Block = grid.Auto(s.WriteTile, 1, BlockElems)
	case input != nil && input[len(input)-1] != len(chunk)-1:
		s.WriteTile = square(chunk, input, elems, elems, shortCross/prog.itemSize(out))
		s.Block = grid.Auto(s.WriteTile, 1, BlockElems)
		s.Tile = s.WriteTile
		return elems == least
	default:
		p.rows(s, elems)
	}
	s.Tile = s.WriteTile
	switch {
	case stored == nil && s.sideBySide(prog, elems):
	case stored == nil && crossed(prog) == nil && !prog.blocks():
		s.Tile = within(s.WriteTile, max(p.tileBytes(prog)/prog.itemSize(out), BlockElems), s.Block)
	}
	return elems == least || s.Factors != nil
}

// wholeChunks are the stored chunks that a stage's tiles are made of; nil where no input is chunked,
// or tasks read parts of chunks that lie open.
func (p *Sized) wholeChunks(s *SizedStage) []int {
	prog := &s.Programs[0]
	stored := p.storedChunks(prog)
	if stored == nil || s.Kind != MapStage || s.StoreChunk != nil || len(s.Folds) > 0 || !p.readsInParts(prog) {
		return stored
	}
	for d, n := range s.Grid.Chunks {
		if n < stored[d] {
			return nil
		}
	}
	return stored
}

// sideBySide makes the tile of a copy into a shard several chunks that lie side by side, so that
// longer rows of a file are read at once. It reports whether it did.
// Inside 512 MiB, 2 GiB from a file into chunks of 256 rows of 1 KiB take 8 % fewer
// cycles by it, as nothing is mapped any more.
func (s *SizedStage) sideBySide(prog *Program, elems int) bool {
	last := len(s.WriteTile) - 1
	if !prog.Plain() || s.Factors != nil || s.Grid.Offset != nil || s.StoreChunk == nil || last < 0 || !slices.Equal(s.WriteTile, s.StoreChunk) {
		return false
	}
	width := min(s.StoreChunk[last]*(elems/grid.Size(s.StoreChunk)), s.Grid.Chunks[last])
	if width <= s.StoreChunk[last] {
		return false
	}
	s.Tile = slices.Clone(s.StoreChunk)
	s.Tile[last] = width
	return true
}

// rows writes whole rows of Chunk at once, of at most elems elements.
func (p *Sized) rows(s *SizedStage, elems int) {
	s.Block = grid.Auto(s.Chunk, 1, BlockElems)
	s.WriteTile = within(s.Chunk, elems, s.Block)
}

// square cuts a chunk to about elems elements, alike along its last axis and along the last
// in the order of a transposed input. Where these have fewer, other axes are longer, up to filled
// elements. Where runs would have less than short elements of either, it is extended.
func square(chunk, input []int, elems, filled, short int) []int {
	last, fast := len(chunk)-1, input[len(input)-1]
	box := slices.Repeat([]int{1}, len(chunk))
	both := cube([]int{chunk[fast], chunk[last]}, elems)
	box[fast], box[last] = both[0], both[1]
	fill(box, chunk, filled)
	if min(grid.Run(box, chunk, 1), run(box, chunk, input)) < short {
		return extended(chunk, input, elems, filled, short)
	}
	return box
}

// fill makes a box longer along axes of one element, the last first, up to so many elements.
func fill(box, chunk []int, filled int) {
	for d := len(box) - 1; d >= 0; d-- {
		if box[d] == 1 {
			box[d] = max(min(chunk[d], filled/max(grid.Size(box), 1)), 1)
		}
	}
}

// run is grid.Run of an array whose axes have another order.
func run(box, chunk, order []int) int {
	n := 1
	for _, d := range slices.Backward(order) {
		if n *= box[d]; box[d] < chunk[d] {
			break
		}
	}
	return n
}

// extended is a box of about elems elements that has with the last axis of each order as many
// before it as make long elements together, where there are such axes: as long runs to write as
// leave those to read.
func extended(chunk, input []int, elems, filled, long int) []int {
	last, fast := len(chunk)-1, input[len(input)-1]
	own := make([]int, len(chunk))
	for d := range own {
		own[d] = d
	}
	taken := make([]bool, len(chunk))
	taken[last], taken[fast] = true, true
	group := func(order []int) (axes []int, n int) { // from the last on
		n = 1
		for i, d := range slices.Backward(order) {
			if n >= long || i < len(order)-1 && taken[d] {
				break
			}
			axes, n, taken[d] = append(axes, d), n*chunk[d], true
		}
		return axes, n
	}
	write, n := group(own)
	read, m := group(input)
	if filled > 0 {
		elems = min(elems, filled)
	}
	n = max(min(n, elems/max(min(m, long), 1)), 1)
	m = max(min(m, elems/n), 1)
	box := slices.Repeat([]int{1}, len(chunk))
	take := func(axes []int, room int) {
		for _, d := range axes {
			box[d] = max(min(chunk[d], room), 1)
			room /= box[d]
		}
	}
	take(write, n)
	take(read, m)
	fill(box, chunk, filled)
	return box
}

// Folds reports an axis that is reduced.
func (f *Fold) Folds(axis int) bool {
	return slices.Contains(f.Axes, axis)
}

// traffic predicts the bytes that a stage reads from files and writes to them.
func (p *Sized) traffic(s *SizedStage) {
	for _, a := range s.Outputs {
		if p.inFile(a) {
			s.Written += p.Arrays[a].Bytes()
		}
	}
	if s.Kind == MatMulStage {
		return
	}
	for k := range s.reading() {
		p.reads(s, &s.Programs[k], s.Tile, 1)
	}
}

// inFile reports an array that is in a file.
func (p *Sized) inFile(array int) bool {
	place := p.Place(array)
	return place != InArena && place != InData && place != InCollect
}

// reads adds what a program reads from files, tile by tile and so many times over.
func (p *Sized) reads(s *SizedStage, prog *Program, tile []int, times int64) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind == LoadBlocks {
			p.opReads(s, l, tile, times)
		}
		if l.Kind != LoadArray || !p.inFile(l.Array) {
			continue
		}
		a, n := &p.Arrays[l.Array], l.moved(prog.Domain, tile)*times
		s.Read += n
		if n > 0 && a.Index > 0 {
			s.Read += int64(float64(n) / float64(a.Bytes()) * float64(a.Index))
		}
		if a.Chunks != nil || a.Blocks != nil {
			continue // chunks and blocks are read as they lie
		}
		if run := l.run(tile, a.Shape); s.ReadRun == 0 || run < s.ReadRun {
			s.ReadRun = run
		}
	}
}

// run is the number of bytes that lie together in a file where a tile of the
// domain is read from an array of the given shape.
func (l *Load) run(tile, shape []int) int64 {
	n := int64(l.Type.Size())
	for d := len(l.View.Axis) - 1; d >= 0; d-- {
		a := l.View.Axis[d]
		if a < 0 {
			if shape[d] > 1 {
				break
			}
			continue
		}
		if l.View.Step[d] != 1 {
			break
		}
		n *= int64(min(tile[a], shape[d]))
		if tile[a] < shape[d] {
			break
		}
	}
	return n
}
