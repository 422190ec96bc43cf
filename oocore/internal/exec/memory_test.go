package exec_test

import (
	"io/fs"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/store"
)

// memory holds arrays by name. Its open and create are what store.Open and store.Create are for
// files.
type memory struct {
	mu     sync.Mutex
	arrays map[string]*memstore.Array
}

func (m *memory) put(name string, a *memstore.Array) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrays == nil {
		m.arrays = map[string]*memstore.Array{}
	}
	m.arrays[name] = a
}

func (m *memory) open(name string) (store.Array, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.arrays[name]; a != nil {
		return named{a, name}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (m *memory) create(name string, meta store.Meta) (store.Writer, error) {
	data := make([]byte, grid.Size(meta.Shape)*meta.DType.Size())
	m.put(name, memstore.New(meta.Shape, meta.DType, data))
	return memstore.Into(meta.Shape, meta.DType, data), nil
}

// named is an array under a name, which closing it leaves open.
type named struct {
	*memstore.Array
	name string
}

func (a named) Info() store.Info {
	info := a.Array.Info()
	info.Path, info.ID.Inode = a.name, 1
	return info
}

func (named) Close() error { return nil }

func (a named) Reshape(shape []int) (store.Array, error) {
	b, err := a.Array.Reshape(shape)
	if err != nil {
		return nil, err
	}
	return named{b.(*memstore.Array), a.name}, nil
}
