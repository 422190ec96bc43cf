package testcases

import (
	"errors"
	"runtime"
	"testing"
)

// Counted holds a parser of a long header to the memory that it says to take: nearly what it holds, and the same in
// all where nothing may be held.
func Counted[T any](t *testing.T, parse func(take func(bytes int64) error) (T, error)) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var counted int64
	header, err := parse(func(n int64) error { counted += n; return nil })
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	runtime.KeepAlive(header)
	if held < 1<<20 || counted < held*9/10 || counted > 2*held {
		t.Errorf("%d bytes are counted, %d are held", counted, held)
	}
	full, all := errors.New("full"), int64(0)
	_, err = parse(func(n int64) error { all += n; return full })
	if !errors.Is(err, full) || all < counted*9/10 {
		t.Errorf("without room: %v, with %d bytes counted of %d", err, all, counted)
	}
}
