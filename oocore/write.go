package oocore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/run"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
)

// Writer fills a stored array with elements that the program makes: see Create.
type Writer[T Element] struct {
	ctx    context.Context
	site   graph.Site
	path   string
	opts   []Option
	shape  []int
	grows  bool         // as many rows as are appended
	store  store.Writer // nil where nothing is written, as under a plan only
	folder string       // of the temporary file that is written in place of the output; empty for none

	mu      sync.Mutex
	rows    int // appended, with those in the buffer
	buffer  []T
	written int // elements
	covered *grid.Coverage
	err     error
	ended   bool
}

const (
	rowsBuffer = 1 << 20 // bytes of rows that are gathered
	leastGrow  = 16 << 20
)

// Create begins a stored array that the program fills, at a path that Save takes, with Save's options.
// A first length of -1 is as many rows as are appended. Nothing is seen under the path until Commit:
//
//	w, err := oocore.Create[float32](ctx, "rows.npy", []int{-1, 64})
//	if err != nil {
//		return err
//	}
//	defer w.Abort() // does nothing after Commit
//	for row := range rows {
//		if err := w.Append(row); err != nil {
//			return err
//		}
//	}
//	x, err := w.Commit()
//
// It holds a MiB of rows. Files of npy, raw ones and uncompressed Zarr arrays of a known length are written in
// place; for others Commit runs a Save, within the budget, of a temporary file of the array's size that lies
// beside the output until then. The end of ctx is an error of each call.
func Create[T Element](ctx context.Context, path string, shape []int, opts ...Option) (*Writer[T], error) {
	return create[T](ctx, graph.Caller(), path, shape, opts)
}

func create[T Element](ctx context.Context, site graph.Site, path string, shape []int, opts []Option) (*Writer[T], error) {
	if ctx == nil {
		ctx = context.Background()
	}
	w := &Writer[T]{ctx: ctx, site: site, path: path, opts: opts, shape: slices.Clone(shape), covered: grid.NewCoverage(len(shape))}
	if err := w.begin(); err != nil {
		return nil, w.failed("create", err)
	}
	return w, nil
}

// failed returns an error that names the line of the program's call.
func (w *Writer[T]) failed(op string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		err = e.Err
	}
	return &Error{Op: op, Site: graph.Caller(), Err: run.Ended(w.ctx, err)}
}

func (w *Writer[T]) begin() error {
	t := dtype.Of[T]()
	if w.path == "" {
		return errors.New("the path is empty: name a file such as x.npy")
	}
	if w.grows = len(w.shape) > 0 && w.shape[0] == -1; w.grows {
		w.shape[0] = 0
	}
	if err := grid.Check(w.shape, t.Size()); err != nil {
		return err
	}
	s, err := applyOptions(w.opts)
	if err != nil {
		return err
	}
	if s.Region != "" {
		return errors.New("Region writes a part of a stored array: Save does that")
	}
	likely := slices.Clone(w.shape)
	if w.grows {
		likely[0] = w.growth()
	}
	planned := Zeros(t, likely...)
	if _, err := planned.prepare(w.site, w.path, w.opts); err != nil { // before rows have come for hours
		return cmp.Or(context.Cause(w.ctx), err)
	}
	if s.MakesNothing() {
		return nil
	}
	path, m := w.path, store.Meta{Shape: likely, DType: t}
	if n, err := planned.expression(); err != nil || !s.inPlace(path, m, w.grows) {
		if err != nil {
			return err
		}
		if w.folder, err = os.MkdirTemp(storage.ExistingFolder(path), ".rows-*"); err != nil {
			return err
		}
		path = filepath.Join(w.folder, "rows.bin")
	} else if m.Details, err = s.Details(n, path); err != nil {
		return err
	}
	w.store, err = store.Create(path, m)
	if err != nil {
		return errors.Join(err, w.remove())
	}
	return nil
}

// inPlace reports whether boxes of any form can be written straight into an output.
func (s *settings) inPlace(path string, m store.Meta, grows bool) bool {
	if s.Chunks != nil || s.Shards != nil || s.Codec != "" {
		return false
	}
	l, err := storage.LayoutOf(path, m)
	return err == nil && (l.Unit == nil || l.Open) && (!grows || strings.HasSuffix(path, ".npy"))
}

// growth returns by how many rows the array grows when it is full.
func (w *Writer[T]) growth() int {
	return max(w.shape[0]/4, leastGrow/max(w.rowSize()*dtype.Of[T]().Size(), 1), 1)
}

func (w *Writer[T]) rowSize() int { return grid.Size(w.shape[1:]) }

// Append writes rows, which are the array's parts along its first axis, after those that were appended before:
// one or more, dense in C order. It keeps no reference to them.
func (w *Writer[T]) Append(rows []T) error {
	if err := w.isOpen("append"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable("append"); err != nil {
		return err
	}
	if len(w.shape) == 0 {
		return w.failed("append", errors.New("the array has no dimension, and so no rows: use WriteBlock"))
	}
	row := w.rowSize()
	if row == 0 {
		return w.failed("append", errors.New("a row has no elements"))
	}
	if len(rows)%row != 0 {
		return w.failed("append", fmt.Errorf("%d elements are no whole rows of %s: each has %d", len(rows), grid.Format(w.shape[1:]), row))
	}
	n := len(rows) / row
	if !w.grows && w.rows+n > w.shape[0] {
		return w.failed("append", fmt.Errorf("row %d is beyond the shape %s", max(w.rows, w.shape[0]), grid.Format(w.shape)))
	}
	w.rows += n
	if room := rowsBuffer / dtype.Of[T]().Size(); len(w.buffer)+len(rows) <= room {
		if w.buffer == nil {
			w.buffer = make([]T, 0, room)
		}
		w.buffer = append(w.buffer, rows...)
		return nil
	}
	if w.err = w.flush("append", n); w.err != nil {
		return w.err
	}
	box := w.box(w.rows-n, n)
	w.err = w.write("append", rows, box)
	w.has(box)
	return w.err
}

// isOpen returns an error for a Writer that Create did not make.
func (w *Writer[T]) isOpen(op string) error {
	if w == nil || w.ctx == nil {
		return &Error{Op: op, Site: graph.Caller(), Err: errors.New("the *oocore.Writer is not open: make one with Create")}
	}
	return nil
}

// usable returns an error where nothing can be written any more.
func (w *Writer[T]) usable(op string) error {
	switch {
	case w.ended:
		return w.failed(op, fs.ErrClosed)
	case w.err != nil:
		return w.err
	case w.ctx.Err() != nil:
		return w.failed(op, context.Cause(w.ctx))
	}
	return nil
}

// box is that of n rows from one on.
func (w *Writer[T]) box(from, n int) Block {
	b := Block{Start: make([]int, len(w.shape)), Shape: slices.Clone(w.shape)}
	b.Start[0], b.Shape[0] = from, n
	return b
}

// flush writes what the buffer has: the rows before the last n.
func (w *Writer[T]) flush(op string, n int) error {
	if len(w.buffer) == 0 {
		return w.resize(op)
	}
	held := len(w.buffer) / w.rowSize()
	err := w.resize(op)
	if err == nil {
		box := w.box(w.rows-n-held, held)
		err = w.write(op, w.buffer, box)
		w.has(box)
	}
	w.buffer = w.buffer[:0]
	return err
}

// resize makes room for the rows that were appended.
func (w *Writer[T]) resize(op string) error {
	if !w.grows || w.rows <= w.shape[0] {
		return nil
	}
	w.shape[0] = w.rows + w.growth()
	if w.store == nil {
		return nil
	}
	if err := storage.Resize(w.store, w.shape[0]); err != nil {
		return w.failed(op, err)
	}
	return nil
}

func (w *Writer[T]) write(op string, src []T, at Block) error {
	if w.store == nil {
		return nil
	}
	if err := w.store.Write(w.ctx, dtype.Bytes(src), at); err != nil {
		return w.failed(op, err)
	}
	return nil
}

// has counts the elements of a box that was written.
func (w *Writer[T]) has(at Block) {
	w.written += at.Size()
	w.covered.Add(at)
}

// WriteBlock writes the elements of a box, dense in C order. Each element of the array is written once, by this or by
// Append, in any order; blocks may be written at once.
func (w *Writer[T]) WriteBlock(src []T, at Block) error {
	if err := w.isOpen("write_block"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable("write_block"); err != nil {
		return err
	}
	if w.grows {
		return w.failed("write_block", errors.New("the array has as many rows as are appended: give Create its length to write blocks"))
	}
	if _, err := strided.Of(w.shape, 1, at.Region()); err != nil {
		return w.failed("write_block", err)
	}
	if len(src) != at.Size() {
		return w.failed("write_block", fmt.Errorf("the block %s has %d elements, not %d", at, at.Size(), len(src)))
	}
	w.mu.Unlock() // blocks are written side by side
	err := w.write("write_block", src, at)
	w.mu.Lock()
	w.err = cmp.Or(w.err, err)
	w.has(at)
	return err
}

// Commit stores the array under its path, in place of what was there, and returns it. It is an error where
// elements are missing, or written twice. After an error nothing is left but what was there before.
func (w *Writer[T]) Commit() (_ *Array, err error) {
	if err := w.isOpen("commit"); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable("commit"); err != nil {
		return nil, errors.Join(err, w.abort("commit"))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.abort("commit"))
		}
	}()
	if err := w.flush("commit", 0); err != nil {
		return nil, err
	}
	if w.grows {
		w.shape[0] = w.rows
	}
	if n := grid.Size(w.shape); w.written < n {
		return nil, w.failed("commit", fmt.Errorf("%d of %d elements of shape %s were written", w.written, n, grid.Format(w.shape)))
	} else if !w.covered.Whole(w.shape) {
		return nil, w.failed("commit", fmt.Errorf("blocks overlap, or elements of shape %s are missing: each is written once", grid.Format(w.shape)))
	}
	if w.store == nil {
		w.ended = true
		return Zeros(dtype.Of[T](), w.shape...).Save(w.ctx, w.path, w.opts...)
	}
	if w.grows {
		err = storage.Resize(w.store, w.rows)
	}
	if err == nil {
		err = w.store.Commit(w.ctx)
	}
	if err != nil {
		return nil, w.failed("commit", err)
	}
	w.ended = true
	m := store.Meta{Shape: w.shape, DType: dtype.Of[T]()}
	if w.folder == "" {
		out := OpenContext(context.WithoutCancel(w.ctx), storage.Stored(w.path, m)) // an interrupt is too late
		return out, out.Err()
	}
	defer w.remove()
	x := Open(storage.Stored(filepath.Join(w.folder, "rows.bin"), m))
	if grid.Size(w.shape) == 0 {
		x = Zeros(m.DType, w.shape...)
	}
	out, err := x.Save(w.ctx, w.path, w.opts...)
	if err != nil {
		return nil, w.failed("commit", err)
	}
	return out, nil
}

// Abort gives the array up, and leaves what was under its path. After Commit it does nothing.
func (w *Writer[T]) Abort() error {
	if err := w.isOpen("abort"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.abort("abort")
}

func (w *Writer[T]) abort(op string) (err error) {
	if w.ended {
		return nil
	}
	w.ended, w.buffer = true, nil
	if w.store != nil {
		err = w.store.Abort()
	}
	if err = errors.Join(err, w.remove()); err != nil {
		err = w.failed(op, err)
	}
	return err
}

func (w *Writer[T]) remove() error {
	if w.folder == "" {
		return nil
	}
	return os.RemoveAll(w.folder)
}

// FromSeq stores the rows of an iterator, of one length, as the array rows × length, at a path that Save takes, with its options.
// It holds a MiB of them. An error that the iterator gives, or the end of ctx between rows, ends it,
// and then nothing is stored. Reshape gives rows more dimensions.
func FromSeq[T Element](ctx context.Context, rows iter.Seq2[[]T, error], path string, opts ...Option) (*Array, error) {
	site := graph.Caller()
	if rows == nil {
		return nil, &Error{Op: "from_seq", Site: site, Err: errors.New("the iterator is nil")}
	}
	var w *Writer[T]
	defer func() { // also where the iterator panics
		if w != nil {
			_ = w.Abort()
		}
	}()
	i := 0
	for row, err := range rows {
		if err == nil && w == nil {
			w, err = create[T](ctx, site, path, []int{-1, len(row)}, opts)
		} else if err == nil && len(row) != w.shape[1] {
			err = fmt.Errorf("it has %d elements, the first has %d", len(row), w.shape[1])
		}
		if err == nil {
			err = w.Append(row)
		}
		if err != nil {
			if _, ours := err.(*Error); !ours {
				err = &Error{Op: "from_seq", Site: site, Err: fmt.Errorf("row %d: %w", i, err)}
			}
			return nil, err
		}
		i++
	}
	if w == nil {
		return nil, &Error{Op: "from_seq", Site: site, Err: errors.New("the iterator gives no rows")}
	}
	return w.Commit()
}

// FromReader stores the array of a stream, such as a response's body, at a path that Save takes, with its options. format is that of a
// file, as a path names it: "npy", "bin?shape=1000,512&dtype=float32", "safetensors#name", "tif". The stream lies in a
// temporary file beside the output meanwhile. It is read to its end, or to that of ctx.
func FromReader(ctx context.Context, r io.Reader, format, path string, opts ...Option) (_ *Array, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	site := graph.Caller()
	failed := func(err error) (*Array, error) {
		return nil, &Error{Op: "from_reader", Site: site, Err: run.Ended(ctx, unwrapped(err))}
	}
	if r == nil {
		return failed(errors.New("the io.Reader is nil"))
	}
	folder, err := os.MkdirTemp(storage.ExistingFolder(path), ".stream-*")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(folder)
	ext, query := format, ""
	if i := strings.IndexAny(format, "?#"); i >= 0 {
		ext, query = format[:i], format[i:]
	}
	f, err := os.Create(filepath.Join(folder, "stream."+filepath.Base(ext)))
	if err != nil {
		return failed(err)
	}
	_, err = io.Copy(f, &cancelledReader{ctx, r})
	if err = errors.Join(err, f.Close()); err != nil {
		return failed(err)
	}
	if _, err := storage.Describe(f.Name() + query); err != nil {
		return failed(fmt.Errorf("the stream, as %s: %w", format, storage.Plain(err)))
	}
	out, err := Open(f.Name()+query).Save(ctx, path, opts...)
	if err != nil {
		return failed(err)
	}
	return out, nil
}

// cancelledReader ends with a context.
type cancelledReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelledReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// FromFunc returns the array each of whose elements a function computes from its index, as it is read. The index
// holds until the function returns, and a run calls it for many elements at once. MapAll without arrays fills whole chunks.
func FromFunc[T Element](f func(index []int) T, shape ...int) *Array {
	return build("from_func", func(site graph.Site, _ []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, noFunction(site, "from_func")
		}
		return mapped[uint8, T](site, func(dst []byte, _ [][]byte, at Block) error {
			out, index := dtype.Slice[T](dst), slices.Clone(at.Start)
			for i := range out {
				out[i] = f(index)
				for d := len(index) - 1; d >= 0; d-- {
					if index[d]++; index[d] < at.Start[d]+at.Shape[d] {
						break
					}
					index[d] = at.Start[d]
				}
			}
			return nil
		}, functionName(f), MapOptions{Shape: append([]int{}, shape...)}, nil)
	})
}

// Append computes the array onto the end of a stored Zarr array along an axis, and returns
// the array that is stored then. Open(path).Axis(name) is the axis of a dimension's name. The stored array has the same dtype, and the same lengths
// along the other axes; its chunks, codec and attributes stay as they are. It grows when
// all is computed: until then, and after an error or a kill, it is what it was. While one
// run appends to it another is rejected. An append that was cut off resumes where it
// stopped; one that is whole is done again by the next call.
func (a *Array) Append(ctx context.Context, path string, axis int, opts ...Option) (*Array, error) {
	site := graph.Caller()
	if path == "" {
		return nil, &Error{Op: "append", Site: site, Err: errors.New("the path is empty: name a Zarr array such as x.zarr")}
	}
	r, err := a.prepare(site, path, append(opts[:len(opts):len(opts)], set(func(s *settings) { s.Grow = &axis })))
	if err != nil {
		return nil, err
	}
	return r.saveOne(ctx, "append")
}
