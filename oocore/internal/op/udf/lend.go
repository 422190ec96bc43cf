package udf

import (
	"errors"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// ErrRetained is returned where a function uses its buffers after it has returned.
var ErrRetained = errors.New("the function used its memory after it had returned, when that held another chunk: copy what is needed later")

// lender calls a function with memory that is its own until it returns. The arena's is
// another chunk's afterwards, and no memory at all after the run: a function that keeps
// it would see other elements, or crash the program. So the 1st, 2nd, 4th, 8th … call
// gets memory of Go's heap, and whether the function keeps that can be told.
type lender struct {
	calls   atomic.Uint64
	lending atomic.Bool
}

const (
	// probes bounds the calls that are looked at, each of which takes a garbage collection.
	probes = 1 << 10
	// lendBytes bounds the memory that is lent at a time, which is not the arena's and which
	// no plan predicts: it is part of what is left to Go's heap.
	lendBytes = 4 << 20
	// longestLook bounds the waits between the collections that must agree that lent memory
	// is kept. The collector scans the frame of a goroutine that it preempts word by word,
	// so that a stale pointer on another goroutine's stack may keep memory through one.
	longestLook = 64 * time.Millisecond
)

func (l *lender) call(f Function, dst []byte, src [][]byte, at grid.Box) error {
	n, bytes := l.calls.Add(1), len(dst)
	for _, s := range src {
		bytes += len(s)
	}
	clear(dst) // no function sees what it did not set
	if n&(n-1) != 0 || n > probes || bytes > lendBytes || !l.lending.CompareAndSwap(false, true) {
		return f(dst, src, at)
	}
	defer l.lending.Store(false)
	kept, err := lend(f, dst, src, at)
	if err != nil {
		return err
	}
	for wait := time.Millisecond; wait <= longestLook; wait *= 4 {
		debug.FreeOSMemory() // collects, and gives back what was lent
		if !slices.ContainsFunc(kept, func(k weak.Pointer[room]) bool { return k.Value() != nil }) {
			return nil
		}
		time.Sleep(wait)
	}
	return ErrRetained
}

// room is what lent memory is made of. It is large enough not to share a block of Go's
// heap with something else.
type room [64]byte

// lend calls a function with memory of Go's heap, to which it returns weak pointers. No
// other is left, which is why it is a function of its own.
//
//go:noinline
func lend(f Function, dst []byte, src [][]byte, at grid.Box) ([]weak.Pointer[room], error) {
	kept := make([]weak.Pointer[room], 0, len(src)+1)
	lent := func(b []byte) []byte {
		whole := make([]room, max((len(b)+len(room{})-1)/len(room{}), 1))
		kept = append(kept, weak.Make(&whole[0]))
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(whole))), len(b))
	}
	out, in := lent(dst), make([][]byte, len(src))
	for i, s := range src {
		in[i] = lent(s)
		copy(in[i], s)
	}
	err := f(out, in, at)
	copy(dst, out)
	return kept, err
}
