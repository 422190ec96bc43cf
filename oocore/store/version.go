package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Version tells one version of a stored array from every other.
type Version struct {
	File FileVersion `json:"file"` // of the file, or of a Zarr array's metadata
	// Objects is a digest of the versions of all stored chunks, where they are stored by
	// themselves.
	Objects string `json:"objects,omitempty"`
	// Checksum is of the file's bytes, where its times cannot decide.
	Checksum string `json:"checksum,omitempty"`
	// Unknown is set where nothing tells versions apart: the array of a registered Format
	// that lies in no file, and whose Info().ID has no Version.
	Unknown bool `json:"unknown,omitempty"`
}

// Equal reports the same version of the same array.
func (v Version) Equal(w Version) bool {
	return v.File.Equal(w.File) && v.Objects == w.Objects && v.Checksum == w.Checksum
}

// VersionOf returns the version of the array of a name, such that any change from now on
// gives another one. It lists chunks that are stored by themselves, and reads a file only
// where neither the file system's times nor what a server says of it can be relied on. For
// a file that was changed a moment ago it waits for a tick of the clock.
func VersionOf(ctx context.Context, name string) (v Version, err error) {
	if _, _, _, several := cutStack(name); several {
		return stackVersion(ctx, name)
	}
	reliable := true
	file := formatOf(name).Place(name)
	if !blob.Remote(name) {
		reliable, err = disk.Settle(file)
		if v.Unknown = errors.Is(err, fs.ErrNotExist); v.Unknown {
			reliable = true // as its format says, where that can open it
		} else if err != nil {
			return v, pathError("open", name, err)
		}
	}
	a, err := OpenContext(ctx, name)
	if err != nil {
		return v, err
	}
	if wait := a.Info().ID.Settles; wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return v, errors.Join(context.Cause(ctx), a.Close())
		}
		if err := a.Close(); err != nil {
			return v, err
		}
		if a, err = OpenContext(ctx, name); err != nil {
			return v, err
		}
	}
	v.File = a.Info().ID
	v.Unknown = v.Unknown && v.File.Version == ""
	reliable = reliable && v.File.Settles == 0
	listed, ok := a.(Listed)
	if ok {
		v.Objects, err = listed.Digest(ctx)
	}
	if err = errors.Join(err, a.Close()); err == nil && !reliable && !ok {
		v.Checksum, err = checksum(ctx, file)
	}
	return v, err
}

// VersionOfFile is VersionOf of a file of any kind.
func VersionOfFile(ctx context.Context, file string) (v Version, err error) {
	reliable, err := disk.Settle(file)
	if err != nil {
		return v, pathError("open", file, err)
	}
	f, id, err := openFile(file)
	if err != nil {
		return v, pathError("open", file, err)
	}
	if v.File = id; !reliable {
		v.Checksum, err = checksum(ctx, file)
	}
	return v, errors.Join(err, f.Close())
}

// checksum returns a digest of a file's or an object's bytes.
func checksum(ctx context.Context, file string) (string, error) {
	f, err := openBytes(ctx, file)
	if err != nil {
		return "", pathError("open", file, err)
	}
	h := sha256.New()
	_, err = io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 1<<20)) // and not all at once
	if err = errors.Join(err, f.Close()); err != nil {
		return "", pathError("read", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// openBytes opens a file or an object to read it from its beginning, until the context ends.
func openBytes(ctx context.Context, file string) (io.ReadCloser, error) {
	b := &byteReader{ctx: ctx}
	if !blob.Remote(file) {
		f, id, err := openFile(file)
		if err != nil {
			return nil, err
		}
		b.size, b.Closer = id.Size, f
		b.readAt = func(_ context.Context, p []byte, at int64) error { _, err := f.ReadAt(p, at); return err }
		return b, nil
	}
	folder, key := path.Split(file)
	bucket, err := blob.At(folder)
	if err != nil {
		return nil, err
	}
	o, err := bucket.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	b.size, b.Closer, b.readAt = o.Entry().Size, o, o.ReadAt
	return b, nil
}

type byteReader struct {
	io.Closer
	ctx      context.Context
	readAt   func(ctx context.Context, p []byte, at int64) error
	at, size int64
}

func (b *byteReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	p = p[:min(int64(len(p)), b.size-b.at)]
	if len(p) == 0 {
		return 0, io.EOF
	}
	err := b.readAt(b.ctx, p, b.at)
	if errors.Is(err, io.EOF) { // it is shorter than it was
		err = io.ErrUnexpectedEOF
	}
	b.at += int64(len(p))
	return len(p), err
}
