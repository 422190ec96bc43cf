package relay

import (
	"sync"
	"sync/atomic"
	"time"
)

// Watcher shows the runs of one cell. Its methods are called from one goroutine
// at a time.
type Watcher interface {
	// Progress is what to show of the run that is active; ok is false where
	// there is nothing new since the last call.
	Progress() (b Bundle, ok bool)
	// Report is what to show when the cell's process has ended, however it
	// ended: as GoNB says, "exit status 1", or "" where it does not know. ok is
	// false where the cell made no run.
	Report(ending string) (b Bundle, ok bool)
	// Cards are outputs of their own, which stay: none twice.
	Cards() []Bundle
	Close()
}

// refresh is the time between two looks at a run.
const refresh = 200 * time.Millisecond

// watch publishes what a Watcher has to show: one output, which progress replaces in place. The
// report stands below all that the cell has put out.
type watch struct {
	watcher Watcher
	display string // the output's display_id
	publish func(kind string, content any)
	shown   atomic.Bool
	below   atomic.Bool // another output of the cell stands below the one that is shown
	stop    chan struct{}
	stopped chan struct{}
}

func startWatch(w Watcher, display string, publish func(kind string, content any)) *watch {
	x := &watch{
		watcher: w, display: display, publish: publish,
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go x.run()
	return x
}

func (x *watch) run() {
	defer close(x.stopped)
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-x.stop:
			return
		case <-tick.C:
			x.cards()
			if b, ok := x.watcher.Progress(); ok {
				x.show(b)
			}
		}
	}
}

// passed notes that the cell has put out something else.
func (x *watch) passed() {
	if x.shown.Load() {
		x.below.Store(true)
	}
}

// finish puts the report in the place of the progress, or below what came after that. It is
// called once.
func (x *watch) finish(ending string) {
	close(x.stop)
	<-x.stopped
	x.cards()
	if b, ok := x.watcher.Report(ending); ok {
		if x.below.Load() {
			x.show(Bundle{Data: map[string]any{}, Metadata: map[string]any{}})
			x.display += "-report"
			x.shown.Store(false)
		}
		x.show(b)
	}
	x.watcher.Close()
}

func (x *watch) cards() {
	for _, b := range x.watcher.Cards() {
		x.passed()
		x.publish("display_data", display{b, map[string]any{}})
	}
}

func (x *watch) show(b Bundle) {
	kind := "display_data"
	if x.shown.Swap(true) {
		kind = "update_display_data"
	}
	x.publish(kind, display{b, map[string]any{"display_id": x.display}})
}

// display is the content of display_data and update_display_data.
type display struct {
	Bundle
	Transient map[string]any `json:"transient"`
}

// flow knows how much has been published of late. A Jupyter server drops all
// outputs of a kernel that sends more than a megabyte a second, over three
// seconds, and a report right behind a flood with them.
type flow struct {
	mu    sync.Mutex
	since time.Time // when the present window began
	now   int       // bytes in it
	last  int       // and in the one before
}

const (
	flowWindow = 3 * time.Second
	flowMost   = 2 << 20 // bytes in a window that a server takes, with room for a report
)

func (f *flow) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch passed := time.Since(f.since); {
	case passed > 2*flowWindow:
		f.since, f.now, f.last = time.Now(), 0, 0
	case passed > flowWindow:
		f.since, f.now, f.last = f.since.Add(flowWindow), 0, f.now
	}
	f.now += n
}

// calm is how long to wait before what must arrive is sent.
func (f *flow) calm() time.Duration {
	f.add(0)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now+f.last <= flowMost {
		return 0
	}
	return flowWindow + time.Second // the server counts as messages reach it
}
