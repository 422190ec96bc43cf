package relay

import "sync"

// turns has one cell at a time reach GoNB: what a cell is rewritten to depends on what those before it have left.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []func()
}

// take calls f when the cells before have ended.
func (t *turns) take(f func()) {
	t.mu.Lock()
	if t.taken {
		t.waiting = append(t.waiting, f)
		t.mu.Unlock()
		return
	}
	t.taken = true
	t.mu.Unlock()
	f()
}

// ended gives the turn of a cell that has ended to the next.
func (t *turns) ended() {
	t.mu.Lock()
	if len(t.waiting) == 0 {
		t.taken = false
		t.mu.Unlock()
		return
	}
	next := t.waiting[0]
	t.waiting = t.waiting[1:]
	t.mu.Unlock()
	go next() // a cell's outputs pass meanwhile
}
