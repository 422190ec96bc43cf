package storage

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// apart is an array in a file whose elements lie at regular distances along each axis, with gaps, in another order,
// or several times the same.
type apart struct {
	flat    *Flat
	strides []int64 // in elements
}

// NewApart returns the array of an extent in an open file, whose elements lie so many elements apart along each axis.
// Whoever calls it has checked that they are all in the file.
func NewApart(path, format string, e store.Extent, strides []int64, o Object, id store.FileVersion) (store.Array, error) {
	f, local := o.(fileObject)
	if !local {
		return nil, fmt.Errorf("its elements lie apart, as those of a view (strides %v), which is read on a disk of this machine only: copy the file", strides)
	}
	return &apart{Header{Extent: e}.flat(path, format, f.Handle, id), strides}, nil
}

func (a *apart) Info() store.Info { return a.flat.Info() }

func (a *apart) Close() error { return a.flat.Close() }

// Read fills dst with a region's elements. It needs no memory besides dst.
func (a *apart) Read(ctx context.Context, dst []byte, r types.Region) error {
	info := a.flat.info
	l, err := strided.Apart(info.Shape, a.strides, info.DType.Size(), r)
	if err == nil && l.Bytes() != len(dst) {
		err = fmt.Errorf("the region has %d bytes, the buffer %d", l.Bytes(), len(dst))
	}
	if err == nil {
		err = a.flat.readLayout(ctx, dst, l)
	}
	return AccessError(ctx, "read", info.Path, err)
}
