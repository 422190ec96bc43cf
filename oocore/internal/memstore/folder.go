package memstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
)

// Folder holds arrays by name. Its zero value is an empty one. Open and Create
// are what store.Open and store.Create are for files.
type Folder struct {
	mu      sync.Mutex
	arrays  map[string]*Array
	kept    map[string]*writer // suspended
	version uint64
}

// Open returns the array that was last committed under a name.
func (f *Folder) Open(name string) (store.Array, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.arrays[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	opened := New(a.info.Shape, a.info.DType, a.data)
	opened.info.Path, opened.info.ID = a.info.Path, a.info.ID
	return opened, nil
}

// Put stores elements, dense and in C order, under a name, without copying.
func (f *Folder) Put(name string, a *Array) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.arrays == nil {
		f.arrays = map[string]*Array{}
	}
	f.version++
	a.info.Path, a.info.ID.Inode = name, f.version
	f.arrays[name] = a
}

// Create begins a new array, which is seen under the name after Commit.
func (f *Folder) Create(name string, m store.Meta) (store.Writer, error) {
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	if m.Region != nil {
		if _, err := strided.Of(m.Shape, m.DType.Size(), m.Region.Region()); err != nil {
			return nil, &fs.PathError{Op: "create", Path: name, Err: err}
		}
	}
	w := &writer{folder: f, name: name, meta: store.Meta{Shape: slices.Clone(m.Shape), DType: m.DType, Region: m.Region}}
	f.mu.Lock()
	defer f.mu.Unlock()
	old, kept := f.arrays[name], f.kept[name]
	delete(f.kept, name)
	switch {
	case m.Resume && kept != nil && w.fits(kept.meta.Shape, kept.meta.DType):
		w.data, w.resumed = kept.data, true
	case m.Region == nil:
		w.data = make([]byte, grid.Size(m.Shape)*m.DType.Size())
	case old == nil || !w.fits(old.info.Shape, old.info.DType):
		return nil, &fs.PathError{Op: "create", Path: name, Err: errors.New("there is no such array to write a region of")}
	default:
		w.data = slices.Clone(old.data)
	}
	return w, nil
}

// Resumed is asked by storage.Resumed.
func (w *writer) Resumed() bool { return w.resumed }

func (w *writer) fits(shape []int, t dtype.Type) bool {
	return slices.Equal(shape, w.meta.Shape) && t == w.meta.DType
}

func (f *Folder) keep(w *writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[string]*writer{}
	}
	f.kept[w.name] = w
}

type writer struct {
	folder  *Folder
	name    string
	meta    store.Meta
	data    []byte
	resumed bool

	mu   sync.RWMutex // held for reading while a box is written
	done bool
}

func (w *writer) Write(ctx context.Context, src []byte, b grid.Box) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.done {
		return &fs.PathError{Op: "write", Path: w.name, Err: fs.ErrClosed}
	}
	if r := w.meta.Region; r != nil && !strided.Inside(b, *r) {
		return fmt.Errorf("write %s: box %s is not in the region %s", w.name, b, r)
	}
	l, err := strided.Of(w.meta.Shape, w.meta.DType.Size(), b.Region())
	if err == nil && len(src) != l.Bytes() {
		err = errors.New("the buffer has another size than the box")
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", w.name, err)
	}
	if len(src) > 0 {
		l.Scatter(w.data, src, 0)
	}
	return nil
}

func (w *writer) Commit(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return &fs.PathError{Op: "commit", Path: w.name, Err: fs.ErrClosed}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.done = true
	w.folder.Put(w.name, New(w.meta.Shape, w.meta.DType, w.data))
	return nil
}

// Sync has nothing to do: memory keeps what is written.
func (w *writer) Sync(ctx context.Context) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.done {
		return &fs.PathError{Op: "sync", Path: w.name, Err: fs.ErrClosed}
	}
	return ctx.Err()
}

func (w *writer) Suspend() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.done = true
		w.folder.keep(w)
	}
	return nil
}

func (w *writer) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	return nil
}
