// Package receipt checks stored arrays against what the runs that made them have noted in the run log: the receipts
// of outputs.
package receipt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// ErrNone is that nothing is known of what an array should hold.
var ErrNone = errors.New("there is no receipt of it: it was not saved by this user with this run log, or by a run that leaves none, such as one in worker processes, on a device or to an object store")

// Details is a digest of what an array is, apart from its elements.
func Details(info store.Info) string {
	of := []any{info.Shape, info.DType, info.Chunks, info.Shards, info.Codec, info.Fortran, info.Details}
	text, err := json.Marshal(of)
	if err != nil {
		panic("receipt: what an array is cannot be written: " + err.Error()) // it is plain values
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Verify reads an array once, and compares the digest of each part that a task has written. It takes a part's memory, or a
// decoded chunk's, for each processor. The error is ErrNone where there is no receipt.
func Verify(ctx context.Context, path string) (*types.Verification, error) {
	place, err := storage.Absolute(path)
	if err != nil {
		return nil, err
	}
	e, ok := resultcache.Lookup(place, "")
	if !ok || e.Grid.Shape == nil {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	traces, err := tracesOf(&e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return nil, err
	}
	v := &types.Verification{Details: Details(a.Info()) != e.Details}
	if !slices.Equal(a.Info().Shape, e.Grid.Shape) {
		v.Unknown = e.Grid.Len()
		return v, a.Close()
	}
	err = compare(ctx, v, a, &e, traces)
	return v, errors.Join(err, a.Close())
}

// Digests are what the receipt of an array says of its units, which have versions of their own, where it is of that version and
// tasks have written units: those of all, and then one of all else. What an update has taken over keeps them, as files
// that have a name more do not keep their version.
func Digests(place string, v storage.Version, units grid.Grid) []uint64 {
	e, ok := resultcache.Lookup(place, "")
	if !ok || !e.Version.Equal(v) || !slices.Equal(e.Grid.Shape, units.Shape) || !slices.Equal(grid.Clip(e.Grid.Chunks, units.Shape), grid.Clip(units.Chunks, units.Shape)) {
		return nil
	}
	traces, err := tracesOf(&e)
	if err != nil {
		return nil
	}
	all := make([]uint64, 0, len(traces)+1)
	for _, t := range traces {
		if t.Form == nil {
			return nil
		}
		all = append(all, t.Digest)
	}
	return append(all, xxh3.HashString(e.Details))
}

// mostWhole bounds what is read again to have its digest.
const mostWhole = 64 << 20

// Whole is the digest of all elements of an array that is there, if it is small.
func Whole(ctx context.Context, path string) (sum uint64, ok bool) {
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return 0, false
	}
	info := a.Info()
	if ok = grid.Size(info.Shape)*info.DType.Size() <= mostWhole; ok {
		var buf []byte
		sum, err = digest(grid.Entire(info.Shape), wholeForm(info.Shape), info.DType.Size(), &buf, func(dst []byte, r grid.Region) error { return a.Read(ctx, dst, r) })
	}
	return sum, errors.Join(err, a.Close()) == nil && ok
}

// wholeForm is in which order Whole reads.
func wholeForm(shape []int) [][]int { return [][]int{grid.Auto(shape, 1, 64<<10)} }

// tracesOf are the traces of tasks in a receipt, by task; one without a form is of a task of which nothing is known.
func tracesOf(e *resultcache.Entry) ([]checkpoint.Trace, error) {
	if e.Folded != 0 {
		return []checkpoint.Trace{{Digest: e.Folded, Form: wholeForm(e.Grid.Shape)}}, nil
	}
	all := make([]checkpoint.Trace, e.Grid.Len())
	return all, EachTrace(e, func(t checkpoint.Trace) bool {
		if t.Stage != e.Stage {
			return true
		}
		if t.Task >= len(all) {
			return false
		}
		t.Reads, t.Folded = nil, nil
		all[t.Task] = t
		return true
	})
}

// restOf opens the traces of a receipt.
func restOf(e *resultcache.Entry) (io.ReadCloser, error) {
	rest, err := e.Rest()
	if err != nil {
		return nil, err
	}
	for _, in := range e.Inputs {
		if err == nil {
			_, err = io.CopyN(io.Discard, rest, 8*int64(in.Numbers()))
		}
	}
	if err != nil {
		return nil, errors.Join(err, rest.Close())
	}
	return rest, nil
}

// compare compares all parts, some at once.
func compare(ctx context.Context, v *types.Verification, a store.Array, e *resultcache.Entry, traces []checkpoint.Trace) error {
	var mu sync.Mutex
	next := 0
	faults := map[int]string{}
	group, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), max(len(traces), 1)) {
		group.Go(func() (err error) {
			read, end, err := reader(a)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, end()) }()
			var buf []byte
			for {
				mu.Lock()
				task := next
				next++
				mu.Unlock()
				if task >= len(traces) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
				t := &traces[task]
				var sum uint64
				if t.Form != nil {
					sum, err = digest(e.Grid.Box(task), t.Form, a.Info().DType.Size(), &buf, func(dst []byte, r grid.Region) error { return read(ctx, dst, r) })
				}
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				mu.Lock()
				switch v.Chunks++; {
				case t.Form == nil:
					v.Chunks--
					v.Unknown++
				case err != nil:
					faults[task] = err.Error()
				case sum != t.Digest:
					faults[task] = ""
				}
				mu.Unlock()
			}
		})
	}
	err := group.Wait()
	for task := range traces {
		if why, ok := faults[task]; ok {
			v.Damaged, v.Faults = append(v.Damaged, e.Grid.Box(task)), append(v.Faults, why)
		}
	}
	return err
}

// reader reads regions of an array, one after the other, with memory of its own.
func reader(a store.Array) (read func(ctx context.Context, dst []byte, r grid.Region) error, end func() error, err error) {
	coded, ok := a.(storage.Coded)
	if !ok {
		return a.Read, func() error { return nil }, nil
	}
	w := a.Info().Work
	s, err := coded.Session(make([]byte, max(w.Whole, w.Stream)))
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, dst []byte, r grid.Region) error {
		_, err := s.Read(ctx, dst, r)
		return err
	}, s.Close, nil
}

// digest is that of the elements of a task's box, in the order in which it has written them.
func digest(task grid.Box, form [][]int, item int, buf *[]byte, read func(dst []byte, r grid.Region) error) (uint64, error) {
	var h xxh3.Hasher
	var of func(b grid.Box, form [][]int) error
	of = func(b grid.Box, form [][]int) error {
		if len(form) > 0 {
			for part := range b.Split(form[0]) {
				if err := of(part, form[1:]); err != nil {
					return err
				}
			}
			return nil
		}
		n := b.Size() * item
		if cap(*buf) < n {
			*buf = make([]byte, n)
		}
		if err := read((*buf)[:n], b.Region()); err != nil {
			return err
		}
		h.Write((*buf)[:n])
		return nil
	}
	err := of(task, form)
	return h.Sum64(), err
}
