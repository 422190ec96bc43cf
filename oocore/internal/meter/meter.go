// Package meter holds the reading of files' metadata to the memory that the process may take: headers, lists of
// arrays and indexes of chunks, which are as long as whoever wrote the file made them.
package meter

import (
	"encoding/json"
	"io"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/types"
)

var limit atomic.Int64

// SetLimit sets how many bytes the process may take while it opens files. With 0, and where this is more, it is
// what the machine and its containers have for it.
func SetLimit(bytes int64) { limit.Store(bytes) }

const (
	small = 1 << 20 // metadata of so many bytes are not held to anything
	room  = 4 << 20 // for what the process takes besides
	step  = 1 << 20 // in which budgets are named
)

// Meter counts the bytes of Go's heap that metadata take. A parser asks it before it allocates what grows with the
// file. The zero Meter is ready; one goroutine uses it.
type Meter struct {
	What  string // is counted, for the error: "its header"
	taken int64

	active    bool
	collected bool
	before    int64 // was taken when base was measured
	base      int64 // of the process, with before
	limit     int64 // of the process
	done      func()
}

// Take counts bytes more. Where they do not fit it returns a *types.MemoryError, and a parser may count on without
// holding anything: the error of its last Take then has the whole need.
func (m *Meter) Take(bytes int64) error {
	before := m.taken
	m.taken += bytes
	if m.taken <= small || bytes == 0 && !m.active {
		return nil
	}
	if !m.active && !m.begin(before) {
		return nil
	}
	if m.need() > m.limit && !m.collected {
		m.collected = true
		debug.FreeOSMemory() // what was dropped before counts as held until it is collected
		m.measure(before)
	}
	if need := m.need(); need > m.limit {
		what := m.What
		if what == "" {
			what = "its header"
		}
		return &types.MemoryError{Op: what, Need: (need + room + step - 1) / step * step, Limit: m.limit}
	}
	return nil
}

// Taken returns the bytes that were counted.
func (m *Meter) Taken() int64 { return m.taken }

// Done ends the counting: Go's collector is left alone again.
func (m *Meter) Done() {
	if m.done != nil {
		m.done()
		m.done = nil
	}
}

// need is what the process takes in all, with an eighth for the collector.
func (m *Meter) need() int64 {
	n := m.taken - m.before
	return m.base + n + n/8 + room
}

// begin reports whether the system tells what the process takes.
func (m *Meter) begin(before int64) bool {
	other, ok := m.measure(before)
	if !ok {
		return false
	}
	m.active = true
	m.limit = limit.Load()
	if free, why := machine.Read().Headroom(); why != "" && (m.limit == 0 || m.base+free < m.limit) {
		m.limit = m.base + free
	}
	if m.limit == 0 {
		return false
	}
	m.done = machine.LimitRuntime(max(m.limit-room/2-other, small))
	return true
}

// measure returns what the process holds besides Go's heap and runtime.
func (m *Meter) measure(before int64) (other int64, ok bool) {
	p, err := machine.WithoutCache()
	if err != nil {
		return 0, false
	}
	m.base, m.before = p.Anonymous, before
	return max(p.Anonymous-p.GoHeap-p.GoRuntime, 0), true
}

// Room is what a parser asks before it holds something more. Once there is no room it goes on counting.
type Room struct {
	Take func(bytes int64) error
	Err  error // of the last Take, which has the whole need; nil while there is room
}

// For counts bytes more, and reports whether there is room for them and for all before.
func (r *Room) For(bytes int64) bool {
	if err := r.Take(bytes); err != nil {
		r.Err = err
	}
	return r.Err == nil
}

// Append appends an element to a list of which the done bytes of total have told so far: it grows at once to what
// the whole will have. What growing holds for a moment is counted, elements are not.
func Append[T any](r *Room, list []T, v T, done, total int64) []T {
	const few = 1024
	if n := len(list); n == cap(list) && n >= few {
		old := int64(n) * int64(unsafe.Sizeof(v))
		if !r.For(old) {
			return nil
		}
		whole := int(float64(n)*min(float64(total)/float64(max(done, 1)), 64)*1.02) + few
		list = slices.Grow(list, max(whole-n, n/8))
		r.For(-old)
	}
	return append(list, v)
}

// NewDecoder returns a decoder of JSON that does not read all of r at once. take counts what a long text or value in it holds.
func NewDecoder(r io.Reader, take func(bytes int64) error) *json.Decoder {
	s := &source{Reader: r, take: take, held: small}
	s.decoder = json.NewDecoder(s)
	return s.decoder
}

// source counts the bytes that a decoder has read and not returned yet.
type source struct {
	io.Reader
	decoder    *json.Decoder
	take       func(bytes int64) error
	read, held int64
}

// Read fills p: a decoder looks at all white space again that it has, with each piece that it reads.
func (s *source) Read(p []byte) (n int, err error) {
	for more := 0; n < len(p) && err == nil; n += more {
		more, err = s.Reader.Read(p[n:])
	}
	s.read += int64(n)
	if ahead := s.read - s.decoder.InputOffset(); ahead > s.held {
		if err := s.take(4 * (ahead - s.held)); err != nil { // a buffer that doubles, and the value
			return 0, err
		}
		s.held = ahead
	}
	return n, err
}
