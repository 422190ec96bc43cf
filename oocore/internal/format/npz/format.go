// Package npz reads and writes the arrays of NumPy's .npz files, as x.npz#name;
// the name may be left out where there is one array.
//
// A file is a zip archive of npy files. Members that are stored are read in place;
// deflated ones as a stream, of which 64 KiB are in memory at a time. Written are
// stored ones. What an archive says of its members is checked before any element
// is touched.
//
// What the format lets change the meaning of bytes: the method of compression (stored and deflated are read, others are an error by
// name), encryption (an error), ZIP64's sizes (read), a name that is there twice or leads elsewhere, and links (errors), checksums
// (checked of what is read whole), comments and times (no meaning). Of npy headers see package store.
package npz

import (
	"archive/zip"
	"context"
	"fmt"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/format/sparse"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/unpack"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(format{storage.MemberFormat{
		NamedArrays: storage.NamedArrays{Extensions: storage.Extensions{".npz"}, Names: func(_ string, r io.ReaderAt, size int64) ([]string, error) {
			files, err := Directory(r, size)
			return arrayNames(files), err
		}},
		Name: formatName, Kind: kind, First: "arr_0",
		Supports: func(m store.Meta) error {
			_, err := npy.Header(m.Shape, m.DType, 0)
			return err
		},
		Lay: func(storage.CollectionMeta) storage.FileLayout { return &fileLayout{} },
	}})
}

const (
	formatName = "npz"
	kind       = "array"
)

type format struct{ storage.MemberFormat }

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	if err := storage.OnDisk("an npz file", file); err != nil {
		return nil, err
	}
	f, id, err := storage.OpenFile(file)
	if err != nil {
		return nil, err
	}
	m, err := find(f, id.Size, name)
	if err == nil && m.Method == zip.Deflate {
		packed := m.stream(f)
		cursors := unpack.NewPool(packed)
		var e store.Extent
		if e, err = m.extent(cursors.Head(), 0); err == nil {
			return storage.NewStreamed(path, formatName, storage.Header{Extent: e}, f, id, packed, cursors), nil
		}
	}
	kind := ""
	if err != nil && name == "" {
		kind = sparseKind(f, id.Size)
	}
	f.Close()
	if kind != "" {
		shape, err := storage.ReadInts(ctx, file+"#shape", 2)
		if err != nil {
			return nil, err
		}
		return sparse.Open(ctx, sparse.Matrix{Path: path, Format: formatName, Kind: kind, Shape: shape, Data: file + "#data", Indices: file + "#indices", Pointer: file + "#indptr"})
	}
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

// stream returns where the bytes of a deflated member lie.
func (m *member) stream(f io.ReaderAt) *unpack.Stream {
	return &unpack.Stream{Kind: unpack.Deflate, Name: fmt.Sprintf("member %.80q", m.Name), File: f, At: m.at, Packed: m.packed, Size: m.size, CRC32: m.CRC32}
}

// Members lists the arrays of an archive.
func (x format) Members(ctx context.Context, path string) ([]store.Member, error) {
	if err := storage.OnDisk("an npz file", x.Place(path)); err != nil {
		return nil, err
	}
	file, name, _ := x.Cut(path)
	if f, id, err := storage.OpenFile(file); err == nil && name == "" {
		kind := sparseKind(f, id.Size)
		if f.Close(); kind != "" {
			return []store.Member{{Name: "matrix", Path: file}}, nil
		}
	}
	return x.MemberFormat.Members(ctx, path)
}

// sparseKind is the kind of the sparse matrix that SciPy's save_npz has written: csr, csc and others; "" for another archive.
func sparseKind(r io.ReaderAt, size int64) string {
	for _, name := range []string{"data", "shape"} {
		if _, err := find(r, size, name); err != nil {
			return ""
		}
	}
	m, err := find(r, size, "format")
	if err != nil || m.size > 4096 {
		return ""
	}
	in, err := m.Open()
	if err != nil {
		return ""
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, 4096))
	if err != nil || len(b) < 3 {
		return ""
	}
	return string(b[len(b)-3:])
}
