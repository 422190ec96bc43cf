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
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/store"
)

// file reads the directories of a TIFF file (TIFF 6.0; BigTIFF as of libtiff). Nothing that it reads
// is trusted.
type file struct {
	r     io.ReaderAt
	size  int64
	order binary.ByteOrder
	big   bool       // BigTIFF
	room  meter.Room // for what is held

	window []byte // what was read last
	at     int64  // of its first byte
	tags   uint16 // how many the directory has that was read last
}

func newFile(r io.ReaderAt, size int64) *file {
	return &file{r: r, size: size, room: meter.Room{Take: func(int64) error { return nil }}}
}

// page is a directory: an image, or a part of one.
type page struct {
	at      int64 // of the directory
	offsets field
	counts  field
	layout  int32  // its index in contents.layouts
	tags    uint16 // of the directory
	file    int32  // its index in contents.files
	part    bool   // a smaller version of an image, or its mask
	sub     bool   // has directories of its own
}

// layout is what pages have in common that are a part of one array.
type layout struct {
	width, length, samples   int
	separate                 bool // each sample is an image of its own
	tiled                    bool
	chunkWidth, chunkRows    int
	bits, sampleFormat       int
	compression, predictor   int
	photometric, orientation int
	alpha                    int    // the first value of ExtraSamples; -1 without the tag
	t4                       int    // T4Options
	reversed                 bool   // FillOrder 2
	bigEndian                bool   // the order of the file's bytes
	tables                   string // JPEGTables
	nodata                   string // GDAL's mark of missing values
	unsupported              string // what the page has that cannot be read; "" is nothing
}

// field is the values of a tag.
type field struct {
	at    int64
	count uint32
	kind  uint16 // 0 where the directory does not have the tag
}

// tag is a tag that is read: its index in fields. The package comment says what the others mean.
type tag int

const (
	tagSubfile tag = iota
	tagOldSubfile
	tagWidth
	tagLength
	tagBits
	tagCompression
	tagPhotometric
	tagFillOrder
	tagDescription
	tagStripOffsets
	tagOrientation
	tagSamples
	tagRowsPerStrip
	tagStripCounts
	tagXResolution
	tagYResolution
	tagPlanar
	tagT4
	tagPredictor
	tagTileWidth
	tagTileLength
	tagTileOffsets
	tagTileCounts
	tagSubIFDs
	tagExtraSamples
	tagSampleFormat
	tagJPEGTables
	tagOldJPEG
	tagSubsampling
	tagDepth
	tagTileDepth
	tagPixelScale
	tagStack
	tagTiepoint
	tagTransformation
	tagGeoKeys
	tagMetadata
	tagNodata
	knownTags
)

// tags are the numbers of the tags that are read, in ascending order, and their names.
var tags = [knownTags]struct {
	number uint16
	name   string
}{
	{254, "NewSubfileType"}, {255, "SubfileType"}, {256, "ImageWidth"}, {257, "ImageLength"}, {258, "BitsPerSample"}, {259, "Compression"},
	{262, "PhotometricInterpretation"}, {266, "FillOrder"}, {270, "ImageDescription"}, {273, "StripOffsets"}, {274, "Orientation"},
	{277, "SamplesPerPixel"}, {278, "RowsPerStrip"}, {279, "StripByteCounts"}, {282, "XResolution"}, {283, "YResolution"},
	{284, "PlanarConfiguration"}, {292, "T4Options"}, {317, "Predictor"}, {322, "TileWidth"}, {323, "TileLength"}, {324, "TileOffsets"}, {325, "TileByteCounts"}, {330, "SubIFDs"},
	{338, "ExtraSamples"}, {339, "SampleFormat"}, {347, "JPEGTables"}, {513, "JPEGInterchangeFormat"}, {530, "YCbCrSubSampling"}, {32997, "ImageDepth"}, {32998, "TileDepth"},
	{33550, "ModelPixelScale"}, {33629, "UIC2tag"}, {33922, "ModelTiepoint"}, {34264, "ModelTransformation"}, {34735, "GeoKeyDirectory"},
	{42112, "GDAL_METADATA"}, {42113, "GDAL_NODATA"},
}

func (t tag) String() string { return tags[t].name }

// fields are the values of the tags of a directory.
type fields [knownTags]field

const (
	maxPages        = 1 << 22
	maxTags         = 1 << 12
	maxLayouts      = 1 << 12
	windowBytes     = 4 << 10
	maxDescription  = 64 << 20
	maxNodata       = 64
	compressionNone = 1
	compressionJPEG = 7
	yCbCr           = 6
	minIsBlack      = 1
)

// photometrics are the values of PhotometricInterpretation whose numbers are read as they are stored, with names for the
// attribute photometric; those of 1 and 2 need none.
var photometrics = map[int]string{0: "WhiteIsZero", minIsBlack: "", 2: "", 3: "palette", 4: "mask", 5: "separated", yCbCr: "YCbCr", 8: "CIELab", 9: "ICCLab", 10: "ITULab", 32803: "CFA", 34892: "LinearRaw"}

// kindBytes are the sizes of values, by their kinds.
var kindBytes = [...]uint64{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8}

var errCut = errors.New("the file is cut short or damaged")

// begin reads where the first directory is, and how numbers are stored.
func (f *file) begin() (next int64, err error) {
	head, err := f.take(0, min(f.size, 16))
	if err != nil {
		return 0, err
	}
	switch {
	case len(head) < 8:
		return 0, errors.New("not a TIFF file: it has fewer than 8 bytes")
	case string(head[:2]) == "II":
		f.order = binary.LittleEndian
	case string(head[:2]) == "MM":
		f.order = binary.BigEndian
	default:
		return 0, errors.New("not a TIFF file: it begins with neither II nor MM")
	}
	switch version := f.order.Uint16(head[2:]); {
	case version == 42:
		next = int64(f.order.Uint32(head[4:]))
	case version == 43 && len(head) == 16 && f.order.Uint16(head[4:]) == 8 && f.order.Uint16(head[6:]) == 0:
		f.big = true
		next = int64(f.order.Uint64(head[8:]))
	default:
		return 0, fmt.Errorf("version %d of TIFF is not supported", version)
	}
	return next, nil
}

// pages reads all directories of the file.
func (f *file) pages(c *contents) error {
	next, err := f.begin()
	if err != nil {
		return err
	}
	known := map[layout]int32{}
	before := int64(-1) // a directory that was read before; Brent's way to find a loop
	for n := 0; next != 0; n++ {
		if next == before || n == maxPages {
			return fmt.Errorf("directory %d, at %d, was read before: the file's directories form a loop", n, next)
		}
		if n&(n-1) == 0 {
			before = next
		}
		at := next
		var all fields
		if all, next, err = f.directory(at); err != nil {
			return fmt.Errorf("directory %d, at %d: %w", n, at, err)
		}
		p := page{at: at, tags: f.tags, offsets: all[tagStripOffsets], counts: all[tagStripCounts]}
		l, err := f.layout(&all, &p)
		if err != nil {
			return fmt.Errorf("directory %d, at %d: %w", n, at, err)
		}
		var ok bool
		if p.layout, ok = known[l]; !ok {
			if len(c.layouts) == maxLayouts {
				return fmt.Errorf("its directories have more than %d layouts: the file is damaged", maxLayouts)
			}
			p.layout = int32(len(c.layouts))
			c.layouts, known[l] = append(c.layouts, l), p.layout
		}
		if f.room.For(pageBytes) { // else the others are counted, so that the error has the whole need
			c.pages = meter.Append(&f.room, c.pages, p, at, f.size)
		} else {
			c.pages = nil
		}
	}
	if f.room.Err != nil {
		return f.room.Err
	}
	if len(c.pages) == 0 {
		return errors.New("the file has no image")
	}
	return nil
}

// take reads n bytes, which are valid until the next call.
func (f *file) take(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > f.size-n {
		return nil, fmt.Errorf("%d bytes at %d: %w", n, at, errCut)
	}
	if at < f.at || at+n > f.at+int64(len(f.window)) {
		size := min(max(n, windowBytes), f.size-at)
		if int64(cap(f.window)) < size {
			f.window = make([]byte, size)
		}
		f.window, f.at = f.window[:size], at
		if got, err := f.r.ReadAt(f.window, at); int64(got) < size {
			f.window = nil
			if err == nil || err == io.EOF {
				err = errCut
			}
			return nil, err
		}
	}
	return f.window[at-f.at:][:n], nil
}

// directory reads one, and where the next one is.
func (f *file) directory(at int64) (all fields, next int64, err error) {
	entry, inline, head := int64(12), int64(4), int64(2)
	if f.big {
		entry, inline, head = 20, 8, 8
	}
	b, err := f.take(at, head)
	if err != nil {
		return all, 0, err
	}
	n := uint64(f.order.Uint16(b))
	if f.big {
		n = f.order.Uint64(b)
	}
	f.tags = uint16(n)
	if n > maxTags {
		return all, 0, fmt.Errorf("%d tags are too many: the file is damaged", n)
	}
	if b, err = f.take(at+head, int64(n)*entry+inline); err != nil {
		return all, 0, err
	}
	for i := int64(0); i < int64(n)*entry; i += entry {
		e := b[i : i+entry]
		t, ok := slices.BinarySearchFunc(tags[:], f.order.Uint16(e), func(t struct {
			number uint16
			name   string
		}, number uint16) int {
			return cmp.Compare(t.number, number)
		})
		if !ok {
			continue
		}
		v := field{kind: f.order.Uint16(e[2:])}
		value, count := e[8:], uint64(f.order.Uint32(e[4:]))
		if f.big {
			count, value = f.order.Uint64(e[4:]), e[12:]
		}
		v.count = uint32(count)
		switch {
		case int(v.kind) >= len(kindBytes) || kindBytes[v.kind] == 0:
			return all, 0, fmt.Errorf("tag %s has values of the unknown type %d: the file is damaged", tag(t), v.kind)
		case count > uint64(f.size)/kindBytes[v.kind] || count > math.MaxUint32:
			return all, 0, fmt.Errorf("tag %s has %d values, in a file of %d bytes: it is cut short or damaged", tag(t), count, f.size)
		case all[t].kind != 0:
			return all, 0, fmt.Errorf("tag %s stands there twice: the file is damaged", tag(t))
		case count == 0:
			continue
		case count*kindBytes[v.kind] <= uint64(inline):
			v.at = at + head + i + entry - inline
		case f.big:
			v.at = int64(f.order.Uint64(value))
		default:
			v.at = int64(f.order.Uint32(value))
		}
		all[t] = v
	}
	if f.big {
		return all, int64(f.order.Uint64(b[int64(n)*entry:])), nil
	}
	return all, int64(f.order.Uint32(b[int64(n)*entry:])), nil
}

// directoryBytes are those of a directory of so many tags.
func (f *file) directoryBytes(tags int) int64 {
	if f.big {
		return 16 + 20*int64(tags)
	}
	return 6 + 12*int64(tags)
}

// lost returns where in a part of the file the directory of a page with a layout lies, and its first chunk; 0 for none.
func (f *file) lost(from, bytes int64, of layout) (at, chunk int64) {
	head := int64(2)
	if f.big {
		head = 8
	}
	for at = from + from%2; at+head+12 <= from+bytes; at += 2 {
		b, err := f.take(at, head+12)
		if err != nil {
			return 0, 0
		}
		// It begins with one of the first tags, which is one number.
		if n := f.order.Uint16(b[head:]); n < 254 || n > 256 || f.order.Uint16(b[head+2:]) < 3 || f.order.Uint16(b[head+2:]) > 4 {
			continue
		}
		var p page
		if all, _, err := f.directory(at); err == nil {
			p.offsets, p.counts = all[tagStripOffsets], all[tagStripCounts]
			if l, err := f.layout(&all, &p); err == nil && l == of {
				if first, err := f.number(p.offsets, 0); err == nil {
					return at, int64(first)
				}
			}
		}
	}
	return 0, 0
}

// number reads one of the values of a tag.
func (f *file) number(v field, i int) (uint64, error) {
	switch v.kind {
	case 1, 3, 4, 13, 16, 18:
	default:
		return 0, fmt.Errorf("it has values of type %d in place of numbers: the file is damaged", v.kind)
	}
	size := int64(kindBytes[v.kind])
	b, err := f.take(v.at+int64(i)*size, size)
	if err != nil {
		return 0, err
	}
	switch size {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(f.order.Uint16(b)), nil
	case 4:
		return uint64(f.order.Uint32(b)), nil
	}
	return f.order.Uint64(b), nil
}

// layout takes what the tags of a directory say, and rejects those that contradict each other.
func (f *file) layout(all *fields, p *page) (l layout, err error) {
	fail := func(format string, args ...any) {
		if err == nil {
			err = fmt.Errorf(format+": the file is damaged", args...)
		}
	}
	number := func(t tag, usual int) int {
		if all[t].kind == 0 {
			return usual
		}
		n, failed := f.number(all[t], 0)
		if failed != nil && err == nil {
			err = fmt.Errorf("tag %s: %w", t, failed)
		}
		if n > math.MaxInt32 && t != tagRowsPerStrip {
			fail("tag %s: %d is too large", t, n)
		}
		return int(min(n, math.MaxInt32))
	}
	l.samples, l.bigEndian = number(tagSamples, 1), f.order == binary.BigEndian
	// same is number of a tag with a value for each sample.
	same := func(t tag, usual int) int {
		first := number(t, usual)
		n := int(all[t].count)
		if n > 1 && n != l.samples {
			fail("tag %s has %d values, SamplesPerPixel is %d", t, n, l.samples)
		}
		for i := 1; i < n && err == nil; i++ {
			v, failed := f.number(all[t], i)
			if err = failed; v != uint64(first) {
				l.unsupported = "samples of different types"
			}
		}
		return first
	}
	l.width, l.length = number(tagWidth, 0), number(tagLength, 0)
	l.bits, l.sampleFormat = same(tagBits, 1), same(tagSampleFormat, 1)
	l.compression, l.predictor = number(tagCompression, compressionNone), number(tagPredictor, 1)
	l.photometric, l.orientation, l.alpha = number(tagPhotometric, minIsBlack), number(tagOrientation, 1), number(tagExtraSamples, -1)
	planar := number(tagPlanar, 1)
	l.t4, l.reversed = number(tagT4, 0), number(tagFillOrder, 1) == 2
	l.separate = planar == 2 && l.samples > 1
	if l.sampleFormat == 4 { // not said
		l.sampleFormat = 1
	}
	p.sub = all[tagSubIFDs].kind != 0
	p.part = number(tagSubfile, 0)&5 != 0 || number(tagOldSubfile, 1) == 2
	l.chunkWidth, l.chunkRows = l.width, min(number(tagRowsPerStrip, math.MaxInt32), l.length)
	if all[tagTileWidth].kind != 0 || all[tagTileLength].kind != 0 {
		l.tiled, l.chunkWidth, l.chunkRows = true, number(tagTileWidth, 0), number(tagTileLength, 0)
	}
	// libtiff takes the tags of strips for tiles, and those of tiles for strips.
	for _, pair := range [][2]tag{{tagStripOffsets, tagTileOffsets}, {tagStripCounts, tagTileCounts}} {
		if all[pair[0]].kind != 0 && all[pair[1]].kind != 0 {
			fail("it has both %s and %s", pair[0], pair[1])
		}
	}
	if all[tagTileOffsets].kind != 0 {
		p.offsets = all[tagTileOffsets]
	}
	if all[tagTileCounts].kind != 0 {
		p.counts = all[tagTileCounts]
	}
	if v := all[tagNodata]; v.kind == 2 && v.count <= maxNodata && err == nil {
		l.nodata, err = f.text(v)
	}
	if v := all[tagJPEGTables]; l.compression == compressionJPEG && v.kind == 7 && v.count <= math.MaxUint16 && err == nil {
		var b []byte
		b, err = f.take(v.at, int64(v.count))
		l.tables = string(b)
	}
	_, known := photometrics[l.photometric]
	if l.photometric == yCbCr && l.compression != compressionJPEG { // without tables of what is in between
		known = all[tagSubsampling].count == 2 && number(tagSubsampling, 2) == 1
		if v, failed := f.number(all[tagSubsampling], 1); known {
			known = failed == nil && v == 1
		}
	}
	switch {
	case err != nil:
		return l, err
	case l.width < 1 || l.length < 1 || l.samples < 1 || l.samples > math.MaxUint16:
		fail("ImageWidth is %d, ImageLength %d and SamplesPerPixel %d", l.width, l.length, l.samples)
	case l.chunkRows < 1 || l.chunkWidth < 1:
		fail("RowsPerStrip, or TileWidth or TileLength, is 0")
	case planar != 1 && planar != 2:
		fail("PlanarConfiguration is %d", planar)
	case l.orientation < 1 || l.orientation > 8:
		fail("Orientation is %d", l.orientation)
	case int(all[tagExtraSamples].count) > l.samples:
		fail("ExtraSamples has %d values, SamplesPerPixel is %d", all[tagExtraSamples].count, l.samples)
	case all[tagOldJPEG].kind != 0 && p.offsets.kind == 0:
		l.unsupported = "old JPEG pictures (JPEGInterchangeFormat)"
	case p.offsets.kind == 0:
		fail("it has neither StripOffsets nor TileOffsets")
	case p.counts.kind == 0 && l.compression != compressionNone:
		fail("it has no StripByteCounts or TileByteCounts, which say where compressed chunks end")
	case l.unsupported != "":
	case !known && l.photometric == yCbCr:
		l.unsupported = "YCbCr colours of fewer places (YCbCrSubSampling) without JPEG"
	case !known:
		l.unsupported = fmt.Sprintf("colours of PhotometricInterpretation %d", l.photometric)
	case number(tagFillOrder, 1) > 2:
		fail("FillOrder is %d", number(tagFillOrder, 1))
	case number(tagDepth, 1) != 1 || number(tagTileDepth, 1) != 1:
		l.unsupported = "depth (ImageDepth, TileDepth)"
	case all[tagStack].count > 1:
		l.unsupported = fmt.Sprintf("MetaMorph stacks (UIC2tag), here of %d planes,", all[tagStack].count)
	}
	if n := float64(p.offsets.count); err == nil && p.offsets.kind != 0 && l.unsupported == "" {
		samples, rows, columns := l.grid()
		switch needed := float64(samples) * float64(rows) * float64(columns); {
		case n != needed:
			fail("it has %.0f chunks by its shape, and %.0f values of StripOffsets or TileOffsets", needed, n)
		case p.counts.kind != 0 && p.counts.count != p.offsets.count:
			fail("it has %.0f chunks, and %d values of StripByteCounts or TileByteCounts", n, p.counts.count)
		}
	}
	return l, err
}

// text is a value that is text; "" where the directory has none.
func (f *file) text(v field) (string, error) {
	switch {
	case v.kind == 0:
		return "", nil
	case v.kind != 2 && v.kind != 1 && v.kind != 7 || v.count > maxDescription:
		return "", fmt.Errorf("a tag has %d values of type %d in place of text: the file is damaged", v.count, v.kind)
	}
	b, err := f.take(v.at, int64(v.count))
	if err != nil {
		return "", err
	}
	if i := slices.Index(b, 0); i >= 0 {
		b = b[:i]
	}
	text := string(b)
	if cap(f.window) > windowBytes { // the text is long
		f.window = nil
	}
	return text, nil
}

// rational is the first value of a tag that is a fraction; 0 for any other.
func (f *file) rational(v field) float64 {
	b, err := f.take(v.at, 8)
	if v.kind != 5 || err != nil || f.order.Uint32(b[4:]) == 0 {
		return 0
	}
	return float64(f.order.Uint32(b)) / float64(f.order.Uint32(b[4:]))
}

// doubles are n values of a tag; nil where it has not so many numbers.
func (f *file) doubles(v field, n int) (all []float64) {
	b, err := f.take(v.at, int64(8*n))
	if v.kind != 12 || int(v.count) < n || err != nil {
		return nil
	}
	for i := range n {
		all = append(all, math.Float64frombits(f.order.Uint64(b[8*i:])))
	}
	return all
}

// place returns the labels of x and y in the middle of pixels, as GDAL reads GeoTIFF (OGC 19-008r4), where rows and columns are not turned.
func (f *file) place(all *fields) map[string]store.Line {
	var m [2]store.Line // of the pixels' corners
	scale, tie := f.doubles(all[tagPixelScale], 2), f.doubles(all[tagTiepoint], 6)
	switch t := f.doubles(all[tagTransformation], 8); {
	case scale != nil && tie != nil && all[tagTiepoint].count == 6:
		m[0], m[1] = store.Line{First: tie[3] - tie[0]*scale[0], Step: scale[0]}, store.Line{First: tie[4] + tie[1]*math.Abs(scale[1]), Step: -math.Abs(scale[1])}
	case t != nil && t[1] == 0 && t[4] == 0:
		m[0], m[1] = store.Line{First: t[3], Step: t[0]}, store.Line{First: t[7], Step: t[5]}
	default:
		return nil
	}
	const rasterType, isPoint = 1025, 2
	middle := .5
	if v := all[tagGeoKeys]; v.kind == 3 {
		for i := 4; i+3 < int(v.count) && i < 1<<10; i += 4 {
			key, err := f.number(v, i)
			if value, failed := f.number(v, i+3); err == nil && failed == nil && key == rasterType && value == isPoint {
				middle = 0
			}
		}
	}
	lines := map[string]store.Line{}
	for i, l := range m {
		l.First += middle * l.Step
		if l.Step == 0 || math.IsNaN(l.First+l.Step) || math.IsInf(l.First+l.Step, 0) {
			return nil
		}
		lines["xy"[i:i+1]] = l
	}
	return lines
}

// dtype is the type of the elements.
func (l layout) dtype() (dtype.Type, error) {
	t, ok := map[[2]int]dtype.Type{
		{1, 8}: dtype.Uint8, {1, 16}: dtype.Uint16, {1, 32}: dtype.Uint32, {1, 64}: dtype.Uint64,
		{2, 8}: dtype.Int8, {2, 16}: dtype.Int16, {2, 32}: dtype.Int32, {2, 64}: dtype.Int64,
		{3, 16}: dtype.Float16, {3, 32}: dtype.Float32, {3, 64}: dtype.Float64, {6, 64}: dtype.Complex64, {6, 128}: dtype.Complex128,
	}[[2]int{l.sampleFormat, l.bits}]
	if !ok && l.sampleFormat == 1 && l.bits > 0 && l.bits < 32 { // packed, in the smallest type that has them
		ok, t = true, dtype.Uint32
		for _, in := range []struct {
			bits int
			t    dtype.Type
		}{{16, dtype.Uint16}, {8, dtype.Uint8}, {1, dtype.Bool}} {
			if l.bits <= in.bits {
				t = in.t
			}
		}
	}
	if !ok {
		kind := cmp.Or(map[int]string{1: "unsigned integers", 2: "integers", 3: "floats", 5: "complex integers", 6: "complex floats"}[l.sampleFormat], "an unknown kind")
		return t, fmt.Errorf("elements of %d bits (%s) are not supported", l.bits, kind)
	}
	return t, nil
}

// plain reports elements that lie as they are.
func (l layout) plain() bool {
	return l.compression == compressionNone && l.bits%8 == 0 && l.bits != 24 && !l.reversed
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
	_, err := l.dtype()
	return err
}
