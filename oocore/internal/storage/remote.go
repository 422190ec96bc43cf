package storage

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

func (e Header) remote(path, format string, o Object, id store.FileVersion) *remote {
	info := e.Info(path, format, id)
	info.Work = store.Work{Whole: min(remoteWindow, e.Bytes()), Stream: min(remoteLeast, e.Bytes())}
	return &remote{run{info, e.Offset, e.encoding()}, &remoteHandle{object: o}}
}

const headBytes = 64 << 10

// head reads an object's header: of one in a store the first 64 KiB by one request, what is behind
// them as it is asked for.
type head struct {
	ctx    context.Context
	object Object
	size   int64
	first  []byte
}

func (h *head) ReadAt(p []byte, at int64) (int, error) {
	if _, local := h.object.(fileObject); h.first == nil && !local {
		h.first = make([]byte, min(h.size, headBytes))
		if err := h.object.ReadAt(h.ctx, h.first, 0); err != nil {
			return 0, err
		}
	}
	if at < 0 || at >= h.size {
		return 0, io.EOF
	}
	if end := at + int64(len(p)); end <= int64(len(h.first)) {
		return copy(p, h.first[at:]), nil
	}
	n := int(min(int64(len(p)), h.size-at))
	if err := h.object.ReadAt(h.ctx, p[:n], at); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// remote is an array whose elements lie in one run in an object.
type remote struct {
	run
	shared *remoteHandle
}

// remoteHandle is the open object that reshaped arrays share.
type remoteHandle struct {
	object Object
	closed atomic.Bool
}

func (a *remote) Close() error {
	if a.shared.closed.Swap(true) {
		return nil
	}
	return a.shared.object.Close()
}

// Reshape reads the same elements, as they are stored, in another shape. The arrays share the object:
// closing one closes both.
func (a *remote) Reshape(shape []int) (store.Array, error) {
	info, err := Reshaped(a.info, shape)
	if err != nil {
		return nil, err
	}
	b := *a
	b.info = info
	return &b, nil
}

// Read fills dst with a region's elements. Where these have gaps it takes
// Info().Work.Whole bytes of Go's heap.
func (a *remote) Read(ctx context.Context, dst []byte, r types.Region) error {
	s := &remoteSession{array: a}
	_, err := s.Read(ctx, dst, r)
	return err
}

// Session reads with a buffer, in which regions with gaps are read at a run.
func (a *remote) Session(work []byte) (store.Session, error) {
	if int64(len(work)) < a.info.Work.Stream {
		return nil, PathError("read", a.info.Path, fmt.Errorf("the buffer has %d bytes, at least %d are needed", len(work), a.info.Work.Stream))
	}
	return &remoteSession{array: a, work: work}, nil
}
