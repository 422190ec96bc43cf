package fits

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// table is the binary table of a compressed image: a row for each tile, and a heap behind the rows that has the tiles' bytes
// (FITS Standard 4.0, sections 7.3.5 and 10.1).
type table struct {
	at, rowBytes, rows int64
	heap, end          int64 // where the heap begins and ends
	columns            map[string]column
	chunk              []int
	how                codec.FITS // how tiles are compressed

	mu   sync.Mutex
	read []byte // the rows, once they were needed
}

// column is where rows have a value: of a type, or P and Q, which are how many elements, of a type, the heap has from a place on.
type column struct {
	at       int64
	kind, of byte
}

// widths are the bytes of types.
var widths = map[byte]int64{'L': 1, 'B': 1, 'I': 2, 'J': 4, 'K': 8, 'A': 1, 'E': 4, 'D': 8, 'C': 8, 'M': 16, 'P': 8, 'Q': 16}

// The columns that have a tile's bytes: the second and third where it was not compressed as the others.
var sources = []string{"COMPRESSED_DATA", "GZIP_COMPRESSED_DATA", "UNCOMPRESSED_DATA"}

// compressed is the image that a table has; nil where it has no axes.
func (c cards) compressed(data int64) *image {
	of := maps.Clone(c)
	maps.DeleteFunc(of, func(key, _ string) bool {
		return slices.Contains([]string{"XTENSION", "GROUPS", "PCOUNT", "GCOUNT"}, key) || strings.HasPrefix(key, "NAXIS")
	})
	of["BITPIX"] = c["ZBITPIX"]
	for key, value := range c {
		if n, ok := strings.CutPrefix(key, "ZNAXIS"); ok {
			of["NAXIS"+n] = value
		}
	}
	if c["BLANK"] == "" && c["ZBLANK"] != "" {
		of["BLANK"] = c["ZBLANK"]
	}
	m, _, err := of.image(data)
	switch {
	case err != nil:
		m = &image{name: c["EXTNAME"], err: fmt.Errorf("the image that is compressed in a table, by ZBITPIX and ZNAXIS: %w", err)}
		m.ver, _ = c.int("EXTVER", 1)
	case m != nil && m.err == nil:
		m.table, m.err = c.table(m, data)
	}
	return m
}

// table is where the tiles of an image are, and how.
func (c cards) table(m *image, data int64) (*table, error) {
	t := &table{at: data, columns: map[string]column{}, how: codec.FITS{Coding: c["ZCMPTYPE"], Block: 32, Bytes: 4, Flip: m.FlipSign}}
	ints := map[string]int64{"TFIELDS": 0, "NAXIS1": 0, "NAXIS2": 0, "PCOUNT": 0, "THEAP": -1}
	for key := range ints {
		n, err := c.int(key, ints[key])
		if err != nil {
			return nil, err
		}
		ints[key] = n
	}
	t.rowBytes, t.rows = ints["NAXIS1"], ints["NAXIS2"]
	all := t.rowBytes*t.rows + ints["PCOUNT"]
	if c["NAXIS"] != "2" || ints["THEAP"] > all {
		return nil, fmt.Errorf("the table of tiles has %.20q axes, and THEAP %d of %d bytes: the file is damaged", c["NAXIS"], ints["THEAP"], all)
	}
	t.heap, t.end = data+max(ints["THEAP"], t.rowBytes*t.rows), data+all
	if t.how.Coding == "PLIO_1" && m.DType == dtype.Uint16 {
		t.how.Flip = false // CFITSIO stores them as they are, as PLIO has no negative integers
	}
	if c["ZMASKCMP"] != "" {
		return nil, errors.New("masks of pixels that are apart (ZMASKCMP) are not supported: unpack the file with funpack")
	}
	at := int64(0)
	for i := range ints["TFIELDS"] {
		key := strconv.FormatInt(i+1, 10)
		form := c["TFORM"+key]
		digits := len(form) - len(strings.TrimLeft(form, "0123456789"))
		n, err := strconv.ParseInt("0"+form[:digits], 10, 40)
		if form = form[digits:]; digits == 0 {
			n = 1
		}
		if err != nil || form == "" || widths[form[0]] == 0 && form[0] != 'X' {
			return nil, fmt.Errorf("TFORM%s is %.20q: the file is damaged", key, c["TFORM"+key])
		}
		of := column{at: at, kind: form[0]}
		if width := widths[form[0]]; width > 0 {
			at += n * width
		} else {
			at += (n + 7) / 8
		}
		if len(form) > 1 {
			of.of = form[1]
		}
		if at > t.rowBytes {
			return nil, fmt.Errorf("the columns have more bytes than NAXIS1, which is %d: the file is damaged", t.rowBytes)
		}
		if n > 0 {
			t.columns[strings.ToUpper(c["TTYPE"+key])] = of
		}
	}
	for name, kinds := range map[string]string{sources[0]: "PQ", sources[1]: "PQ", sources[2]: "PQ", "ZSCALE": "DE", "ZZERO": "DE", "ZBLANK": "BIJK"} {
		of, there := t.columns[name]
		if there && (!strings.ContainsRune(kinds, rune(of.kind)) || kinds == "PQ" && widths[of.of] == 0) {
			return nil, fmt.Errorf("the column %s of an image that is compressed has a type that is not supported", name)
		}
	}
	if _, ok := t.columns[sources[0]]; !ok {
		return nil, errors.New("a table with an image (ZIMAGE) has no column COMPRESSED_DATA: the file is damaged")
	}
	for i := 1; c["ZNAME"+strconv.Itoa(i)] != ""; i++ {
		to := map[string]*int{"BLOCKSIZE": &t.how.Block, "BYTEPIX": &t.how.Bytes}[strings.ToUpper(c["ZNAME"+strconv.Itoa(i)])]
		if to == nil {
			continue
		}
		n, err := c.int("ZVAL"+strconv.Itoa(i), 0)
		if err != nil {
			return nil, err
		}
		*to = int(n)
	}
	if err := t.tile(c, m); err != nil {
		return nil, err
	}
	return t, t.quantize(c, m)
}

// tile takes the shape of tiles.
func (t *table) tile(c cards, m *image) error {
	t.chunk = make([]int, len(m.Shape))
	for i := range t.chunk {
		d := len(t.chunk) - 1 - i
		usual := map[bool]int{true: m.Shape[d], false: 1}[i == 0]
		n, err := c.int("ZTILE"+strconv.Itoa(i+1), int64(max(usual, 1)))
		if err != nil || n < 1 {
			return fmt.Errorf("ZTILE%d is %.20q: the file is damaged", i+1, c["ZTILE"+strconv.Itoa(i+1)])
		}
		t.chunk[d] = int(min(n, int64(max(m.Shape[d], 1))))
	}
	if n := (grid.Grid{Shape: m.Shape, Chunks: t.chunk}).Len(); int64(n) != t.rows {
		return fmt.Errorf("an image of %s in tiles of %s has %d of them, its table %d rows: the file is damaged", grid.Format(m.Shape), grid.Format(t.chunk), n, t.rows)
	}
	return nil
}

// quantize takes what the integers of floats stand for.
func (t *table) quantize(c cards, m *image) (err error) {
	_, scales := t.columns["ZSCALE"]
	_, blanks := t.columns["ZBLANK"]
	switch method := c["ZQUANTIZ"]; {
	case m.DType.Integer() && (scales || blanks):
		return errors.New("integers with a column ZSCALE or ZBLANK are not supported: unpack the file with funpack")
	case m.DType.Integer(), method == "NONE", !scales && c["ZSCALE"] == "":
		return nil
	case !slices.Contains([]string{"", "NO_DITHER", "SUBTRACTIVE_DITHER_1", "SUBTRACTIVE_DITHER_2"}, method):
		return fmt.Errorf("ZQUANTIZ is %.30q, which is not supported: unpack the file with funpack", method)
	default:
		t.how.Quantum = &codec.Quantum{Scale: c.float("ZSCALE", 1), Zero: c.float("ZZERO", 0), Dither: strings.HasPrefix(method, "SUB"), Zeros: strings.HasSuffix(method, "_2")}
	}
	q := t.how.Quantum
	seed, err := c.int("ZDITHER0", 1)
	if err != nil || seed < 1 || seed > 10000 || math.IsNaN(q.Scale) || math.IsNaN(q.Zero) {
		return fmt.Errorf("ZDITHER0 is %.20q, ZSCALE %.20q and ZZERO %.20q: the file is damaged", c["ZDITHER0"], c["ZSCALE"], c["ZZERO"])
	}
	q.Seed = int(seed - 1)
	for _, key := range []string{"ZBLANK", "BLANK"} {
		if text := c[key]; text != "" && !q.Missing {
			if q.Blank, err = strconv.ParseInt(text, 10, 64); err != nil {
				return fmt.Errorf("%s is %.20q, which is not an integer", key, text)
			}
			q.Missing = true
		}
	}
	return nil
}

// tiled is the array of a file of so many bytes.
func (m *image) tiled(path string, size int64) (h storage.Header, err error) {
	t := m.table
	if bytes := t.rowBytes * t.rows; bytes > size-t.at {
		return h, fmt.Errorf("the table of tiles has %d bytes at %d, and the file %d: it is cut short or damaged", bytes, t.at, size)
	}
	a := &chunked.File{}
	a.Path, a.Shape, a.Chunk, a.DType, a.Fill = path, m.Shape, t.chunk, m.DType, make([]byte, m.DType.Size())
	if a.Pipeline, err = codec.FromFITS(t.how, a.Chunk, a.DType); err != nil {
		return h, err
	}
	t.end = min(t.end, size)
	h.Build = func(o storage.Object, id store.FileVersion) (store.Array, error) {
		a.Object = o
		a.FindIn(chunked.Source{Object: o, Kind: "tile"}, func(chunk []int, at *chunked.Source) (bool, error) {
			number := a.Number(chunk)
			if at.Serial == number+1 {
				return true, nil
			}
			at.Serial, at.Key = 0, strconv.Itoa(number)
			err := t.find(a, chunk, at)
			if err != nil {
				return false, fmt.Errorf("tile %d: %w", number, err)
			}
			at.Serial = number + 1
			return true, nil
		})
		info := storage.Header{Extent: m.Extent}.Info(path, "fits", id)
		info.Chunks, info.Codec, info.Work, info.Bytes = a.Chunk, a.Pipeline.String(), a.Work(), t.end-t.at
		info.Work.Open = t.rowBytes * t.rows
		a.Describe(info)
		return a, nil
	}
	return h, nil
}

// load reads the rows.
func (t *table) load(o storage.Object) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read != nil {
		return nil
	}
	m := meter.Meter{What: "the list of its tiles"}
	defer m.Done()
	if err := m.Take(t.rowBytes * t.rows); err != nil {
		return err
	}
	read := make([]byte, t.rowBytes*t.rows)
	if err := o.ReadAt(context.Background(), read, t.at); err != nil {
		return storage.Plain(err)
	}
	t.read = read
	return nil
}

// find moves at to a tile, and says how it is stored.
func (t *table) find(a *chunked.File, chunk []int, at *chunked.Source) error {
	if err := t.load(a.Object); err != nil {
		return err
	}
	number, shape := a.Number(chunk), slices.Clone(a.Chunk)
	for d, n := range chunk {
		shape[d] = min(shape[d], a.Shape[d]-n*shape[d])
	}
	row := t.read[int64(number)*t.rowBytes:][:t.rowBytes]
	for i, name := range sources {
		of, ok := t.columns[name]
		if !ok {
			continue
		}
		count, offset := of.descriptor(row)
		if count == 0 {
			continue
		}
		room, item := t.end-t.heap, widths[of.of]
		if count < 0 || offset < 0 || offset > room || count > (room-offset)/item {
			return fmt.Errorf("%d elements of %d bytes at %d of a heap of %d: the file is cut short or damaged", count, item, offset, max(room, 0))
		}
		at.Base, at.Bytes = t.heap+offset, count*item
		var err error
		how := t.how
		switch {
		case i > 0:
			how = codec.FITS{Coding: []string{"GZIP_1", "NOCOMPRESS"}[i-1], Flip: how.Flip}
		case how.Quantum != nil:
			how.Quantum = t.quantum(row, number)
		case slices.Equal(shape, a.Chunk):
			at.Pipeline = nil
			return nil
		}
		at.Pipeline, err = codec.FromFITS(how, shape, a.DType)
		return err
	}
	return errors.New("it has no data: the file is damaged")
}

// descriptor is how many elements a row has in the heap, and where. Those of P have no sign, as CFITSIO has it.
func (of column) descriptor(row []byte) (count, offset int64) {
	width := widths[of.kind] / 2
	return int64(number(row[of.at:][:width])), int64(number(row[of.at+width:][:width]))
}

// number is big-endian.
func number(b []byte) (v uint64) {
	for _, b := range b {
		v = v<<8 | uint64(b)
	}
	return v
}

// quantum is what the integers of a tile stand for, by its row.
func (t *table) quantum(row []byte, tile int) *codec.Quantum {
	q := *t.how.Quantum
	q.Seed = (q.Seed + tile) % 10000
	for name, to := range map[string]*float64{"ZSCALE": &q.Scale, "ZZERO": &q.Zero} {
		switch of := t.columns[name]; of.kind {
		case 'D':
			*to = math.Float64frombits(number(row[of.at:][:8]))
		case 'E':
			*to = float64(math.Float32frombits(uint32(number(row[of.at:][:4]))))
		}
	}
	if of, ok := t.columns["ZBLANK"]; ok {
		width := widths[of.kind]
		v := number(row[of.at:][:width])
		if q.Blank, q.Missing = int64(v), true; width > 1 {
			q.Blank = int64(v<<(64-8*width)) >> (64 - 8*width)
		}
	}
	return &q
}
