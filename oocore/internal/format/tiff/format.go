// Package tiff reads the images of TIFF and BigTIFF files: x.tif is the first array, x.tif#1 the
// second. Pages of one layout are one array, as tifffile reads them: with the axes that OME-XML,
// ImageJ or tifffile have written, else along a first axis.
//
// It reads the places of strips and tiles and nothing else: package chunked reads the chunks.
package tiff

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(format{"TIFF files are read only: save to NAME.zarr or NAME.npy", store.NamedArrays{
		Extensions: store.Extensions{".tif", ".tiff"},
		Names: func(path string, r io.ReaderAt, size int64) (numbers []string, err error) {
			c, err := readContents(path, &file{r: r, size: size})
			if err != nil {
				return nil, err
			}
			for i := range c.series {
				numbers = append(numbers, strconv.Itoa(i))
			}
			return numbers, nil
		}}})
}

type format struct {
	store.ReadOnly
	store.NamedArrays
}

const formatName = "tiff"

// readContents is file.read of a file that was opened before, too.
func readContents(path string, f *file) (*contents, error) {
	return headers.Read(path, f.r, func(take func(bytes int64) error) (*contents, error) {
		c, err := f.read()
		if err != nil {
			return nil, err
		}
		return c, take(int64(len(c.pages)) * pageBytes)
	})
}

// pageBytes is about what a page takes of memory.
const pageBytes = 256

// pick returns the array of a name, or the first one.
func (c *contents) pick(name string) (*series, error) {
	n := 0
	if name != "" {
		var err error
		if n, err = strconv.Atoi(name); err != nil || n < 0 || n >= len(c.series) {
			return nil, fmt.Errorf("no array %.80q: the file has 0 to %d", name, len(c.series)-1)
		}
	}
	return &c.series[n], c.series[n].err
}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return store.OpenExtent(ctx, path, file, formatName, func(r io.ReaderAt, size int64) (store.Extent, error) {
		a, err := newArray(path, file, name, r, size)
		if err != nil {
			return store.Extent{}, err
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

	once   sync.Once
	places [][]place // by page, in C order of samples, rows and columns; nil where nothing is stored
	chunks int64     // of all pages
	err    error
}

// place is where a chunk lies. One without bytes is not stored.
type place struct{ offset, bytes int64 }

// placeBytes is what a place takes of Go's heap while it is read.
const placeBytes = 48

func newArray(path, name, member string, r io.ReaderAt, size int64) (*stored, error) {
	f := &file{r: r, size: size}
	c, err := readContents(name, f)
	if err != nil {
		return nil, err
	}
	s, err := c.pick(member)
	if err != nil {
		return nil, err
	}
	f.order = c.order
	a := &stored{layout: s.layout, series: s, contents: c, file: f}
	if a.DType, err = s.dtype(); err != nil {
		return nil, err
	}
	a.Path, a.Shape, a.Fill = path, s.shape, make([]byte, a.DType.Size())
	if err := grid.Check(a.Shape, len(a.Fill)); err != nil {
		return nil, err
	}
	if a.chunks, err = a.count(); err == nil {
		err = a.lay()
	}
	if err == nil && a.compression == compressionNone {
		err = a.merge()
	}
	return a, err
}

// build makes the array of the file that is open.
func (a *stored) build(o store.Object, id store.FileVersion) (store.Array, error) {
	a.Object = o
	a.FindIn(chunked.Source{Object: o, Kind: "file", Key: a.Path}, a.find)
	work := a.Work()
	work.Open = a.chunks*placeBytes + int64(len(a.series.pages))*pageBytes
	a.Describe(store.Info{Format: formatName, Chunks: a.Chunk, Open: a.Pipeline.Plain(), Codec: a.Pipeline.String(), Bytes: -1, ID: id, Work: work, Details: store.Details{Dims: a.series.dims}})
	return a, nil
}

// count is how many chunks all pages have. It rejects more than the file can have places of.
func (a *stored) count() (all int64, err error) {
	samples, rows, columns := a.grid()
	perPage := float64(samples) * float64(rows) * float64(columns)
	distinct := map[int]bool{}
	for _, k := range a.series.pages {
		if k == missing || distinct[k] {
			continue
		}
		distinct[k] = true
		if n := a.contents.pages[k].offsets.count; perPage > float64(n) {
			return 0, fmt.Errorf("page %d has %g chunks, and the places of %d: the file is damaged", k, perPage, n)
		}
	}
	if chunks := perPage * float64(len(distinct)); chunks > float64(a.file.size/2) {
		return 0, fmt.Errorf("%g chunks are more than a file of %d bytes has places of: it is damaged", chunks, a.file.size)
	}
	return int64(perPage) * int64(len(distinct)), nil
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
	a.Pipeline, err = codec.FromTIFF(a.compression, a.predictor, a.chunkWidth, samples, a.file.order == binary.BigEndian, a.Chunk, a.DType)
	return err
}

// load reads the places of all chunks.
func (a *stored) load() error {
	a.once.Do(func() {
		read := map[int][]place{}
		for _, k := range a.series.pages {
			if _, ok := read[k]; !ok && k != missing {
				if read[k], a.err = a.read(a.contents.pages[k]); a.err != nil {
					a.err = fmt.Errorf("page %d: %w", k, a.err)
					return
				}
			}
			a.places = append(a.places, read[k])
		}
		a.file.window = nil
	})
	return a.err
}

// read reads the places of a page.
func (a *stored) read(p page) ([]place, error) {
	samples, rows, columns := a.grid()
	all := make([]place, samples*rows*columns)
	offsets, err := a.file.numbers(p.offsets, uint64(len(all)))
	if err != nil {
		return nil, fmt.Errorf("places of chunks: %w", err)
	}
	var counts []uint64 // where they are not known
	if a.compression != compressionNone {
		if counts, err = a.file.numbers(p.counts, uint64(len(all))); err != nil {
			return nil, fmt.Errorf("sizes of chunks: %w", err)
		}
	}
	for i, offset := range offsets {
		bytes := a.ChunkBytes()
		if counts != nil {
			bytes = int64(min(counts[i], math.MaxInt64))
		} else if row := i / columns % rows; !a.tiled && row == rows-1 {
			bytes = bytes / int64(a.chunkRows) * int64(a.length-row*a.chunkRows)
		}
		if offset == 0 || bytes == 0 {
			continue // nothing is stored
		}
		if offset > uint64(a.file.size) || bytes > a.file.size-int64(offset) {
			return nil, fmt.Errorf("a chunk of %d bytes at %d is beyond the end of the file, which has %d: it is cut short or damaged", bytes, offset, a.file.size)
		}
		all[i] = place{int64(offset), bytes}
	}
	return all, nil
}

// merge makes one chunk of the strips of a page, where they follow each other in all pages.
func (a *stored) merge() error {
	_, rows, _ := a.grid()
	if err := a.load(); err != nil || a.tiled || rows == 1 {
		return err
	}
	merged := make([][]place, len(a.places))
	for k, page := range a.places {
		for at := 0; at < len(page); at += rows {
			all := page[at]
			for _, p := range page[at+1 : at+rows] {
				if all.bytes == 0 || p.offset != all.offset+all.bytes {
					return nil
				}
				all.bytes += p.bytes
			}
			merged[k] = append(merged[k], all)
		}
	}
	a.places, a.chunkRows = merged, a.length
	return a.lay()
}

// extent is the whole array where its elements lie in one run, in C order; else it builds the array of chunks.
func (a *stored) extent() (store.Extent, error) {
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
	run := a.compression == compressionNone && rows == 1 && columns == 1 && a.chunkRows == a.length && a.chunkWidth == a.width &&
		slices.IsSorted(axes) && grid.Size(a.Shape) > 0
	next := int64(0) // where the next chunk is
	for _, page := range a.places {
		for _, p := range page {
			run = run && p.bytes > 0 && (next == 0 || p.offset == next)
			next = p.offset + p.bytes
		}
		run = run && page != nil
	}
	switch {
	case run:
		return store.Extent{Offset: a.places[0][0].offset, Shape: a.Shape, DType: a.DType, Big: a.file.order == binary.BigEndian, Details: store.Details{Dims: a.series.dims}}, nil
	case a.series.follow:
		return store.Extent{}, errors.New("the file has one page of several: it is damaged, or compressed in a way that is not supported")
	}
	return store.Extent{Build: a.build}, nil
}

// find finds a chunk by what its axes are.
func (a *stored) find(chunk []int, src *chunked.Source) (found bool, err error) {
	if err := a.load(); err != nil {
		return false, err
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
	page := a.places[at[ofPages]]
	if page == nil {
		return false, nil
	}
	_, rows, columns := a.grid()
	p := page[(at[ofSamples]*rows+at[ofRows])*columns+at[ofColumns]]
	if p.bytes == 0 {
		return false, nil
	}
	src.Base, src.Bytes, src.Pipeline = p.offset, p.bytes, nil
	if !a.tiled { // the last strip ends with the image
		src.Pipeline, err = a.Edge(chunk)
	}
	return true, err
}
