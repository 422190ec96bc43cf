package gonbext

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/watchdog"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// process watches the memory of a cell's whole process, that of other libraries too: it is
// recorded, by lines of the cell, and held to the budget. Go's collector keeps
// to the budget first; what is still above it ends the cell.
type process struct {
	record  *record.Writer
	begun   time.Time
	budget  int64
	limit   int64 // of the process: the budget, or what it takes by itself and a little more
	heap    heap
	peak    int64
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once
}

const (
	lookEvery   = 10 * time.Millisecond // at the process's memory
	lookLeast   = 500 * time.Microsecond
	holdTime    = 50 * time.Millisecond  // for garbage to go
	sampleEvery = 100 * time.Millisecond // in the record
	ownMemory   = 24 << 20               // what a program may take besides its start, whatever the budget
)

// watchProcess begins to watch. A run log that cannot be written leaves the cell
// without a record, but held.
func watchProcess(cell string, budget int64, at host.Site, locate func(host.Site) host.Site) *process {
	if budget == 0 {
		budget, _ = machine.Read().DefaultBudget()
	}
	p := &process{begun: time.Now(), budget: budget, stop: make(chan struct{}), stopped: make(chan struct{})}
	p.heap = heap{process: p, file: at.File, call: at.Line, locate: locate, lines: map[host.Site]record.Line{}, stacks: map[stack]bool{}, seen: leastHeap}
	base, err := machine.Process()
	if err != nil { // nothing is known of memory on this system
		close(p.stopped)
		return p
	}
	p.limit = max(budget, base.Anonymous+ownMemory)
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), p.limit-p.limit/32-max(base.Anonymous-base.GoHeap-base.GoRuntime, 0))) // runs may lower it for a while
	// The kernel, for want of memory, ends the cell rather than its notebook.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0o600)
	p.record = createRecord(record.Header{Cell: cell, Title: "the cell's process", Start: p.begun, Budget: budget, Process: true})
	p.sample(base)
	watchdog.Ask(p.limit+p.limit/32, budget, p.record.Path(), p.begun)
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
	wait := time.NewTimer(lookEvery)
	defer wait.Stop()
	var looked, sampled time.Time
	for {
		select {
		case <-p.stop:
			return
		case <-wait.C:
		}
		n, err := machine.Anonymous()
		if err != nil {
			return
		}
		if now := time.Now(); now.Sub(looked) >= lookEvery {
			looked = now
			if m, err := machine.Process(); err == nil {
				if now.Sub(sampled) >= sampleEvery || m.Anonymous > p.peak+p.peak/16 {
					sampled = now
					p.sample(m)
				}
				p.heap.changed(m.GoHeap)
			}
		}
		p.peak = max(p.peak, n)
		if n > p.limit+p.limit/32 {
			p.hold(n)
		}
		// The nearer the limit, the sooner the next look.
		wait.Reset(watchdog.Wait(p.limit - n))
	}
}

func (p *process) sample(m machine.Memory) {
	p.peak = max(p.peak, m.Anonymous)
	p.record.Sample(record.Sample{
		At: time.Since(p.begun), Anonymous: m.Anonymous, Mapped: m.Mapped, Cached: m.Cached, GoHeap: m.GoHeap, GoRuntime: m.GoRuntime,
	})
	p.record.Flush() // os.Exit asks nobody
}

// hold ends the cell if it stays above its limit when garbage is gone, which Go's collector
// sees to there, and at once where it outgrows the limit by a twelfth.
func (p *process) hold(n int64) {
	freed := false
	for begun := time.Now(); n <= p.limit+p.limit/12 && !freed; n, _ = machine.Anonymous() {
		switch {
		case n <= p.limit+p.limit/32:
			return
		case time.Since(begun) < holdTime:
			time.Sleep(lookLeast)
		default: // it allocates little, and so collects little
			debug.FreeOSMemory()
			freed = true
		}
	}
	if n <= p.limit+p.limit/32 {
		return
	}
	m, _ := machine.Process()
	p.sample(m)
	text := p.complaint(m)
	say(watchdog.OutOfMemory, text)
	p.end(record.Failed, text)
	os.Exit(1)
}

// complaint says in one line what took the memory.
func (p *process) complaint(m machine.Memory) string {
	top := p.heap.largest()
	text := watchdog.Complaint(m.Anonymous, p.budget, top)
	switch {
	case m.GoRuntime > m.Anonymous/2:
		text = fmt.Sprintf("%s: the stacks of %d goroutines, and Go's runtime, hold %s", watchdog.Complaint(m.Anonymous, p.budget, record.Line{}), runtime.NumGoroutine(), units.Bytes(m.GoRuntime))
	case top.Live <= m.Anonymous/4:
		text = fmt.Sprintf("%s: %s of it are neither Go's heap nor its stacks", text, units.Bytes(max(m.Anonymous-m.GoHeap-m.GoRuntime, 0)))
	}
	return text
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
		p.sample(m)
		if p.record != nil {
			p.heap.look()
		}
	}
	switch how := unwinding(); {
	case why != "":
		p.end(record.Failed, why)
	case how != "":
		p.end(record.Exited, how)
	default:
		p.end(record.Done, "")
	}
}

// unwinding says what runs the deferred call that asks, where that is not a return: "panic"
// or "Goexit". To recover would cost a panic's trace.
func unwinding() string {
	var stack [64]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(1, stack[:])])
	for {
		f, more := frames.Next()
		switch f.Function {
		case "runtime.gopanic":
			return "panic"
		case "runtime.Goexit":
			return "Goexit"
		}
		if !more {
			return ""
		}
	}
}

func (p *process) end(status record.Status, text string) {
	p.once.Do(func() {
		_ = p.record.End(record.End{Status: status, Error: text, Duration: time.Since(p.begun), ProcessPeak: p.peak}) // a log that cannot be written leaves the cell as it is
	})
}

// Context returns a context that an interrupt of the cell cancels, for calls of oocore. Once a
// cell has asked for it, ending is up to the cell; a second interrupt ends it as
// any program.
func Context() context.Context {
	asked.Store(true)
	return cellContext()
}

var (
	asked       atomic.Bool
	cellContext = sync.OnceValue(func() context.Context {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		context.AfterFunc(ctx, func() {
			time.Sleep(300 * time.Millisecond) // one interrupt reaches a cell twice, from Jupyter and from GoNB
			stop()
		})
		return ctx
	})
)

// during is the context of one call of Save or Collect. Between such calls an
// interrupt ends the cell as any program, if it has not asked for Context.
func during() (ctx context.Context, stop context.CancelFunc) {
	parent := context.Background()
	if asked.Load() {
		parent = Context()
	}
	return signal.NotifyContext(parent, os.Interrupt)
}
