// Package receipt checks stored arrays against what the runs that made them have noted in the run log: the receipts
// of outputs.
package receipt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
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

// Verify reads the array once, and compares the digest of each part that a task has written. It takes a part's memory, or a
// decoded chunk's, for each processor.
func (r *Receipt) Verify(ctx context.Context) (*types.Verification, error) {
	if err := r.load(); err != nil {
		return nil, err
	}
	return r.compare(ctx, nil)
}

// Again compares parts that were computed again with what the receipt told before that.
func (r *Receipt) Again(ctx context.Context, parts checkpoint.Tasks) (*types.Verification, error) {
	return r.compare(ctx, func(task int) bool { return parts.Has(task) })
}

// load reads the traces.
func (r *Receipt) load() (err error) {
	if r.Grid.Shape == nil {
		return fmt.Errorf("%s: %w", r.Place, ErrNone)
	}
	if r.traces, err = tracesOf(&r.Entry); err != nil {
		return fmt.Errorf("%s: %w", r.Place, ErrNone)
	}
	return nil
}

// compare compares the parts that are asked for; nil asks for all.
func (r *Receipt) compare(ctx context.Context, asked func(task int) bool) (v *types.Verification, err error) {
	a, err := store.OpenContext(ctx, r.Place)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	info := a.Info()
	v = &types.Verification{Details: Details(info) != r.Details}
	if !slices.Equal(info.Shape, r.Grid.Shape) {
		if r.File != "" {
			return nil, fmt.Errorf("%s is the receipt of an array of shape %s, and %s has %s: it is of another", r.File, grid.Format(r.Grid.Shape), r.Place, grid.Format(info.Shape))
		}
		v.Unknown = r.Grid.Len()
		return v, nil
	}
	faults := map[int]string{}
	err = r.digests(ctx, a, false, func(task int) bool {
		if asked != nil && !asked(task) {
			return false
		}
		if r.traces[task].Form == nil {
			v.Unknown++
			return false
		}
		v.Chunks++
		return true
	}, func(task int, sum uint64, sha []byte, err error) {
		switch t := &r.traces[task]; {
		case err != nil:
			faults[task] = err.Error()
		case sum != t.Digest || t.Sum != nil && !bytes.Equal(sha, t.Sum):
			faults[task] = ""
		}
	})
	for task := range r.traces {
		if why, ok := faults[task]; ok {
			v.Damaged, v.Faults = append(v.Damaged, r.Grid.Box(task)), append(v.Faults, why)
		}
	}
	v.Trusted = r.File != "" && !slices.ContainsFunc(r.traces, func(t checkpoint.Trace) bool { return t.Sum == nil })
	return v, err
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
		sum, err = digest(grid.Entire(info.Shape), wholeForm(info.Shape), info.DType.Size(), &buf, nil, func(dst []byte, r grid.Region) error { return a.Read(ctx, dst, r) })
	}
	return sum, errors.Join(err, a.Close()) == nil && ok
}

// wholeForm is in which order Whole reads.
func wholeForm(shape []int) [][]int { return [][]int{grid.Auto(shape, 1, 64<<10)} }

// tracesOf are the traces of tasks in a receipt, by task; one without a form is of a task of which nothing is known.
func tracesOf(e *resultcache.Entry) ([]checkpoint.Trace, error) {
	if e.Folded != 0 {
		t := checkpoint.Trace{Stage: e.Stage, Digest: e.Folded, Form: wholeForm(e.Grid.Shape)}
		if sum, err := hex.DecodeString(e.Sum); err == nil && len(sum) == sha256.Size {
			t.Sum = sum
		}
		return []checkpoint.Trace{t}, nil
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

// digests reads the parts that are asked for, some at once, and calls each with their digests, with sha all of them also with
// the cryptographic one. asked and each are not called at the same time.
func (r *Receipt) digests(ctx context.Context, a store.Array, sha bool, asked func(task int) bool, each func(task int, sum uint64, sha []byte, err error)) error {
	var mu sync.Mutex
	next := 0
	group, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), max(len(r.traces), 1)) {
		group.Go(func() (err error) {
			read, end, err := Reader(a)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, end()) }()
			var buf []byte
			for {
				mu.Lock()
				for next < len(r.traces) && !asked(next) {
					next++
				}
				task := next
				next++
				mu.Unlock()
				if task >= len(r.traces) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
				t := &r.traces[task]
				var h hash.Hash
				if sha || t.Sum != nil {
					h = sha256.New()
				}
				sum, err := digest(r.Grid.Box(task), t.Form, a.Info().DType.Size(), &buf, h, func(dst []byte, r grid.Region) error { return read(ctx, dst, r) })
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				var long []byte
				if h != nil {
					long = h.Sum(nil)
				}
				mu.Lock()
				each(task, sum, long, err)
				mu.Unlock()
			}
		})
	}
	return group.Wait()
}

// Reader reads regions of an array, one after the other, with memory of its own.
func Reader(a store.Array) (read func(ctx context.Context, dst []byte, r grid.Region) error, end func() error, err error) {
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

// digest is that of the elements of a task's box, in the order in which it has written them. They go to sha, too, where there is one.
func digest(task grid.Box, form [][]int, item int, buf *[]byte, sha hash.Hash, read func(dst []byte, r grid.Region) error) (uint64, error) {
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
		if sha != nil {
			sha.Write((*buf)[:n])
		}
		return nil
	}
	err := of(task, form)
	return h.Sum64(), err
}
