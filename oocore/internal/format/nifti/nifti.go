// Package nifti reads the images of NIfTI files (.nii) and of pairs of files (.hdr and .img) of NIfTI and Analyze 7.5: arrays in Fortran
// order, as nibabel has them (nifti.nimh.nih.gov, versions 1 and 2). Where the file scales its numbers, the
// factor and offset are attributes by the CF conventions. Dimensions are named x, y, z, t, u, v and w, and c for the colours
// of RGB; the attribute axes has their units and the distances of elements.
//
// Of the header's fields, which say what the bytes mean,
//
//	sizeof_hdr, magic        give the version and the byte order, and whether the elements are in a file of their own (ni1, ni2). A pair
//	                         without magic is Analyze, whose place in space is not read.
//	dim                      is the shape. Lengths below one, or bytes that are left over, are an error.
//	datatype, bitpix         are the dtype; one that contradicts the other is an error. RGB24 and RGBA32 are uint8 with a first
//	                         axis of 3 or 4. Bits, float128 and complex256 are an error.
//	vox_offset               is where the elements begin: below the end of a header in the same file it is an error.
//	scl_slope, scl_inter     are attributes; numbers are as they are stored.
//	pixdim, xyzt_units       are in the attribute axes.
//	intent_code, intent_name are attributes, where they are set: what the numbers are, such as labels or a statistic.
//	sform, qform, toffset    are labels of x, y, z and t, where the axes are those of space, as nibabel's affine says.
//	dim_info, slice_*, cal_*, descrip, aux_file and extensions do not change the
//	                         elements or their order, and are not read.
package nifti

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

const extension = ".nii"

func init() { store.Register(format{"NIfTI files are read only: save to NAME.zarr or NAME.npy"}) }

type format struct{ store.ReadOnly }

func (format) Owns(path string) bool {
	if len(path) > len(extension) && strings.EqualFold(path[len(path)-len(extension):], extension) {
		return true
	}
	head, _, ok := pair(path)
	if !ok || !blob.PlaceOf(path).Files {
		return ok
	}
	b, err := readHeader(context.Background(), head)
	return err != nil || len(b) >= 348 && (isLength(binary.LittleEndian.Uint32(b)) || isLength(binary.BigEndian.Uint32(b)))
}

func isLength(n uint32) bool { return n == 348 || n == 540 }

// pair returns the files of a path that names one of a pair.
func pair(path string) (head, elements string, ok bool) {
	stem, end := path[:max(len(path)-4, 0)], path[max(len(path)-4, 0):]
	switch {
	case stem == "" || !strings.EqualFold(end, ".hdr") && !strings.EqualFold(end, ".img"):
		return "", path, false
	case strings.ToUpper(end) == end:
		return stem + ".HDR", stem + ".IMG", true
	}
	return stem + ".hdr", stem + ".img", true
}

// readHeader reads the beginning of a file, as far as headers go.
func readHeader(ctx context.Context, file string) ([]byte, error) {
	o, id, err := storage.OpenObject(ctx, file)
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(id.Size, 540))
	return b, errors.Join(o.ReadAt(ctx, b, 0), o.Close())
}

func (format) Place(path string) string {
	_, elements, _ := pair(path)
	return elements
}

// Parts returns the files of a pair, which a folder has one array for.
func (format) Parts(_ context.Context, file string) ([]string, error) {
	if head, elements, ok := pair(file); ok {
		return []string{elements, head}, nil
	}
	return []string{file}, nil
}

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	head, elements, ok := pair(path)
	if !ok {
		return store.OpenExtent(ctx, path, path, "nifti", func(r io.ReaderAt, size int64) (store.Extent, error) {
			b := make([]byte, 540)
			n, err := r.ReadAt(b, 0)
			if err != nil && err != io.EOF {
				return store.Extent{}, err
			}
			return extent(b[:n], size, false)
		})
	}
	b, err := readHeader(ctx, head)
	if err != nil { // a file of another format has none either
		return nil, fmt.Errorf("the header of a pair, %s, cannot be read: %v", filepath.Base(head), storage.Plain(err))
	}
	a, err := store.OpenExtent(ctx, path, elements, "nifti", func(_ io.ReaderAt, size int64) (store.Extent, error) {
		e, err := extent(b, size, true)
		e.Header = fmt.Sprintf("%x", sha256.Sum256(b))
		return e, err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the elements of a pair, %s, are missing: %w", filepath.Base(elements), storage.Plain(err))
	}
	return a, err
}

// types are NIfTI's codes.
var types = map[uint16]dtype.Type{
	2: dtype.Uint8, 4: dtype.Int16, 8: dtype.Int32, 16: dtype.Float32, 32: dtype.Complex64, 64: dtype.Float64,
	128: dtype.Uint8, 2304: dtype.Uint8, // RGB24, RGBA32
	256: dtype.Int8, 512: dtype.Uint16, 768: dtype.Uint32, 1024: dtype.Int64, 1280: dtype.Uint64, 1792: dtype.Complex128,
}

// units are those of xyzt_units, as OME-Zarr names them.
var units = map[uint32]string{1: "meter", 2: "millimeter", 3: "micrometer", 8: "second", 16: "millisecond", 24: "microsecond", 32: "hertz"}

// padding is what a block of a disk or tape may have behind the elements.
const padding = 512

// extent reads a header, of 348 bytes in version 1 and in Analyze, of 540 in version 2, of elements in a file of so many bytes: in that of the
// header or of a pair.
func extent(b []byte, size int64, pair bool) (e store.Extent, err error) {
	n := len(b)
	b = append(b, make([]byte, 540-n)...)
	var order binary.ByteOrder = binary.LittleEndian
	if first := binary.BigEndian.Uint32(b[:]); isLength(first) {
		order, e.Big = binary.BigEndian, true
	}
	float := func(at int) float64 { return float64(math.Float32frombits(order.Uint32(b[at:]))) }
	double := func(at int) float64 { return math.Float64frombits(order.Uint64(b[at:])) }
	var lengths [8]int64
	var f form
	var distances [8]float64
	var kind, bits uint16
	var from, least, slope, offset float64
	var unit, intent uint32
	var name []byte
	length := order.Uint32(b)
	magic, magic2 := string(b[344:348]), string(b[4:8])
	analyze := pair && magic != "ni1\x00"
	switch {
	case length == 348 && n >= 348 && (magic == "n+1\x00") != pair:
		for i := range lengths {
			lengths[i], distances[i] = int64(int16(order.Uint16(b[40+2*i:]))), float(76+4*i)
		}
		kind, bits, from, slope, offset = order.Uint16(b[70:]), order.Uint16(b[72:]), float(108), float(112), float(116)
		f = form{float(136), int16(order.Uint16(b[252:])), int16(order.Uint16(b[254:])), numbers(float, 256, 4, 6), numbers(float, 280, 4, 12)}
		unit, intent, name, least = uint32(b[123]), uint32(order.Uint16(b[68:])), b[328:344], 352
	case length == 540 && n == 540 && (magic2 == "n+2\x00" && !pair || magic2 == "ni2\x00" && pair):
		analyze = false
		for i := range lengths {
			lengths[i], distances[i] = int64(order.Uint64(b[16+8*i:])), double(104+8*i)
		}
		kind, bits, from, slope, offset = order.Uint16(b[12:]), order.Uint16(b[14:]), float64(int64(order.Uint64(b[168:]))), double(176), double(184)
		f = form{double(216), int16(order.Uint32(b[344:])), int16(order.Uint32(b[348:])), numbers(double, 352, 8, 6), numbers(double, 400, 8, 12)}
		unit, intent, name, least = order.Uint32(b[500:]), order.Uint32(b[504:]), b[508:524], 544
	case n >= 348 && (magic == "ni1\x00" || magic2 == "ni2\x00"):
		return e, errors.New("its elements are in a file of their own: name NAME.hdr or NAME.img")
	case n >= 348 && (magic == "n+1\x00" || magic2 == "n+2\x00"):
		return e, errors.New("its elements are in the same file: name it NAME.nii")
	default:
		return e, errors.New("not a NIfTI file: it has no header of version 1 or 2")
	}
	if pair {
		least = 0
	}
	if analyze { // SPM has a factor and no offset; units, intents and forms are other fields
		f, offset, unit, intent = form{}, 0, 0, 0
	}
	if lengths[0] < 1 || lengths[0] > 7 {
		return e, fmt.Errorf("the header says %d axes, 1 to 7 can be", lengths[0])
	}
	var axes []map[string]any
	for i, n := range lengths[1 : 1+lengths[0]] {
		if n < 1 {
			return e, fmt.Errorf("dim[%d] of the header is %d: the file is damaged", i+1, n)
		}
		e.Shape = append(e.Shape, int(n))
		axis := map[string]any{"name": string("xyztuvw"[i])}
		if d := math.Abs(distances[i+1]); i < 4 && d > 0 && !math.IsInf(d, 1) {
			axis["scale"] = d
			if word := units[map[bool]uint32{true: unit & 7, false: unit & 0x38}[i < 3]]; word != "" {
				axis["unit"] = word
			}
		}
		axes = append(axes, axis)
	}
	var ok bool
	if e.DType, ok = types[kind]; !ok {
		return e, fmt.Errorf("elements of NIfTI's type %d are not supported", kind)
	}
	colours := map[uint16]int{128: 3, 2304: 4}[kind]
	if size := e.DType.Size() * max(colours, 1) * 8; int(bits) != size {
		return e, fmt.Errorf("bitpix of the header is %d, its datatype %d has %d bits: the file is damaged", bits, kind, size)
	}
	if colours > 0 {
		e.Shape, axes = slices.Insert(e.Shape, 0, colours), slices.Insert(axes, 0, map[string]any{"name": "c"})
	}
	if from != math.Trunc(from) || from < least || from > float64(size) {
		return e, fmt.Errorf("vox_offset of the header is %g, elements begin at %g or behind it in a file of %d bytes: it is damaged", from, least, size)
	}
	e.Offset, e.Fortran = int64(from), true
	if err := grid.Check(e.Shape, e.DType.Size()); err != nil {
		return e, err
	}
	if more := size - e.Offset - e.Bytes(); more >= padding {
		return e, fmt.Errorf("the header's shape %v has %d bytes from %d on, the file %d more: it is damaged", e.Shape, e.Bytes(), e.Offset, more)
	}
	for _, axis := range axes {
		e.Details.Dims = append(e.Details.Dims, axis["name"].(string))
	}
	slices.Reverse(e.Details.Dims) // those of the elements in C order
	if !analyze {
		e.Details.Lines = f.lines(lengths, distances)
	}
	for _, axis := range axes {
		if l, ok := e.Details.Lines[axis["name"].(string)]; ok {
			l.Unit, _ = axis["unit"].(string)
			e.Details.Lines[axis["name"].(string)] = l
		}
	}
	attributes := map[string]any{"axes": axes}
	if slope != 0 && !math.IsNaN(slope) && !math.IsNaN(offset) && (slope != 1 || offset != 0) {
		attributes["scale_factor"], attributes["add_offset"] = slope, offset
	}
	if text, _, _ := strings.Cut(string(name), "\x00"); intent != 0 {
		attributes["intent_code"], attributes["intent_name"] = intent, strings.ToValidUTF8(text, "?")
	}
	e.Details.Attributes, err = json.Marshal(attributes)
	return e, err
}

// form is what the header says of the place of elements.
type form struct {
	start                float64 // of time
	qform, sform         int16   // which are set
	quaternion, matrices []float64
}

// numbers are several of a header.
func numbers(number func(at int) float64, at, each, n int) (all []float64) {
	for i := range n {
		all = append(all, number(at+i*each))
	}
	return all
}

// lines are the labels of the axes of space, by the names, where the affine that nibabel takes turns none of them, and those of time:
// by sform, else qform, else the distances from the middle, x to the left.
func (f form) lines(lengths [8]int64, distances [8]float64) map[string]store.Line {
	lines := map[string]store.Line{}
	var matrix [3][4]float64
	switch {
	case f.sform > 0:
		for i, v := range f.matrices {
			matrix[i/4][i%4] = v
		}
	case f.qform > 0:
		b, c, d := f.quaternion[0], f.quaternion[1], f.quaternion[2]
		a := math.Sqrt(max(1-(b*b+c*c+d*d), 0))
		side := map[bool]float64{true: -1, false: 1}[distances[0] < 0]
		matrix = [3][4]float64{
			{a*a + b*b - c*c - d*d, 2 * (b*c - a*d), 2 * (b*d + a*c), f.quaternion[3]},
			{2 * (b*c + a*d), a*a + c*c - b*b - d*d, 2 * (c*d - a*b), f.quaternion[4]},
			{2 * (b*d - a*c), 2 * (c*d + a*b), a*a + d*d - b*b - c*c, f.quaternion[5]},
		}
		for i := range matrix {
			matrix[i][0] *= distances[1]
			matrix[i][1] *= distances[2]
			matrix[i][2] *= distances[3] * side
		}
	default:
		for i := range matrix {
			matrix[i][i] = distances[i+1]
			if i == 0 {
				matrix[i][i] = -distances[1]
			}
			matrix[i][3] = -matrix[i][i] * float64(max(lengths[i+1], 1)-1) / 2
		}
	}
	for i, row := range matrix {
		straight := row[i] != 0
		for k := range 3 {
			straight = straight && (k == i || math.Abs(row[k]) <= 1e-6*math.Abs(row[i]) && math.Abs(matrix[k][i]) <= 1e-6*math.Abs(row[i]))
		}
		lines["xyz"[i:i+1]] = store.Line{First: row[3], Step: row[i]}
		if !straight || math.IsNaN(row[3]+row[i]) || math.IsInf(row[3]+row[i], 0) || int64(i) >= lengths[0] {
			delete(lines, "xyz"[i:i+1])
		}
	}
	if step := distances[4]; lengths[0] > 3 && step > 0 && !math.IsInf(step+f.start, 0) && !math.IsNaN(f.start) {
		lines["t"] = store.Line{First: f.start, Step: step}
	}
	return lines
}
