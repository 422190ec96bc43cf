package gonbext

import (
	"cmp"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// heap records what the Go heap holds by the cell's lines, each time that it has changed.
type heap struct {
	process *process
	file    string                    // the source that GoNB composed
	call    int                       // its line that calls Memory
	locate  func(host.Site) host.Site // from its lines to the cell's
	source  func() []string

	seen    int64 // bytes of the heap when lines were looked at last
	most    int64 // and at any look
	next    atomic.Int64
	looking atomic.Bool

	mu     sync.Mutex
	lines  map[host.Site]record.Line
	stacks map[stack]bool // that were recorded
}

// stack is a line of the cell with the calls that lead to an allocation, the outermost first.
type stack struct {
	site  host.Site
	calls string
}

const (
	leastHeap = 16 << 20 // bytes of a heap whose lines are worth a collection
	lookShare = 50       // times as long as a look takes is waited for the next
	linesMost = 20       // that one look records
	leastLine = 1 << 20  // bytes of a line that is recorded
)

// changed samples the heap by line in another goroutine, if the heap, which has n bytes, is larger
// than ever by a half, or has changed since a sample that was taken long enough ago.
func (h *heap) changed(n int64) {
	grown := n > max(h.most, leastHeap)/2*3
	other := max(n, h.seen) > leastHeap && (n > h.seen/4*5 || n < h.seen/5*4) && time.Now().UnixNano() > h.next.Load()
	if !grown && !other || !h.looking.CompareAndSwap(false, true) {
		return
	}
	h.seen, h.most = n, max(h.most, n)
	go func() {
		defer h.looking.Store(false)
		h.look()
	}()
}

// look records what the heap holds by line. Go samples one allocation in 512 KiB, and
// publishes what a collection has seen.
func (h *heap) look() {
	begun := time.Now()
	runtime.GC()
	at := time.Since(h.process.begun)
	var all []runtime.MemProfileRecord
	for n, ok := runtime.MemProfile(nil, true); !ok; {
		all = make([]runtime.MemProfileRecord, n+64)
		n, ok = runtime.MemProfile(all, true)
		all = all[:min(n, len(all))]
	}
	now, held := map[host.Site]record.Line{}, map[stack]int64{}
	for i := range all {
		from := h.site(all[i].Stack())
		l, live := now[from.site], unsampled(all[i].InUseBytes(), all[i].InUseObjects())
		l.Live += live
		l.Allocated += unsampled(all[i].AllocBytes, all[i].AllocObjects)
		now[from.site] = l
		held[from] += live
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var large, calls []record.Line
	for from, live := range held {
		if from.calls != "" && (h.stacks[from] || live >= leastLine) {
			name, _ := h.text(from.site)
			h.stacks[from] = true
			calls = append(calls, record.Line{At: at, Site: name, Code: from.calls, Live: live})
		}
	}
	for site, l := range now {
		if _, known := h.lines[site]; known || max(l.Live, l.Allocated) >= leastLine {
			l.At = at
			l.Site, l.Code = h.text(site)
			h.lines[site] = l
			large = append(large, l)
		}
	}
	slices.SortFunc(large, byLive)
	for i := range large[:min(len(large), linesMost)] {
		h.process.record.Line(&large[i])
	}
	slices.SortFunc(calls, byLive)
	for i := range calls[:min(len(calls), linesMost)] {
		h.process.record.Stack(&calls[i])
	}
	h.process.record.Flush()
	h.next.Store(time.Now().Add(lookShare * time.Since(begun)).UnixNano())
}

// byLive orders lines such that those that hold most come first.
func byLive(a, b record.Line) int {
	return cmp.Or(cmp.Compare(b.Live, a.Live), cmp.Compare(b.Allocated, a.Allocated), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Code, b.Code))
}

// largest returns the line that held most at the last look, or a zero Line where none is known.
func (h *heap) largest() (top record.Line) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lines {
		if top.Site == "" || byLive(l, top) < 0 {
			top = l
		}
	}
	return top
}

// unsampled returns the bytes that sampled objects stand for, by the formula of pprof.
func unsampled(bytes, objects int64) int64 {
	if objects == 0 || runtime.MemProfileRate <= 1 {
		return bytes
	}
	size := float64(bytes) / float64(objects)
	return int64(float64(bytes) / (1 - math.Exp(-size/float64(runtime.MemProfileRate))))
}

// site returns the innermost line of the cell among program counters, with the calls around; a zero stack where there is none.
func (h *heap) site(counters []uintptr) (from stack) {
	frames := runtime.CallersFrames(counters)
	var calls []string // the innermost first
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.File == h.file && f.Line == h.call:
			return stack{} // the call of Memory
		case f.File == h.file:
			site := host.Site{File: f.File, Line: f.Line}
			if from.site == (host.Site{}) {
				from.site = site
			}
			name, code := h.text(site)
			calls = append(calls, units.Line(name+" "+code))
		case from.site == (host.Site{}) && f.Function != "runtime.mallocgc": // what lies around the cell is Go's own
			calls = append(calls, path.Base(f.Function))
		}
	}
	if from.site == (host.Site{}) {
		return stack{}
	}
	if over := len(calls) - mostCalls; over > 0 { // those in the middle say least
		calls = slices.Delete(calls, 1, 1+over)
	}
	slices.Reverse(calls)
	from.calls = strings.Join(calls, "\n")
	return from
}

// mostCalls is how many calls of a stack are told.
const mostCalls = 10

// text returns the name of a line, and its code.
func (h *heap) text(site host.Site) (name, code string) {
	if site == (host.Site{}) {
		return "Go and gonbext themselves", ""
	}
	if h.source == nil {
		h.source = sync.OnceValue(func() []string {
			data, _ := os.ReadFile(h.file) // without it lines have no code
			return strings.Split(string(data), "\n")
		})
	}
	if source := h.source(); site.Line <= len(source) {
		code = strings.TrimSpace(source[site.Line-1])
	}
	if h.locate != nil {
		if site = h.locate(site); site.File == h.file {
			return "declared", code // in this cell or an earlier one
		}
	}
	return "line " + strconv.Itoa(site.Line), code
}
