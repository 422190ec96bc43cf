package arrow

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
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

// array is a column whose rows are stored in groups, each of which is decoded as a whole.
type array struct {
	info   store.Info
	object storage.Object
	ends   []int // the rows at which groups end
	// decode fills dst with the elements of a group.
	decode func(ctx context.Context, group int, dst []byte) error
	closed atomic.Bool
}

// newArray returns a column of rows of a shape, of which groups have so many. heap is what decoding takes
// of Go's heap besides the elements.
func newArray(info store.Info, o storage.Object, groups []int, heap int64) (*array, error) {
	a := &array{info: info, object: o}
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

func (a *array) Info() store.Info { return storage.CloneInfo(a.info) }

// begin is the first row of a group.
func (a *array) begin(group int) int {
	if group == 0 {
		return 0
	}
	return a.ends[group-1]
}

func (a *array) Close() error {
	if a.closed.Swap(true) {
		return nil
	}
	return a.object.Close()
}

// Read decodes groups for one region, if that takes no more than a gigabyte.
func (a *array) Read(ctx context.Context, dst []byte, r types.Region) error {
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

func (a *array) fail(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &fs.PathError{Op: "read", Path: a.info.Path, Err: storage.Plain(err)}
}

// Session decodes groups to the buffer, which has the last of them.
func (a *array) Session(work []byte) (store.Session, error) {
	if int64(len(work)) < a.info.Work.Whole {
		return nil, a.fail(context.Background(), fmt.Errorf("a session needs %d bytes, it is given %d", a.info.Work.Whole, len(work)))
	}
	return &session{array: a, work: work, held: -1}, nil
}

type session struct {
	*array
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
		begin := s.begin(group)
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

// missing is the error of a null.
func missing(row int) error {
	return fmt.Errorf("row %d has a missing value, which arrays have no place for: fill it (fillna in pandas, fill_null in pyarrow), or drop the row", row)
}

// unsupported is the error of a column that is no array.
func unsupported(kind string) error {
	return fmt.Errorf("its elements are %s: arrays have numbers, bools, dates and times, and lists of one length of these", kind)
}

// convert stores the values of a batch as elements from a place on.
func convert[U, T dtype.Element](dst []byte, to func(T) U) func(at int, values []T) {
	elements := dtype.Slice[U](dst)
	return func(at int, values []T) {
		for i, v := range values {
			elements[at+i] = to(v)
		}
	}
}
