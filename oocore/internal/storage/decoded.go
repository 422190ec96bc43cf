package storage

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Decoded is embedded by an array of an open file or object, of which sessions decode what they read as a whole.
type Decoded struct {
	Described store.Info
	Object    Object
	closed    atomic.Bool
}

// Info describes the array.
func (a *Decoded) Info() store.Info { return CloneInfo(a.Described) }

// Close closes the file or object.
func (a *Decoded) Close() error {
	if a.closed.Swap(true) {
		return nil
	}
	return a.Object.Close()
}

// Begin rejects a read that cannot be. There is nothing to do where it is done.
func (a *Decoded) Begin(ctx context.Context, dst []byte, r types.Region) (done bool, err error) {
	if _, err := strided.ForRegion(a.Described.Shape, a.Described.DType.Size(), r, len(dst)); err != nil {
		return true, err
	}
	if a.closed.Load() {
		return true, fs.ErrClosed
	}
	return ctx.Err() != nil || len(dst) == 0, ctx.Err()
}

// ReadBy reads a region by a session with memory of its own.
func ReadBy(ctx context.Context, a Coded, memory int64, dst []byte, r types.Region) error {
	s, err := a.Session(make([]byte, memory))
	if err != nil {
		return err
	}
	_, err = s.Read(ctx, dst, r)
	return cmp.Or(err, s.Close())
}

// EnoughFor rejects a buffer of an array's session that is too short.
func EnoughFor(path string, work []byte, need int64) error {
	if int64(len(work)) < need {
		return PathError("read", path, fmt.Errorf("a session needs %d bytes, it is given %d", need, len(work)))
	}
	return nil
}
