package plan

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Plan is what a run computes: the logical plan.
type Plan struct {
	Revisions string  `json:"engine"` // of the operations and algorithms that it uses
	Title     string  `json:"title"`
	Arrays    []Array `json:"arrays"`
	Stages    []Stage `json:"stages"`
	Output    int     `json:"output"`           // index into Arrays
	Others    []int   `json:"others,omitempty"` // the other outputs
	// Collections hold outputs that appear together.
	Collections []storage.CollectionMeta `json:"collections,omitempty"`
	// Folder has the staging folders of outputs in object stores, where other machines work on
	// the plan; "" for this user's cache.
	Folder string `json:"folder,omitempty"`

	// Warnings are about what the expression makes of its inputs. They are for people, and do not
	// travel.
	Warnings []string `json:"-"`

	Function string `json:"-"` // the call of a Go function among its operations, with its line: it does not travel; "" for none
}

// Outputs iterates over the indices of all outputs in Arrays.
func (p *Plan) Outputs() iter.Seq[int] {
	return slices.Values(append([]int{p.Output}, p.Others...))
}

// StagingPath is the path whose staging folder an output grows in.
func (p *Plan) StagingPath(output int) string {
	return storage.StagingIn(p.Folder, p.WholePath(output))
}

// WholePath is the path of what an output is in: its own, or that of its collection.
func (p *Plan) WholePath(output int) string {
	if a := &p.Arrays[output]; a.Collection > 0 {
		return p.Collections[a.Collection-1].Path
	}
	return p.Arrays[output].Path
}

// Wholes iterates over the outputs that stand for themselves, and of a new collection over the
// first.
func (p *Plan) Wholes() iter.Seq[int] {
	return p.firsts(func(collection int) bool { return !p.Collections[collection-1].Add })
}

// WholesOf iterates over those of Wholes that are staged with an output that has a staging folder.
func (p *Plan) WholesOf(output int) iter.Seq[int] {
	c := p.Arrays[output].Collection
	if c == 0 || !p.Collections[c-1].Add {
		return slices.Values([]int{output})
	}
	return func(yield func(int) bool) {
		for i := range p.Outputs() {
			if p.Arrays[i].Collection == c && !yield(i) {
				return
			}
		}
	}
}

// Staged iterates over the outputs that have staging folders: of a collection the first.
func (p *Plan) Staged() iter.Seq[int] { return p.firsts(func(int) bool { return true }) }

// firsts iterates over the outputs, and over the first only of the collections that of reports.
func (p *Plan) firsts(of func(collection int) bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		seen := make([]bool, len(p.Collections)+1)
		for i := range p.Outputs() {
			c := p.Arrays[i].Collection
			if c > 0 && seen[c] && of(c) {
				continue
			}
			if seen[c] = true; !yield(i) {
				return
			}
		}
	}
}

// String is the plan's title and its stages.
func (p *Plan) String() string {
	var b strings.Builder
	b.WriteString(p.Title)
	for i := range p.Stages {
		s := &p.Stages[i]
		fmt.Fprintf(&b, "\n%d: %s %s, %d tasks of %s", i, s.Kind, s.Name, s.Tasks(), grid.Format(s.Grid.Chunks))
		if s.Note != "" {
			fmt.Fprintf(&b, " (%s)", s.Note)
		}
	}
	return b.String()
}

// Place says where an array's elements are.
type Place string

// The places of a logical plan. Temporary arrays are those that one stage writes and
// another reads; a plan that is sized says whether one is in memory or on disk.
const (
	InFile    Place = "file"    // a user's stored array
	InData    Place = "data"    // in the plan itself
	InTemp    Place = "temp"    // temporary
	InResult  Place = "result"  // the output, in a file
	InCollect Place = "collect" // the output, returned as Go values
)

// Array is something that stages read or write.
type Array struct {
	Place   Place             `json:"place"`
	Name    string            `json:"name"` // for people
	Path    string            `json:"path,omitempty"`
	Shape   []int             `json:"shape"`
	DType   dtype.Type        `json:"dtype"`
	Chunks  []int             `json:"chunks,omitempty"` // that are stored, or are to be
	Shards  []int             `json:"shards,omitempty"`
	Open    bool              `json:"open,omitempty"`   // parts of stored chunks are read without the rest
	Blocks  []int             `json:"blocks,omitempty"` // by which a temporary array lies in its file if it spills; nil is C order
	Region  *grid.Box         `json:"region,omitempty"` // of a stored array, that the result is
	Whole   []int             `json:"whole,omitempty"`  // the shape of what is there
	Grow    bool              `json:"grow,omitempty"`   // by that region, to that shape
	Layout  store.Layout      `json:"layout,omitzero"`  // of the result
	Details store.Details     `json:"details,omitzero"` // of the result
	Work    store.Work        `json:"work,omitzero"`    // of reading
	Codec   string            `json:"codec,omitempty"`  // of what is stored
	Index   int64             `json:"index,omitempty"`  // bytes of the indexes of all its shards
	ID      store.FileVersion `json:"id"`
	Data    []byte            `json:"data,omitempty"`
	Store   blob.Capabilities `json:"-"` // of where Path leads to, as this process has it
	Object  []int             `json:"-"` // what one stored object has, where that is several chunks
	Format  string            `json:"-"` // as store.Info has it
	// Collection is one more than the index of the collection that the output is a member of, by
	// a name; 0 for none.
	Collection int    `json:"collection,omitempty"`
	Member     string `json:"member,omitempty"`
}

// Bytes is the array's size in memory.
func (a *Array) Bytes() int64 { return int64(grid.Size(a.Shape)) * int64(a.DType.Size()) }

// SpillMeta is how a temporary array lies in its file.
func (a *Array) SpillMeta() store.Meta {
	m := store.Meta{Shape: a.Shape, DType: a.DType, Chunks: a.Blocks}
	if m.Chunks == nil {
		m.Chunks = grid.Whole(a.Shape).Chunks
	}
	return m
}

// SmallestRead are the lengths of what is read of the array at the least: its chunks, or a
// temporary's blocks. nil is C order.
func (a *Array) SmallestRead() []int {
	if a.Blocks != nil {
		return a.Blocks
	}
	return a.Chunks
}

// ReadInParts reports an array of whose chunks parts are read as cheaply as of a file in C order.
// In an object store each part would take a request.
func (a *Array) ReadInParts() bool { return a.Open && a.Blocks == nil && !a.Store.Network }

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
	Kind StageKind `json:"kind"`
	Name string    `json:"name"`
	Site string    `json:"site"`
	Grid grid.Grid `json:"grid"` // of the domain that programs run over; of the result for a product

	Programs []Program `json:"programs"`        // one; two for a product; of a pyramid one for each level
	Outputs  []int     `json:"outputs"`         // indices into Arrays: one a fold, or the one of a map or a product; see Factors
	Folds    []Fold    `json:"folds,omitempty"` // of the program's last values; those of a map are along all axes
	MatMul   *MatMul   `json:"matmul,omitempty"`

	// FoldTile and FoldBlock are the order of additions of a reduction: a chunk is folded
	// by tiles of FoldTile, one after the other in C order, each by blocks of FoldBlock.
	FoldTile  []int `json:"fold_tile,omitempty"`
	FoldBlock []int `json:"fold_block,omitempty"`

	StoreChunk  []int  `json:"unit,omitempty"`  // of a map whose output's layout has chunks: theirs, which a task writes as a whole
	FixedChunks bool   `json:"exact,omitempty"` // tasks compute whole chunks at once
	Note        string `json:"note,omitempty"`  // why the stage is there, for people
	// Factors, where they are set, make a map a pyramid: each output but the first is made of the one
	// before, whose chunks are in memory, by a program of its own, so many elements along each axis
	// making one. A task makes whole chunks of all levels. One output more also holds the last level.
	Factors [][]int `json:"factors,omitempty"`
	// Repeats are expressions that another stage computes too, and that are cheaper to
	// compute again than to keep.
	Repeats []string `json:"repeats,omitempty"`
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

// FoldOut is the index, among the results of the program, of the value that the i-th fold
// takes.
func (s *Stage) FoldOut(i int) int {
	out := s.Programs[0].Out
	return len(out) - len(s.Folds) + i
}

// Folder is the i-th fold's.
func (s *Stage) Folder(i int) kernel.Folder {
	prog := &s.Programs[0]
	f, _ := kernel.NewFolder(s.Folds[i].Kind, prog.Type(prog.Out[s.FoldOut(i)]))
	return f
}

// Reading are the programs that read arrays, as opposed to levels of a pyramid in memory.
func (s *Stage) Reading() []Program { return s.Programs[:len(s.Programs)-len(s.Factors)] }

// Level is the level of a pyramid that an output of a map holds.
func (s *Stage) Level(output int) int { return min(slices.Index(s.Outputs, output), len(s.Factors)) }

// LevelBox is the box of a level that a box of the first makes.
func (s *Stage) LevelBox(level int, box grid.Box) grid.Box {
	for level := range level {
		box = s.NextLevelBox(level, box)
	}
	return box
}

// NextLevelBox is the box of the level after one that a box of it makes.
func (s *Stage) NextLevelBox(level int, box grid.Box) grid.Box {
	box = grid.Box{Start: slices.Clone(box.Start), Shape: slices.Clone(box.Shape)}
	for d, f := range s.Factors[level] {
		box.Start[d], box.Shape[d] = box.Start[d]/f, (box.Shape[d]+f-1)/f
	}
	return box
}

// Arrays are the loads of arrays of all the stage's programs.
func (s *Stage) Arrays() iter.Seq[*Load] {
	return func(yield func(*Load) bool) {
		for i := range s.Reading() {
			if !s.Programs[i].arrays(yield) {
				return
			}
		}
	}
}

// Tasks is the number of chunk tasks of the stage.
func (s *Stage) Tasks() int { return s.Grid.Len() }

// Folds reports an axis that is reduced.
func (f *Fold) Folds(axis int) bool {
	return slices.Contains(f.Axes, axis)
}

// Merges reports whether a stage's tasks make partial results, which have to be merged.
func (s *Stage) Merges() bool {
	return len(s.Folds) > 0 && (s.Kind == MapStage || s.ChunksPerResult() != 1)
}

// ChunksPerResult is the number of chunks whose partial results make one result.
func (s *Stage) ChunksPerResult() int {
	n := 1
	for d := range s.Grid.Shape {
		if s.Folds[0].Folds(d) {
			n *= s.Grid.Count(d)
		}
	}
	return n
}

// Accumulators is the number of accumulators of one task of a stage that folds.
func (s *Stage) Accumulators() int {
	n := 1
	for d, c := range s.Grid.Chunks {
		if !s.Folds[0].Folds(d) {
			n *= c
		}
	}
	return n
}

// AddArray adds an array, and returns its index.
func (p *Plan) AddArray(a Array) int {
	a.Store = blob.PlaceOf(a.Path).Capabilities
	p.Arrays = append(p.Arrays, a)
	return len(p.Arrays) - 1
}

// Lifetimes are the first and last stage that each array is needed in.
func (p *Plan) Lifetimes() (born, dies []int) {
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
	_, dies := p.Lifetimes()
	return dies
}

// OpenBytes are what stored inputs take of Go's heap while they are open.
func (p *Plan) OpenBytes() (n int64) {
	for i := range p.Arrays {
		n += p.Arrays[i].Work.Open
	}
	return n
}

// FoldTemporaries are the values of the stage's program that a device writes to its memory
// only to fold them: neither what a map writes nor elements that are there already.
func (s *Stage) FoldTemporaries() (all []int) {
	prog := &s.Programs[0]
	for i := range s.Folds {
		v := prog.Out[s.FoldOut(i)]
		uploaded := v < len(prog.Loads) && prog.Loads[v].Dense()
		written := s.Kind == MapStage && v == prog.Out[0]
		if !uploaded && !written && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// Draft is a program that is being made. Load i is the value -1-i, and instruction i is i.
type Draft struct {
	Domain []int
	Loads  []Load
	code   []Instr
}

// Load adds a load, and returns its value.
func (d *Draft) Load(l Load) int {
	d.Loads = append(d.Loads, l)
	return -len(d.Loads)
}

// Emit adds an instruction, and returns its value.
func (d *Draft) Emit(in Instr) int {
	d.code = append(d.code, in)
	return len(d.code) - 1
}

// Program finishes the draft: the numbers of loads come first, then those of instructions.
func (d *Draft) Program(out, checks []int) Program {
	number := func(values []int) {
		for i, v := range values {
			if v < 0 {
				values[i] = -1 - v
			} else {
				values[i] = v + len(d.Loads)
			}
		}
	}
	for i := range d.code {
		number(d.code[i].Args)
	}
	number(out)
	number(checks)
	return Program{Domain: d.Domain, Loads: d.Loads, Code: d.code, Out: out, Checks: checks}
}
