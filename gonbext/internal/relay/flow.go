package relay

import (
	"sync"
	"time"
)

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
