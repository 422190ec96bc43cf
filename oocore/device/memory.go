package device

import (
	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/record"
)

// Memory is that of a modelled device: memory of the host that counts as the device's, up to
// a limit.
type Memory struct{ arena *arena.Arena }

// Block is an allocation of a Memory. Its Data is outside of Go's heap.
type Block = arena.Buffer

// NewMemory returns memory of so many bytes, of which none is taken.
func NewMemory(bytes int64) *Memory { return &Memory{arena.New(bytes)} }

// Alloc takes n bytes.
func (m *Memory) Alloc(n int64) (*Block, error) {
	if m == nil || m.arena == nil {
		return nil, ErrMemory
	}
	return m.arena.Alloc(arena.Tag{Chunk: -1, Class: record.Device}, n)
}

// Used is the bytes that are taken.
func (m *Memory) Used() int64 {
	if m == nil || m.arena == nil {
		return 0
	}
	return m.arena.Now()[record.Device]
}

// Close returns an error that names what is still taken.
func (m *Memory) Close() error {
	if m == nil || m.arena == nil {
		return nil
	}
	return m.arena.Close()
}
