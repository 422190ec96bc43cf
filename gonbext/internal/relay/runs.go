package relay

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Runs shows the runs of a notebook's cells from the run log that the cells
// write to. It is for one kernel session.
type Runs struct {
	dir     string
	kernel  string
	library *Library
}

// NewRuns watches the run log dir, which need not exist yet, for the kernel that listens as
// the file connection says.
func NewRuns(dir, connection string, l *Library) *Runs { return &Runs{dir, kernelID(connection), l} }

// kernelID is Jupyter's id of the kernel with a connection file, "" where the file has
// another name than Jupyter's servers give it.
func kernelID(connection string) string {
	id, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(connection), ".json"), "kernel-")
	if !ok || strings.Trim(id, "0123456789abcdef-") != "" {
		return ""
	}
	return id
}

// Watch watches the runs that carry cell's ID, from now on. Origin is the front
// end's name for the notebook cell, "" where it gives none.
func (r *Runs) Watch(cell Cell, origin string) Watcher {
	w := &cellRuns{all: r, cell: cell, origin: origin, known: map[string]bool{}}
	for _, name := range w.unknown() { // they were there before the cell ran
		w.known[name] = true
	}
	return w
}

// CutOff says that the latest run of a notebook was cut off, with the process that
// it ran in; "" where it was not. Cell ids of a notebook begin with its name.
func (r *Runs) CutOff(notebook string) string {
	all, err := record.List(r.dir)
	if err != nil {
		return ""
	}
	for _, s := range all {
		if s.Header.Process || s.Header.Shown != "" || !strings.HasPrefix(s.Header.Cell, notebook) {
			continue
		}
		if s.Status != record.Killed {
			return ""
		}
		return "The last run of this notebook was cut off: %report shows how far it came. Its cell, run again, resumes from there."
	}
	return ""
}

// cellRuns are the runs of one execution of a cell.
type cellRuns struct {
	all    *Runs
	cell   Cell
	origin string
	known  map[string]bool // files that were looked at
	paths  []string        // of this cell's runs, in the order of their start
	tail   *record.Tail    // of the latest, while it is followed
	live   *chart.Live     // its memory so far
	said   time.Time       // when progress was shown last
	shown  state
	cards  []Bundle // that were not shown yet
	last   string   // what stands below all else
	// carried is set once an output of this execution carries the chart library.
	carried bool
}

// Cards are the arrays that the cell has shown since the last call.
func (w *cellRuns) Cards() []Bundle {
	w.look()
	cards := w.cards
	w.cards = nil
	return cards
}

// state is what has to change for progress to be worth showing again.
type state struct {
	run           string
	done          int64
	read, written int64
	held          int64 // in MiB, of a process without runs
}

// unknown are the names in the run log that were not looked at, sorted.
func (w *cellRuns) unknown() (names []string) {
	entries, _ := os.ReadDir(w.all.dir) // a log that cannot be read shows nothing
	for _, e := range entries {
		if !w.known[e.Name()] {
			names = append(names, e.Name())
		}
	}
	return names
}

// look finds this cell's runs among the new records.
func (w *cellRuns) look() {
	for _, name := range w.unknown() {
		path := filepath.Join(w.all.dir, name)
		if record.IsCard(path) {
			w.known[name] = true
			if card, err := record.ReadCard(path); err == nil && card.Cell == w.cell.ID {
				_ = os.Remove(path) // what is shown need not be kept
				if card.Title == "" {
					w.last += card.Text
				} else {
					w.card(card)
				}
			}
			continue
		}
		tail, err := record.Follow(path)
		if record.IsTorn(err) {
			continue // its header is being written
		}
		w.known[name] = true
		if err != nil {
			continue // no record
		}
		if tail.Header.Cell != w.cell.ID && tail.Header.Within != w.cell.ID {
			tail.Close()
			continue
		}
		if tail.Header.Shown != "" { // memory for the cell's report, and no progress
			tail.Close()
			if tail.Header.Within == "" {
				w.paths = append(w.paths, path)
			}
			continue
		}
		w.unfollow()
		w.tail, w.live = tail, chart.NewLive()
		tail.Each = w.live.Add
		if tail.Header.Within == "" { // what is within an algorithm is in the algorithm's own
			w.paths = append(w.paths, path)
		}
	}
}

// card draws an array that the cell shows.
func (w *cellRuns) card(card *record.Card) {
	mode, _ := chart.ParseMode(w.cell.Chart) // a wrong one is the report's to say
	out, err := chart.Card(card, chart.Options{Mode: mode, Library: w.carries()})
	if err != nil {
		out = chart.Output{Text: err.Error()}
	}
	w.note(out)
	w.cards = append(w.cards, BundleOf(out))
}

// carries reports whether the next output is to carry the chart library.
func (w *cellRuns) carries() bool { return !w.carried && w.all.library.carries(w.origin) }

// note remembers that an output carries the library.
func (w *cellRuns) note(out chart.Output) {
	if out.Library {
		w.carried = true
		w.all.library.carried(w.origin)
	}
}

func (w *cellRuns) unfollow() {
	if w.tail != nil {
		w.tail.Close()
		w.tail = nil
	}
}

// Progress shows the latest run.
func (w *cellRuns) Progress() (b Bundle, ok bool) {
	w.look()
	if w.tail == nil || w.tail.Header.PlanOnly {
		return b, false
	}
	h := &w.tail.Header
	p, err := w.tail.Poll()
	if err != nil {
		return b, false
	}
	now := state{run: h.Run, done: p.Done(), read: p.Read, written: p.Written}
	if h.Process {
		now.held = p.Sample.Anonymous >> 20
	}
	if (h.Process || w.cell.Plain) && time.Since(h.Start) < quiet {
		return b, false // a short one shows its end only
	}
	if now == w.shown && (p.End != nil || time.Since(w.said) < stillThere) {
		return b, false
	}
	w.shown, w.said = now, time.Now()
	live := w.live
	if w.cell.Chart == string(chart.None) {
		live = nil
	}
	return BundleOf(chart.Progress(h, p, time.Since(h.Start), live, chart.Place{Kernel: w.all.kernel, Display: w.cell.display()})), true
}

// stillThere is after what time progress is shown again though nothing has changed: a page
// gives up a bar that is not replaced for several times as long.
const stillThere = 5 * time.Second

// quiet is how long a cell without runs, or a run of a plain cell, continues before anything
// of it is shown.
const quiet = time.Second

// Report shows all runs.
func (w *cellRuns) Report(ending string) (b Bundle, ok bool) {
	w.look()
	slices.Sort(w.paths) // names sort by time
	var runs []*record.Run
	for _, path := range w.paths {
		r, err := record.Read(path)
		if err == nil && r.Header.Process && r.Status() == record.Killed {
			// The process could not say how it ended; it is known here.
			end := record.End{Status: record.Exited, Error: ending, Duration: time.Since(r.Header.Start)}
			if ending != "" && record.Conclude(path, end) == nil {
				r, err = record.Read(path)
			}
		}
		if err == nil {
			runs = append(runs, r)
		}
	}
	if w.cell.Plain {
		var text strings.Builder
		for _, r := range runs {
			text.WriteString(line(r, !w.said.IsZero()))
		}
		text.WriteString(w.last)
		return BundleOf(chart.Output{Text: strings.TrimSuffix(text.String(), "\n")}), text.Len() > 0
	}
	if len(runs) == 0 {
		return b, false
	}
	mode, err := chart.ParseMode(w.cell.Chart)
	if err != nil {
		return BundleOf(chart.Output{Text: err.Error()}), true
	}
	out, err := chart.Report(runs, chart.Options{Mode: mode, Library: w.carries()})
	if err != nil {
		return BundleOf(chart.Output{Text: err.Error()}), true
	}
	w.note(out)
	return BundleOf(out), true
}

// line is what a run of a plain cell has saved; without an output it is "" unless progress was
// shown, which it takes the place of.
func line(r *record.Run, shown bool) string {
	h := &r.Header
	name := units.Line(cmp.Or(h.Output, h.Title))
	switch status := r.Status(); {
	case h.PlanOnly || h.Shown != "" || h.Output == "" && !shown:
		return ""
	case status == record.Skipped:
		return name + " holds this result already\n"
	case status != record.Done: // the error has been printed, which a kill has none of
		out, err := chart.Report([]*record.Run{r}, chart.Options{Mode: chart.None})
		if err != nil {
			return ""
		}
		text, _, _ := strings.Cut(out.Text, "\n\n")
		return text + "\n"
	}
	took := units.Duration(r.End.Duration)
	of := h.Result
	switch {
	case h.Output == "" || of == nil: // of an earlier release
		return name + ": " + took + "\n"
	case of.Arrays > 1:
		return fmt.Sprintf("%s: %d arrays, %s in %s\n", name, of.Arrays, units.Bytes(of.Bytes), took)
	}
	return fmt.Sprintf("%s: %s %s, %s in %s\n", name, host.FormatShape(of.Shape), of.DType, units.Bytes(of.Bytes), took)
}

// Close ends the watch.
func (w *cellRuns) Close() { w.unfollow() }

// BundleOf is a drawing as an output of a cell.
func BundleOf(o chart.Output) Bundle {
	b := Bundle{Data: map[string]any{"text/plain": units.Text(o.Text)}, Metadata: map[string]any{}}
	if o.HTML != "" {
		b.Data["text/html"] = o.HTML
	}
	return b
}
