package gonbext

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// process watches the memory of a cell's whole process, whoever takes it: it is
// recorded, by lines of the cell, and held to the budget. Go's collector keeps
// to the budget first; what is still above it ends the cell.
type process struct {
	record  *record.Writer
	begun   time.Time
	budget  int64
	most    int64                       // that the process may take: the budget, or what it takes by itself and a little more
	lines   map[graph.Site]*record.Line // of the Go heap
	heap    int64                       // live bytes at which lines are looked at again
	peak    int64
	file    string                      // the source that GoNB composed
	call    int                         // its line that calls Memory
	locate  func(graph.Site) graph.Site // from its lines to the cell's
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once
}

const (
	lookEvery   = 10 * time.Millisecond // at the process's memory
	sampleEvery = 10                    // looks for a sample in the record
	ownMemory   = 24 << 20              // what a program may take besides its start, whatever the budget
	atOnce      = 8 << 20               // above the budget for a moment: garbage that is being collected
	linesMost   = 20                    // that a record keeps
)

// watchProcess begins to watch. A run log that cannot be written leaves the cell
// without a record, but held.
func watchProcess(cell string, budget int64, at graph.Site, locate func(graph.Site) graph.Site) *process {
	if budget == 0 {
		budget, _ = machine.Read().DefaultBudget()
	}
	p := &process{
		begun: time.Now(), budget: budget, file: at.File, call: at.Line, locate: locate,
		lines: map[graph.Site]*record.Line{}, heap: 16 << 20,
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	base, err := machine.Process()
	if err != nil { // nothing is known of memory on this system
		close(p.stopped)
		return p
	}
	p.most = max(budget, base.Anonymous+ownMemory) + atOnce
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), max(budget, base.Anonymous+ownMemory))) // runs may lower it for a while
	// The kernel, for want of memory, ends the cell rather than its notebook.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o600)
	p.record = createRecord(record.Header{Cell: cell, Title: "the cell's process", Budget: budget, Process: true})
	p.peak = base.Anonymous
	p.sample(base)
	go p.watch()
	return p
}

// createRecord begins a record in the run log. Where that cannot be written it says so: the
// cell has no report then.
func createRecord(h record.Header) *record.Writer {
	dir, err := record.Dir()
	if err == nil {
		var w *record.Writer
		if w, err = record.Create(dir, h); err == nil {
			return w
		}
	}
	fmt.Fprintf(os.Stderr, "gonbext: this cell has no report: %v\n", err)
	return nil
}

// checkLog says where the run log cannot be written, as createRecord does.
func checkLog() {
	if w := createRecord(record.Header{Cell: record.Unreported}); w != nil {
		_ = w.End(record.End{})
		_ = os.Remove(w.Path())
	}
}

func (p *process) watch() {
	defer close(p.stopped)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
		m, err := machine.Process()
		if err != nil {
			continue
		}
		if n%sampleEvery == 0 || m.Anonymous > p.peak+p.peak/16 {
			p.sample(m)
		}
		p.peak = max(p.peak, m.Anonymous)
		if m.GoHeap > p.heap {
			p.look()
			p.heap = m.GoHeap * 3 / 2
		}
		if m.Anonymous > p.most {
			p.hold(m)
		}
	}
}

func (p *process) sample(m machine.Memory) {
	p.record.Sample(record.Sample{
		At: time.Since(p.begun), Anonymous: m.Anonymous, Mapped: m.Mapped, Cached: m.Cached, GoHeap: m.GoHeap, GoRuntime: m.GoRuntime,
	})
	p.record.Flush() // os.Exit asks nobody
}

// hold ends the cell if what it holds is above the budget when garbage is gone.
// Stacks are no garbage, and a collection has to scan them.
func (p *process) hold(m machine.Memory) {
	if m.GoRuntime < p.most {
		debug.FreeOSMemory()
		after, err := machine.Process()
		if err != nil || after.Anonymous <= p.most {
			return
		}
		m = after
		p.look()
		if now, err := machine.Process(); err == nil && now.Anonymous > m.Anonymous { // the cell allocates while its lines are counted
			m = now
		}
	}
	p.peak = max(p.peak, m.Anonymous)
	p.sample(m)
	text := p.complaint(m)
	fmt.Fprintln(os.Stderr, text)
	p.end(record.Failed, text)
	os.Exit(1)
}

// complaint says in one line what took the memory.
func (p *process) complaint(m machine.Memory) string {
	what := fmt.Sprintf("%s of it are neither Go's heap nor its stacks", units.Bytes(max(m.Anonymous-m.GoHeap-m.GoRuntime, 0)))
	if m.GoRuntime > m.Anonymous/2 {
		what = fmt.Sprintf("the stacks of %d goroutines, and Go's runtime, hold %s", runtime.NumGoroutine(), units.Bytes(m.GoRuntime))
	}
	if top := p.top(); len(top) > 0 && top[0].Live > m.Anonymous/4 {
		what = fmt.Sprintf("%s holds %s", top[0].Site, units.Bytes(top[0].Live))
		if top[0].Code != "" {
			what += ": " + top[0].Code
		}
	}
	return fmt.Sprintf("Out of memory: the cell took %s, more than its budget of %s, and was ended: %s", units.Bytes(m.Anonymous), units.Bytes(p.budget), what)
}

// look notes what the Go heap holds by the cell's lines. Go samples one
// allocation in 512 KiB, and publishes what a collection has seen.
func (p *process) look() {
	runtime.GC()
	var all []runtime.MemProfileRecord
	for n, ok := runtime.MemProfile(nil, true); !ok; {
		all = make([]runtime.MemProfileRecord, n+64)
		n, ok = runtime.MemProfile(all, true)
		all = all[:min(n, len(all))]
	}
	now := map[graph.Site]record.Line{}
	for i := range all {
		site := p.site(all[i].Stack())
		l := now[site]
		l.Live += unsampled(all[i].InUseBytes(), all[i].InUseObjects())
		l.Allocated += unsampled(all[i].AllocBytes, all[i].AllocObjects)
		now[site] = l
	}
	for site, l := range now {
		known := p.lines[site]
		if known == nil {
			known = &record.Line{}
			p.lines[site] = known
		}
		known.Live, known.Allocated = max(known.Live, l.Live), l.Allocated
	}
}

// unsampled is what objects that were sampled stand for, as pprof has it.
func unsampled(bytes, objects int64) int64 {
	if objects == 0 || runtime.MemProfileRate <= 1 {
		return bytes
	}
	size := float64(bytes) / float64(objects)
	return int64(float64(bytes) / (1 - math.Exp(-size/float64(runtime.MemProfileRate))))
}

// site is the innermost line of the cell in a stack; the zero Site where it has none.
func (p *process) site(stack []uintptr) graph.Site {
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		if f.File == p.file && f.Line == p.call {
			return graph.Site{} // the call of Memory
		}
		if f.File == p.file {
			return graph.Site{File: f.File, Line: f.Line}
		}
		if !more {
			return graph.Site{}
		}
	}
}

// top are the lines that held most, the largest first.
func (p *process) top() (lines []record.Line) {
	var source []string
	if data, err := os.ReadFile(p.file); err == nil {
		source = strings.Split(string(data), "\n")
	}
	for site, l := range p.lines {
		line := *l
		switch {
		case site == graph.Site{}:
			line.Site = "Go and gonbext themselves"
		default:
			if site.Line <= len(source) {
				line.Code = strings.TrimSpace(source[site.Line-1])
			}
			if p.locate != nil {
				site = p.locate(site)
			}
			line.Site = "line " + strconv.Itoa(site.Line)
		}
		if max(line.Live, line.Allocated) >= 1<<20 {
			lines = append(lines, line)
		}
	}
	slices.SortFunc(lines, func(a, b record.Line) int {
		return cmp.Or(cmp.Compare(b.Live, a.Live), cmp.Compare(b.Allocated, a.Allocated), cmp.Compare(a.Site, b.Site))
	})
	return lines[:min(len(lines), linesMost)]
}

// done ends the watch with the cell, and says why it ended where that is an error.
func (p *process) done(why string) {
	select {
	case <-p.stop:
		return
	default:
	}
	close(p.stop)
	<-p.stopped
	if m, err := machine.Process(); err == nil {
		p.peak = max(p.peak, m.Anonymous)
		p.sample(m)
		if p.record != nil {
			p.look()
		}
	}
	switch {
	case why != "":
		p.end(record.Failed, why)
	case panics():
		p.end(record.Exited, "panic")
	default:
		p.end(record.Done, "")
	}
}

// panics reports whether a panic runs the deferred call that asks. To recover would cost
// its trace.
func panics() bool {
	var stack [64]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(1, stack[:])])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" {
			return true
		}
		if !more {
			return false
		}
	}
}

func (p *process) end(status record.Status, text string) {
	p.once.Do(func() {
		_ = p.record.End(record.End{ // a log that cannot be written leaves the cell as it is
			Status: status, Error: text, Duration: time.Since(p.begun), ProcessPeak: p.peak, Lines: p.top(),
		})
	})
}
