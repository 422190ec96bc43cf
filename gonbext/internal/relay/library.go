package relay

import "sync"

// Library decides which of a notebook's outputs carries the chart library, of
// which a notebook needs one: the first that draws, and what replaces it when its
// cell is run again.
type Library struct {
	mu      sync.Mutex
	carrier *string // the notebook cell whose output carries it
}

// carries reports whether an output of a cell is to carry the library. Origin is
// the front end's name for the cell, "" where it gives none.
func (l *Library) carries(origin string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.carrier == nil || *l.carrier == origin && origin != ""
}

func (l *Library) carried(origin string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.carrier = &origin
}
