package size

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Options are the resources that a run may use.
type Options struct {
	Budget   int64 // bytes of the whole process
	Overhead int64 // bytes of it that are not buffers: Go's runtime and heap, page tables
	Workers  int   // tasks that compute at once; at least 1
	Device   device.Spec
	Kept     Kept // nil where no run follows that reads the same again
	// Processes is the number of worker processes that run the tasks, and Budget is then
	// of all of them together and of this one, which only coordinates. 0 runs them here.
	Processes int
	// EachBudget is what each of them may take at most, where they run on machines of their own: then
	// they get what they are predicted to need, and Budget follows.
	EachBudget int64
	// Attached sizes one of these worker processes: what one stage writes for another
	// lies in files, and partial results are merged elsewhere.
	Attached bool
}

// Plan is a plan with the resources of one run.
type Plan struct {
	*plan.Plan
	Stages []Stage // in the order of Plan.Stages, as slots of the CPU do them
	// OnDevice has for each stage how the run's device does it; nil where slots do.
	OnDevice []*DeviceStage
	Budget   int64 // bytes of the whole process
	Arena    int64 // bytes of it that buffers may take
	Need     int64 // the smallest budget that would do
	Workers  int
	Device   device.Spec
	Peak     record.Bytes // predicted, by class, when the most is reserved
	// DevicePeak is the predicted peak of the device's own memory.
	DevicePeak int64

	Each Options // of one worker process, where there are any
	// Worker is the plan of one that has a machine of its own, and Most the budget that it was given; nil where there is none.
	Worker *Plan
	Most   int64

	kept     Kept
	attached bool   // or made for the coordinator of processes that are
	spilled  []bool // of each array, if it is temporary
}

// Stage is a stage with its tiles, slots and predicted bytes.
type Stage struct {
	*plan.Stage
	Chunk             []int // what a task does one after the other: the chunks of a shard, the tiles in whose order a reduction adds, or all of it
	WriteTile         []int // what it writes at once: rows of Chunk
	Tile              []int // what it reads at once: a multiple of Block
	Block             []int // what it computes at once
	Slots             int   // tasks in flight
	Workspaces        int   // what slots share to decode, compute and encode with; 0 where each has its own
	DecodeWholeChunks bool  // stored chunks are decoded and encoded in one go, not as streams

	Super *SuperTile // of a product

	Note  string // the logical stage's, and why it is not on the device
	Lacks string // why it is not, where there is something to compute

	Buffers   Buffers
	Predicted record.Bytes // by class, of Buffers in all slots

	Read    int64
	ReadRun int64 // bytes that lie together in what is read, at the least
	Written int64
}

// DeviceStage is a stage as a device does it: what slots of the CPU read and write for it,
// and what the device takes.
type DeviceStage struct {
	Stage
	Memory     DeviceBuffers
	DevicePeak int64 // bytes of the device's memory, all of them from its beginning on
	Depth      int   // tiles in flight of each slot
	Partials   int   // partial results of each accumulator, to which blocks are added in turn
	record.Transfers
	operations float64
	transfer   int // bytes that tiles were made for
}

// SuperTile says how many tiles of a product, SuperM × SuperN, are computed together:
// both operands' panels are read once for all of them.
type SuperTile struct {
	*plan.MatMul
	SuperM, SuperN int
	Depth          int // panels in flight: 2 reads ahead
	Beside         int // super-tiles in memory at once: more than 1 where one has too few tiles for all workers
}

// Kept has the bytes of operands that are resident on a device, by their names: those of
// earlier products of an algorithm whose next runs read them again. Further ones become
// resident while there is room.
type Kept map[string]int64

// total is what is on the device already.
func (k Kept) total() (n int64) {
	for _, bytes := range k {
		n += bytes
	}
	return n
}

// The places of a temporary array in a Plan.
const (
	InArena plan.Place = "arena" // in memory
	InSpill plan.Place = "spill" // on disk
)

// Place says where an array's elements are in the run.
func (p *Plan) Place(array int) plan.Place {
	switch place := p.Arrays[array].Place; {
	case place == plan.InCollect && p.attached:
		return InSpill
	case place != plan.InTemp:
		return place
	case p.spilled[array]:
		return InSpill
	}
	return InArena
}

// spills reports a temporary array that lies in a file.
func (p *Plan) spills(array int) bool { return p.spilled[array] }

// Placed returns a stage as the run does it: on its device, or in slots.
func (p *Plan) Placed(stage int) *Stage {
	if v := p.OnDevice[stage]; v != nil {
		return &v.Stage
	}
	return &p.Stages[stage]
}

// Chunks iterates over what a task does one after the other, within the box that it makes.
func (s *Stage) Chunks(task grid.Box) iter.Seq[grid.Box] {
	var origin []int
	if s.Grid.Offset != nil {
		origin = make([]int, len(task.Start))
		for d, by := range s.Grid.Offset {
			origin[d] = -by
		}
	}
	return task.Align(origin, s.Chunk)
}

// Before is the stage as one was that ran over a domain of another length along the first axis.
func (s *Stage) Before(length int) *Stage {
	of := *s.Stage
	of.Grid.Shape = slices.Clone(of.Grid.Shape)
	of.Grid.Shape[0] = length
	return &Stage{Stage: &of}
}

// WriteForms are how each stage's tasks write, as a checkpoint.Trace says it; nil of a stage of which that cannot be said.
func (p *Plan) WriteForms() [][][]int {
	all := make([][][]int, len(p.Stages))
	for i := range p.Stages {
		s := &p.Stages[i]
		switch {
		case s.Kind != plan.MapStage || s.Grid.Offset != nil || s.Factors != nil || !whole(s.Grid.Chunks, s.Chunk, s.Grid.Shape):
		case s.Buffers.Slot.Chunk.Bytes() > 0:
			all[i] = [][]int{s.Tile, p.Arrays[s.Outputs[0]].Layout.Unit, s.WriteTile}
		default:
			all[i] = [][]int{s.Chunk, s.WriteTile}
		}
	}
	return all
}

// whole reports that tasks have whole numbers of a chunk's lengths, unless they are at the end of an axis.
func whole(task, chunk, shape []int) bool {
	for d, n := range task {
		if n < shape[d] && n%chunk[d] != 0 {
			return false
		}
	}
	return true
}

// String is the plan as a tree of stages.
func (p *Plan) String() string {
	h := p.PlanHeader()
	var warnings strings.Builder
	for _, w := range p.Warnings {
		fmt.Fprintf(&warnings, "warning: %s\n", w)
	}
	return fmt.Sprintf("%s\npeak %s of %s, at least %s\n%s\n%s", p.Title, units.Bytes(h.Predicted.Host()+h.Overhead), units.Bytes(h.Budget), units.Bytes(h.Need), &warnings, record.Tree(h.Explain()))
}

// PlanHeader is what the record of a plan begins with that nobody runs. Where workers have machines of their own, its memory is that of each.
func (p *Plan) PlanHeader() record.Header {
	if p.Worker == nil {
		return p.Header()
	}
	h := p.Worker.Header()
	h.Budget, h.Processes = p.Most, p.Workers/p.Each.Workers
	return h
}

// Header is what a record begins with.
func (p *Plan) Header() record.Header {
	output, n := p.WholePath(p.Output), -1
	for range p.Staged() {
		n++
	}
	if n > 0 {
		output = fmt.Sprintf("%s and %d more", output, n)
	}
	first := &p.Arrays[p.Output]
	result := &record.Result{Shape: first.Shape, DType: first.DType.String()}
	for i := range p.Outputs() {
		result.Arrays++
		result.Bytes += p.Arrays[i].Bytes()
	}
	h := record.Header{Title: p.Title, Warnings: p.Warnings, Output: output, Result: result, Budget: p.Budget, Overhead: p.Budget - p.Arena, Need: p.Need,
		Predicted: p.Peak, Workers: p.Workers,
		Device: record.DeviceInfo{Name: p.Device.Name, Memory: p.Device.Memory, Predicted: p.DevicePeak}}
	if p.Each.Workers > 0 {
		h.Processes = p.Workers / p.Each.Workers
	}
	maker := map[int]int{} // of each array
	for i := range p.Stages {
		s := &p.Stages[i]
		for _, a := range s.Outputs {
			maker[a] = i
		}
		out := &p.Arrays[s.Outputs[0]]
		on := p.Placed(i)
		st := record.Stage{Name: s.Name, Kind: string(s.Kind), Site: s.Site, Shape: s.Grid.Shape, Chunks: s.Grid.Chunks,
			DType: out.DType.String(), Dims: out.Details.Dims, Tasks: s.Tasks(), Slots: on.Slots, Predicted: on.Predicted, Read: on.Read, ReadRun: on.ReadRun, Written: on.Written, Output: out.Path, Note: s.Note,
			Repeats: s.Repeats, Device: "cpu", Work: p.work(i)}
		if v := p.OnDevice[i]; v != nil {
			st.Device = p.Device.Name
			st.Predicted[record.Device] = v.DevicePeak
			st.Transfers = &v.Transfers
		}
		if st.Output == "" {
			st.Output = string(p.Place(s.Outputs[0]))
		}
		for l := range s.Stage.Arrays() {
			if from, ok := maker[l.Array]; ok && !slices.Contains(st.From, from) {
				st.From = append(st.From, from)
			}
			if name := p.Arrays[l.Array].Name; name != "" && !slices.Contains(st.Inputs, name) { // the plan's own data has none
				st.Inputs = append(st.Inputs, name)
			}
		}
		h.Stages = append(h.Stages, st)
	}
	return h
}

// Fingerprint is that of the plan on the run's device.
func (p *Plan) Fingerprint(version string, inputs map[int]storage.Version) plan.Fingerprint {
	f := p.Plan.Fingerprint(version, inputs)
	if f != (plan.Fingerprint{}) && slices.ContainsFunc(p.Plan.Stages, p.Device.Rounds) {
		f.Arithmetic += ", " + p.Device.Arithmetic
	}
	return f
}
