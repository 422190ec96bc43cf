package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
)

// Object is a file of this machine or an object of a store that is read. It is safe for concurrent
// use.
type Object interface {
	// ReadAt fills p from a place. That the object is too short is io.ErrUnexpectedEOF.
	ReadAt(ctx context.Context, p []byte, at int64) error
	Close() error
}

// OpenObject opens a file of this machine, or an object of a store, to be read at any place.
// A file that is changed afterwards is an error of the read.
func OpenObject(ctx context.Context, file string) (Object, store.FileVersion, error) {
	o, id, _, err := openFirst(ctx, file, 0)
	return o, id, err
}

// openHead is OpenObject and HeadOf, of an object of a store by one request, and what is in it if that is packed.
func openHead(ctx context.Context, file string) (Object, store.FileVersion, io.ReaderAt, *packed, error) {
	o, id, first, err := openFirst(ctx, file, headBytes)
	if err == nil {
		if p := packedOf(file, o); p != nil {
			return o, id, p.head, p, nil
		}
	}
	return o, id, &head{ctx, o, id.Size, first}, nil, err
}

// openFirst opens a file, or an object of a store and reads its first n bytes, as far as it goes.
func openFirst(ctx context.Context, file string, n int64) (Object, store.FileVersion, []byte, error) {
	if blob.PlaceOf(file).Files {
		f, id, err := openFile(file)
		if err != nil {
			return nil, id, nil, err
		}
		return fileObject{f, id}, id, nil, nil
	}
	folder, key := path.Split(file)
	bucket, err := blob.At(folder)
	if err != nil {
		return nil, store.FileVersion{}, nil, err
	}
	first := make([]byte, n)
	o, err := blob.OpenAt(ctx, bucket, key, first, 0)
	if err != nil {
		return nil, store.FileVersion{}, nil, err
	}
	e := o.Entry()
	return o, store.FileVersion{Size: e.Size, Version: e.Version, Settles: e.Settles}, first[:min(e.Size, n)], nil
}

// fileObject is a file of this machine as an object.
type fileObject struct {
	disk.Handle
	id store.FileVersion
}

func (o fileObject) ReadAt(ctx context.Context, p []byte, at int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := o.Handle.ReadAt(p, at)
	if n < len(p) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return Unchanged(o.Handle, o.id)
}

// ReadHead opens a file or an object for what reads its header.
func ReadHead[T any](ctx context.Context, file string, read func(r io.ReaderAt, id store.FileVersion) (T, error)) (v T, err error) {
	o, id, err := OpenObject(ctx, file)
	if err != nil {
		return v, err
	}
	v, err = read(HeadOf(ctx, o, id.Size), id)
	return v, errors.Join(err, o.Close())
}

// OpenBy opens a file or an object for the array that build makes of it, which closes it.
func OpenBy[A store.Array](ctx context.Context, file string, build func(o Object, id store.FileVersion) (A, error)) (store.Array, error) {
	o, id, err := OpenObject(ctx, file)
	if err != nil {
		return nil, err
	}
	a, err := build(o, id)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return a, nil
}

// OnDisk rejects a file that is not on a disk of this machine, of a kind that is read there only.
func OnDisk(kind, file string) error {
	if p := blob.PlaceOf(file); !p.Files {
		return fmt.Errorf("%s is not read over %s: copy it to a disk", kind, p.Scheme)
	}
	return nil
}

// HeadOf reads the header of an object of so many bytes: of one in a store its first 64 KiB by one request, what is
// behind them as it is asked for.
func HeadOf(ctx context.Context, o Object, size int64) io.ReaderAt {
	return &head{ctx: ctx, object: o, size: size}
}
