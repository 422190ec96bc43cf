package machine

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// left reports that LeaveRuntime was called.
var left atomic.Bool

// LeaveRuntime makes later calls of LimitRuntime, LimitRuntimeTo, RaiseProcessors and GiveWay do nothing.
func LeaveRuntime() { left.Store(true) }

// heaps are what the runs of the process that are active at present allow to Go's heap and
// runtime.
var heaps struct {
	sync.Mutex
	before int64 // the limit without them
	now    int64 // with them
	least  int64 // that the limit is not below
	runs   map[*func() int64]struct{}
}

// LimitRuntime makes Go's garbage collector keep the Go heap and runtime within bytes
// until done is called, or within GOMEMLIMIT where that is less. While several limits are active
// the heap has their sum, in whatever order they end.
func LimitRuntime(bytes int64) (done func()) { return LimitRuntimeTo(func() int64 { return bytes }) }

// LimitRuntimeTo is LimitRuntime for bytes that change: UpdateRuntimeLimit asks for them again.
func LimitRuntimeTo(bytes func() int64) (done func()) {
	if left.Load() || bytes == nil {
		return func() {}
	}
	heaps.Lock()
	defer heaps.Unlock()
	if len(heaps.runs) == 0 {
		heaps.before, heaps.runs = debug.SetMemoryLimit(-1), map[*func() int64]struct{}{}
		heaps.now = heaps.before
	}
	run := &bytes
	heaps.runs[run] = struct{}{}
	limitRuntime()
	return func() {
		heaps.Lock()
		defer heaps.Unlock()
		delete(heaps.runs, run)
		limitRuntime()
	}
}

// UpdateRuntimeLimit asks for the active limits again.
func UpdateRuntimeLimit() {
	heaps.Lock()
	defer heaps.Unlock()
	if len(heaps.runs) > 0 {
		limitRuntime()
	}
}

// FollowHeap looks at what the last collection found to be live: until the active limits end, Go's is not below that and a
// quarter of it. A limit that live objects fill has the collector take half of the processors and free nothing.
func FollowHeap() {
	heaps.Lock()
	defer heaps.Unlock()
	if len(heaps.runs) == 0 {
		return
	}
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(s); s[0].Value.Kind() == metrics.KindUint64 {
		_, runtime := goMemory()
		live := int64(s[0].Value.Uint64())
		heaps.least = live + live/4 + runtime
		limitRuntime()
	}
}

// limitRuntime sets the limit. One that the program itself has set meanwhile is what holds without runs.
func limitRuntime() {
	if now := debug.SetMemoryLimit(-1); now != heaps.now {
		heaps.before = now
	}
	heaps.now = heaps.before
	if len(heaps.runs) == 0 {
		heaps.least = 0
	} else {
		var sum int64
		for run := range heaps.runs {
			sum += min((*run)(), math.MaxInt64-sum)
		}
		heaps.now = min(heaps.before, max(sum, heaps.least))
	}
	debug.SetMemoryLimit(heaps.now)
}
