package tiff

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// file reads the directories of a TIFF file (TIFF 6.0; BigTIFF as of libtiff). Nothing that it reads
// is trusted.
type file struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	big   bool // BigTIFF

	window []byte // what was read last
	at     int64  // of its first byte
}

// page is a directory: an image, or a part of one.
type page struct {
	layout
	description field
	offsets     field
	counts      field
}

// layout is what pages have in common that are a part of one array.
type layout struct {
	width, length, samples int
	separate               bool // each sample is an image of its own
	tiled                  bool
	chunkWidth, chunkRows  int
	bits, sampleFormat     int
	compression, predictor int
	unsupported            string // what else the page has that cannot be read; "" is nothing
}

// field is the values of a tag.
type field struct {
	kind  uint16
	count uint64
	at    int64
}

// The tags that are read.
const (
	tagWidth          = 256
	tagLength         = 257
	tagBits           = 258
	tagCompression    = 259
	tagPhotometric    = 262
	tagFillOrder      = 266
	tagDescription    = 270
	tagStripOffsets   = 273
	tagSamples        = 277
	tagRowsPerStrip   = 278
	tagStripCounts    = 279
	tagPlanar         = 284
	tagPredictor      = 317
	tagTileWidth      = 322
	tagTileLength     = 323
	tagTileOffsets    = 324
	tagTileCounts     = 325
	tagSampleFormat   = 339
	tagDepth          = 32997
	maxPages          = 1 << 22
	maxTags           = 1 << 12
	windowBytes       = 4 << 10
	maxDescription    = 64 << 20
	compressionNone   = 1
	photometricYCbCr  = 6
	photometricColors = 3
)

// kindBytes are the sizes of values, by their kinds.
var kindBytes = map[uint16]uint64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}

var errCut = errors.New("the file is cut short or damaged")

// pages reads all directories of the file.
func (f *file) pages() (all []page, err error) {
	head, err := f.take(0, min(f.size, 16))
	if err != nil {
		return nil, err
	}
	next := int64(0)
	switch {
	case len(head) < 8:
		return nil, errors.New("not a TIFF file: it has fewer than 8 bytes")
	case string(head[:2]) == "II":
		f.order = binary.LittleEndian
	case string(head[:2]) == "MM":
		f.order = binary.BigEndian
	default:
		return nil, errors.New("not a TIFF file: it begins with neither II nor MM")
	}
	switch version := f.order.Uint16(head[2:]); {
	case version == 42:
		next = int64(f.order.Uint32(head[4:]))
	case version == 43 && len(head) == 16 && f.order.Uint16(head[4:]) == 8:
		f.big = true
		next = int64(f.order.Uint64(head[8:]))
	default:
		return nil, fmt.Errorf("version %d of TIFF is not supported", version)
	}
	seen := map[int64]bool{}
	for next != 0 {
		if seen[next] || len(all) == maxPages {
			return nil, fmt.Errorf("directory %d, at %d, was read before: the file's directories form a loop", len(all), next)
		}
		seen[next] = true
		var p page
		at := next
		if p, next, err = f.directory(at); err != nil {
			return nil, fmt.Errorf("directory %d, at %d: %w", len(all), at, err)
		}
		if p.width > 0 && p.length > 0 {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the file has no image")
	}
	return all, nil
}

// take reads n bytes, which are valid until the next call.
func (f *file) take(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > f.size-n {
		return nil, fmt.Errorf("%d bytes at %d: %w", n, at, errCut)
	}
	if at < f.at || at+n > f.at+int64(len(f.window)) {
		b := make([]byte, min(max(n, windowBytes), f.size-at))
		if got, err := f.r.ReadAt(b, at); got < len(b) {
			if err == nil || err == io.EOF {
				err = errCut
			}
			return nil, err
		}
		f.window, f.at = b, at
	}
	return f.window[at-f.at:][:n], nil
}

// directory reads one, and where the next one is.
func (f *file) directory(at int64) (p page, next int64, err error) {
	entry, inline, head := int64(12), int64(4), int64(2)
	if f.big {
		entry, inline, head = 20, 8, 8
	}
	b, err := f.take(at, head)
	if err != nil {
		return p, 0, err
	}
	tags := uint64(f.order.Uint16(b))
	if f.big {
		tags = f.order.Uint64(b)
	}
	if tags > maxTags {
		return p, 0, fmt.Errorf("%d tags are too many: the file is damaged", tags)
	}
	n := int64(tags) * entry
	if b, err = f.take(at+head, n+inline); err != nil {
		return p, 0, err
	}
	b = slices.Clone(b) // reading values moves the window
	fields := map[uint16]field{}
	for i := int64(0); i < n; i += entry {
		e := b[i : i+entry]
		v := field{kind: f.order.Uint16(e[2:])}
		value := e[8:]
		v.count = uint64(f.order.Uint32(e[4:]))
		if f.big {
			v.count, value = f.order.Uint64(e[4:]), e[12:]
		}
		size, known := kindBytes[v.kind]
		if !known || v.count > uint64(f.size)/size {
			continue // nothing that is read can be so
		}
		switch v.at = at + head + i + entry - inline; {
		case v.count*size <= uint64(inline):
		case f.big:
			v.at = int64(f.order.Uint64(value))
		default:
			v.at = int64(f.order.Uint32(value))
		}
		fields[f.order.Uint16(e)] = v
	}
	next = int64(f.order.Uint32(b[n:]))
	if f.big {
		next = int64(f.order.Uint64(b[n:]))
	}
	p, err = f.page(fields)
	return p, next, err
}

// numbers reads the first values.
func (f *file) numbers(v field, n uint64) ([]uint64, error) {
	size := kindBytes[v.kind]
	switch v.kind {
	case 1, 3, 4, 13, 16, 18:
	default:
		return nil, fmt.Errorf("a tag has values of kind %d in place of numbers: the file is damaged", v.kind)
	}
	if n > v.count {
		return nil, fmt.Errorf("a tag has %d values, %d are needed: the file is damaged", v.count, n)
	}
	b, err := f.take(v.at, int64(n*size))
	if err != nil {
		return nil, err
	}
	all := make([]uint64, n)
	for i := range all {
		switch size {
		case 1:
			all[i] = uint64(b[i])
		case 2:
			all[i] = uint64(f.order.Uint16(b[2*i:]))
		case 4:
			all[i] = uint64(f.order.Uint32(b[4*i:]))
		default:
			all[i] = f.order.Uint64(b[8*i:])
		}
	}
	return all, nil
}

// page takes what the tags of a directory say.
func (f *file) page(fields map[uint16]field) (p page, err error) {
	number := func(tag uint16, usual int) int {
		v, ok := fields[tag]
		if !ok || v.count == 0 || err != nil {
			return usual
		}
		var all []uint64
		if all, err = f.numbers(v, 1); err != nil {
			err = fmt.Errorf("tag %d: %w", tag, err)
			return usual
		}
		if all[0] > math.MaxInt32 {
			if tag == tagRowsPerStrip {
				return math.MaxInt32
			}
			err = fmt.Errorf("tag %d: %d is too large", tag, all[0])
		}
		return int(min(all[0], math.MaxInt32))
	}
	// same is number of a tag with a value for each sample.
	same := func(tag uint16, usual int) int {
		first := number(tag, usual)
		v, ok := fields[tag]
		if !ok || err != nil || v.count < 2 || v.count > math.MaxUint16 {
			return first
		}
		var all []uint64
		if all, err = f.numbers(v, v.count); err != nil {
			return first
		}
		for _, n := range all {
			if n != uint64(first) {
				p.unsupported = "samples of different types"
			}
		}
		return first
	}
	p.width, p.length, p.samples = number(tagWidth, 0), number(tagLength, 0), number(tagSamples, 1)
	p.bits, p.sampleFormat = same(tagBits, 1), same(tagSampleFormat, 1)
	p.compression, p.predictor = number(tagCompression, compressionNone), number(tagPredictor, 1)
	p.separate = number(tagPlanar, 1) == 2 && p.samples > 1
	if p.sampleFormat == 4 { // not said
		p.sampleFormat = 1
	}
	p.description = fields[tagDescription]
	p.offsets, p.counts = fields[tagStripOffsets], fields[tagStripCounts]
	p.chunkWidth, p.chunkRows = p.width, min(number(tagRowsPerStrip, math.MaxInt32), p.length)
	if v, ok := fields[tagTileOffsets]; ok {
		p.tiled, p.offsets, p.counts = true, v, fields[tagTileCounts]
		p.chunkWidth, p.chunkRows = number(tagTileWidth, 0), number(tagTileLength, 0)
	}
	switch photometric := number(tagPhotometric, 1); {
	case p.unsupported != "":
	case photometric == photometricColors:
		p.unsupported = "palettes"
	case photometric == photometricYCbCr:
		p.unsupported = "YCbCr"
	case number(tagFillOrder, 1) != 1:
		p.unsupported = "a reversed order of bits (FillOrder)"
	case number(tagDepth, 1) != 1:
		p.unsupported = "depth (ImageDepth)"
	}
	return p, err
}

// text is a value that is text.
func (f *file) text(v field) (string, error) {
	if v.kind != 2 && v.kind != 1 || v.count > maxDescription {
		return "", nil
	}
	b, err := f.take(v.at, int64(v.count))
	if err != nil {
		return "", err
	}
	if i := slices.Index(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b), nil
}

// dtype is the type of the elements.
func (l layout) dtype() (dtype.Type, error) {
	t, ok := map[[2]int]dtype.Type{
		{1, 8}: dtype.Uint8, {1, 16}: dtype.Uint16, {1, 32}: dtype.Uint32, {1, 64}: dtype.Uint64,
		{2, 8}: dtype.Int8, {2, 16}: dtype.Int16, {2, 32}: dtype.Int32, {2, 64}: dtype.Int64,
		{3, 16}: dtype.Float16, {3, 32}: dtype.Float32, {3, 64}: dtype.Float64, {6, 64}: dtype.Complex64, {6, 128}: dtype.Complex128,
	}[[2]int{l.sampleFormat, l.bits}]
	if !ok {
		kind := cmp.Or(map[int]string{1: "unsigned integers", 2: "integers", 3: "floats", 5: "complex integers", 6: "complex floats"}[l.sampleFormat], "an unknown kind")
		return t, fmt.Errorf("elements of %d bits (%s) are not supported", l.bits, kind)
	}
	return t, nil
}

// grid is how many chunks a page has along samples, rows and columns.
func (l layout) grid() (samples, rows, columns int) {
	samples = 1
	if l.separate {
		samples = l.samples
	}
	return samples, (l.length + l.chunkRows - 1) / l.chunkRows, (l.width + l.chunkWidth - 1) / l.chunkWidth
}

// check rejects what cannot be read.
func (l layout) check() error {
	if l.unsupported != "" {
		return fmt.Errorf("%s in TIFF are not supported", l.unsupported)
	}
	if l.samples < 1 || l.samples > math.MaxUint16 || l.chunkRows < 1 || l.chunkWidth < 1 {
		return fmt.Errorf("%d samples in chunks of %d rows and %d columns: the file is damaged", l.samples, l.chunkRows, l.chunkWidth)
	}
	_, err := l.dtype()
	return err
}
