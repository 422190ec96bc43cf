// Package size fits plans into the resources of a run: it chooses tiles, slots, buffers, what spills and what a device
// does, and predicts the bytes and the work of each stage.
package size

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

// alwaysKept is the size up to which a temporary array gets no file.
const alwaysKept = 64 << 10

// New decides how a run with the given resources does the plan. A budget that is too
// small is a *types.MemoryError, whose Need would do.
func New(p *plan.Plan, o Options) (s *Plan, err error) {
	if o.Processes > 0 {
		return share(p, o)
	}
	none := o
	none.Budget = 0
	least := &types.MemoryError{Op: p.Title, Need: WholeMiB(o.Overhead)} // of a plan without elements
	if _, err = sizeFor(p, none, 0); err != nil && !errors.As(err, &least) {
		return nil, err
	}
	if o.Budget < least.Need {
		return nil, &types.MemoryError{Op: least.Op, Need: least.Need, Limit: o.Budget}
	}
	for _, part := range []int64{5, 2, 0} { // eighths of the room, unless that leaves too little to work in
		if s, err = sizeFor(p, o, max(o.Budget-o.Overhead, 0)/8*part); !errors.As(err, new(*types.MemoryError)) {
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
func sizeFor(p *plan.Plan, o Options, keep int64) (*Plan, error) {
	s := &Plan{Plan: p, Budget: o.Budget, Arena: max(o.Budget-o.Overhead, 0), Workers: max(o.Workers, 1), Device: o.Device, kept: maps.Clone(o.Kept), attached: o.Attached,
		Stages: make([]Stage, len(p.Stages)), OnDevice: make([]*DeviceStage, len(p.Stages)), spilled: make([]bool, len(p.Arrays))}
	if o.Attached {
		for i := range p.Arrays {
			s.spilled[i] = p.Arrays[i].Place == plan.InTemp
		}
	} else {
		spill(p, keep, s.spilled)
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
func spill(p *plan.Plan, keep int64, spilled []bool) {
	_, dies := p.Lifetimes()
	last := make([][]int, len(p.Stages)) // arrays that each stage is the last to need
	taken := make([]int64, len(p.Arrays))
	for a, i := range dies {
		if len(last) > 0 && p.Arrays[a].Place == plan.InTemp {
			last[i] = append(last[i], a)
		}
	}
	for i := range p.Stages {
		for _, a := range p.Stages[i].Outputs {
			if p.Arrays[a].Place != plan.InTemp {
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
func (p *Plan) size(overhead int64) error {
	var short *types.MemoryError
	born, dies := p.Lifetimes()
	var steady int64 // what Collect returns exists from the first stage on
	if p.Place(p.Output) == plan.InCollect {
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
				short = &types.MemoryError{Op: s.Name, Need: need, Limit: p.Budget}
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

// fit is the search for the shapes of a stage, on the CPU and on a device: it tries to decode chunks in one go before streams,
// then long tiles before short ones, and in those as many slots as fit. try shapes the stage for tiles of about the given bytes; it
// reports whether that fits, and whether tiles cannot be shorter. fit reports whether one of them fits.
func fit(modes []bool, longest int, try func(whole bool, bytes int) (fits, smallest bool)) bool {
	for _, whole := range modes {
		for bytes := longest; ; bytes /= 2 {
			fits, smallest := try(whole, bytes)
			if fits {
				return true
			}
			if smallest {
				break
			}
		}
	}
	return false
}

// fitSlots finds the most slots that fit, and reports whether least of them do.
func fitSlots(slots *int, most, least int, fits func() bool) bool {
	for *slots = most; *slots >= least; *slots-- {
		if fits() {
			return true
		}
	}
	return false
}

// sizeStage fills in the stage's shapes and prediction for as many slots as room
// allows, or for one where it does not. It returns the bytes of that one.
func (p *Plan) sizeStage(s *Stage, room int64) (least int64) {
	if s.Kind == plan.MatMulStage {
		return p.sizeMatMul(s, room)
	}
	few := max(min(p.Workers, s.Tasks()), 1)
	modes := p.modes(s)
	fits := func() bool {
		s.predict()
		return s.Predicted.Host() <= room
	}
	// Long writes and reads gain more than slots beyond the workers; a slot for
	// each worker gains more than long ones, or than chunks decoded in one go.
	if fit(modes, p.longest(s), func(whole bool, bytes int) (ok, smallest bool) {
		s.DecodeWholeChunks = whole
		smallest = p.shapes(s, bytes)
		for _, s.Workspaces = range p.workspaces(s, room) {
			p.declare(s)
			if fitSlots(&s.Slots, p.mostSlots(s), cmp.Or(4*s.Workspaces, few), fits) {
				return true, smallest
			}
		}
		return false, smallest
	}) {
		return 0
	}
	for s.Slots = max(few-1, 1); ; s.Slots-- {
		for _, s.DecodeWholeChunks = range modes {
			p.declare(s)
			if fits() {
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
func (p *Plan) workspaces(s *Stage, room int64) []int {
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
func (p *Plan) prefetches(s *Stage) bool {
	out := &p.Arrays[s.Outputs[0]]
	if s.Kind != plan.MapStage || len(s.Folds)+len(s.Factors) > 0 || s.Grid.Offset != nil || !s.DecodeWholeChunks || out.Layout.Work.Encoded == 0 ||
		!slices.Equal(s.Grid.Chunks, out.Layout.Unit) || !slices.Equal(s.Grid.Chunks, s.Tile) || !slices.Equal(s.Grid.Chunks, s.WriteTile) {
		return false
	}
	prog, arrays := &s.Programs[0], 0
	if prog.Plain() && len(prog.Loads) > 1 { // of which one is read
		return false
	}
	for i := range prog.Loads {
		switch l := &prog.Loads[i]; l.Kind {
		case plan.LoadBlocks:
			return false
		case plan.LoadArray:
			arrays++
			if a := &p.Arrays[l.Array]; a.Work.Encoded == 0 || !inOneChunk(l, a.Chunks, s.Grid.Chunks) {
				return false
			}
		}
	}
	return arrays > 0
}

// inOneChunk reports that what a load needs for a box of a grid lies in one stored chunk.
func inOneChunk(l *plan.Load, stored, boxes []int) bool {
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
func (p *Plan) MostLocalSlots() int { return 2*p.Workers + 2 }

// mostSlots is how many slots a stage, whose buffers are declared, can make use of.
func (p *Plan) mostSlots(s *Stage) int {
	most := p.MostLocalSlots()
	switch {
	case p.remote(s):
		most = int(min(max(remoteBytes/max(s.Buffers.slot.sum.Host(), 1), fewRemoteSlots), mostRemoteSlots))
		most = max(most, p.Workers)
	case s.Kind == plan.MapStage && s.StoreChunk == nil && grid.Size(s.Grid.Chunks)*p.Arrays[s.Outputs[0]].DType.Size() > shapes.PassBytes:
		most = min(p.Workers, s.Tasks()) + 1
	}
	return max(min(most, s.Tasks()), 1)
}

// turnBytes are what is read first: they fill a link of 5 Gbit/s with 100 ms a request.
const turnBytes = 64 << 20

// FirstReads is how many slots of a stage that copies from an object store to one read their first tile
// at the same time; 0 is all. If all began together, all would end reading together, then
// write together, and so on: the link would be used in one direction at a time.
func (p *Plan) FirstReads(s *Stage) int {
	if s.Kind != plan.MapStage || !p.Arrays[s.Outputs[0]].Store.Network || !shapes.ReadsRemote(p.Plan, s.Arrays()) {
		return 0
	}
	if few := max(s.Slots/4, int(turnBytes/max(s.Buffers.slot.sum.Host(), 1))); few < s.Slots {
		return few
	}
	return 0
}

// remote reports a stage that reads from an object store, or writes to one.
func (p *Plan) remote(s *Stage) bool {
	for _, a := range s.Outputs {
		if p.Arrays[a].Store.Network {
			return true
		}
	}
	return shapes.ReadsRemote(p.Plan, s.Arrays())
}

// modes are the ways to decode and encode that a stage has to choose from: whole
// chunks at once, and streams where those take less.
func (p *Plan) modes(s *Stage) []bool {
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
func (p *Plan) longest(s *Stage) int {
	if s.Kind != plan.MapStage {
		return shapes.ChunkBytes
	}
	prog := &s.Programs[0]
	size := prog.ItemSize(p.Arrays[s.Outputs[0]].DType.Size())
	stored := p.wholeChunks(s)
	most := shapes.PassBytes
	if s.StoreChunk == nil && stored != nil {
		most = shapes.RowBytes
	}
	bytes := max(shapes.ChunkBytes, min(grid.Size(s.Grid.Chunks)*size, most))
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
func (p *Plan) shapes(s *Stage, bytes int) (smallest bool) {
	chunk := s.Grid.Chunks
	prog := &s.Programs[0]
	stored := p.wholeChunks(s)
	s.Chunk = chunk
	s.Block = grid.Auto(chunk, 1, plan.BlockElems)
	least := max(shapes.RowElems(p.Plan, prog), plan.BlockElems)
	if s.FixedChunks {
		s.WriteTile, s.Tile = chunk, chunk
		if s.StoreChunk != nil {
			s.Chunk, s.WriteTile = grid.Clip(s.StoreChunk, chunk), grid.Clip(s.StoreChunk, chunk)
		}
		return true
	}
	switch s.Kind {
	case plan.ReduceStage:
		s.Chunk, s.WriteTile, s.Block = s.FoldTile, chunk, s.FoldBlock
		least = max(least, s.leastRow())
		if stored == nil {
			most := shapes.ReadAtOnce(p.Plan, prog)
			if prog.HasBlocks() || shapes.Crossed(prog) != nil { // rows of a tile across a file are short runs of it
				most = shapes.ChunkBytes
			}
			s.Tile = shapes.Within(s.Chunk, max(min(bytes, most)/prog.ItemSize(1), least), s.Block)
			return bytes <= shapes.TileBytes/8
		}
		elems := max(bytes/prog.ItemSize(1), least)
		s.Tile = shapes.Within(s.Chunk, elems, s.Block)
		return elems == least
	}
	out := p.Arrays[s.Outputs[0]].DType.Size()
	elems := max(bytes/out, least)
	if len(s.Folds) > 0 { // tiles depend on the budget, and the order of additions does not
		s.Chunk, s.Block = s.FoldTile, s.FoldBlock
		s.WriteTile = shapes.Within(s.Chunk, elems, s.Block)
		if s.Tile = s.WriteTile; stored == nil && shapes.Crossed(prog) == nil && !prog.HasBlocks() {
			s.Tile = shapes.Within(s.WriteTile, max(shapes.ReadAtOnce(p.Plan, prog)/prog.ItemSize(out), plan.BlockElems), s.Block)
		}
		return elems == least
	}
	switch input := shapes.Crossed(prog); {
	case s.StoreChunk != nil:
		s.Chunk = s.StoreChunk
		if p.rows(s, elems); s.Factors != nil { // the next level is made of it
			s.WriteTile = s.Chunk
		}
	case stored != nil:
		if grid.Size(chunk) > elems {
			s.Chunk = shapes.Grow(grid.Clip(stored, chunk), chunk, elems)
		}
		p.rows(s, elems)
		if s.Tile = s.WriteTile; !prog.HasBlocks() && grid.Size(s.WriteTile)*prog.ItemSize(out) > shapes.ChunkBytes {
			s.Tile = shapes.Grow(grid.Clip(stored, s.WriteTile), s.WriteTile, shapes.ChunkBytes/prog.ItemSize(out))
		}
		return elems == least
	case prog.HasBlocks():
		s.WriteTile = shapes.Compact(p.Plan, prog, chunk, elems)
		s.Block = grid.Auto(s.WriteTile, 1, plan.BlockElems)
	case input != nil && input[len(input)-1] != len(chunk)-1:
		s.WriteTile = shapes.Crosswise(chunk, input, elems, elems, shapes.ShortCross/prog.ItemSize(out))
		s.Block = grid.Auto(s.WriteTile, 1, plan.BlockElems)
		s.Tile = s.WriteTile
		return elems == least
	default:
		p.rows(s, elems)
	}
	s.Tile = s.WriteTile
	switch {
	case stored == nil && s.sideBySide(prog, elems):
	case stored == nil && shapes.Crossed(prog) == nil && !prog.HasBlocks():
		s.Tile = shapes.Within(s.WriteTile, max(shapes.ReadAtOnce(p.Plan, prog)/prog.ItemSize(out), plan.BlockElems), s.Block)
	}
	return elems == least || s.Factors != nil
}

// wholeChunks are the stored chunks that a stage's tiles are made of; nil where no input is chunked,
// or tasks read parts of chunks that lie open.
func (p *Plan) wholeChunks(s *Stage) []int {
	prog := &s.Programs[0]
	stored := shapes.Stored(p.Plan, prog)
	if stored == nil || s.Kind != plan.MapStage || s.StoreChunk != nil || len(s.Folds) > 0 || !shapes.ReadsInParts(p.Plan, prog) {
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
func (s *Stage) sideBySide(prog *plan.Program, elems int) bool {
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
func (p *Plan) rows(s *Stage, elems int) {
	s.Block = grid.Auto(s.Chunk, 1, plan.BlockElems)
	s.WriteTile = shapes.Within(s.Chunk, elems, s.Block)
}

// traffic predicts the bytes that a stage reads from files and writes to them.
func (p *Plan) traffic(s *Stage) {
	for _, a := range s.Outputs {
		if p.inFile(a) {
			s.Written += p.Arrays[a].Bytes()
		}
	}
	if s.Kind == plan.MatMulStage {
		return
	}
	for k := range s.Reading() {
		p.reads(s, &s.Programs[k], s.Tile, s.Grid.Chunks, 1)
	}
}

// inFile reports an array that is in a file.
func (p *Plan) inFile(array int) bool {
	place := p.Place(array)
	return place != InArena && place != plan.InData && place != plan.InCollect
}

// reads adds what a program reads from files, tile by tile of the boxes that tasks compute, and so many times over.
func (p *Plan) reads(s *Stage, prog *plan.Program, tile, box []int, times int64) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind == plan.LoadBlocks {
			p.opReads(s, l, tile, box, times)
		}
		if l.Kind != plan.LoadArray || !p.inFile(l.Array) {
			continue
		}
		a, n := &p.Arrays[l.Array], movedBytes(l, prog.Domain, tile)*times
		s.Read += n
		if n > 0 && a.Index > 0 {
			s.Read += int64(float64(n) / float64(a.Bytes()) * float64(a.Index))
		}
		if a.Chunks != nil || a.Blocks != nil {
			continue // chunks and blocks are read as they lie
		}
		if run := contiguousBytes(l, tile, a.Shape); s.ReadRun == 0 || run < s.ReadRun {
			s.ReadRun = run
		}
	}
}

// contiguousBytes is the number of bytes that lie together in a file where a tile of the
// domain is read from an array of the given shape.
func contiguousBytes(l *plan.Load, tile, shape []int) int64 {
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

// opReads adds what an operation reads from files for all tiles of a domain. One that
// reads a little at a time reads all of its inputs once.
func (p *Plan) opReads(s *Stage, l *plan.Load, tile, chunk []int, times int64) {
	boxes := times
	if s.Slides(l) {
		tile = s.Grid.Chunks
	}
	for d, n := range l.View.Shape {
		boxes *= int64((n + tile[d] - 1) / max(tile[d], 1))
	}
	need := l.Op.Requirements(l.Held(tile))
	for k, box := range need.Reads {
		in := &l.Inputs[k]
		whole := int64(max(grid.Size(in.Domain), 1))
		each := int64(grid.Size(grid.Clip(box, in.Domain)))
		before := s.Read
		p.reads(s, in, grid.Clip(box, in.Domain), grid.Clip(need.Span(k), in.Domain), times)
		all, disjoint := boxes*each, need.DisjointReads
		if op, ok := l.Op.Op.(blockwise.Keeper); ok {
			all, disjoint = times*int64(s.changes(op, k, l, tile, chunk)*grid.Size(grid.Clip(need.Span(k), in.Domain))), false
		}
		if all > whole && !disjoint { // reads counted each element once
			s.Read = before + int64(float64(s.Read-before)*float64(all)/float64(whole))
		}
	}
}

// changes is how often an operation reads another box of an input than before, where tiles of a load's domain
// follow each other in C order, of one chunk after the other.
func (s *Stage) changes(op blockwise.Keeper, input int, l *plan.Load, tile, chunk []int) int {
	levels := [][]int{tile, chunk, l.View.Shape}
	if s.Kind == plan.ReduceStage && slices.Equal(chunk, s.Grid.Chunks) {
		levels = [][]int{tile, s.FoldTile, chunk, l.View.Shape}
	}
	n, changed := 1, false
	for i, inner := range levels[:len(levels)-1] {
		for d := len(inner) - 1; d >= 0; d-- {
			if c := (levels[i+1][d] + inner[d] - 1) / inner[d]; c > 1 && (changed || !op.Keeps(input, slices.Index(l.View.Axis, d))) {
				n, changed = n*c, true
			}
		}
	}
	return n
}

// leastRow is how many elements a row of a chunk has whose windows are kept from row to row, where
// those of one take little memory: 0 elsewhere.
func (s *Stage) leastRow() int {
	row := slices.Clone(s.Grid.Chunks)
	if axis := slices.IndexFunc(row, func(n int) bool { return n > 1 }); axis >= 0 {
		row[axis] = 1
	}
	of := Stage{Stage: s.Stage, Tile: row}
	for i := range s.Programs[0].Loads {
		if l := &s.Programs[0].Loads[i]; l.Kind == plan.LoadBlocks && of.Slides(l) && l.Op.Requirements(l.Box(row)).Scratch <= 2*shapes.ChunkBytes {
			return grid.Size(row)
		}
	}
	return 0
}

// Slides reports an operation that keeps what tile after tile of a chunk has in common: tiles have
// the whole of a chunk but along its first axis, along which they follow each other.
func (s *Stage) Slides(l *plan.Load) bool {
	if s.Kind != plan.ReduceStage || len(s.Tile) != len(l.View.Axis) || !blockwise.Has(l.Op.Op, blockwise.KeepsReads) || l.Reversed() || l.Permuted() {
		return false
	}
	axis := slices.IndexFunc(s.Grid.Chunks, func(n int) bool { return n > 1 })
	return axis >= 0 && slices.Equal(s.Tile[axis+1:], s.Grid.Chunks[axis+1:]) && slices.Equal(s.FoldTile, s.Grid.Chunks)
}

// StateBytes returns the most that one slot saves of the box that its operation is filling in
// steps; 0 for stages of other kinds. The partial results of a stage that merges are saved
// instead.
func (s *Stage) StateBytes() int64 {
	if s.Kind != plan.MapStage || s.Factors != nil || s.Merges() || !s.Programs[0].Plain() {
		return 0
	}
	l := &s.Programs[0].Loads[s.Programs[0].Out[0]]
	if l.Kind != plan.LoadBlocks {
		return 0
	}
	return l.Op.Requirements(l.Box(s.Tile)).State
}

// notedState is from how many bytes of states on a plan says that a long run writes them.
const notedState = 16 << 20

// noteStates says what the stage takes on disk in addition to its results: of each state the
// last snapshot, and the one that is being written.
func (p *Plan) noteStates(stage int) {
	s := &p.Stages[stage]
	n := int64(s.Slots) * s.StateBytes()
	if n < notedState || p.OnDevice[stage] != nil {
		return
	}
	s.note("what it has done inside a chunk is saved now and then: up to " + units.Bytes(2*n) + " on disk until it ends")
}

// note adds to what people are told of the stage.
func (s *Stage) note(text string) {
	if s.Note != "" {
		s.Note += "; "
	}
	s.Note += text
}
