package relay

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// job is a cell, until GoNB has both answered it and gone idle.
type job struct {
	header  []byte // of the request: the parent of all outputs
	source  string // the cell as the user wrote it
	cell    Cell
	err     error                 // the user's, from Rewrite
	origin  string                // the front end's name for the notebook cell, where it gives one
	watcher Watcher               // of its runs; nil where nobody asks
	watch   atomic.Pointer[watch] // while its process runs
	count   atomic.Int64          // its execution count, once GoNB has said it

	// The goroutine of the outputs sets these until it closes shown, at the cell's error or its
	// end.
	ending string         // of its process, as GoNB says
	error  map[string]any // as it is shown
	shown  chan struct{}

	begun         time.Time // when GoNB took it up
	replied, idle bool

	lateOnce    sync.Once
	lateOutputs []Bundle
	lateErr     error
}

// counted notes the execution count, where a message says it.
func (j *job) counted(content map[string]any) {
	if count, ok := content["execution_count"].(json.Number); ok {
		n, _ := count.Int64()
		j.count.Store(n)
	}
}

// showing lets the reply pass, which waits for the cell's error.
func (j *job) showing() {
	select {
	case <-j.shown:
	default:
		close(j.shown)
	}
}

// pending are the requests whose answers need something done, by message id.
type pending struct {
	mu      sync.Mutex
	cells   map[string]*job
	waiting map[string]*time.Timer // of requests with a limit of time; nil where it has passed
	control sync.Map               // ids of what was asked on the control channel: GoNB answers on the shell's
	before  sync.Map               // characters put before the code that is completed, by ids
}

func newJobs() *pending {
	return &pending{cells: map[string]*job{}, waiting: map[string]*time.Timer{}}
}

// moved notes how many characters stand before the code of a request for completion.
func (j *pending) moved(id string, before int) {
	if before > 0 {
		j.before.Store(id, before)
	}
}

// movedBy returns, once, what moved has noted.
func (j *pending) movedBy(id string) int {
	noted, _ := j.before.LoadAndDelete(id)
	before, _ := noted.(int)
	return before
}

// await notes a request whose timer answers it, if GoNB does not.
func (j *pending) await(id string, limit *time.Timer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting[id] = limit
}

// expire reports whether the request still waits, which then has no limit any more.
func (j *pending) expire(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.waiting[id] == nil {
		return false
	}
	j.waiting[id] = nil
	return true
}

// answered notes GoNB's reply, and reports whether it came in time.
func (j *pending) answered(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	limit, waits := j.waiting[id]
	delete(j.waiting, id)
	if limit != nil {
		limit.Stop()
	}
	return !waits || limit != nil
}

func (j *pending) add(id string, cell *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cells[id] = cell
}

// get returns nil for a request that is no cell.
func (j *pending) get(id string) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.cells[id]
}

// replied and idle note that half of a cell's end, and report whether it was the second: the cell
// is forgotten then.
func (j *pending) replied(id string) (ended bool) {
	return j.note(id, func(c *job) { c.replied = true })
}
func (j *pending) idle(id string) (ended bool) { return j.note(id, func(c *job) { c.idle = true }) }

// begun notes that GoNB works on a cell.
func (j *pending) begun(id string) { j.note(id, func(c *job) { c.begun = time.Now() }) }

// running is the cell that GoNB works on, nil where there is none.
func (j *pending) running() *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.cells {
		if !c.begun.IsZero() && !c.idle {
			return c
		}
	}
	return nil
}

func (j *pending) note(id string, set func(*job)) (ended bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.cells[id]
	if c == nil {
		return false
	}
	if set(c); c.replied && c.idle {
		delete(j.cells, id)
		return true
	}
	return false
}

func (j *pending) asked(id string) { j.control.Store(id, nil) }

// onControl reports, once, whether the request came on the control channel.
func (j *pending) onControl(id string) bool {
	_, asked := j.control.LoadAndDelete(id)
	return asked
}

// all are the cells that have not ended.
func (j *pending) all() []*job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Collect(maps.Values(j.cells))
}
