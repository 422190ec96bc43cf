package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// baselineFormat is the version of the file.
const baselineFormat = 1

// baseline is a file of plans to compare later ones with. Its fields stand in the order of
// their names, and its numbers are integers: sizes are bytes.
type baseline struct {
	Budget  int64        `json:"budget"` // of plans that have none of their own
	Format  int          `json:"format"`
	Plans   []plannedRun `json:"plans"`
	Workers int          `json:"workers"`
}

// plannedRun is the plan of one run.
type plannedRun struct {
	Budget  int64          `json:"budget"`
	Need    int64          `json:"need"`   // the smallest budget that would do
	Output  string         `json:"output"` // the file's name; "" where the result is collected
	Passes  int            `json:"passes"` // over stored data
	Peak    int64          `json:"peak"`   // of the run's buffers
	Read    int64          `json:"read"`
	Stages  []plannedStage `json:"stages"`
	Title   string         `json:"title"`
	Written int64          `json:"written"`
}

// plannedStage is a stage of a plan.
type plannedStage struct {
	Chunks  []int  `json:"chunks"`
	Name    string `json:"name"`
	Note    string `json:"note,omitempty"`
	Peak    int64  `json:"peak"` // of its own buffers
	Read    int64  `json:"read"`
	Slots   int    `json:"slots"` // tasks at once
	Tasks   int    `json:"tasks"`
	Written int64  `json:"written"`
}

// recorded are the plans in a run log, in their order.
func recorded(log string) (plans []plannedRun, err error) {
	all, err := record.List(log)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(all) { // List has the newest first
		if h := &s.Header; h.PlanOnly && h.Shown == "" && h.Cell != record.Unreported {
			plans = append(plans, planOf(h))
		}
	}
	return plans, nil
}

func planOf(h *record.Header) plannedRun {
	p := plannedRun{Budget: h.Budget, Need: h.Need, Peak: h.Predicted.Host(), Title: h.Title, Passes: h.Passes(), Stages: []plannedStage{}}
	if h.Output != "" {
		p.Output = filepath.Base(h.Output)
	}
	for i := range h.Stages {
		s := &h.Stages[i]
		p.Stages = append(p.Stages, plannedStage{Chunks: s.Chunks, Name: s.Kind + " " + s.Name, Note: s.Note, Peak: s.Predicted.Host(),
			Read: s.Read, Slots: s.Slots, Tasks: s.Tasks, Written: s.Written})
		p.Read, p.Written = p.Read+s.Read, p.Written+s.Written
	}
	return p
}

// readBaseline reads what save wrote. An error names the file.
func readBaseline(path string) (*baseline, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var version struct {
		Format int `json:"format"`
	}
	b := &baseline{}
	if err = json.Unmarshal(text, &version); err == nil && version.Format != baselineFormat {
		return nil, fmt.Errorf("%s has format %d of baselines, and this is format %d: --write makes it anew", path, version.Format, baselineFormat)
	}
	if err == nil {
		err = json.Unmarshal(text, b)
	}
	if err == nil && (b.Budget < 1 || b.Workers < 1 || len(b.Plans) == 0) {
		err = errors.New("it has no plans, or no budget and workers")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a whole baseline: %w: --write makes it anew", path, err)
	}
	return b, nil
}

// save writes the file, whole or not at all.
func (b *baseline) save(path string) error {
	var text bytes.Buffer
	err := printJSON(&text, b)
	if err == nil {
		err = writeWhole(path, text.Bytes())
	}
	if err != nil {
		return fmt.Errorf("the baseline cannot be written: %w", err)
	}
	return nil
}

// compare prints by what plans differ from those of an earlier baseline. It reports whether
// one has grown.
func (b *baseline) compare(w io.Writer, before *baseline) (grew bool, err error) {
	var text strings.Builder
	pairs := pair(b.Plans, before.Plans)
	for i := range b.Plans {
		p := &b.Plans[i]
		if pairs[i] < 0 {
			grew = true
			fmt.Fprintf(&text, "%s: the baseline has no plan of it: --write takes it up\n", p)
			continue
		}
		old := &before.Plans[pairs[i]]
		switch changes, larger := p.changes(old); {
		case larger:
			grew = true
			fmt.Fprintf(&text, "%s grew: %s\n%s", p, changes, difference(p.Stages, old.Stages))
		case changes != "":
			fmt.Fprintf(&text, "%s is smaller: %s: --write takes that up\n", p, changes)
		}
	}
	for i := range before.Plans {
		if !slices.Contains(pairs, i) {
			fmt.Fprintf(&text, "%s is not planned any more: --write leaves it out\n", &before.Plans[i])
		}
	}
	if !grew {
		fmt.Fprintf(&text, "%s: none grew\n", plural(len(b.Plans), "plan"))
	}
	_, err = io.WriteString(w, text.String())
	return grew, err
}

// pair finds for each plan the one before: that of the same output, or where none has it,
// the one at the same place. It is -1 for none.
func pair(now, before []plannedRun) []int {
	pairs := slices.Repeat([]int{-1}, len(now))
	for i := range now {
		for k := range before {
			if now[i].Output == before[k].Output && !slices.Contains(pairs, k) {
				pairs[i] = k
				break
			}
		}
	}
	for i := range now {
		if pairs[i] < 0 && i < len(before) && !slices.Contains(pairs, i) {
			pairs[i] = i
		}
	}
	return pairs
}

// String names the plan for people.
func (p *plannedRun) String() string {
	if p.Output == "" {
		return p.Title
	}
	return p.Title + " → " + p.Output
}

// changes are the figures of a plan that differ from those before, and whether one of them
// is larger.
func (p *plannedRun) changes(before *plannedRun) (text string, larger bool) {
	var all []string
	for _, f := range []struct {
		name        string
		before, now int64
		write       func(int64) string
	}{
		{"peak", before.Peak, p.Peak, units.Bytes},
		{"passes", int64(before.Passes), int64(p.Passes), units.Count},
		{"bytes read", before.Read, p.Read, units.Traffic},
		{"bytes written", before.Written, p.Written, units.Traffic},
	} {
		if f.now != f.before {
			all = append(all, change(f.name, f.before, f.now, f.write))
			larger = larger || f.now > f.before
		}
	}
	return strings.Join(all, ", "), larger
}

// change writes two figures so that they differ.
func change(name string, before, now int64, write func(int64) string) string {
	from, to := write(before), write(now)
	if from == to {
		from, to = units.Count(before), units.Count(now)
	}
	return fmt.Sprintf("%s %s → %s", name, from, to)
}

// difference lists the stages that are new, that are gone, and what differs in those of the
// same name.
func difference(now, before []plannedStage) string {
	var b strings.Builder
	gone := slices.Clone(before)
	for i := range now {
		s := &now[i]
		k := slices.IndexFunc(gone, func(o plannedStage) bool { return o.Name == s.Name })
		if k < 0 {
			fmt.Fprintf(&b, "  + stage %d: %s\n", i, s)
			continue
		}
		if text := s.changes(&gone[k]); text != "" {
			fmt.Fprintf(&b, "    stage %d: %s: %s\n", i, s.Name, text)
		}
		gone = slices.Delete(gone, k, k+1)
	}
	for i := range gone {
		fmt.Fprintf(&b, "  - %s\n", &gone[i])
	}
	return b.String()
}

// String says what a stage takes.
func (s *plannedStage) String() string {
	text := fmt.Sprintf("%s: peak %s, reads %s, writes %s, %s by %s", s.Name, units.Bytes(s.Peak), units.Traffic(s.Read), units.Traffic(s.Written),
		plural(s.Tasks, "task"), units.Shape(s.Chunks))
	if s.Note != "" {
		text += ": " + s.Note
	}
	return text
}

// changes are what differs from the same stage before.
func (s *plannedStage) changes(before *plannedStage) string {
	var all []string
	add := func(name string, from, to int64, write func(int64) string) {
		if from != to {
			all = append(all, change(name, from, to, write))
		}
	}
	add("peak", before.Peak, s.Peak, units.Bytes)
	add("reads", before.Read, s.Read, units.Traffic)
	add("writes", before.Written, s.Written, units.Traffic)
	if !slices.Equal(before.Chunks, s.Chunks) {
		all = append(all, fmt.Sprintf("chunks %s → %s", units.Shape(before.Chunks), units.Shape(s.Chunks)))
	}
	add("tasks", int64(before.Tasks), int64(s.Tasks), units.Count)
	add("tasks at once", int64(before.Slots), int64(s.Slots), units.Count)
	return strings.Join(all, ", ")
}
