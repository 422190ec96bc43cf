// Package npz reads and writes the arrays of NumPy's .npz files, as x.npz#name;
// the name may be left out where there is one array.
//
// A file is a zip archive of npy files. Members that are stored are read in place;
// deflated ones as a stream, of which 64 KiB are in memory at a time. Written are
// stored ones. What an archive says of its members is checked before any element
// is touched.
package npz

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

const (
	extension  = ".npz"
	formatName = "npz"
)

func init() { store.Register(format{}) }

type format struct{}

func (format) Owns(path string) bool {
	_, _, ok := store.CutMember(path, extension)
	return ok
}

func (format) Place(path string) string {
	file, _, _ := store.CutMember(path, extension)
	return file
}

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := store.CutMember(path, extension)
	if err := local(file); err != nil {
		return nil, err
	}
	f, id, err := store.OpenFile(file)
	if err != nil {
		return nil, err
	}
	m, err := find(f, id.Size, name)
	if err == nil && m.Method == zip.Deflate {
		var a *deflated
		if a, err = newDeflated(path, f, id, m); err == nil {
			return a, nil
		}
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	return store.OpenExtent(ctx, path, file, formatName, func(r io.ReaderAt, size int64) (store.Extent, error) {
		m, err := find(r, size, name)
		if err != nil {
			return store.Extent{}, err
		}
		if m.Method != zip.Store {
			return store.Extent{}, store.ErrChanged
		}
		return m.extent(io.NewSectionReader(r, m.at, m.packed), m.at)
	})
}

// local rejects what is not on a disk of this machine.
func local(file string) error {
	if scheme, _, remote := strings.Cut(file, "://"); remote {
		return fmt.Errorf("an npz file is not read or written over %s: copy it to a disk", scheme)
	}
	return nil
}

// Members lists the arrays of an archive.
func (format) Members(ctx context.Context, path string) ([]store.Member, error) {
	file, name, _ := store.CutMember(path, extension)
	if err := local(file); err != nil {
		return nil, err
	}
	return store.InFile(ctx, file, name, func(r io.ReaderAt, size int64) (names []string, err error) {
		files, err := readDirectory(r, size)
		for _, f := range files {
			if name, ok := arrayName(f.Name); ok {
				names = append(names, name)
			}
		}
		return names, err
	})
}
