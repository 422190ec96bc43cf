// Package nifti reads the images of NIfTI files (.nii): arrays in Fortran order, as nibabel
// has them (nifti.nimh.nih.gov, versions 1 and 2). Where the file scales its numbers, the
// factor and offset are attributes by the CF conventions.
package nifti

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
)

const extension = ".nii"

func init() { store.Register(format{"NIfTI files are read only: save to NAME.zarr or NAME.npy"}) }

type format struct{ store.ReadOnly }

func (format) Owns(path string) bool {
	return len(path) > len(extension) && strings.EqualFold(path[len(path)-len(extension):], extension)
}

func (format) Place(path string) string { return path }

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	return store.OpenExtent(ctx, path, path, "nifti", extent)
}

// types are NIfTI's codes.
var types = map[uint16]dtype.Type{
	2: dtype.Uint8, 4: dtype.Int16, 8: dtype.Int32, 16: dtype.Float32, 32: dtype.Complex64, 64: dtype.Float64,
	256: dtype.Int8, 512: dtype.Uint16, 768: dtype.Uint32, 1024: dtype.Int64, 1280: dtype.Uint64, 1792: dtype.Complex128,
}

// extent reads the header: of 348 bytes in version 1, of 540 in version 2.
func extent(r io.ReaderAt, size int64) (e store.Extent, err error) {
	var b [540]byte
	n, err := r.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return e, err
	}
	err = nil
	var order binary.ByteOrder = binary.LittleEndian
	if first := binary.BigEndian.Uint32(b[:]); first == 348 || first == 540 {
		order, e.Big = binary.BigEndian, true
	}
	float := func(at int) float64 { return float64(math.Float32frombits(order.Uint32(b[at:]))) }
	var lengths [8]int64
	var kind uint16
	var from, slope, offset float64
	switch length := order.Uint32(b[:]); {
	case length == 348 && n >= 348 && string(b[344:348]) == "n+1\x00":
		for i := range lengths {
			lengths[i] = int64(int16(order.Uint16(b[40+2*i:])))
		}
		kind, from, slope, offset = order.Uint16(b[70:]), float(108), float(112), float(116)
	case length == 540 && n == 540 && string(b[4:8]) == "n+2\x00":
		for i := range lengths {
			lengths[i] = int64(order.Uint64(b[16+8*i:]))
		}
		double := func(at int) float64 { return math.Float64frombits(order.Uint64(b[at:])) }
		kind, from, slope, offset = order.Uint16(b[12:]), float64(int64(order.Uint64(b[168:]))), double(176), double(184)
	case length == 348 && n >= 348 && string(b[344:348]) == "ni1\x00":
		return e, errors.New("its elements are in a file of their own, .img, which is not supported: convert it to one file")
	default:
		return e, errors.New("not a NIfTI file: it has no header of version 1 or 2")
	}
	if lengths[0] < 1 || lengths[0] > 7 {
		return e, fmt.Errorf("the header says %d axes, 1 to 7 can be", lengths[0])
	}
	for _, n := range lengths[1 : 1+lengths[0]] {
		e.Shape = append(e.Shape, int(n))
	}
	var ok bool
	if e.DType, ok = types[kind]; !ok {
		return e, fmt.Errorf("elements of NIfTI's type %d are not supported", kind)
	}
	if from != math.Trunc(from) || from < 0 || from > float64(size) {
		return e, fmt.Errorf("the header says that the elements begin at %g, the file has %d bytes", from, size)
	}
	e.Offset, e.Fortran = int64(from), true
	if slope != 0 && !math.IsNaN(slope) && !math.IsNaN(offset) && (slope != 1 || offset != 0) {
		e.Details.Attributes, err = json.Marshal(map[string]float64{"scale_factor": slope, "add_offset": offset})
	}
	return e, err
}
