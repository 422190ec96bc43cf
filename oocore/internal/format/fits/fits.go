// Package fits reads the images of FITS files: x.fits#1 is the first extension, x.fits#0 the
// primary image, x.fits#NAME the extension of that name, and x.fits#NAME,VER that of a version
// (EXTVER); it may be left out where there is one image (FITS Standard 4.0). Arrays have the shape
// and, where integers stand for integers, the type that astropy gives them.
//
// What the standard lets change the meaning of bytes, and what is done with it:
//   - BITPIX, NAXIS, NAXISn: type and shape; those that no image can have are errors.
//   - BZERO of 2¹⁵, 2³¹ or 2⁶³ with BITPIX of 16, 32 or 64, and of -128 with 8, without BSCALE: the
//     array is uint16, uint32, uint64 or int8, to the last bit.
//   - Other BSCALE and BZERO: the numbers are as they are stored, with the attributes scale_factor and
//     add_offset of the CF conventions, which decode_cf applies. One that is no number is an error.
//   - BLANK of integers: the attribute _FillValue. Of floats it has no meaning, and is left out.
//   - BUNIT: the attribute units.
//   - PCOUNT, GCOUNT: where the next part begins. Random groups (GROUPS) are an error by that name.
//   - XTENSION: IMAGE is an image; tables and other kinds are passed over.
//   - ZIMAGE: an image that is compressed in a table, as by fpack. Its tiles are the chunks: by RICE_1, GZIP_1, GZIP_2, PLIO_1, or
//     NOCOMPRESS; HCOMPRESS_1 is an error by that name. Floats that are stored as integers (ZSCALE, ZZERO, ZBLANK, ZQUANTIZ, ZDITHER0)
//     have the bits that astropy gives them. ZBLANK of integers is read as BLANK. Masks that are apart (ZMASKCMP), and columns ZSCALE and
//     ZBLANK of integers, are an error by that name.
//   - EXTNAME, EXTVER: names. A name that several images share is an error that lists them, as they may
//     be parts of one picture.
//   - SIMPLE = F, a file that does not follow the standard: an error.
//   - CONTINUE: long texts are joined. Of a keyword that is repeated the first counts, as in astropy.
//   - CTYPEn, CRVALn, CRPIXn, CDELTn, CUNITn, PCi_j, CDi_j: an axis that is linear and turned with no other is named by its CTYPE,
//     and its labels are those of the first description of coordinates (WCS). Others, such as RA---TAN, have neither.
//   - INHERIT: extensions have their own keywords only, as in astropy. CHECKSUM and DATASUM are not read.
package fits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(format{"FITS files are read only: save to NAME.zarr or NAME.npy", storage.NamedArrays{
		Extensions: storage.Extensions{".fits", ".fit", ".fts", ".fz"},
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
	storage.NamedArrays
}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return storage.OpenHeader(ctx, path, file, "fits", func(r io.ReaderAt, size int64) (storage.Header, error) {
		all, err := images(r, size)
		if err != nil {
			return storage.Header{}, err
		}
		m, err := pick(all, name)
		switch {
		case err != nil:
			return storage.Header{}, err
		case m.err != nil || m.table == nil:
			return storage.Header{Extent: m.Extent}, m.err
		}
		return m.tiled(path, size)
	})
}

// image is an image of a file.
type image struct {
	number int // of its part of the file: 0 is the primary one
	name   string
	ver    int64 // of the images of its name
	store.Extent
	table *table // of its tiles; nil of one that is not compressed
	err   error  // why it cannot be read
}

func pick(all []image, name string) (*image, error) {
	var names []string
	var alike []image // which the name may mean
	for _, m := range all {
		if name == strconv.Itoa(m.number) || name == "" && len(all) == 1 {
			return &m, nil
		}
		if m.name != "" && (strings.EqualFold(name, m.name) || strings.EqualFold(name, fmt.Sprintf("%s,%d", m.name, m.ver))) {
			alike = append(alike, m)
		}
		names = append(names, strconv.Itoa(m.number))
		if m.name != "" {
			names[len(names)-1] += fmt.Sprintf(" (%q)", m.name)
		}
	}
	switch len(alike) {
	case 0:
	case 1:
		return &alike[0], nil
	default: // perhaps parts of one picture
		names = names[:0]
		for _, m := range alike[:min(len(alike), 12)] {
			names = append(names, fmt.Sprintf("#%d (%s,%d)", m.number, m.name, m.ver))
		}
		return nil, fmt.Errorf("%d images have the name %.80q: use one of %s", len(alike), name, strings.Join(names, ", "))
	}
	list := "no image"
	if len(names) > 0 {
		list = "images " + strings.Join(names[:min(len(names), 12)], ", ")
	}
	if name == "" {
		return nil, fmt.Errorf("the file has %s: add #NUMBER to the path", list)
	}
	return nil, fmt.Errorf("no image %.80q: the file has %s", name, list)
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
	last := "" // keyword
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
			switch {
			case key == "CONTINUE" && strings.HasSuffix(c[last], "&"):
				c[last] = strings.TrimSuffix(c[last], "&") + value(card[8:])
			case card[8:10] == "= ":
				if last = key; c[key] == "" {
					c[key] = value(card[10:])
				}
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
	if c["SIMPLE"] == "F" {
		return nil, 0, errors.New("SIMPLE = F: the file does not follow the FITS standard")
	}
	if len(shape) == 0 {
		return nil, 0, nil
	}
	elements := shape
	groups := c["GROUPS"] == "T" && shape[len(shape)-1] == 0 // of NAXIS1
	if groups {
		elements = shape[:len(shape)-1]
	}
	if err := grid.Check(elements, t.Size()); err != nil {
		return nil, 0, err
	}
	each := int64(grid.Size(elements)) + ints["PCOUNT"]
	if ints["PCOUNT"] > 1<<56 || each > 1<<56 || ints["GCOUNT"] > (1<<56)/max(each, 1) {
		return nil, 0, fmt.Errorf("GCOUNT %d of PCOUNT %d and shape %s: the file is damaged", ints["GCOUNT"], ints["PCOUNT"], grid.Format(shape))
	}
	bytes = each * ints["GCOUNT"] * int64(t.Size())
	m = &image{name: c["EXTNAME"], Extent: store.Extent{Offset: data, Shape: shape, DType: t, Big: true}}
	if m.ver, err = c.int("EXTVER", 1); err != nil {
		m.ver = 1
	}
	switch kind := c["XTENSION"]; {
	case groups || ints["GCOUNT"] > 1 && (kind == "" || kind == "IMAGE"):
		m.err = errors.New("random groups (GROUPS, GCOUNT) are not supported: write them as a table or as images with astropy")
		return m, bytes, nil
	case c["ZIMAGE"] == "T" && kind != "" && kind != "IMAGE":
		return c.compressed(data), bytes, nil
	case kind != "" && kind != "IMAGE":
		return nil, bytes, nil // a table
	}
	m.err = m.describe(c)
	return m, bytes, nil
}

// describe says what the numbers of an image stand for.
func (m *image) describe(c cards) (err error) {
	attributes := map[string]any{}
	scale, offset := 1.0, 0.0
	for key, to := range map[string]*float64{"BSCALE": &scale, "BZERO": &offset} {
		if c[key] == "" {
			continue
		}
		if *to = c.float(key, 0); math.IsNaN(*to) || math.IsInf(*to, 0) {
			return fmt.Errorf("%s is %.20q, which is not a number", key, c[key])
		}
	}
	if c["BLANK"] != "" && m.DType.Integer() {
		blank, err := strconv.ParseInt(c["BLANK"], 10, 64)
		if err != nil {
			return fmt.Errorf("BLANK is %.20q, which is not an integer", c["BLANK"])
		}
		if m.DType.Fits(blank) { // else no number is equal to it
			attributes["_FillValue"] = blank
		}
	}
	if to, ok := integers[stored{m.DType, offset}]; ok && scale == 1 {
		if blank, ok := attributes["_FillValue"].(int64); ok {
			attributes["_FillValue"] = json.RawMessage(dtype.FromInt(to, blank^int64(1)<<(8*to.Size()-1)).String())
		}
		m.DType, m.FlipSign, offset = to, true, 0
	}
	if scale != 1 {
		attributes["scale_factor"] = scale
	}
	if offset != 0 {
		attributes["add_offset"] = offset
	}
	if c["BUNIT"] != "" {
		attributes["units"] = c["BUNIT"]
	}
	m.label(c)
	if len(attributes) > 0 {
		m.Details.Attributes, err = json.Marshal(attributes)
	}
	return err
}

// label names the axes that are linear by WCS (Greisen & Calabretta, 2002), and gives them their labels.
func (m *image) label(c cards) {
	whole := false // CD stands in place of CDELT and PC
	for key := range c {
		whole = whole || strings.HasPrefix(key, "CD") && strings.Contains(key, "_")
	}
	element := func(i, j int) float64 {
		if whole {
			return c.float(fmt.Sprintf("CD%d_%d", i, j), 0)
		}
		return c.float(fmt.Sprintf("PC%d_%d", i, j), map[bool]float64{true: 1}[i == j]) * c.float(fmt.Sprintf("CDELT%d", i), 1)
	}
	dims, lines := make([]string, len(m.Shape)), map[string]store.Line{}
	for i := 1; i <= len(dims); i++ {
		of := strconv.Itoa(i)
		name, step := c["CTYPE"+of], element(i, i)
		l := store.Line{First: c.float("CRVAL"+of, 0) + step*(1-c.float("CRPIX"+of, 0)), Step: step, Unit: c["CUNIT"+of]}
		ok := name != "" && !(len(name) > 4 && name[4] == '-') && step != 0 && c.float("CROTA"+of, 0) == 0 // "-" begins a projection, or another function
		for j := 1; j <= len(dims); j++ {
			ok = ok && (j == i || element(i, j) == 0 && element(j, i) == 0)
		}
		if _, twice := lines[name]; ok && !twice && !math.IsNaN(l.First+l.Step) && !math.IsInf(l.First+l.Step, 0) {
			dims[len(dims)-i], lines[name] = name, l
		}
	}
	if len(lines) > 0 {
		m.Details.Dims, m.Details.Lines = dims, lines
	}
}

// float is the number of a keyword, which is usual without it; NaN for what is none.
func (c cards) float(key string, usual float64) float64 {
	if c[key] == "" {
		return usual
	}
	f, err := strconv.ParseFloat(strings.Replace(strings.ToUpper(c[key]), "D", "E", 1), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// stored is a type that is stored, with what BZERO adds to it.
type stored struct {
	dtype  dtype.Type
	offset float64
}

// integers are the types that FITS stores as others.
var integers = map[stored]dtype.Type{
	{dtype.Uint8, -1 << 7}: dtype.Int8, {dtype.Int16, 1 << 15}: dtype.Uint16, {dtype.Int32, 1 << 31}: dtype.Uint32, {dtype.Int64, 1 << 63}: dtype.Uint64,
}
