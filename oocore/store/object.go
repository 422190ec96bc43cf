package store

import (
	"context"
	"io"
	"path"

	"github.com/gonbext/gonbext/oocore/store/blob"
)

// OpenObject opens a file of this machine, or an object of a store, to be read at any place.
// A file that is changed afterwards is an error of the read.
func OpenObject(ctx context.Context, file string) (blob.Object, FileVersion, error) {
	if blob.Remote(file) {
		folder, key := path.Split(file)
		bucket, err := blob.At(folder)
		if err != nil {
			return nil, FileVersion{}, err
		}
		o, err := bucket.Open(ctx, key)
		if err != nil {
			return nil, FileVersion{}, err
		}
		return o, FileVersion{Size: o.Entry().Size, Version: o.Entry().Version}, nil
	}
	f, id, err := openFile(file)
	if err != nil {
		return nil, id, err
	}
	return fileObject{f, id, file}, id, nil
}

// fileObject is a file of this machine as an object.
type fileObject struct {
	Source
	id   FileVersion
	name string
}

func (o fileObject) Entry() blob.Entry { return blob.Entry{Key: o.name, Size: o.id.Size} }

func (o fileObject) ReadAt(ctx context.Context, p []byte, at int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := o.Source.ReadAt(p, at)
	if n < len(p) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return Unchanged(o.Source, o.id)
}

// HeadOf reads the header of an object: its first 64 KiB by one request, what is behind them
// as it is asked for.
func HeadOf(ctx context.Context, o blob.Object) io.ReaderAt {
	return &head{ctx: ctx, object: o, size: o.Entry().Size}
}
