// Package tiff reads the images of TIFF and BigTIFF files: x.tif is the only array, x.tif#1 the
// second of several. Pages of one layout are one array, as tifffile reads them: with the axes that OME-XML,
// ImageJ or tifffile have written, else along a first axis. x.tif#pages is all pages of the file, whatever
// these descriptions say. Each page is read or an error: a page that is damaged, and a description that has other pages than
// the file, are errors of the whole file, so that no plane has the place of another.
//
// It reads the places of strips and tiles and nothing else: package chunked reads the chunks. Their number and, where chunks are not
// compressed, their bytes are held to the shape.
//
// These tags say what the bytes mean. An error names the tag.
//
//	NewSubfileType, SubfileType  pages that are all smaller versions or masks are arrays that x.tif does not mean.
//	ImageWidth, ImageLength      are the shape; 0 or none is an error.
//	BitsPerSample, SampleFormat  are the dtype: 8 to 64 bits, floats of 16 to 64, complex floats; unsigned integers of any bits
//	                             below 32 in the smallest type that has them, one bit as bool. Complex integers and samples of different
//	                             types are an error.
//	Compression, T4Options,      none, LZW, deflate, Zstandard, LZMA, PackBits, CCITT Group 3 of one dimension and Group 4, JPEG of 8
//	JPEGTables                   baseline of 8 bits, grey or of three colours, to libjpeg's numbers, WebP without losses; others are an error by name.
//	PhotometricInterpretation    numbers are as they are stored, as in tifffile: WhiteIsZero, CMYK, CIELab, ICCLab, ITULab, CFA,
//	                             LinearRaw and masks are named by the attribute photometric, and so are palettes, whose indices are read. YCbCr is
//	                             made RGB in JPEG; elsewhere it is named, and where it has fewer places (YCbCrSubSampling), and of others, an error.
//	FillOrder                    2 is a reversed order of bits.
//	StripOffsets, TileOffsets,   have a value for each chunk; those of tiles may stand in the tags of strips. Chunks beyond
//	StripByteCounts,             the file or across each other, and compressed ones without counts, are an error. Offset and count
//	TileByteCounts               0 is a chunk that is not stored.
//	Orientation                  rows and columns are as they are stored; one other than 1 is the attribute orientation.
//	SamplesPerPixel,             are an axis s, in front of y and x where planes are separate; values other than 1 and 2 are an
//	PlanarConfiguration          error.
//	RowsPerStrip, TileWidth,     are the chunks; 0 is an error, more rows than the image has are all of them.
//	TileLength
//	Predictor                    1; 2 for integers and floats, 3 for floats, with compression; others are an error.
//	ExtraSamples                 more than samples are an error; premultiplied alpha is the attribute alpha.
//	ImageDepth, TileDepth        other than 1 are an error.
//	UIC2tag                      MetaMorph's stacks of several planes in a page are an error.
//	GDAL_NODATA                  marks missing values, and is what chunks that are not stored have.
//	GDAL_METADATA                scales, offsets and units are attributes by the CF conventions.
//	ImageDescription             of OME, ImageJ and tifffile: axes, their units and the distances of elements (attribute axes); ImageJ's
//	                             calibration by a line is scale_factor and add_offset. Planes of an image of OME may lie in
//	                             several files of one folder, and be described in another one; a file that is absent is an error.
//	ModelPixelScale,             are labels of y and x, in the middle of pixels, where rows and columns are not turned (GeoTIFF); so are
//	ModelTiepoint,               the distances of elements that OME-XML or ImageJ has, from 0 on.
//	ModelTransformation,
//	GeoKeyDirectory
//	SubIFDs                      what lies there, such as smaller versions of an image, is no array of the file; a file whose pages are
//	                             only the smaller versions is an error.
//
// All other tags of TIFF 6.0, its supplements, GeoTIFF, DNG and Exif are of display, calibration of colours, or origin
// (such as ColorMap without a palette, TransferFunction, Threshholding, MinSampleValue, DotRange, XResolution of other files
// than ImageJ's, BlackLevel), and leave the stored numbers what they are: they are not read.
package tiff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(format{"TIFF files are read only: save to NAME.zarr or NAME.npy", storage.NamedArrays{
		Extensions: storage.Extensions{".tif", ".tiff"},
		Names: func(path string, r io.ReaderAt, size int64) (numbers []string, err error) {
			c, err := readContents(context.Background(), path, "", newFile(r, size))
			if err != nil {
				return nil, err
			}
			if c.err != nil {
				return nil, c.err
			}
			for i := range c.series {
				numbers = append(numbers, strconv.Itoa(i))
			}
			return numbers, nil
		}}})
}

type format struct {
	store.ReadOnly
	storage.NamedArrays
}

const formatName = "tiff"

// readContents is file.read of a file that was opened before, too, for an array of a name.
func readContents(ctx context.Context, path, name string, f *file) (*contents, error) {
	c, err := headers.Read(path, f.r, func(take func(bytes int64) error) (*contents, error) {
		f.room.Take = take
		return f.read()
	})
	if err != nil {
		return nil, err
	}
	if f.order, f.big = c.order, c.big; c.spread == nil || name == "pages" {
		return c, nil
	}
	if c, err = c.join(ctx, path); err != nil {
		return nil, fmt.Errorf(unread, err)
	}
	return c, nil
}

// pageBytes is what a page takes of memory, and its number in a series.
const pageBytes = 72

// pick returns the array of a name, or the only one that is no smaller version of another and no mask.
func (c *contents) pick(name string) (*series, error) {
	all, n := c.series, -1
	switch number, err := strconv.Atoi(name); {
	case name == "pages": // whatever descriptions say of them
		if all, n = c.alike(0), 0; len(all) > 1 {
			return nil, fmt.Errorf("the pages of the file have %d layouts, such as %s and %s: they are no one array", len(all), grid.Format(all[0].shape), grid.Format(all[1].shape))
		}
		all[0].err = all[0].check()
	case c.err != nil:
		return nil, c.err
	case name == "":
		for i := range all {
			if n >= 0 && !all[i].part && !all[n].part {
				return nil, fmt.Errorf("the file has %d arrays, such as #%d of %s and #%d of %s: name one behind its name, or all of its pages by #pages",
					len(all), n, grid.Format(all[n].shape), i, grid.Format(all[i].shape))
			}
			if n < 0 || all[n].part && !all[i].part {
				n = i
			}
		}
		if first := c.pages[all[n].pages[0]]; first.part && first.sub { // as in DNG
			return nil, errors.New("its pages are smaller versions of an image that lies in SubIFDs, which is not supported: #0 behind its name is the first of them")
		}
	case err == nil && number >= len(all) && c.pages[all[0].pages[0]].sub:
		return nil, fmt.Errorf("no array %.80q: the file has 0 to %d; smaller versions of an image that lie in SubIFDs are not read: write them by tifffile, whose imread has them as level=1 and so on", name, len(all)-1)
	case err != nil || number < 0 || number >= len(all):
		return nil, fmt.Errorf("no array %.80q: the file has 0 to %d", name, len(all)-1)
	default:
		n = number
	}
	return &all[n], all[n].err
}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return storage.OpenHeader(ctx, path, file, formatName, func(r io.ReaderAt, size int64) (storage.Header, error) {
		a, err := newArray(ctx, path, file, name, r, size)
		if err != nil {
			return storage.Header{}, err
		}
		return a.extent()
	})
}

// stored is an array in strips or tiles.
type stored struct {
	chunked.File
	layout
	series   *series
	contents *contents
	file     *file

	details store.Details
	once    sync.Once
	places  []place // of each page of the series, and in it in C order of samples, rows and columns
	err     error
}

// place is where a chunk lies. One without bytes is not stored.
type place struct{ offset, bytes int64 }

// placeBytes is what a place takes of Go's heap, with what disjoint and merge make of it.
const placeBytes = 48

func newArray(ctx context.Context, path, name, member string, r io.ReaderAt, size int64) (*stored, error) {
	f := newFile(r, size)
	c, err := readContents(ctx, name, member, f)
	if err != nil {
		return nil, err
	}
	s, err := c.pick(member)
	if err != nil {
		return nil, err
	}
	a := &stored{layout: s.layout, series: s, contents: c, file: f}
	if a.DType, err = s.dtype(); err != nil {
		return nil, err
	}
	a.Path, a.Shape, a.Fill = path, s.shape, make([]byte, a.DType.Size())
	if err := grid.Check(a.Shape, len(a.Fill)); err != nil {
		return nil, err
	}
	if a.details, err = s.details(a.Fill, a.DType); err != nil {
		return nil, err
	}
	if c.files == nil {
		tags, _, err := f.directory(c.pages[s.pages[0]].at)
		if err != nil {
			return nil, err
		}
		a.details.Lines = f.place(&tags)
	}
	if a.details.Lines == nil {
		a.details.Lines = s.lines()
	}
	for _, of := range c.files {
		size += of.id.Size
	}
	if chunks := float64(a.chunks()); chunks > float64(size/2) {
		return nil, fmt.Errorf("%g chunks are more than a file of %d bytes has places of: it is damaged", chunks, size)
	}
	switch err = a.lay(); {
	case err != nil:
	case a.plain():
		err = a.merge()
	case a.compression == compressionNone:
		err = a.load()
	}
	return a, err
}

// details are the array's. They put what GDAL has in place of missing values into fill, an element.
func (s *series) details(fill []byte, t dtype.Type) (d store.Details, err error) {
	d.Dims = s.dims
	if x, failed := strconv.ParseFloat(strings.TrimSpace(s.nodata), 64); failed == nil && t.Kind() != dtype.KindComplex {
		switch {
		case !t.Integer():
			d.Fill, d.Marks = map[bool]string{true: "NaN", false: strconv.FormatFloat(x, 'g', -1, 64)}[math.IsNaN(x)], !math.IsInf(x, 0)
		case x == math.Trunc(x) && math.Abs(x) < 1<<53 && t.Fits(int64(x)):
			d.Fill, d.Marks = strconv.FormatInt(int64(x), 10), true
		}
		if d.Marks {
			var element [16]byte
			dtype.FromFloat(t, x).Put(element[:])
			copy(fill, element[:])
		} else {
			d.Fill = ""
		}
	}
	d.Attributes, err = s.attributes()
	return d, err
}

// perPage is how many chunks a page has.
func (a *stored) perPage() int {
	samples, rows, columns := a.grid()
	return samples * rows * columns
}

// chunks is how many chunks all pages have.
func (a *stored) chunks() int64 { return int64(a.perPage()) * int64(len(a.series.pages)) }

// build makes the array of the file that is open.
func (a *stored) build(o storage.Object, id store.FileVersion) (store.Array, error) {
	a.Object = o
	a.FindIn(chunked.Source{Object: o, Kind: "file", Key: a.Path}, func(chunk []int, src *chunked.Source) (bool, error) {
		_, found, err := a.find(chunk, src)
		return found, err
	})
	if a.contents.files != nil {
		a.NewIndex = a.newSpread
		id = a.contents.version(id)
	}
	work := a.Work()
	work.Open = a.chunks()*placeBytes + int64(len(a.contents.pages))*pageBytes
	a.Describe(store.Info{Format: formatName, Chunks: a.Chunk, Open: a.Pipeline.Plain(), Codec: a.Pipeline.String(), Bytes: -1, ID: id, Work: work, Details: a.details})
	return a, nil
}

// lay says what the chunks are.
func (a *stored) lay() (err error) {
	a.Chunk = make([]int, len(a.Shape))
	samples := 1
	for d, what := range a.series.axes {
		switch {
		case what == ofRows:
			a.Chunk[d] = a.chunkRows
		case what == ofColumns:
			a.Chunk[d] = a.chunkWidth
		case what == ofSamples && !a.separate:
			a.Chunk[d] = a.samples
			samples = a.samples
		default:
			a.Chunk[d] = 1
		}
	}
	a.Pipeline, err = codec.FromTIFF(codec.TIFF{Compression: a.compression, Predictor: a.predictor, Photometric: a.photometric, T4Options: a.t4, Tables: a.tables,
		Width: a.chunkWidth, Samples: samples, Bits: a.bits, Reversed: a.reversed, Big: a.bigEndian}, a.Chunk, a.DType)
	return err
}

// load reads the places of all chunks.
func (a *stored) load() error {
	a.once.Do(func() {
		m := meter.Meter{What: "the list of its chunks"}
		defer m.Done()
		if a.err = m.Take((a.chunks() + int64(len(a.contents.pages))) * placeBytes); a.err != nil {
			return
		}
		a.places = make([]place, a.chunks())
		if a.contents.files == nil {
			a.err = a.loadFrom(a.file, 0)
		}
		for i := range a.contents.files {
			of := &a.contents.files[i]
			if a.err = of.read(context.Background(), func(f *file) error { return a.loadFrom(f, int32(i)) }); a.err != nil {
				return
			}
		}
	})
	return a.err
}

// loadFrom reads the places of the chunks of a file.
func (a *stored) loadFrom(f *file, number int32) error {
	var all []place
	n := a.perPage()
	for i, k := range a.series.pages {
		if p := a.contents.pages[k]; p.file == number {
			places := a.places[i*n : (i+1)*n]
			if err := a.read(f, p, places); err != nil {
				return fmt.Errorf("page %d: %w", k, err)
			}
			all = append(all, places...)
		}
	}
	err := a.disjoint(f, number, all)
	f.window = nil
	return err
}

// disjoint rejects chunks that have a part of their bytes in common with others or with directories, and pages that the chain of
// directories passes by. Equal chunks may be stored once.
func (a *stored) disjoint(f *file, number int32, all []place) error {
	pages := a.contents.pages
	if a.contents.files != nil {
		pages = a.contents.files[number].of(pages)
	}
	for _, p := range pages {
		all = append(all, place{p.at, f.directoryBytes(int(p.tags))})
	}
	all = append(all, place{f.size, 1})
	slices.SortFunc(all, func(p, q place) int { return cmp.Or(cmp.Compare(p.offset, q.offset), cmp.Compare(p.bytes, q.bytes)) })
	scan := len(a.series.pages) == len(pages) && !a.series.follow && !slices.ContainsFunc(pages, func(p page) bool { return p.sub })
	end, budget := int64(8), int64(scanBytes)
	for _, p := range all {
		if p.bytes == 0 {
			continue
		}
		switch gap := p.offset - end; {
		case gap < 0 && p.offset+p.bytes != end:
			return fmt.Errorf("%d bytes of a chunk or directory at %d lie across those of another: the file is damaged", p.bytes, p.offset)
		case gap > leastDirectory && scan:
			for _, part := range [2]place{{end, min(gap, scanBytes/16)}, {max(p.offset-scanBytes/16, end), min(gap, scanBytes/16)}} {
				if budget -= part.bytes; budget < 0 {
					scan = false
					break
				}
				at, first := f.lost(part.offset, part.bytes, a.series.layout)
				_, kept := slices.BinarySearchFunc(all, first, func(p place, at int64) int { return cmp.Compare(p.offset, at) })
				if at > 0 && !kept { // else it was written anew elsewhere
					return fmt.Errorf("a page whose directory is at %d is not among the %d that the chain of directories leads to: the file is damaged", at, len(pages))
				}
			}
		}
		end = max(end, p.offset+p.bytes)
	}
	return nil
}

const (
	// scanBytes are how many bytes that belong to nothing are searched for directories.
	scanBytes = 1 << 20
	// leastDirectory is about the size of the smallest directory of an image.
	leastDirectory = 64
)

// read reads the places of a page, and holds them to each other and to the shape.
func (a *stored) read(f *file, p page, all []place) error {
	for i := range all {
		offset, err := f.number(p.offsets, i)
		if err != nil {
			return fmt.Errorf("StripOffsets or TileOffsets: %w", err)
		}
		all[i] = place{int64(min(offset, math.MaxInt64)), -1}
	}
	for i := range all {
		if p.counts.kind == 0 {
			break
		}
		bytes, err := f.number(p.counts, i)
		if err != nil {
			return fmt.Errorf("StripByteCounts or TileByteCounts: %w", err)
		}
		all[i].bytes = int64(min(bytes, math.MaxInt64))
	}
	_, rows, columns := a.grid()
	for i := range all {
		q := &all[i]
		whole := a.Pipeline.MaxEncoded()
		least := whole
		if row := i / columns % rows; !a.tiled && row == rows-1 {
			least = whole / int64(a.chunkRows) * int64(a.length-row*a.chunkRows)
		}
		switch {
		case q.offset == 0 && q.bytes <= 0:
			q.bytes = 0 // it is not stored
			continue
		case a.compression != compressionNone:
		case q.bytes < 0 || q.bytes == whole || a.series.follow:
			q.bytes = least // the last strip may be as long as the others
		case q.bytes != least:
			return fmt.Errorf("chunk %d has %d bytes by StripByteCounts or TileByteCounts, %d by its shape: the file is damaged", i, q.bytes, least)
		}
		if q.bytes == 0 || q.offset < 8 || q.offset > f.size || q.bytes > f.size-q.offset {
			return fmt.Errorf("chunk %d has %d bytes at %d, and the file %d: it is cut short or damaged", i, q.bytes, q.offset, f.size)
		}
	}
	return nil
}

// merge makes one chunk of the strips of a page, where they follow each other in all pages.
func (a *stored) merge() error {
	_, rows, _ := a.grid()
	if err := a.load(); err != nil || a.tiled || rows == 1 {
		return err
	}
	merged := make([]place, 0, len(a.places)/rows)
	for at := 0; at < len(a.places); at += rows {
		all := a.places[at]
		for _, p := range a.places[at+1 : at+rows] {
			if all.bytes == 0 || p.offset != all.offset+all.bytes {
				return nil
			}
			all.bytes += p.bytes
		}
		merged = append(merged, all)
	}
	a.places, a.chunkRows = merged, a.length
	return a.lay()
}

// extent is the whole array where its elements lie in one run, in C order; else it builds the array of chunks.
func (a *stored) extent() (storage.Header, error) {
	var axes []axis // that are longer than one
	for d, n := range a.Shape {
		if n > 1 {
			axes = append(axes, a.series.axes[d])
		}
	}
	if last := len(axes) - 1; last >= 0 && axes[last] == ofSamples && !a.separate {
		axes = axes[:last]
	}
	_, rows, columns := a.grid()
	run := a.contents.files == nil && a.plain() && rows == 1 && columns == 1 && a.chunkRows == a.length && a.chunkWidth == a.width &&
		slices.IsSorted(axes) && grid.Size(a.Shape) > 0
	next := int64(0) // where the next chunk is
	for _, p := range a.places {
		run = run && p.bytes > 0 && (next == 0 || p.offset == next)
		next = p.offset + p.bytes
	}
	switch {
	case run:
		return storage.Header{Extent: store.Extent{Offset: a.places[0].offset, Shape: a.Shape, DType: a.DType, Big: a.bigEndian, Details: a.details}}, nil
	case a.series.follow:
		return storage.Header{}, errors.New("the file has one page of several: it is damaged, or compressed in a way that is not supported")
	}
	return storage.Header{Build: a.build}, nil
}

// find finds a chunk by what its axes are, and the index of its file in contents.files.
func (a *stored) find(chunk []int, src *chunked.Source) (file int32, found bool, err error) {
	if err := a.load(); err != nil {
		return 0, false, err
	}
	var at [4]int // by axis
	for d, i := range chunk {
		switch what := a.series.axes[d]; {
		case what == ofPages:
			at[ofPages] = at[ofPages]*a.Shape[d] + i
		case what != ofSamples || a.separate:
			at[what] = i
		}
	}
	_, rows, columns := a.grid()
	p := a.places[at[ofPages]*a.perPage()+(at[ofSamples]*rows+at[ofRows])*columns+at[ofColumns]]
	file = a.contents.pages[a.series.pages[at[ofPages]]].file
	if p.bytes == 0 {
		return file, false, nil
	}
	src.Base, src.Bytes, src.Pipeline = p.offset, p.bytes, nil
	if !a.tiled { // the last strip ends with the image
		src.Pipeline, err = a.Edge(chunk)
	}
	return file, true, err
}
