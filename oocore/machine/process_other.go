//go:build !linux

package machine

// Process reads this process's memory. What the process holds outside of Go's
// runtime cannot be asked for here without cgo, so Anonymous is Go's part only.
func Process() (Memory, error) {
	heap, runtime := goMemory()
	return Memory{Anonymous: heap + runtime, Cached: -1, GoHeap: heap, GoRuntime: runtime}, nil
}

// WithoutCache is Process, which does not know the page cache here.
func WithoutCache() (Memory, error) { return Process() }

// Anonymous is Process's figure alone.
func Anonymous() (int64, error) {
	heap, runtime := goMemory()
	return heap + runtime, nil
}
