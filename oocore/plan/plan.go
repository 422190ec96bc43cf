// Package plan turns an expression into stages of chunk tasks, with every byte
// that they will take.
//
// A plan is data: it encodes, and another process that decodes it does the same
// work to the same bytes. It is made once, before any element is read, and never
// changes while it runs.
//
// What results depend on (the grids of tasks, the order in which partial results
// are folded, the tiles of a product) follows from shapes, types and stores
// alone. The budget and the number of workers decide only how many tasks are in
// flight and how much of a chunk is in memory at once.
package plan

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

// Engine names the rules that results depend on. It is part of a fingerprint:
// raise it when the same plan may give other bytes.
const Engine = "gonbext-3"

// Plan is what a run will do.
type Plan struct {
	Engine  string       `json:"engine"`
	Title   string       `json:"title"`
	Arrays  []Array      `json:"arrays"`
	Stages  []Stage      `json:"stages"`
	Output  int          `json:"output"` // index into Arrays
	Budget  int64        `json:"budget"` // bytes of the whole process
	Arena   int64        `json:"arena"`  // bytes of it that buffers may take
	Need    int64        `json:"need"`   // the smallest budget that would do
	Workers int          `json:"workers"`
	Device  DeviceSpec   `json:"device"`
	Peak    record.Bytes `json:"peak"` // predicted, by class, when the most is reserved
	// DevicePeak is the predicted peak of the device's own memory.
	DevicePeak int64 `json:"device_peak"`

	bound bool // Go functions are among its operations: it does not travel
	// While planning: bytes of the arena that temporary arrays may still take, the
	// temporary arrays that hold what is stored in chunks, and loads that were made to
	// read a copy in blocks.
	copies  map[string]Load
	keep    int64
	decodes map[int]int
}

// DeviceSpec is a device as the planner sees it. Memory is 0 for the CPU. OnHost
// says that it is taken from the host's: a modelled device's counts in the budget.
type DeviceSpec struct {
	Name   string `json:"name"`
	Memory int64  `json:"memory"`
	OnHost bool   `json:"on_host"`
}

// Place says where an array's elements are.
type Place string

// The places. Temporary arrays are those that one stage writes and another
// reads.
const (
	InFile    Place = "file"    // a user's stored array
	InData    Place = "data"    // in the plan itself
	InArena   Place = "arena"   // temporary, kept in memory
	InSpill   Place = "spill"   // temporary, on disk
	InResult  Place = "result"  // the output, in a file
	InCollect Place = "collect" // the output, returned as Go values
)

// Array is something that stages read or write.
type Array struct {
	Place   Place          `json:"place"`
	Name    string         `json:"name"` // for people
	Path    string         `json:"path,omitempty"`
	Shape   []int          `json:"shape"`
	DType   dtype.Type     `json:"dtype"`
	Chunks  []int          `json:"chunks,omitempty"` // that are stored, or are to be
	Shards  []int          `json:"shards,omitempty"`
	Blocks  []int          `json:"blocks,omitempty"` // by which a spilled array lies in its file; nil is C order
	Region  *grid.Box      `json:"region,omitempty"` // of what is there already, that the result is
	Whole   []int          `json:"whole,omitempty"`  // the shape of what is there
	Layout  store.Layout   `json:"layout,omitzero"`  // of the result
	Details store.Details  `json:"details,omitzero"` // of the result
	Work    store.Work     `json:"work,omitzero"`    // of reading
	ID      store.Identity `json:"id"`
	Data    []byte         `json:"data,omitempty"`
}

// Bytes is the array's size in memory.
func (a *Array) Bytes() int64 { return int64(grid.Size(a.Shape)) * int64(a.DType.Size()) }

// StageKind says what a stage does with its program's values.
type StageKind string

// The kinds of stages.
const (
	MapStage    StageKind = "map"    // write them
	ReduceStage StageKind = "reduce" // fold them
	MatMulStage StageKind = "matmul" // multiply those of two programs
)

// Stage is one pass. Its tasks are the chunks of its grid, in C order except
// where a reduction says otherwise; they share nothing but the arrays.
type Stage struct {
	Kind  StageKind `json:"kind"`
	Name  string    `json:"name"`
	Site  string    `json:"site"`
	Grid  grid.Grid `json:"grid"`  // of the domain that programs run over; of the result for a product
	Inner []int     `json:"inner"` // parts of a chunk that tasks do one after the other: the chunks of a shard
	Piece []int     `json:"piece"` // what a task writes at once: rows of Inner
	Tile  []int     `json:"tile"`  // what it reads at once: a multiple of Block
	Block []int     `json:"block"` // what it computes at once
	Slots int       `json:"slots"` // tasks in flight
	Whole bool      `json:"whole"` // stored chunks are decoded and encoded in one go, not as streams

	Programs []Program `json:"programs"`        // one; two for a product
	Outputs  []int     `json:"outputs"`         // indices into Arrays: one a fold, or the one of a map or a product
	Folds    []Fold    `json:"folds,omitempty"` // of the program's last values; along all axes beside a map's first
	MatMul   *MatMul   `json:"matmul,omitempty"`

	OnDevice bool   `json:"on_device"`
	Note     string `json:"note,omitempty"` // why not on the device

	Predicted  record.Bytes `json:"predicted"` // by class, of this stage's own buffers
	DevicePeak int64        `json:"device_peak"`
	Read       int64        `json:"read"`
	ReadRun    int64        `json:"read_run"` // bytes that lie together in what is read, at the least
	Written    int64        `json:"written"`

	// While planning: what Inner has to be, and that tasks compute whole chunks at once.
	unit  []int
	exact bool
}

// Fold is one reduction of a stage. All folds of a stage have the same
// axes.
type Fold struct {
	Kind  kernel.Reduction `json:"kind"`
	Axes  []int            `json:"axes"`
	DDof  float64          `json:"ddof"`
	Count int64            `json:"count"` // elements folded into each result
}

// Tasks is the number of chunk tasks of all stages.
func (p *Plan) Tasks() (n int) {
	for i := range p.Stages {
		n += p.Stages[i].Tasks()
	}
	return n
}

// Folded is the value of the program that the i-th fold takes.
func (s *Stage) Folded(i int) int {
	out := s.Programs[0].Out
	return len(out) - len(s.Folds) + i
}

// Folder is the i-th fold's.
func (s *Stage) Folder(i int) kernel.Folder {
	prog := &s.Programs[0]
	f, _ := kernel.NewFolder(s.Folds[i].Kind, prog.Type(prog.Out[s.Folded(i)]))
	return f
}

// Tasks is the number of chunk tasks of the stage.
func (s *Stage) Tasks() int { return s.Grid.Len() }

// Cut reports a map stage that computes a chunk at once and writes it in units.
func (s *Stage) Cut() bool { return grid.Size(s.Tile) > grid.Size(s.Piece) }

// Inners iterates over the parts of a chunk that are done one after the other.
func (s *Stage) Inners(chunk grid.Box) iter.Seq[grid.Box] {
	origin := make([]int, len(chunk.Start))
	for d, by := range s.Grid.Offset {
		origin[d] = -by
	}
	return chunk.Align(origin, s.Inner)
}

// MemoryError is returned when a budget is too small, before anything is read.
// A budget of Need bytes works.
type MemoryError struct {
	Op          string
	Need, Limit int64
	Held        int64 // part of Need that the program holds already; 0 where that is little
}

func (e *MemoryError) Error() string {
	held := ""
	if e.Held > 0 {
		held = fmt.Sprintf(", %s of it for what the program itself holds,", mib(e.Held))
	}
	return fmt.Sprintf("%s needs a budget of %s (%s)%s and has %s (%s)",
		e.Op, mib(e.Need), units.Exact(e.Need), cmp.Or(held, ","), mib(e.Limit), units.Exact(e.Limit))
}

// mib writes a size in a form that a budget can be given in.
func mib(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%dMiB", n>>20)
	}
	if n%(1<<10) == 0 {
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%dB", n)
}
