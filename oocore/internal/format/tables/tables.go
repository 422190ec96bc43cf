// Package tables reads tables as arrays: columns whose rows are stored in groups, each of which is decoded as a whole.
package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

// Array is an open column, or several as rows × columns.
type Array struct {
	info   store.Info
	object storage.Object
	ends   []int // the rows at which groups end
	decode func(ctx context.Context, group int, dst []byte) error
	closed atomic.Bool
}

// New returns an array of rows of a shape, of which groups have so many. decode fills dst with the elements of a group, and heap is what
// that takes of Go's heap besides the elements. The array closes the object, except where New fails.
func New(info store.Info, o storage.Object, groups []int, heap int64, decode func(ctx context.Context, group int, dst []byte) error) (*Array, error) {
	a := &Array{info: info, object: o, decode: decode}
	rows, most := 0, 1
	for _, n := range groups {
		if rows += n; n < 0 || rows < 0 {
			return nil, errors.New("the file's groups of rows have impossible lengths")
		}
		most = max(most, n)
		a.ends = append(a.ends, rows)
	}
	a.info.Shape = slices.Concat([]int{rows}, info.Shape)
	if err := grid.Check(a.info.Shape, info.DType.Size()); err != nil {
		return nil, err
	}
	a.info.Chunks = slices.Concat([]int{most}, info.Shape)
	group := int64(grid.Size(a.info.Chunks) * info.DType.Size())
	a.info.Work = store.Work{Whole: group, Stream: group, Heap: heap}
	return a, nil
}

func (a *Array) Info() store.Info { return storage.CloneInfo(a.info) }

// Groups are the numbers of rows in groups.
func (a *Array) Groups() []int {
	groups := slices.Clone(a.ends)
	for i := len(groups) - 1; i > 0; i-- {
		groups[i] -= groups[i-1]
	}
	return groups
}

// Begin is the first row of a group.
func Begin(groups []int, group int) (row int) {
	for _, n := range groups[:group] {
		row += n
	}
	return row
}

func (a *Array) Close() error {
	if a.closed.Swap(true) {
		return nil
	}
	return a.object.Close()
}

// Read decodes groups for one region, if that takes no more than a gigabyte.
func (a *Array) Read(ctx context.Context, dst []byte, r types.Region) error {
	w := a.info.Work
	if w.Whole+w.Heap > 1<<30 {
		return a.fail(ctx, fmt.Errorf("decoding a group of rows takes %s: read it in a session that has them", units.Exact(w.Whole+w.Heap)))
	}
	s, err := a.Session(make([]byte, w.Whole))
	if err != nil {
		return err
	}
	_, err = s.Read(ctx, dst, r)
	return errors.Join(err, s.Close())
}

func (a *Array) fail(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &fs.PathError{Op: "read", Path: a.info.Path, Err: storage.Plain(err)}
}

// Session decodes groups to the buffer, which has the last of them.
func (a *Array) Session(work []byte) (store.Session, error) {
	if int64(len(work)) < a.info.Work.Whole {
		return nil, a.fail(context.Background(), fmt.Errorf("a session needs %d bytes, it is given %d", a.info.Work.Whole, len(work)))
	}
	return &session{Array: a, work: work, held: -1}, nil
}

type session struct {
	*Array
	work []byte
	held int // the group that work has; -1 for none
}

func (s *session) Close() error { return nil }

func (s *session) Read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error) {
	stored, err = s.read(ctx, dst, r)
	return stored, s.fail(ctx, err)
}

func (s *session) read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error) {
	size := s.info.DType.Size()
	_, err = strided.ForRegion(s.info.Shape, size, r, len(dst))
	switch {
	case err != nil:
		return 0, err
	case s.closed.Load():
		return 0, fs.ErrClosed
	case ctx.Err() != nil || len(dst) == 0:
		return 0, ctx.Err()
	}
	row := len(dst) / r.Count[0]
	for i := 0; i < r.Count[0]; {
		first := r.Start[0] + i*r.Step[0]
		group := sort.SearchInts(s.ends, first+1)
		begin := 0
		if group > 0 {
			begin = s.ends[group-1]
		}
		n := 1 // rows of the region in the group
		for i+n < r.Count[0] && first+n*r.Step[0] >= begin && first+n*r.Step[0] < s.ends[group] {
			n++
		}
		shape := slices.Concat([]int{s.ends[group] - begin}, s.info.Shape[1:])
		elements := s.work[:grid.Size(shape)*size]
		if s.held != group {
			s.held = -1
			if err := s.decode(ctx, group, elements); err != nil {
				return stored, err
			}
			s.held = group
			stored += s.info.Bytes * int64(shape[0]) / int64(s.info.Shape[0])
		}
		part := types.Region{Start: slices.Clone(r.Start), Count: slices.Clone(r.Count), Step: r.Step}
		part.Start[0], part.Count[0] = first-begin, n
		l, err := strided.Of(shape, size, part)
		if err != nil {
			return stored, err
		}
		l.Gather(dst[i*row:(i+n)*row], elements, 0)
		i += n
	}
	return stored, nil
}

// Whole names all columns of a file as one array, where no column has that name.
const Whole = "table"

// Join returns the columns of one file as rows × columns, of the type that holds the elements of all, as NumPy has it.
func Join(columns []*Array) (*Array, error) {
	if len(columns) == 0 {
		return nil, errors.New("the file has no columns")
	}
	info, heap := columns[0].Info(), int64(0)
	info.Shape, info.Bytes = []int{len(columns)}, 0
	kinds := make([]dtype.Type, len(columns))
	for i, c := range columns {
		kinds[i] = c.info.DType
		info.Bytes += c.info.Bytes
		heap = max(heap, c.info.Work.Heap)
	}
	info.DType = dtype.PromoteAll(kinds...)
	size, groups := info.DType.Size(), columns[0].Groups()
	heap += 16 * int64(columns[0].info.Chunks[0]) // elements of a column, and as the type of all
	return New(info, columns[0].object, groups, heap, func(ctx context.Context, group int, dst []byte) error {
		n := groups[group]
		stored, cast := make([]byte, 8*n), make([]byte, 8*n)
		for i, c := range columns {
			from := stored[:n*c.info.DType.Size()]
			if err := c.decode(ctx, group, from); err != nil {
				return err
			}
			l, err := strided.Of([]int{n, len(columns)}, size, types.Region{Start: []int{0, i}, Count: []int{n, 1}, Step: []int{1, 1}})
			if err != nil {
				return err
			}
			if c.info.DType != info.DType {
				convert, ok := kernel.Cast(c.info.DType, info.DType)
				if !ok {
					return fmt.Errorf("elements of %s are not converted to %s", c.info.DType, info.DType)
				}
				convert(n, cast, from, nil, nil)
				from = cast[:n*size]
			}
			l.Scatter(dst, from, 0)
		}
		return nil
	})
}
