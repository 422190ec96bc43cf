// Package safetensors reads and writes the tensors of .safetensors files, as
// x.safetensors#tensor; the name may be left out where there is one tensor.
//
// A file is the length of its header (8 bytes, little-endian), the header, which
// is a JSON object, and the tensors' elements: dense, in C order, little-endian,
// one behind the other without gaps (github.com/huggingface/safetensors). What
// breaks the format's rules is rejected when it is opened.
package safetensors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

const extension = ".safetensors"

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
	return store.OpenExtent(ctx, path, file, "safetensors", func(r io.ReaderAt, size int64) (store.Extent, error) {
		h, err := ReadHeader(r, size)
		if err != nil {
			return store.Extent{}, err
		}
		t, err := h.Find(name)
		if err != nil {
			return store.Extent{}, err
		}
		return h.extent(t)
	})
}

// Keeps says that attributes are kept, as texts of the file.
func (format) Keeps(d store.Details) error {
	if d.Dims != nil || d.Fill != "" {
		return errors.New("a safetensors file stores neither dimension names nor a fill value: save to NAME.zarr")
	}
	return nil
}

// local rejects writing to what is not a disk of this machine.
func local(file string) error {
	if scheme, _, remote := strings.Cut(file, "://"); remote {
		return fmt.Errorf("a safetensors file is not written over %s: write NAME.zarr there", scheme)
	}
	return nil
}
