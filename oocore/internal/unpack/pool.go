package unpack

import (
	"context"
	"slices"
	"sync"
)

// Pool is what the sessions of a stream share: cursors, at most as many as there
// are sessions, and places from which a cursor can continue. A session takes the
// cursor from which the way is shortest, and waits for it where another session is
// about to bring it there: so sessions that read by turns decode the stream once.
type Pool struct {
	s *Stream

	mu      sync.Mutex
	most    int // sessions
	idle    []*Cursor
	busy    map[*Cursor]int64 // where they will be
	waiting []int64           // where sessions without a cursor begin to read
	changed chan struct{}     // closed when it is worth trying again
	places  []place           // by their offsets
	apart   int64             // at least, between places
}

const (
	// sessionPlaces is how many places a session brings the memory for.
	sessionPlaces = 8
	placeBytes    = 32 << 10
	firstApart    = 256 << 10
)

// NewPool returns the pool of a stream without sessions.
func NewPool(s *Stream) *Pool {
	return &Pool{s: s, busy: make(map[*Cursor]int64), changed: make(chan struct{}), apart: firstApart}
}

// Grow changes the number of sessions.
func (p *Pool) Grow(by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most += by
	p.trim()
}

// trim lets go of what is too much.
func (p *Pool) trim() {
	for len(p.idle) > 0 && len(p.idle)+len(p.busy) > p.most {
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	for len(p.places) > sessionPlaces*p.most {
		p.apart *= 2
		kept := p.places[:0]
		for i, at := range p.places {
			if i%2 == 1 {
				kept = append(kept, at)
			}
		}
		clear(p.places[len(kept):])
		p.places = kept
	}
}

// Take is the cursor that will read the bytes between two places.
func (p *Pool) Take(ctx context.Context, from, to int64) (*Cursor, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if c := p.try(from); c != nil {
			p.busy[c] = to
			return c, nil
		}
		p.waiting = append(p.waiting, from)
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
		i := slices.Index(p.waiting, from)
		p.waiting = slices.Delete(p.waiting, i, i+1)
		if err := ctx.Err(); err != nil {
			p.wake()
			return nil, err
		}
	}
}

// try takes a cursor out of the idle ones, or makes one; nil where it is better to
// wait.
func (p *Pool) try(from int64) *Cursor {
	start := p.before(from).UncompressedOffset
	best := -1
	for i, c := range p.idle {
		if c.at <= from && c.at >= start {
			best, start = i, c.at
		}
	}
	room := len(p.idle)+len(p.busy) < p.most
	if len(p.idle) == 0 && !room {
		return nil
	}
	for _, at := range p.busy {
		if at <= from && at > start {
			return nil
		}
	}
	for _, at := range p.waiting {
		if at < from && at >= start {
			return nil // it is on the way, and moves the cursor here
		}
	}
	switch {
	case best >= 0:
	case room:
		return newCursor(p.s, p)
	default:
		best = 0
	}
	c := p.idle[best]
	p.idle = slices.Delete(p.idle, best, best+1)
	return c
}

// Put gives a cursor back.
func (p *Pool) Put(c *Cursor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, c)
	p.idle = append(p.idle, c)
	p.trim()
	p.wake()
}

// wake lets those who wait try again.
func (p *Pool) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// before is the last place up to an offset; the stream's beginning where there is
// none.
func (p *Pool) before(at int64) (best place) {
	for _, q := range p.places {
		if q.UncompressedOffset <= at {
			best = q
		}
	}
	return best
}

// nearest is before, for those who do not hold the pool.
func (p *Pool) nearest(at int64) place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.before(at)
}

// wants reports that no place is near an offset.
func (p *Pool) wants(at int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.places {
		if d := q.UncompressedOffset - at; d < p.apart && -d < p.apart {
			return false
		}
	}
	return at >= p.apart
}

// add keeps a place.
func (p *Pool) add(q place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := 0
	for i < len(p.places) && p.places[i].UncompressedOffset < q.UncompressedOffset {
		i++
	}
	p.places = slices.Insert(p.places, i, q)
	p.trim()
}
