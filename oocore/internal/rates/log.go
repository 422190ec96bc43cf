package rates

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
)

// mostRecords is how many of the latest records are read: all that the log keeps. Many may
// be of runs that are too short to tell anything.
const mostRecords = 200

// mostStages is how many stages are learned from: a run may have thousands, and the time and
// the memory that they take are those of the run that is predicted.
const mostStages = 1000

// readAgain is how long rates that were read hold: an algorithm may make many runs a
// second.
const readAgain = time.Minute

var latest struct {
	sync.Mutex
	dir       string
	processor string
	at        time.Time
	rates     *Rates
}

// Predict says in a plan's header how long its stages and the run will take on this
// machine, and what the page cache has of their inputs. Where no run has told, and of plans
// that wait for a network, it leaves the times out.
func Predict(h *record.Header, l machine.Limits) {
	h.Processor = machine.Processor()
	free, _ := l.Headroom()
	look(h, free/2)
	dir, err := record.Dir()
	if err != nil {
		return
	}
	latest.Lock()
	defer latest.Unlock()
	if latest.dir != dir || latest.processor != h.Processor || time.Since(latest.at) > readAgain {
		latest.dir, latest.processor, latest.at, latest.rates = dir, h.Processor, time.Now(), kept(dir, h.Processor)
	}
	latest.rates.Predict(h)
}

// learned is the file in a run log with what its records tell of a processor, so that not
// each process reads them all.
type learned struct {
	Records int    // that the log had
	Newest  string // of them
	Rates   *Rates
}

// kept is Read, from the log's own file until an eighth of its records are newer.
func kept(dir, processor string) *Rates {
	names, err := record.Names(dir)
	if err != nil || len(names) == 0 {
		return nil
	}
	name := fnv.New64a()
	io.WriteString(name, processor)
	path := filepath.Join(dir, fmt.Sprintf(".rates-4-%x", name.Sum64()))
	if text, err := os.ReadFile(path); err == nil {
		var l learned
		newer := func() int { i, _ := slices.BinarySearch(names, l.Newest); return len(names) - 1 - i }
		if json.Unmarshal(text, &l) == nil && 8*newer() <= l.Records {
			return l.Rates
		}
	}
	l := learned{len(names), names[len(names)-1], Read(dir, processor)}
	if text, err := json.Marshal(l); err == nil {
		if tmp := fmt.Sprintf("%s.%d", path, os.Getpid()); os.WriteFile(tmp, text, 0o600) == nil {
			_ = os.Rename(tmp, path) // without it the next process reads the records again
		}
	}
	return l.Rates
}

// look notes how much of what stages read has to come from the disk. Later stages find in
// the page cache what has no more bytes than it is likely to keep.
func look(h *record.Header, kept int64) {
	parts := map[string]float64{} // of each stored array, that is not in the page cache
	for i := range h.Stages {
		fetched := 0.0
		for k := range h.Stages[i].Work {
			w := &h.Stages[i].Work[k]
			if w.Of != record.Reading || w.Bytes == 0 {
				continue
			}
			part, ok := parts[w.Path]
			if !ok {
				part = missing(w)
			}
			w.Disk = int64(part * float64(w.Bytes))
			fetched += float64(w.Disk)
			if parts[w.Path] = part; w.Path != "" && w.Bytes < kept {
				parts[w.Path] = 0
			}
		}
		if fetched > 0 {
			h.Stages[i].Work = append(h.Stages[i].Work, record.Work{Of: record.Reading, Kind: "disk", Nanos: fetched * cost.Fetch})
		}
	}
}

// asked are the parts of stored arrays that are not in the page cache, by path, as they
// were less than a second ago: an algorithm makes many runs over one array.
var asked struct {
	sync.Mutex
	at    time.Time
	parts map[string]float64
}

// missing is the part of a stored array that is not in the page cache; none of it where
// the system does not tell.
func missing(w *record.Work) (part float64) {
	if w.Path == "" {
		return 1
	}
	asked.Lock()
	defer asked.Unlock()
	if time.Since(asked.at) > time.Second {
		asked.at, asked.parts = time.Now(), map[string]float64{}
	}
	path := w.Path
	if file, _, ok := storage.Split(path); ok { // of many arrays
		path = file
	}
	part, ok := asked.parts[path]
	if ok {
		return part
	}
	if place, err := storage.Place(path); err == nil {
		if cached, ok := disk.Cached(place); ok {
			part = 1 - cached
		}
	}
	asked.parts[path] = part
	return part
}

// Read learns from the latest records in a run log, as far as they are of a processor.
func Read(dir, processor string) *Rates {
	records, err := record.Newest(dir, mostRecords)
	if err != nil {
		return nil
	}
	return fromRecords(records, processor)
}

// fromRecords learns from those of the records that are of a processor, the latest first.
func fromRecords(records iter.Seq[record.Summary], processor string) *Rates {
	var runs []run
	stages := 0
	for r := range records {
		h, end := &r.Header, r.End
		if h.Processor != processor || r.Status != record.Done || end.Skipped > 0 || len(end.Stages) != len(h.Stages) {
			continue
		}
		one := run{title: h.Title, seconds: end.Duration.Seconds(), of: endsOf(h)}
		for k, spent := range end.Stages {
			one.seconds -= spent.Seconds
			s := stage{h.Stages[k].Work, spent.Seconds, spent.CPU, cores(h, k)}
			if spent.Tasks == h.Stages[k].Tasks && h.Stages[k].Transfers == nil && !remote(s.work) && s.sound() && stages < mostStages {
				one.stages = append(one.stages, s)
				stages++
			}
		}
		if h.Steps != 0 || !(one.seconds > 0 && one.seconds < 1e6) {
			one.seconds = 0
		}
		runs = append(runs, one)
		if stages == mostStages {
			break
		}
	}
	return learn(runs)
}

// sound reports whether the times of a stage can be: a damaged record may have any.
func (s *stage) sound() bool {
	for _, w := range s.work {
		if !(w.Nanos > 0 && w.Nanos < 1e18) || w.Bytes < 0 || w.Disk < 0 || w.Disk > w.Bytes {
			return false
		}
	}
	const clock = 0.05 // seconds by which two clocks may differ
	return s.cpu >= leastCPU && s.seconds > 0 && s.seconds < 1e7 && s.cpu <= 2*s.cores*s.seconds+clock
}

// remote reports work that waits for a network.
func remote(work []record.Work) bool {
	return slices.ContainsFunc(work, func(w record.Work) bool { return w.Kind == record.Network })
}

// cores is how many cores a stage of a plan can keep busy.
func cores(h *record.Header, stage int) float64 {
	s := &h.Stages[stage]
	n := max(h.Workers, 1)
	if s.Kind != "matmul" { // whose workers share a task
		n = min(n, max(s.Slots, 1), max(s.Tasks, 1))
	}
	return float64(n)
}

// Predict is the package's Predict by these rates.
func (r *Rates) Predict(h *record.Header) {
	if r == nil || len(h.Stages) == 0 || slices.ContainsFunc(h.Stages, func(s record.Stage) bool { return remote(s.Work) }) {
		return
	}
	all := &record.Seconds{}
	for i := range h.Stages {
		s := &h.Stages[i]
		t := r.stage(s.Work, cores(h, i))
		if x := s.Transfers; x != nil && x.Seconds > t.Likely {
			t = record.Seconds{Low: x.Seconds, Likely: x.Seconds, High: x.Seconds * math.Exp(r.Spread[0]), Limit: x.Limit}
		}
		s.Seconds = &t
		all = all.Plus(&t)
	}
	rest, spread := r.end(endsOf(h)), math.Exp(r.Spread[limitedBy(all.Limit)])
	h.Seconds = all.Plus(&record.Seconds{Low: rest / spread, Likely: rest, High: rest * spread})
	h.Seconds.Limit = all.Limit
}
