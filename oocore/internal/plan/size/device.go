package size

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

const (
	// DeviceSets is the least number of tiles in flight on a device: one is uploaded, one
	// computed and one downloaded at the same time.
	DeviceSets = 3
	// slotSets is that number for several slots, which come in any order: fewer would let a
	// lane wait for one of them.
	slotSets = 2 * DeviceSets
	// mostSlots bounds the slots of a stage: a device has a few bytes for each tile in flight, and
	// gains nothing by thousands of them.
	mostSlots = 1 << 10
	// deviceTransfer is how many bytes cross the link at once, at the most: longer
	// transfers are no faster.
	deviceTransfer = 32 << 20
	// DeviceStrips and DeviceRows are the buffers of a product for what is on its way to the
	// device, and from there.
	DeviceStrips, DeviceRows = 4, 2
)

// takes is what a stage on the device takes of the budget.
func (p *Plan) takes(s *DeviceStage) int64 {
	n := s.Predicted.Host()
	if p.Device.OnHost {
		n += s.DevicePeak
	}
	return n
}

// offload returns the stage as the device does it in the given room of the budget; nil where it
// does not, and says why.
func (p *Plan) offload(s *Stage, room int64) (v *DeviceStage) {
	if p.Device.Memory == 0 || s.Tasks() == 0 || s.Factors != nil || s.Kind == plan.MapStage && len(s.Folds) == 0 && s.Programs[0].Plain() && s.Programs[0].Moves() {
		return nil // there is nothing to compute
	}
	on := *s
	if on.Stage = s.WithFormulas(); p.Device.Lacks(on.Stage) != "" {
		on.Stage = s.Stage
	}
	if s.Lacks = p.Device.Lacks(on.Stage); s.Lacks == "" {
		if p.kept != nil { // shapes stay as they are while what is kept grows
			v = p.deviceStage(&on, room, p.Device.Memory/workShare)
		}
		if v == nil {
			v = p.deviceStage(&on, room, p.Device.Memory)
		}
		if v != nil {
			return v
		}
		if least := p.leastOnDevice(&on); least.DevicePeak > p.Device.Memory {
			s.Lacks = "has too little memory for the smallest tiles, which take " + units.Bytes(least.DevicePeak)
		} else {
			s.Lacks = fmt.Sprintf("would take %s of the budget, which leaves %s", units.Bytes(p.takes(least)), units.Bytes(max(room, 0)))
		}
	}
	s.note(p.Device.Name + " " + s.Lacks + ": on the CPU")
	return nil
}

// deviceStage sizes a stage for a device of the given memory: tiles as long as transfers
// gain by, in as many slots as there is room for. It is nil where not even the smallest
// fits.
func (p *Plan) deviceStage(s *Stage, room, memory int64) *DeviceStage {
	fits := func(v *DeviceStage) bool { return v.DevicePeak <= memory && p.takes(v) <= room && v.countable() }
	if s.Kind == plan.MatMulStage {
		v := p.deviceMatMul(s, fits)
		if v != nil {
			p.keep(v, room)
		}
		return v
	}
	most := max(min(max(p.MostLocalSlots(), slotSets), mostSlots, s.Tasks()), 1)
	var v *DeviceStage
	if !fit(p.modes(s), deviceTransfer, func(whole bool, bytes int) (ok, smallest bool) {
		v, smallest = p.deviceTile(s, bytes)
		v.DecodeWholeChunks = whole
		least := min(DeviceSets, most)
		if smallest {
			least = 1
		}
		return fitSlots(&v.Slots, most, least, func() bool {
			p.predictDevice(v)
			return fits(v) && (smallest || v.Slots*v.Depth >= min(slotSets, s.Tasks()*v.tiles()) || s.Tasks() == 1)
		}), smallest
	}) {
		return nil
	}
	return v
}

// mostHeld bounds the elements that a load holds for a tile: kernels count them in 32 bits.
const mostHeld = 1 << 31

// countable reports that a tile and its windows have no more elements than kernels can count.
func (s *Stage) countable() bool {
	if s.Kind == plan.MatMulStage {
		return true // kernels count the elements of panels in 64 bits
	}
	for i := range s.Programs[0].Loads {
		if l := &s.Programs[0].Loads[i]; l.Extent != nil && grid.Size(l.Held(s.Tile)) >= mostHeld {
			return false
		}
	}
	return true
}

// tiles is the number of those of a chunk.
func (s *Stage) tiles() int { return (grid.Grid{Shape: s.Grid.Chunks, Chunks: s.Tile}).Len() }

// leastOnDevice sizes a stage by the smallest tile and one slot.
func (p *Plan) leastOnDevice(s *Stage) *DeviceStage {
	if s.Kind == plan.MatMulStage {
		return p.deviceSuper(s, 1, 1, leastStrip)
	}
	v, _ := p.deviceTile(s, 1)
	v.Slots = 1
	p.predictDevice(v)
	return v
}

// deviceTile shapes a stage's tiles for transfers of about the given bytes. It reports
// that they cannot be shorter.
func (p *Plan) deviceTile(s *Stage, bytes int) (v *DeviceStage, smallest bool) {
	v = &DeviceStage{Stage: *s, transfer: bytes}
	prog := &s.Programs[0]
	switch {
	case s.Kind == plan.ReduceStage:
		elems := max(bytes/prog.ItemSize(1), plan.BlockElems)
		v.Chunk, v.WriteTile, v.Block = s.FoldTile, s.Grid.Chunks, s.FoldBlock
		v.Tile = shapes.Within(v.Chunk, elems, v.Block)
		return v, elems == plan.BlockElems
	case len(s.Folds) > 0: // blocks are the order of additions
		elems := max(bytes/prog.ItemSize(p.Arrays[s.Outputs[0]].DType.Size()), plan.BlockElems)
		v.Tile = shapes.Within(s.Chunk, elems, s.Block)
		smallest = elems == plan.BlockElems
	default:
		smallest = p.shapes(&v.Stage, bytes)
		v.Tile = v.WriteTile
	}
	v.WriteTile = v.Tile
	return v, smallest
}

// Halve returns the stage with tiles of half the size, or less, cut along the axis where
// that costs the least, or with fewer slots where they cannot be smaller; nil where neither
// takes less memory. It takes no more of the host.
func (p *Plan) Halve(s *DeviceStage) *DeviceStage {
	if s.Kind == plan.MatMulStage {
		return p.halveMatMul(s)
	}
	var v *DeviceStage
	if !fit([]bool{s.DecodeWholeChunks}, s.transfer/2, func(_ bool, bytes int) (less, smallest bool) {
		v, smallest = p.deviceTile(&s.Stage, bytes)
		p.predictDevice(v)
		return grid.Size(v.Tile) <= (grid.Size(s.Tile)+grid.Size(s.Block))/2 && v.DevicePeak < s.DevicePeak && v.Predicted.Host() <= s.Predicted.Host(), smallest
	}) {
		return p.fewer(s)
	}
	return v
}

// fewer returns the stage with half the slots, each of which has partials of its own; nil
// where that takes no less memory.
func (p *Plan) fewer(s *DeviceStage) *DeviceStage {
	v := *s
	v.Slots = (s.Slots + 1) / 2
	if p.predictDevice(&v); v.DevicePeak >= s.DevicePeak || v.Predicted.Host() > s.Predicted.Host() {
		return nil
	}
	return &v
}

// predictDevice declares what a map or reduce stage takes with its present tiles and slots,
// of the host, and adds up what it takes of the device.
func (p *Plan) predictDevice(s *DeviceStage) {
	prog := &s.Programs[0]
	depth := DeviceSets
	if s.Slots > 1 { // each slot reads and writes a tile while another is on the device
		depth = max((slotSets+s.Slots-1)/s.Slots, 2)
	}
	s.Depth = max(min(depth, s.tiles()), 1)
	p.beginBuffers(&s.Stage)
	s.Buffers.Slot = s.Buffers.slot.deviceSlot(s)
	s.Memory = DeviceBuffers{Scratch: Buffer{class: record.Device, bytes: p.Device.Scratch}}
	d := &s.Memory
	if p.Device.OnHost { // it computes as the CPU does
		d.Scratch.bytes = prog.RegisterBytes(false)
	} else if len(prog.Code) > 0 {
		s.Buffers.Rare = s.Buffers.stage.buffer(record.Scratch, prog.RegisterBytes(false))
	}
	s.predict()
	s.Partials = 1
	if len(s.Folds) > 0 {
		s.Partials = s.partials(p.Device.Partials)
	}
	for _, v := range s.FoldTemporaries() {
		d.Values = append(d.Values, Buffer{class: record.Device, bytes: int64(grid.Size(s.Tile)) * int64(prog.Type(v).Size())})
	}
	var sets, partials int64 // of a slot
	for _, set := range s.Buffers.Slot.Sets {
		sets += set.Out.reserved()
		for _, b := range set.In {
			sets += b.reserved()
		}
	}
	for _, b := range s.Buffers.Slot.States {
		partials += b.reserved()
	}
	s.DevicePeak = int64(s.Slots)*(sets+partials) + d.Scratch.reserved()
	for i := range s.Folds {
		if s.Partials > 1 {
			b := Buffer{class: record.Device, bytes: int64(s.Folder(i).Size()) * int64(s.Accumulators()) * int64(s.Partials)}
			d.Partials = append(d.Partials, b)
			s.DevicePeak += int64(s.Slots) * b.reserved()
		}
	}
	for _, b := range d.Values {
		s.DevicePeak += b.reserved()
	}
	s.Up, s.Down, s.operations = 0, int64(s.Tasks())*partials, float64(len(prog.Code)+len(s.Folds))*float64(grid.Size(s.Grid.Shape))
	for i := range prog.Loads {
		s.Up += movedBytes(&prog.Loads[i], prog.Domain, s.Tile)
	}
	if s.Kind == plan.MapStage {
		s.Down += p.Arrays[s.Outputs[0]].Bytes()
	}
	p.rate(s)
}

// deviceSlot declares a slot whose tiles a device computes.
func (t *tally) deviceSlot(s *DeviceStage) (d Slot) {
	prog := &s.Programs[0]
	d.Lane = Lane{Box: s.Tile, Tile: s.Tile, Loads: make([]LoadBuffers, len(prog.Loads))}
	for i := range prog.Loads {
		d.Lane.Loads[i] = t.load(&prog.Loads[i], s.Tile)
	}
	for range s.Depth {
		var set StagingSet
		for i := range prog.Loads {
			set.In = append(set.In, t.buffer(record.Pinned, prog.Loads[i].InputBytes(s.Tile)))
		}
		if s.Kind == plan.MapStage {
			set.Out = t.buffer(record.Pinned, int64(grid.Size(s.Tile))*int64(prog.Type(prog.Out[0]).Size()))
		}
		d.Sets = append(d.Sets, set)
	}
	t.results(&s.Stage, &d)
	return d
}

// deviceProduct declares a product whose accumulators a device has.
func (t *tally) deviceProduct(s *DeviceStage) (d Product) {
	m := s.Super
	_, cols, k := m.lengths()
	stripA, stripB, rows := s.Strips()
	for range DeviceStrips {
		d.Strips = append(d.Strips, t.buffer(record.Pinned, max(int64(stripA)*int64(k)*int64(s.operand(0).Size()), int64(stripB)*int64(cols)*int64(s.operand(1).Size()))))
	}
	for range DeviceRows {
		d.Rows = append(d.Rows, t.matrix(record.Pinned, rows, cols, m.Type))
	}
	if out := t.plan.Arrays[s.Outputs[0]].DType; out != m.Type {
		d.Cast = append(d.Cast, t.matrix(record.Output, rows, cols, out))
	}
	d.Write = append(d.Write, t.plainWriter(s.Stage.Stage, nil))
	d.Operands = t.operands(&s.Stage, stripA, k, stripB, cols)
	return d
}

// productOnDevice declares what the device takes of a product.
func (t *tally) productOnDevice(s *Stage, on *device.Spec) (d DeviceBuffers) {
	m := s.Super
	rows, cols, k := m.lengths()
	d.Sums = t.matrix(record.Device, rows, cols, m.Type)
	if on.OnHost { // it multiplies as the CPU does
		d.Scratch = t.buffer(record.Device, kernel.GemmWork(s.operand(0), min(m.TileM, m.M), min(m.TileN, m.N), k))
	} else {
		d.Scratch = t.buffer(record.Device, on.Workspace)
	}
	for range m.Depth {
		d.Panels = append(d.Panels, t.panels(record.Device, s))
	}
	return d
}

// movedBytes is the bytes that all tiles of the domain need of a load. What is broadcast along
// an axis moves again for every tile of it.
func movedBytes(l *plan.Load, domain, tile []int) int64 {
	if !l.Reads() {
		return 0
	}
	n := int64(l.Type.Size())
	tiles := func(d int) int { return (domain[d] + tile[d] - 1) / max(tile[d], 1) }
	for d, length := range domain {
		switch {
		case !slices.Contains(l.View.Axis, d):
			n *= int64(tiles(d))
		case l.Extent == nil:
			n *= int64(length)
		}
	}
	for d, extent := range l.Extent { // windows overlap those of the neighbouring tiles
		if a := l.View.Axis[d]; a >= 0 {
			extent = (domain[a]-tiles(a))*l.View.Step[d] + tiles(a)*extent
		}
		n *= int64(extent)
	}
	return n
}

// deviceMatMul chooses the accumulators that stay on the device: those by which the least
// crosses the link. Panels go there in strips, so that staging does not grow with them.
func (p *Plan) deviceMatMul(s *Stage, fits func(*DeviceStage) bool) (best *DeviceStage) {
	tilesM, tilesN := s.Super.tiles()
	for _, superM := range shares(tilesM) {
		for _, superN := range shares(tilesN) {
			for bytes := deviceTransfer; bytes >= leastStrip; bytes /= 2 {
				v := p.deviceSuper(s, superM, superN, bytes)
				if fits(v) {
					if best == nil || v.Up < best.Up || v.Up == best.Up && v.DevicePeak < best.DevicePeak {
						best = v
					}
					break
				}
				if v.DevicePeak > p.Device.Memory || best != nil && v.Up > best.Up {
					break
				}
			}
		}
	}
	return best
}

// leastStrip is where strips end to be shorter, unless a row is.
const leastStrip = 64 << 10

// shares are the lengths of equal parts of n, each at most once.
func shares(n int) (all []int) {
	for parts := 1; parts <= n; {
		each := (n + parts - 1) / parts
		all = append(all, each)
		if each == 1 {
			break
		}
		parts = (n + each - 2) / (each - 1) // the least number of shorter ones
	}
	return all
}

// halveMatMul keeps half as many accumulators on the device, in rows or in columns.
func (p *Plan) halveMatMul(s *DeviceStage) (best *DeviceStage) {
	m := s.Super
	for _, super := range [][2]int{{(m.SuperM + 1) / 2, m.SuperN}, {m.SuperM, (m.SuperN + 1) / 2}} {
		if super[0] == m.SuperM && super[1] == m.SuperN {
			continue
		}
		v := p.deviceSuper(&s.Stage, super[0], super[1], s.transfer)
		for bytes := s.transfer / 2; v.Predicted.Host() > s.Predicted.Host() && bytes > 0; bytes /= 2 {
			v = p.deviceSuper(&s.Stage, super[0], super[1], bytes) // strips of shorter rows, of more bytes together
		}
		if best == nil || v.Up < best.Up {
			best = v
		}
	}
	return best
}

// Strips are the rows of a panel of each operand, and of the result, that cross the link at
// once.
func (s *DeviceStage) Strips() (a, b, c int) {
	m := s.Super
	rows, cols, k := m.lengths()
	fit := func(length, item, most int) int { return max(min(s.transfer/max(length*item, 1), most), 1) }
	return fit(k, s.operand(0).Size(), rows), fit(cols, s.operand(1).Size(), k), fit(cols, m.Type.Size(), min(m.TileM, m.M))
}

// deviceSuper sizes a product of which so many tiles are computed together on the device,
// with strips of about the given bytes.
func (p *Plan) deviceSuper(s *Stage, superM, superN, bytes int) *DeviceStage {
	v, m := &DeviceStage{Stage: *s, transfer: bytes}, *s.Super
	v.Super = &m
	m.SuperM, m.SuperN, m.Beside = superM, superN, 1
	down, across := m.supers()
	panels := int64(m.Panels().Len()) * down * across * s.batch()
	m.Depth = int(max(min(DeviceSets, panels), 1))
	p.beginBuffers(&v.Stage)
	v.Buffers.Product = v.Buffers.stage.deviceProduct(v)
	v.predict()
	device := tally{plan: p.Plan}
	v.Memory = device.productOnDevice(&v.Stage, &p.Device)
	v.DevicePeak = device.sum[record.Device]
	v.Slots, v.Depth = m.Depth, 1
	a, b := v.panelBytes()
	v.Up, v.Down = a+b, s.batch()*int64(m.M)*int64(m.N)*int64(m.Type.Size())
	v.Read = v.Up
	v.operations = v.multiplications()
	p.rate(v)
	return v
}

// arithmetic is the type that most of a stage's operations are of: that of a product's
// operands; of others float64 or float32, which 16-bit elements are computed in.
func (s *Stage) arithmetic() dtype.Type {
	if s.Kind == plan.MatMulStage {
		return s.operand(0)
	}
	for _, in := range s.Programs[0].Code {
		if in.Type == dtype.Float64 {
			return dtype.Float64
		}
	}
	return dtype.Float32
}

// rate predicts the time that the device takes for a stage, and by what.
func (p *Plan) rate(s *DeviceStage) {
	r := &p.Device.Rates
	s.Seconds, s.Limit = 0, ""
	for _, part := range []struct {
		limit       string
		count, rate float64
	}{
		{"the link", float64(s.Up), r.Upload},
		{"the link", float64(s.Down), r.Download},
		{"its memory", float64(s.Up + s.Down), r.Memory},
		{"its arithmetic", s.operations, r.ArithmeticOf(s.arithmetic())},
	} {
		if part.rate > 0 && part.count/part.rate > s.Seconds {
			s.Seconds, s.Limit = part.count/part.rate, part.limit
		}
	}
}

// partials is the number of partial results of each accumulator, of which a task has so many
// at the most. It follows from the order of additions alone.
func (s *Stage) partials(most int) int {
	blocks := 1
	for d, n := range s.FoldTile {
		if s.Folds[0].Folds(d) {
			blocks *= (min(n, s.Grid.Chunks[d]) + s.FoldBlock[d] - 1) / s.FoldBlock[d]
		}
	}
	return max(min(blocks, most/max(s.Accumulators(), 1)), 1)
}

// BlocksBefore is the number of blocks before those of a tile that are folded into its
// accumulators, along the axes that are reduced within the same chunk.
func (s *DeviceStage) BlocksBefore(chunk, tile grid.Box) (n int) {
	for d, start := range tile.Start {
		if !s.Folds[0].Folds(d) {
			continue
		}
		offset := 0
		if s.Grid.Offset != nil {
			offset = s.Grid.Offset[d]
		}
		stored := (start+offset)/s.Chunk[d]*s.Chunk[d] - offset
		first, end := max(stored, chunk.Start[d]), min(stored+s.Chunk[d], chunk.Start[d]+chunk.Shape[d])
		n = n*((end-first+s.Block[d]-1)/s.Block[d]) + (start-first)/s.Block[d]
	}
	return n
}
