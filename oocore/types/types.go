// Package types has the types that programs, stores and the engine share: rectangles of an
// array, and the errors of operations and budgets. Package oocore has those that programs
// need under its own names.
package types

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/units"
)

// Site is a line of the user's program.
type Site struct {
	File string
	Line int
}

// String returns the site as notebooks link it: notebook.go:12.
func (s Site) String() string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line)
}

// Error is an operation that was rejected: which, on what, where in the user's
// program, and why. Its text is one line.
type Error struct {
	Op     string
	Shapes [][]int      // of the operands
	Types  []dtype.Type // of the operands
	Site   Site
	Err    error
}

// Error says the operation, the cause, and the line of the program, once.
func (e *Error) Error() string {
	text := fmt.Sprint(e.Op, ": ", e.Err)
	if at := e.Site.String(); at != "" && !strings.HasSuffix(text, " ("+at+")") { // which an operation that this one is made of has said
		text += " (" + at + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// MemoryError is returned when a budget is too small, before anything is read.
// A budget of Need bytes works.
type MemoryError struct {
	Op          string
	Need, Limit int64
	Held        int64  // part of Need that is held already; 0 where that is little
	Holder      string // what holds it; "" for the program itself
}

// Error says the budget that is needed, in a form that can be given, and the present one.
func (e *MemoryError) Error() string {
	held := ""
	if e.Held > 0 {
		held = fmt.Sprintf(", %s of it for %s,", mib(e.Held), cmp.Or(e.Holder, "what the program itself holds"))
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

// BusyError is returned with NoWait for a run that would have to wait for others. Nothing has been read.
type BusyError struct {
	Op     string
	Bytes  int64 // that the run takes
	Taken  int64 // by the runs that are active
	Active int   // runs
	Limit  int64 // of the pool, or the least budget of the runs
}

// Error says what the run would take, and what is taken.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%s would take %s while other runs (%d) take %s of %s: try again later, or leave out NoWait to wait", e.Op, units.Bytes(e.Bytes), e.Active, units.Bytes(e.Taken), units.Bytes(e.Limit))
}

// OptionError is an option that is malformed, found before anything runs.
type OptionError struct{ Err error }

// Error says what is wrong with the option.
func (e *OptionError) Error() string { return fmt.Sprint("option: ", e.Err) }

// Unwrap returns the cause.
func (e *OptionError) Unwrap() error { return e.Err }

// Verification is what comparing a stored array with its receipt has shown.
type Verification struct {
	Chunks  int      // that were compared, by the parts that tasks write
	Damaged []Box    // that are not what was written, or cannot be read
	Faults  []string // for each of these: why it cannot be read; "" where it can
	Unknown int      // parts of which the receipt does not tell
	// Details says that shape, type, codec or attributes are not those of what was written.
	Details bool
	// Trusted says that all parts have cryptographic digests, which nobody can change the array to.
	Trusted bool
	// Recomputed is how many parts were computed anew from the inputs; those that came out otherwise are among Damaged.
	Recomputed int
	// Repaired are the parts that were damaged and are computed again.
	Repaired []Box
	// Changed are inputs that are not as they were read: parts that were computed anew of them, and came out otherwise, count as Unknown.
	Changed []string
}

// Whole reports an array that is as it was written.
func (v *Verification) Whole() bool {
	return v != nil && len(v.Damaged) == 0 && v.Unknown == 0 && !v.Details
}

// Lineage is what a stored array was made of.
type Lineage struct {
	Path       string       `json:"path"`
	Expression string       `json:"expression,omitempty"` // "" of an array without a receipt
	Changed    string       `json:"changed,omitempty"`    // what it is since: "changed", "gone"; "" for as it was
	Inputs     []Lineage    `json:"inputs,omitempty"`
	Task       *LineageTask `json:"task,omitempty"` // that made a chunk, where one was asked for
}

// LineageTask is one of a run, with what it has read.
type LineageTask struct {
	Index int           `json:"index"`
	Box   Box           `json:"box"`
	Reads []LineageRead `json:"reads,omitempty"`
}

// LineageRead is the chunks of an input that a task has read, by their numbers in C order. Inputs that have no versions of
// their chunks are not among them.
type LineageRead struct {
	Path   string `json:"path"`
	Chunks []int  `json:"chunks"`
}
