package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
)

// Version tells one version of a stored array from every other.
type Version struct {
	File store.FileVersion `json:"file"` // of the file, or of a Zarr array's metadata
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
func VersionOf(ctx context.Context, name string) (Version, error) {
	a, v, err := OpenVersion(ctx, name)
	if err == nil {
		err = a.Close()
	}
	return v, err
}

// VersionAfter returns VersionOf an array that was read. was is its version before, if it was asked
// for: the files of a stack that tell what they hold were looked at when each had been read.
func VersionAfter(ctx context.Context, name string, was Version) (Version, error) {
	if s := severalOf(name); s != nil && was.Objects != "" {
		if same, err := s.HasVersion(ctx, name, was); same || err != nil {
			return was, err
		}
	}
	return VersionOf(ctx, name)
}

// OpenVersion is VersionOf, which returns the open array too.
func OpenVersion(ctx context.Context, name string) (a store.Array, v Version, err error) {
	if s := severalOf(name); s != nil {
		return s.OpenVersion(ctx, name)
	}
	reliable := true
	place := placeOf(name)
	if place.Files {
		reliable, err = disk.Settle(place.Path)
		if v.Unknown = errors.Is(err, fs.ErrNotExist); v.Unknown {
			reliable = true // as its format says, where that can open it
		} else if err != nil {
			return nil, v, PathError("open", name, err)
		}
	}
	digest := digestAhead(ctx, name, place)
	a, err = OpenContext(ctx, name)
	early, failed := digest()
	if err != nil {
		return nil, v, err
	}
	if wait := a.Info().ID.Settles; wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, v, errors.Join(context.Cause(ctx), a.Close())
		}
		if err := a.Close(); err != nil {
			return nil, v, err
		}
		if a, err = OpenContext(ctx, name); err != nil {
			return nil, v, err
		}
		failed = errors.ErrUnsupported // it was of before
	}
	v.File = a.Info().ID
	v.Unknown = v.Unknown && v.File.Version == ""
	reliable = reliable && v.File.Settles == 0
	listed, ok := a.(Listed)
	switch {
	case ok && errors.Is(failed, errors.ErrUnsupported):
		v.Objects, err = listed.Digest(ctx)
	case ok:
		v.Objects, err = early, failed
	case !reliable:
		v.Checksum, err = checksum(ctx, place.Path)
	}
	if err != nil {
		return nil, v, errors.Join(err, a.Close())
	}
	return a, v, nil
}

// digester is a Format of arrays whose chunks are stored by themselves. Its Digest is Listed's, without
// opening the array; errors.ErrUnsupported for a path that tells too little.
type digester interface {
	Digest(ctx context.Context, path string) (string, error)
}

// digestAhead begins the digest of an array in an object store, while its metadata are asked for.
func digestAhead(ctx context.Context, name string, place blob.Place) (wait func() (string, error)) {
	d, ok := formatOf(name).(digester)
	if !ok || !place.Network {
		return func() (string, error) { return "", errors.ErrUnsupported }
	}
	var digest string
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		digest, err = d.Digest(ctx, name)
	}()
	return func() (string, error) {
		<-done
		return digest, err
	}
}

// VersionOfFile is VersionOf of a file of any kind.
func VersionOfFile(ctx context.Context, file string) (v Version, err error) {
	reliable, err := disk.Settle(file)
	if err != nil {
		return v, PathError("open", file, err)
	}
	f, id, err := openFile(file)
	if err != nil {
		return v, PathError("open", file, err)
	}
	if v.File = id; !reliable {
		v.Checksum, err = checksum(ctx, file)
	}
	return v, errors.Join(err, f.Close())
}

// checksum returns a digest of a file's or an object's bytes.
func checksum(ctx context.Context, file string) (string, error) {
	o, id, err := OpenObject(ctx, file)
	if err != nil {
		return "", PathError("open", file, err)
	}
	h := sha256.New()
	bytes := &head{ctx: ctx, object: o, size: id.Size, first: []byte{}}                                         // nothing is read ahead
	_, err = io.CopyBuffer(h, struct{ io.Reader }{io.NewSectionReader(bytes, 0, id.Size)}, make([]byte, 1<<20)) // and not all at once
	if err = errors.Join(err, o.Close()); err != nil {
		return "", PathError("read", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
