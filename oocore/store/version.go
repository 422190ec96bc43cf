package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// Version tells one version of a stored array from every other.
type Version struct {
	File FileVersion `json:"file"` // of the file, or of a Zarr array's metadata
	// Objects is a digest of the versions of all stored chunks, where they are stored by
	// themselves.
	Objects string `json:"objects,omitempty"`
	// Checksum is of the file's bytes, where its times cannot decide.
	Checksum string `json:"checksum,omitempty"`
}

// Equal reports the same version of the same array.
func (v Version) Equal(w Version) bool {
	return v.File.Equal(w.File) && v.Objects == w.Objects && v.Checksum == w.Checksum
}

// VersionOf returns the version of the array at a path, such that any change from now on
// gives another one. It lists chunks that are stored by themselves, and reads a file only
// where the file system's times cannot be relied on. For a file that was changed a moment
// ago it waits for a tick of the file system's clock.
func VersionOf(ctx context.Context, path string) (v Version, err error) {
	if _, _, _, several := cutStack(path); several {
		return stackVersion(ctx, path)
	}
	reliable := true
	file := formatOf(path).Place(path)
	if !blob.Remote(path) {
		if reliable, err = disk.Settle(file); err != nil {
			return v, pathError("open", path, err)
		}
	}
	a, err := OpenContext(ctx, path)
	if err != nil {
		return v, err
	}
	v.File = a.Info().ID
	listed, ok := a.(Listed)
	if ok {
		v.Objects, err = listed.Digest(ctx)
	}
	if err = errors.Join(err, a.Close()); err == nil && !reliable && !ok {
		v.Checksum, err = checksum(ctx, file)
	}
	return v, err
}

func checksum(ctx context.Context, file string) (string, error) {
	f, _, err := openFile(file)
	if err != nil {
		return "", pathError("open", file, err)
	}
	defer f.Close()
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.ReadAt(buf, at)
		h.Write(buf[:n])
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)[:16]), nil
		}
		if err != nil {
			return "", pathError("read", file, err)
		}
	}
}
