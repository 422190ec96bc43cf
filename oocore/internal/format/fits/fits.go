// Package fits reads the images of FITS files: x.fits#1 is the first extension, x.fits#0 the
// primary image, x.fits#NAME the extension of that name; it may be left out where there is one
// image (FITS Standard 4.0). Arrays have the shape that astropy gives them, and the numbers as
// they are stored: a factor and an offset (BSCALE, BZERO) are attributes by the CF conventions.
package fits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(format{"FITS files are read only: save to NAME.zarr or NAME.npy", store.NamedArrays{
		Extensions: store.Extensions{".fits", ".fit", ".fts"},
		Names: func(_ string, r io.ReaderAt, size int64) (numbers []string, err error) {
			all, err := images(r, size)
			for _, m := range all {
				numbers = append(numbers, strconv.Itoa(m.number))
			}
			return numbers, err
		}}})
}

type format struct {
	store.ReadOnly
	store.NamedArrays
}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return store.OpenExtent(ctx, path, file, "fits", func(r io.ReaderAt, size int64) (store.Extent, error) {
		all, err := images(r, size)
		if err != nil {
			return store.Extent{}, err
		}
		return pick(all, name)
	})
}

// image is an image of a file.
type image struct {
	number int // of its part of the file: 0 is the primary one
	name   string
	store.Extent
	err error // why it cannot be read
}

func pick(all []image, name string) (store.Extent, error) {
	var names []string
	for _, m := range all {
		if name == strconv.Itoa(m.number) || name != "" && strings.EqualFold(name, m.name) || name == "" && len(all) == 1 {
			return m.Extent, m.err
		}
		names = append(names, strconv.Itoa(m.number))
		if m.name != "" {
			names[len(names)-1] += " (" + strconv.Quote(m.name) + ")"
		}
	}
	list := "no image"
	if len(names) > 0 {
		list = "images " + strings.Join(names[:min(len(names), 12)], ", ")
	}
	if name == "" {
		return store.Extent{}, fmt.Errorf("the file has %s: add #NUMBER to the path", list)
	}
	return store.Extent{}, fmt.Errorf("no image %.80q: the file has %s", name, list)
}

// A file is a row of parts: a header of cards of 80 bytes, and data, each in blocks of 2880.
const (
	blockBytes = 2880
	cardBytes  = 80
	maxHeader  = 4096 // blocks
	maxParts   = 1 << 16
)

// images reads all headers.
func images(r io.ReaderAt, size int64) (all []image, err error) {
	at := int64(0)
	for number := range maxParts {
		if at >= size {
			break
		}
		h, data, err := header(r, at, size)
		if number > 0 && (err == errNoPart || err == errCut) {
			break // what follows the last part is no part
		}
		if err != nil {
			return nil, fmt.Errorf("the header at %d: %w", at, err)
		}
		m, bytes, err := h.image(data)
		if err != nil {
			return nil, fmt.Errorf("the header at %d: %w", at, err)
		}
		if m != nil {
			m.number = number
			all = append(all, *m)
		}
		if bytes > size-data {
			break // of the last part the end may be missing: who reads it is told
		}
		at = data + (bytes+blockBytes-1)/blockBytes*blockBytes
	}
	if len(all) == 0 && at == 0 {
		return nil, errNoPart
	}
	return all, nil
}

// cards are a header's values by keyword.
type cards map[string]string

var (
	errNoPart = errors.New("not a FITS file: it does not begin with SIMPLE")
	errCut    = errors.New("it is cut short")
)

// header reads the header at a place, and returns where it ends.
func header(r io.ReaderAt, at, size int64) (cards, int64, error) {
	c := cards{}
	block := make([]byte, blockBytes)
	for n := range int64(maxHeader) {
		start := at + n*blockBytes
		if start+blockBytes > size {
			return nil, 0, errCut
		}
		if n, err := r.ReadAt(block, start); n < blockBytes {
			return nil, 0, err
		}
		for i := 0; i < blockBytes; i += cardBytes {
			card := string(block[i : i+cardBytes])
			key := strings.TrimRight(card[:8], " ")
			if n == 0 && i == 0 && key != "SIMPLE" && key != "XTENSION" {
				return nil, 0, errNoPart
			}
			if key == "END" {
				return c, at + (n+1)*blockBytes, nil
			}
			if card[8:10] == "= " {
				c[key] = value(card[10:])
			}
		}
	}
	return nil, 0, errors.New("it has no end")
}

// value is a card's, without a comment.
func value(text string) string {
	text = strings.TrimSpace(text)
	if rest, quoted := strings.CutPrefix(text, "'"); quoted {
		text, _, _ = strings.Cut(strings.ReplaceAll(rest, "''", "\x00"), "'")
		return strings.TrimRight(strings.ReplaceAll(text, "\x00", "'"), " ")
	}
	text, _, _ = strings.Cut(text, "/")
	return strings.TrimSpace(text)
}

func (c cards) int(key string, usual int64) (int64, error) {
	text, ok := c[key]
	if !ok {
		return usual, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < -64 {
		return 0, fmt.Errorf("%s is %.20q", key, text)
	}
	return n, nil
}

// types are by BITPIX.
var types = map[int64]dtype.Type{8: dtype.Uint8, 16: dtype.Int16, 32: dtype.Int32, 64: dtype.Int64, -32: dtype.Float32, -64: dtype.Float64}

// image is the image of a part, nil where it is none, and the bytes of its data.
func (c cards) image(data int64) (m *image, bytes int64, err error) {
	ints := map[string]int64{"GCOUNT": 1}
	for _, key := range []string{"BITPIX", "NAXIS", "GCOUNT", "PCOUNT"} {
		if ints[key], err = c.int(key, ints[key]); err != nil {
			return nil, 0, err
		}
	}
	t, ok := types[ints["BITPIX"]]
	if !ok || ints["NAXIS"] < 0 || ints["NAXIS"] > 999 || ints["GCOUNT"] < 0 || ints["PCOUNT"] < 0 {
		return nil, 0, fmt.Errorf("BITPIX %d with %d axes: the file is damaged", ints["BITPIX"], ints["NAXIS"])
	}
	shape := make([]int, ints["NAXIS"])
	for i := range shape {
		n, err := c.int("NAXIS"+strconv.Itoa(i+1), -1)
		if err == nil && n < 0 {
			err = fmt.Errorf("NAXIS%d is missing", i+1)
		}
		if err != nil {
			return nil, 0, err
		}
		shape[len(shape)-1-i] = int(n)
	}
	if len(shape) == 0 {
		return nil, 0, nil
	}
	if err := grid.Check(shape, t.Size()); err != nil {
		return nil, 0, err
	}
	if grid.Size(shape) > 1<<55 || ints["PCOUNT"] > 1<<55 || ints["GCOUNT"] > 1 {
		return nil, 0, errors.New("groups of images are not supported")
	}
	bytes = (int64(grid.Size(shape)) + ints["PCOUNT"]) * int64(t.Size())
	m = &image{name: c["EXTNAME"], Extent: store.Extent{Offset: data, Shape: shape, DType: t, Big: true}}
	switch kind := c["XTENSION"]; {
	case c["ZIMAGE"] == "T":
		m.err = errors.New("compressed images (ZIMAGE) are not supported: unpack them with funpack")
	case kind != "" && kind != "IMAGE":
		return nil, bytes, nil // a table
	}
	attributes := map[string]any{}
	for key, name := range map[string]string{"BSCALE": "scale_factor", "BZERO": "add_offset", "BLANK": "_FillValue"} {
		if x, err := strconv.ParseFloat(strings.ReplaceAll(c[key], "D", "E"), 64); err == nil && (key == "BLANK" || x != map[string]float64{"BSCALE": 1}[key]) {
			attributes[name] = x
		}
	}
	if c["BUNIT"] != "" {
		attributes["units"] = c["BUNIT"]
	}
	if len(attributes) > 0 {
		m.Details.Attributes, err = json.Marshal(attributes)
	}
	return m, bytes, err
}
