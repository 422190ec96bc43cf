// Package tables reads tables as arrays: columns whose rows are stored in groups, each of which is decoded as a whole.
package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

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
	storage.Decoded
	ends   []int // the rows at which groups end
	decode func(ctx context.Context, group int, dst []byte) error
}

// New returns an array of rows of a shape, of which groups have so many. decode fills dst with the elements of a group, and heap is what
// that takes of Go's heap besides the elements. The array closes the object, except where New fails.
func New(info store.Info, o storage.Object, groups []int, heap int64, decode func(ctx context.Context, group int, dst []byte) error) (*Array, error) {
	a := &Array{Decoded: storage.Decoded{Object: o}, decode: decode}
	rows, most := 0, 1
	for _, n := range groups {
		if rows += n; n < 0 || rows < 0 {
			return nil, errors.New("the file's groups of rows have impossible lengths")
		}
		most = max(most, n)
		a.ends = append(a.ends, rows)
	}
	info.Shape, info.Chunks = slices.Concat([]int{rows}, info.Shape), slices.Concat([]int{most}, info.Shape)
	if err := grid.Check(info.Shape, info.DType.Size()); err != nil {
		return nil, err
	}
	group := int64(grid.Size(info.Chunks) * info.DType.Size())
	info.Work = store.Work{Whole: group, Stream: group, Heap: heap}
	a.Described = info
	return a, nil
}

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

// Read decodes groups for one region, if that takes no more than a gigabyte.
func (a *Array) Read(ctx context.Context, dst []byte, r types.Region) error {
	w := a.Described.Work
	if w.Whole+w.Heap > 1<<30 {
		err := fmt.Errorf("decoding a group of rows takes %s: read it in a session that has them", units.Exact(w.Whole+w.Heap))
		return storage.AccessError(ctx, "read", a.Described.Path, err)
	}
	return storage.ReadBy(ctx, a, w.Whole, dst, r)
}

// Session decodes groups to the buffer, which has the last of them.
func (a *Array) Session(work []byte) (store.Session, error) {
	if err := storage.EnoughFor(a.Described.Path, work, a.Described.Work.Whole); err != nil {
		return nil, err
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
	return stored, storage.AccessError(ctx, "read", s.Described.Path, err)
}

func (s *session) read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error) {
	if done, err := s.Begin(ctx, dst, r); done {
		return 0, err
	}
	size := s.Described.DType.Size()
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
		shape := slices.Concat([]int{s.ends[group] - begin}, s.Described.Shape[1:])
		elements := s.work[:grid.Size(shape)*size]
		if s.held != group {
			s.held = -1
			if err := s.decode(ctx, group, elements); err != nil {
				return stored, err
			}
			s.held = group
			stored += s.Described.Bytes * int64(shape[0]) / int64(s.Described.Shape[0])
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
		kinds[i] = c.Described.DType
		info.Bytes += c.Described.Bytes
		heap = max(heap, c.Described.Work.Heap)
	}
	info.DType = dtype.PromoteAll(kinds...)
	size, groups := info.DType.Size(), columns[0].Groups()
	heap += 16 * int64(columns[0].Described.Chunks[0]) // elements of a column, and as the type of all
	return New(info, columns[0].Object, groups, heap, func(ctx context.Context, group int, dst []byte) error {
		n := groups[group]
		stored, cast := make([]byte, 8*n), make([]byte, 8*n)
		for i, c := range columns {
			from := stored[:n*c.Described.DType.Size()]
			if err := c.decode(ctx, group, from); err != nil {
				return err
			}
			l, err := strided.Of([]int{n, len(columns)}, size, types.Region{Start: []int{0, i}, Count: []int{n, 1}, Step: []int{1, 1}})
			if err != nil {
				return err
			}
			if kind := kinds[i]; kind != info.DType {
				convert, ok := kernel.Cast(kind, info.DType)
				if !ok {
					return fmt.Errorf("elements of %s are not converted to %s", kind, info.DType)
				}
				convert(n, cast, from, nil, nil)
				from = cast[:n*size]
			}
			l.Scatter(dst, from, 0)
		}
		return nil
	})
}
