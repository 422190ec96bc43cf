// Package arena allocates the buffers of a run, and counts them by class.
//
// Its memory lies outside Go's heap, so that the garbage collector neither
// doubles it nor keeps it, and every byte carries the operation, the chunk and
// the class that it serves. What the arena counts is therefore what a plan can
// predict. Buffers are aligned to pages, as direct I/O and pinning want them.
//
// An arena is safe for concurrent use. A Buffer belongs to whoever allocated
// it, until Free.
package arena

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/record"
)

// PageSize is the granularity of what a buffer reserves.
const PageSize = 4096

// Reserved returns the number of bytes that a buffer of n bytes takes.
func Reserved(n int64) int64 {
	return (max(n, 1) + PageSize - 1) / PageSize * PageSize
}

// Tag says what a buffer is for.
type Tag struct {
	Stage int
	Chunk int64 // linear index in the stage's grid, or -1 for the stage as a whole
	Class record.Class
}

// Arena hands out buffers up to a limit.
type Arena struct {
	mu     sync.Mutex
	limit  int64
	total  int64
	now    record.Bytes
	peak   int64
	peakBy record.Bytes
	live   map[*Buffer]struct{}
}

// Buffer is memory of an arena. Data has the length that was asked for; it
// starts on a page and is zero when new.
type Buffer struct {
	Data     []byte
	arena    *Arena
	tag      Tag
	reserved int64
	mapped   []byte
}

// FullError is returned when the limit leaves no room for a buffer.
type FullError struct {
	Tag               Tag
	Want, Used, Limit int64
}

func (e *FullError) Error() string {
	return fmt.Sprintf("arena: %d bytes for %s do not fit: %d of %d are taken", e.Want, e.Tag.Class, e.Used, e.Limit)
}

// live is what all arenas of the process have reserved.
var live atomic.Int64

// Live returns the bytes that all arenas of the process have reserved, memory of others
// that they count included.
func Live() int64 { return live.Load() }

// New makes an arena of at most limit bytes. Nothing is allocated until it is
// asked for.
func New(limit int64) *Arena {
	return &Arena{limit: limit, live: map[*Buffer]struct{}{}}
}

// Alloc reserves a buffer of n bytes. It returns a *FullError where the limit
// is too small, and the system's error where the machine has no memory.
func (a *Arena) Alloc(tag Tag, n int64) (*Buffer, error) {
	b := &Buffer{arena: a, tag: tag, reserved: Reserved(n)}
	if err := a.take(b); err != nil {
		return nil, err
	}
	room := int(b.reserved)
	if room >= hugePage {
		room += hugePage // to begin on a huge page; what is never touched costs nothing
	}
	m, err := obtain(room)
	if err != nil {
		a.give(b)
		return nil, fmt.Errorf("arena: %w", err)
	}
	b.mapped = m
	if room > int(b.reserved) {
		m = m[-uintptr(unsafe.Pointer(&m[0]))&(hugePage-1):]
		wantHugePages(m[:int(b.reserved)&^(hugePage-1)])
	}
	b.Data = m[:n:b.reserved]
	return b, nil
}

// hugePage is the size of the pages that large buffers ask for: direct writes
// from them are nearly twice as fast as from small ones.
const hugePage = 2 << 20

// Charge counts n bytes that someone else allocates: a foreign library's
// buffers, or results that are returned as Go values. Its Data is nil.
func (a *Arena) Charge(tag Tag, n int64) (*Buffer, error) {
	b := &Buffer{arena: a, tag: tag, reserved: n}
	return b, a.take(b)
}

func (a *Arena) take(b *Buffer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.total+b.reserved > a.limit {
		return &FullError{b.tag, b.reserved, a.total, a.limit}
	}
	a.total += b.reserved
	live.Add(b.reserved)
	a.now[b.tag.Class] += b.reserved
	if a.total > a.peak {
		a.peak, a.peakBy = a.total, a.now
	}
	a.live[b] = struct{}{}
	return nil
}

func (a *Arena) give(b *Buffer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.live[b]; !ok {
		return
	}
	delete(a.live, b)
	a.total -= b.reserved
	live.Add(-b.reserved)
	a.now[b.tag.Class] -= b.reserved
}

// Free returns the buffer's memory to the system, but for that of a few small ones. Data must not be used
// afterwards. Freeing twice, or a nil buffer, does nothing.
func (b *Buffer) Free() {
	if b == nil {
		return
	}
	b.arena.give(b)
	if b.mapped != nil {
		yield(b.mapped)
		b.mapped, b.Data = nil, nil
	}
}

// Bytes returns the buffer's Data; nil of a nil buffer.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	return b.Data
}

// Reserved returns the number of bytes that the buffer takes from the arena.
func (b *Buffer) Reserved() int64 { return b.reserved }

// Now returns what is reserved at this moment, by class.
func (a *Arena) Now() record.Bytes {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}

// Peak returns the most that was reserved at once, and what it was for.
func (a *Arena) Peak() (int64, record.Bytes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.peak, a.peakBy
}

// Freed memory of at most small bytes stays mapped, up to keptSmall pieces of it, and is reused by later
// allocations: mapping, unmapping on all cores and page faults are much of what a run of a thousand elements takes.
const (
	small     = 4 * PageSize
	keptSmall = 16
)

var kept struct {
	sync.Mutex
	free [][]byte
}

// obtain returns n zero bytes that begin on a page, for yield.
func obtain(n int) ([]byte, error) {
	if n <= small {
		kept.Lock()
		for i := len(kept.free) - 1; i >= 0; i-- {
			if m := kept.free[i]; len(m) == n {
				kept.free = slices.Delete(kept.free, i, i+1)
				kept.Unlock()
				clear(m)
				return m, nil
			}
		}
		kept.Unlock()
	}
	return mapAnonymous(n)
}

func yield(m []byte) {
	if len(m) <= small {
		kept.Lock()
		room := len(kept.free) < keptSmall
		if room {
			kept.free = append(kept.free, m)
		}
		kept.Unlock()
		if room {
			return
		}
	}
	unmap(m)
}

// ErrLeak is returned by Close when a buffer was never freed.
var ErrLeak = errors.New("arena: buffers were not freed")

// Close frees what is still allocated. That there was something is an error of
// the program.
func (a *Arena) Close() error {
	a.mu.Lock()
	left := slices.Collect(maps.Keys(a.live))
	a.mu.Unlock()
	for _, b := range left {
		b.Free()
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: %d of them, the first for %s of stage %d", ErrLeak, len(left), left[0].tag.Class, left[0].tag.Stage)
	}
	return nil
}
