package hdf5

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/format/sparse"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// groupError is returned for a group where an array is named.
type groupError struct{ name string }

func (e *groupError) Error() string { return fmt.Sprintf("%q is a group, not an array", e.name) }

// sparse is the kind and the shape of the sparse matrix that a group is: as AnnData writes it, with attributes, or as 10x Genomics does, with
// the shape in an array, of which the kind is csc and the shape nil. The kind is "" for other groups.
func (o *object) sparse(g group) (kind string, shape []int) {
	for _, name := range []string{"data", "indices", "indptr"} {
		if _, has := g.at[name]; !has {
			return "", nil
		}
	}
	attributes, _, err := o.attributes(false, new(store.Details))
	if err != nil {
		return "", nil
	}
	var encoding string
	for _, names := range [2][2]string{{"encoding-type", "shape"}, {"h5sparse_format", "h5sparse_shape"}} {
		if json.Unmarshal(attributes[names[0]], &encoding) == nil && json.Unmarshal(attributes[names[1]], &shape) == nil && len(encoding) >= 3 {
			return encoding[:3], shape
		}
	}
	if _, has := g.at["shape"]; has {
		return "csc", nil
	}
	return "", nil
}

// openSparse opens the sparse matrix that a group is, of the name that an error has.
func (x format) openSparse(ctx context.Context, path string, not *groupError) (store.Array, error) {
	file, _, _ := x.Cut(path)
	var kind string
	var shape []int
	_, err := storage.InFile(ctx, file, "", func(r io.ReaderAt, size int64) ([]string, error) {
		f, err := openNamed(file, r, size)
		if err != nil {
			return nil, err
		}
		defer f.meter.Done()
		o, err := f.lookup(not.name)
		if err == nil {
			var g group
			if g, err = f.group(o.address); err == nil {
				kind, shape = o.sparse(g)
			}
		}
		return nil, err
	})
	if err == nil && kind == "" {
		err = not
	}
	if err != nil {
		return nil, err
	}
	part := func(name string) string { return file + "#" + not.name + "/" + name }
	if shape == nil {
		if shape, err = storage.ReadInts(ctx, part("shape"), 2); err != nil {
			return nil, err
		}
	}
	return sparse.Open(ctx, sparse.Matrix{Path: path, Format: formatName, Kind: kind, Shape: shape, Data: part("data"), Indices: part("indices"), Pointer: part("indptr")})
}
