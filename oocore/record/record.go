// Package record is what a run leaves behind: which bytes each chunk took, of
// which class, when, and where the rest of the process's memory was.
//
// A run's record is one file in the run log: a header that the plan gives,
// then fixed-size rows in the order of their happening, then an end. A reader
// may follow the file while it grows; a file without an end is a run that is
// continuing or was killed. Rows are streamed to disk, so a record costs the same
// memory for ten chunks and for a million.
//
// Cells and the gonbext command leave records in the user's cache folder, other programs only where
// GONBEXT_RUNS is on or names a folder. What was saved and how far algorithms came is remembered in
// the same folder by all, so that it is not computed again. GONBEXT_RUNS=off leaves nothing there.
package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

// Class says what a buffer is for.
type Class uint8

// The classes of memory, in the order in which charts stack them.
const (
	Input   Class = iota // elements read and not yet consumed
	Output               // results not yet written, or being collected
	Scratch              // registers, accumulators, packed blocks
	Codec                // compressed bytes and a codec's own state
	Library              // a foreign library's buffers, a BLAS's for one
	Pinned               // page-locked staging for a GPU
	Device               // memory of the device itself; not part of the budget
	Classes              // how many there are
)

var classNames = [Classes]string{"input", "output", "scratch", "codec", "library", "pinned", "device"}

// String is the class's name in reports.
func (c Class) String() string {
	if c >= Classes {
		return fmt.Sprintf("class %d", uint8(c))
	}
	return classNames[c]
}

// Bytes counts bytes by class.
type Bytes [Classes]int64

// Host is the sum over the classes that the budget covers: all but Device.
func (b Bytes) Host() int64 {
	var n int64
	for c := range Device {
		n += b[c]
	}
	return n
}

// Header is what is known before a run: the plan's figures.
type Header struct {
	Run       string          `json:"run"`  // the run's name in the log, sortable by time
	Cell      string          `json:"cell"` // the notebook cell that it ran in, if any
	Start     time.Time       `json:"start"`
	PID       int             `json:"pid"`
	Title     string          `json:"title"`              // the expression, as a person would write it
	Within    string          `json:"within,omitempty"`   // the cell of the algorithm that this is a run of
	Warnings  []string        `json:"warnings,omitempty"` // about what the expression makes of its inputs
	Output    string          `json:"output"`             // path, or "" where the result is collected
	Result    *Result         `json:"result,omitempty"`   // what is at Output then
	PlanOnly  bool            `json:"planned"`            // a footprint: nothing ran
	Budget    int64           `json:"budget"`             // bytes that the process may take
	Overhead  int64           `json:"overhead"`
	Need      int64           `json:"need"`      // the smallest budget that would do
	Predicted Bytes           `json:"predicted"` // at the predicted peak, by class
	Workers   int             `json:"workers"`
	Processes int             `json:"processes,omitempty"` // that share the workers; 0: the run's own only
	Cluster   *Cluster        `json:"cluster,omitempty"`   // nil: this machine
	Device    DeviceInfo      `json:"device"`
	Stages    []Stage         `json:"stages"`
	WhatIf    []WhatIf        `json:"what_if,omitempty"`
	Machine   json.RawMessage `json:"machine,omitempty"` // limits that were in force
	Processor string          `json:"processor,omitempty"`
	Seconds   *Seconds        `json:"predicted_seconds,omitempty"` // of the run; nil where no run has told
	Resume    string          `json:"resume,omitempty"`            // why it starts over where an earlier run left something
	Changed   string          `json:"changed,omitempty"`           // what of the inputs has changed since an earlier run, whose result is updated
	Traffic   []Traffic       `json:"traffic,omitempty"`           // predicted, of object stores and web servers, from a cold start; nil where none is asked
	About     string          `json:"traffic_about,omitempty"`     // why Traffic may be somewhat more or less; "" where it is exact
	Series    []Series        `json:"series,omitempty"`            // noted by an algorithm of several runs
	Process   bool            `json:"process,omitempty"`           // of a cell's whole process, which may have runs: no stages
	Steps     int             `json:"steps,omitempty"`             // runs of an algorithm that it is of
	Shown     string          `json:"shown,omitempty"`             // what of the cell it only shows, such as "Hist": its memory is the cell's, and lists leave it out
}

// Result is an array, or several, that a run makes.
type Result struct {
	Shape  []int  `json:"shape"` // of one, and its type
	DType  string `json:"dtype"`
	Arrays int    `json:"arrays"`
	Bytes  int64  `json:"bytes"` // of all, before compression
}

// Cluster is the batch system that the tasks are for. The memory of a plan for one, its budget too, is that of each worker; that
// of a run is all of its workers'.
type Cluster struct {
	Name    string `json:"name"`
	Workers int    `json:"workers"` // at once
	Memory  int64  `json:"memory"`  // bytes that are asked for each of them: for its buffers and all else of the process
}

// Unreported is the Cell of plans that only ask for something, and of runs within an
// algorithm. Reports and lists of runs are about what the user computes.
const Unreported = "-"

// CommandCell is what the Cell of a command's runs begins with.
const CommandCell = "command-"

// DeviceInfo names the device that computes, and its memory in bytes; the CPU
// has none of its own.
type DeviceInfo struct {
	Name      string `json:"name"`
	Memory    int64  `json:"memory"`
	Predicted int64  `json:"predicted"`
}

// Stage is one pass over data: an operation, or several that were fused.
type Stage struct {
	Name      string   `json:"name"` // what is computed: "sqrt(x)"
	Kind      string   `json:"kind"` // map, reduce, matmul
	Site      string   `json:"site"` // the user's file:line
	Shape     []int    `json:"shape"`
	Chunks    []int    `json:"chunks"` // the grid of its tasks
	DType     string   `json:"dtype"`
	Dims      []string `json:"dims,omitempty"` // names of the axes, where they have some
	Tasks     int      `json:"tasks"`
	Runs      int      `json:"runs,omitempty"` // of a merged record: how many of its runs had the stage; 0: one
	Slots     int      `json:"slots"`          // tasks in flight
	Predicted Bytes    `json:"predicted"`
	Read      int64    `json:"read"` // bytes that the plan will read
	Written   int64    `json:"written"`
	ReadRun   int64    `json:"read_run,omitempty"` // bytes of the shortest contiguous piece that a task reads; 0: unknown
	Skipped   int      `json:"skipped,omitempty"`  // tasks of a resumed run that an earlier one did
	Inputs    []string `json:"inputs"`             // paths or names, for reports
	Output    string   `json:"output"`
	Note      string   `json:"note,omitempty"`    // why it is there, or not on the run's device
	From      []int    `json:"from,omitempty"`    // the stages whose results it reads
	Repeats   []string `json:"repeats,omitempty"` // what another stage computes too
	Device    string   `json:"device,omitempty"`  // that computes it

	Transfers *Transfers `json:"transfers,omitempty"` // of a device

	Work    []Work   `json:"work,omitempty"`              // what it takes time for
	Seconds *Seconds `json:"predicted_seconds,omitempty"` // nil where no run has told
}

// Activity is what a stage takes time for.
type Activity string

// The activities, as reports name what limits a stage.
const (
	Reading    Activity = "reading"
	Decoding   Activity = "decoding"
	Computing  Activity = "computing"
	Encoding   Activity = "encoding"
	Writing    Activity = "writing"
	Organising Activity = "organising tasks"
)

// Kinds of work that mean more than the time of cores.
const (
	Network       = "network"        // waits for an object store
	ChunksWritten = "chunks written" // are files, which are made durable one by one
	PagesWritten  = "file"           // stay in the page cache until they are made durable
)

// Work is one kind of an activity, as the plan of a stage counts it.
type Work struct {
	Of    Activity `json:"of"`
	Kind  string   `json:"kind"`            // such as "exp float32", "zstd:3"
	Nanos float64  `json:"nanos"`           // of one core, at rates that no machine has exactly
	Bytes int64    `json:"bytes,omitempty"` // from files or to them
	Path  string   `json:"path,omitempty"`  // of the stored array that is read or, of codecs, that the data comes from
	Disk  int64    `json:"disk,omitempty"`  // of Bytes, those that were not in the page cache
}

// add adds work to that of the same kind.
func (s *Stage) add(work []Work) {
	s.Work = slices.Clone(s.Work) // it is another header's too
	for _, w := range work {
		i := slices.IndexFunc(s.Work, func(o Work) bool { return o.Of == w.Of && o.Kind == w.Kind && o.Path == w.Path })
		if i < 0 {
			s.Work = append(s.Work, w)
			continue
		}
		s.Work[i].Nanos, s.Work[i].Bytes, s.Work[i].Disk = s.Work[i].Nanos+w.Nanos, s.Work[i].Bytes+w.Bytes, s.Work[i].Disk+w.Disk
	}
}

// Seconds is the time that is predicted from earlier runs on the same machine.
type Seconds struct {
	Low    float64 `json:"low"`
	Likely float64 `json:"likely"`
	High   float64 `json:"high"`
	Limit  string  `json:"limit"` // what takes most of it, such as "decoding" or "the disk"
}

// Known reports whether the range is at most a factor of two wide. What is less certain is not a
// prediction, and is not shown as one: a plan names the range.
func (s *Seconds) Known() bool { return s != nil && s.High <= 2*s.Low }

// String returns the likely time and the range, such as "3.2 s (2.4 s to 4.3 s)"; "" where it is not
// known.
func (s *Seconds) String() string {
	if !s.Known() {
		return ""
	}
	return fmt.Sprintf("%s (%s to %s)", seconds(s.Likely), seconds(s.Low), seconds(s.High))
}

func seconds(s float64) string { return units.Duration(time.Duration(s * float64(time.Second))) }

// Plus returns the time of one after the other; nil where one of them is not known. What
// limits it is what limits the longer.
func (s *Seconds) Plus(t *Seconds) *Seconds {
	if s == nil || t == nil {
		return nil
	}
	limit := s.Limit
	if t.Likely > s.Likely {
		limit = t.Limit
	}
	return &Seconds{s.Low + t.Low, s.Likely + t.Likely, s.High + t.High, limit}
}

// Transfers is what crosses a device's link, and the least time that the device takes for
// a stage at its rates.
type Transfers struct {
	Up      int64   `json:"up"` // bytes
	Down    int64   `json:"down"`
	Seconds float64 `json:"seconds"`
	Limit   string  `json:"limit"`          // what takes them
	Kept    int64   `json:"kept,omitempty"` // bytes of its inputs that stay on the device for later runs
	// What the stage would take of the machine's cores instead, and takes of its disk in
	// any case: figures of a usual machine.
	CPU  float64 `json:"cpu_seconds"`
	Disk float64 `json:"disk_seconds"`
}

// Gain says what the device gains by computing the stage rather than the cores; "" where
// that is not known.
func (x *Transfers) Gain() string {
	if x == nil {
		return ""
	}
	with, without := max(x.Seconds, x.Disk), max(x.CPU, x.Disk)
	switch {
	case x.Seconds == 0 || x.CPU == 0:
		return ""
	case without > 1.1*with:
		return fmt.Sprintf("about %.2g times as fast as on the CPU", without/with)
	case x.Disk >= x.Seconds:
		return NoGain + "the disk is the limit"
	}
	return NoGain + x.Limit + " is the limit"
}

// NoGain begins what Gain says where the device gains nothing.
const NoGain = "a GPU gains nothing here: "

// WhatIf is one row of the table of alternatives: what another chunk shape,
// budget or device would mean. Need is the smallest budget that would do.
type WhatIf struct {
	Chunks []int  `json:"chunks"`
	Budget int64  `json:"budget"`
	Device string `json:"device"`
	Fits   bool   `json:"fits"`
	Need   int64  `json:"need"`
	Passes int    `json:"passes"`
	Moved  int64  `json:"moved"`
	Peak   int64  `json:"peak"`
	Tasks  int    `json:"tasks"`
	// Traffic is what object stores and web servers are asked for, as Header has it.
	Traffic []Traffic `json:"traffic,omitempty"`
	// Of a device: its memory, what crosses the link, the stages that it computes, why the
	// CPU computes others or the device none, and about how long all takes by what.
	Memory   int64   `json:"memory,omitempty"`
	Link     int64   `json:"link,omitempty"`
	OnDevice int     `json:"on_device,omitempty"`
	Note     string  `json:"note,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
	Limit    string  `json:"limit,omitempty"`

	Time *Seconds `json:"predicted_seconds,omitempty"` // of the whole run on this machine; nil where no run has told
}

// Task is the row of one chunk task of one stage. Times count from the run's
// start.
type Task struct {
	Stage    uint16
	Slot     uint16
	Device   uint8 // 0 the CPU, 1 the header's device
	Retries  uint8
	Splits   uint8 // times its chunk was halved for want of device memory
	_        uint8
	Chunk    int64 // linear index in the stage's grid
	Start    time.Duration
	Duration time.Duration
	// The parts of Duration. They may not add up to it: a task also waits.
	Reading, Computing, Writing time.Duration
	Upload, Download            time.Duration // of a device's copies, whose Computing is beside them
	Read, Written, Moved        int64         // bytes from stores, to stores, to and from the device
	Requested                   Bytes         // bytes of the buffers that the task held
	Reserved                    Bytes         // with rounding by the arena
	Allocations, Reuses         uint32
}

// Sample is the memory of the process at one moment.
type Sample struct {
	At        time.Duration
	Arena     Bytes // reserved, by class
	Device    int64 // memory of the device that the run has taken, kept inputs among it
	Kept      int64 // inputs that stay on the device
	Context   int64 // memory that the device's driver and its libraries take for the process
	Others    int64 // memory of the device that other processes have taken
	Anonymous int64 // private memory of the process, which the kernel cannot take back
	Mapped    int64 // file pages mapped: the kernel can take them back
	Cached    int64 // page cache charged to the process's cgroup, or -1
	GoHeap    int64
	GoRuntime int64 // stacks, spans, garbage collector
	Done      int64 // tasks finished, over all stages
	Read      int64
	Written   int64
}

// Status is how a run ended.
type Status string

// The ways to end. A record without an End is of a process that was killed or
// still runs.
const (
	Done      Status = "done"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	Skipped   Status = "skipped" // the same result was saved before
	Planned   Status = "planned"
	Exited    Status = "exited" // a cell's process, by its exit status or a signal: see Conclude
)

// What List says of a record that has no End.
const (
	Running Status = "running"
	Killed  Status = "killed"
)

// End closes a record.
type End struct {
	Status      Status        `json:"status"`
	Error       string        `json:"error,omitempty"`
	Duration    time.Duration `json:"duration"`
	Peak        int64         `json:"peak"`    // of the arena, host classes together
	PeakBy      Bytes         `json:"peak_by"` // by class, at that peak
	DevicePeak  int64         `json:"device_peak"`
	OOMEvents   int           `json:"oom_events"`   // each has an Event
	ProcessPeak int64         `json:"process_peak"` // largest private memory sampled
	Computed    int64         `json:"computed"`     // tasks
	Skipped     int64         `json:"skipped"`
	Read        int64         `json:"read"`
	Written     int64         `json:"written"`
	Lost        int64         `json:"lost"`             // rows that could not be written
	Stages      []Spent       `json:"stages,omitempty"` // as in Header.Stages
}

// Spent is what a run spent on a stage.
type Spent struct {
	Tasks   int     `json:"tasks"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"` // seconds of all cores; 0 where that is not known
}

// Line is what one line of a cell held of the Go heap at one moment.
type Line struct {
	At        time.Duration
	Site      string // "line 3"
	Code      string
	Live      int64 // bytes that it has allocated and that are reachable
	Allocated int64 // bytes in all, so far
}
