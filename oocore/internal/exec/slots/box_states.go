package slots

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// An operation that fills a box in steps has a state between them. A snapshot of its stage
// has the states of the boxes that slots are filling, and those that the snapshot before
// has and no slot has read yet: the run that resumes may have fewer slots.

// SaveStatesAfter is how long a box has been filled, or was since its state was last saved, before
// that is saved: below it the steps are done again as fast. Tests change it.
var SaveStatesAfter = time.Second

// boxStates are the states of the boxes that a stage's slots are filling.
type boxStates struct {
	all []*boxState

	mu       sync.Mutex // of what follows, and of what each boxState says
	restored map[boxKey]restoredState
}

// boxKey names a box of a stage's result by the task that fills it and where it begins.
type boxKey struct {
	task  int
	start string
}

// savedState is the state of a box, in a snapshot.
type savedState struct {
	Task   int    `json:"task"`
	Start  string `json:"start"`
	Steps  int    `json:"steps"` // that are done
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Sum    uint32 `json:"sum"`
}

// restoredState is a state that no slot has read yet.
type restoredState struct {
	savedState
	from io.ReaderAt
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// newBoxStates returns nil for a stage whose operation has no steps.
func newBoxStates(s *size.Stage) *boxStates {
	if s.StateBytes() == 0 {
		return nil
	}
	return &boxStates{restored: map[boxKey]restoredState{}}
}

// slot returns the state of the boxes that a slot's reader fills, one after the other.
func (a *boxStates) slot() *boxState {
	b := &boxState{states: a}
	a.all = append(a.all, b)
	return b
}

// boxState is the state of the box that a slot is filling.
type boxState struct {
	states *boxStates
	step   sync.Mutex // held by a step, and by who reads or writes the state
	within bool       // a step: of the slot's goroutine

	// What follows changes with states.mu held.
	key   boxKey
	state blockwise.State
	done  int       // steps; 0 where there is no state
	saved int       // steps that the last snapshot has
	since time.Time // when that was taken, or the box begun
}

// begin begins a task.
func (b *boxState) begin(task int) { b.set(func() { b.key.task = task }) }

// end says that the task's results are written.
func (b *boxState) end() { b.set(func() { b.done = 0 }) }

// reset says that a box begins, in whose memory there is no state yet.
func (b *boxState) reset() {
	b.step.Lock()
	defer b.step.Unlock()
	b.end()
}

func (b *boxState) set(f func()) {
	b.states.mu.Lock()
	defer b.states.mu.Unlock()
	f()
}

// Restore begins a box, with the state that the snapshot of an earlier run has of it. One
// that cannot be read, or is damaged, is none.
func (b *boxState) Restore(box []int, state blockwise.State) int {
	b.step.Lock()
	defer b.step.Unlock()
	var from restoredState
	var ok bool
	b.set(func() {
		b.key.start = fmt.Sprint(box)
		b.state, b.done, b.saved, b.since = state, 0, 0, time.Now()
		from, ok = b.states.restored[b.key]
		delete(b.states.restored, b.key)
	})
	if !ok || !from.read(state(from.Steps)) {
		return 0
	}
	b.set(func() { b.done, b.saved = from.Steps, from.Steps })
	return from.Steps
}

// read reads the state into memory, and reports whether it is the one that was saved.
func (s *restoredState) read(memory [][]byte) bool {
	return checkpoint.Length(memory) == s.Bytes && checkpoint.ReadBuffers(s.from, s.Offset, memory) == nil && checksumOf(memory) == s.Sum
}

func checksumOf(memory [][]byte) (sum uint32) {
	for _, part := range memory {
		sum = crc32.Update(sum, castagnoli, part)
	}
	return sum
}

// Begin begins a step.
func (b *boxState) Begin() {
	b.step.Lock()
	b.within = true
}

// End ends a step.
func (b *boxState) End(step int) {
	b.set(func() { b.done = step })
	b.within = false
	b.step.Unlock()
}

// leave ends the step that a box was left in, by an error or a panic: there is no state.
func (b *boxState) leave() {
	if b.within {
		b.End(0)
	}
}

// SnapshotBytes returns 0 where no box has been filled for long since its state was saved.
func (a *boxStates) SnapshotBytes() (n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	worth := false
	for _, b := range a.all {
		if long := time.Since(b.since) >= SaveStatesAfter; b.done > 0 && (long || b.saved > 0) {
			n += checkpoint.Length(b.state(b.done))
			worth = worth || long && b.done > b.saved
		}
	}
	if !worth {
		return 0
	}
	for _, s := range a.restored {
		n += s.Bytes
	}
	return n
}

// Snapshot writes the states box by box: the others are filled meanwhile.
func (a *boxStates) Snapshot(w *checkpoint.SnapshotWriter) (meta []byte, merged int, err error) {
	states, err := a.copyRestored(w)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range a.all {
		s, err := b.save(w)
		if err != nil {
			return nil, 0, err
		}
		if s.Steps > 0 {
			states = append(states, s) // also where it was copied before it was read
		}
	}
	if len(states) == 0 {
		return nil, 0, nil
	}
	meta, err = json.Marshal(states)
	return meta, 0, err
}

// copyRestored copies the states of the last snapshot that no slot has read yet.
func (a *boxStates) copyRestored(w *checkpoint.SnapshotWriter) (states []savedState, err error) {
	a.mu.Lock()
	unread := slices.Collect(maps.Values(a.restored))
	a.mu.Unlock()
	for _, s := range unread {
		from := io.NewSectionReader(s.from, s.Offset, s.Bytes)
		s.Offset = w.Offset()
		if _, err := io.CopyBuffer(struct{ io.Writer }{w}, from, make([]byte, checkpoint.CopyBytes)); err != nil {
			return nil, err
		}
		states = append(states, s.savedState)
	}
	return states, nil
}

// save writes the state as it is after a step, where enough was computed since the last one: the next step waits.
func (b *boxState) save(w *checkpoint.SnapshotWriter) (s savedState, err error) {
	w.Wait(b.step.Lock)
	defer b.step.Unlock()
	var memory [][]byte
	b.set(func() {
		if b.done > 0 && (b.saved > 0 || time.Since(b.since) >= SaveStatesAfter) {
			memory = b.state(b.done)
			s = savedState{Task: b.key.task, Start: b.key.start, Steps: b.done, Offset: w.Offset()}
			b.saved, b.since = b.done, time.Now()
		}
	})
	for _, part := range memory {
		if _, err := w.Write(part); err != nil {
			return s, err
		}
	}
	s.Bytes, s.Sum = checkpoint.Length(memory), checksumOf(memory)
	return s, nil
}

// Restore finds the states that a snapshot has of tasks.
func (a *boxStates) Restore(meta []byte, from io.ReaderAt, tasks checkpoint.Tasks) {
	var states []savedState
	if json.Unmarshal(meta, &states) != nil {
		return // another version's: the boxes begin anew
	}
	for _, s := range states {
		if s.Steps > 0 && tasks.Has(s.Task) {
			a.restored[boxKey{s.Task, s.Start}] = restoredState{s, from}
		}
	}
}
