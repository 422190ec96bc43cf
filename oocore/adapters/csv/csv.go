// Package csv reads files of comma-separated values as arrays (.csv, .tsv) and into stored arrays, and writes them, within bounded memory:
//
//	price := oocore.Open("trades.csv#price")     // a column, by its name
//	x := oocore.Open("trades.csv#table")         // all columns, which are numbers, as rows × columns
//	all := oocore.OpenAll("trades.csv")          // every column; those of text have an error
//	x, err := csv.Save(ctx, "trades.csv", "trades.npy", csv.Options{})           // one array, rows × columns
//	c, err := csv.SaveColumns(ctx, "trades.csv", "trades.zarr", csv.Options{})   // an array of each column, by its name
//	err = csv.Write(ctx, x, "rows.csv")
//
// Files that are opened have names in the first row, or trades.csv?header=none, whose columns are 0, 1, 2 and so on. What stands between fields is
// the comma, semicolon, tab or bar of which the first row has most. Types are those of pandas.read_csv: bool (true, false), int64, or
// float64, in which what pandas takes for missing (an empty field, NA, null and so on) is NaN. A column of other text is rejected when it is opened.
// Opening reads the file once, and computing with a column again: for much work Save and SaveColumns store it.
//
// Save and SaveColumns read a file once, from front to back; it may be of any size. What is no number of a column's
// type, an empty field, and a row with more or fewer fields than the first one are errors that name the
// line and the column; then nothing is stored.
package csv

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/units"
)

// Options say what a file has and what is taken of it. The zero value takes all columns as float64, by
// the names in the first row.
type Options struct {
	// Columns are the names of those to take, in this order; nil takes all.
	Columns []string
	// DTypes are the types of elements: one for all columns, or one for each that is taken; nil is Float64.
	// They are bool, integers, Float32 and Float64.
	DTypes []oocore.DType
	// NoHeader says that the first row has values; columns are named 0, 1, 2 and so on.
	NoHeader bool
	// Comma stands between fields; 0 is a comma.
	Comma rune
}

const (
	bufferBytes = 128 << 10 // through which the file is read
	spoolBytes  = 4 << 20   // through which columns are written
	rowBytes    = 16 << 20  // of the longest row
	rowFields   = 256 << 10 // of the widest row: each takes 40 bytes, however short
)

// Save reads a file into an array of rows × columns at a path that Array.Save takes, with its options.
// The columns have one type. Beside the output lies a temporary file of the array's size meanwhile.
func Save(ctx context.Context, file, path string, o Options, opts ...oocore.Option) (*oocore.Array, error) {
	if len(o.DTypes) > 1 {
		return nil, failed(errors.New("an array has one type: give Options.DTypes one, or use SaveColumns"))
	}
	t, err := read(ctx, file, path, o, true)
	if err != nil {
		return nil, failed(err)
	}
	defer t.remove()
	return t.columns[0].array(t.rows, len(t.columns)).Save(ctx, path, opts...)
}

// SaveColumns reads a file into an array of each column, in a file or folder that Collection.Save
// takes, with its options. Beside the output lie temporary files of the arrays' size meanwhile.
func SaveColumns(ctx context.Context, file, path string, o Options, opts ...oocore.Option) (*oocore.Collection, error) {
	t, err := read(ctx, file, path, o, false)
	if err != nil {
		return nil, failed(err)
	}
	defer t.remove()
	all := new(oocore.Collection)
	for _, c := range t.columns {
		all = all.With(c.name, c.array(t.rows))
	}
	return all.Save(ctx, path, opts...)
}

func failed(err error) error {
	return &oocore.Error{Op: "csv", Site: graph.Caller(), Err: err}
}

// table is what was read: its elements are in temporary files.
type table struct {
	folder  string
	columns []column
	spools  []*spool
	rows    int
}

type column struct {
	name  string
	field int // in a row
	parse func(dst []byte, field string) ([]byte, error)
	*spool
}

// spool is a temporary file of the elements of a column, or of those of all columns row by row.
type spool struct {
	file  string
	dtype oocore.DType
	buf   []byte
}

// array is the elements of a spool in a shape.
func (s *spool) array(shape ...int) *oocore.Array {
	if shape[0] == 0 {
		return oocore.Zeros(s.dtype, shape...)
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ",")
	return oocore.Open(fmt.Sprintf("%s?shape=%s&dtype=%s", s.file, text, s.dtype))
}

// flush appends what the buffer has to the file. It does not stay open: a file may have thousands of
// columns.
func (s *spool) flush() error {
	f, err := os.OpenFile(s.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(s.buf)
	s.buf = s.buf[:0]
	return errors.Join(err, f.Close())
}

func (t *table) remove() { _ = os.RemoveAll(t.folder) } // no array depends on it any more

// read reads a file into temporary files in the folder of an output: one for all columns together, or one for each.
func read(ctx context.Context, file, output string, o Options, together bool) (t *table, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", file, storage.Plain(err))
		}
	}()
	if at := begin(f); at > 0 {
		if _, err := f.Seek(at, io.SeekStart); err != nil {
			return nil, err
		}
	}
	from := &bounded{r: f, comma: []byte(string(cmp.Or(o.Comma, ',')))}
	rows := csv.NewReader(bufio.NewReaderSize(from, bufferBytes))
	rows.ReuseRecord = true
	rows.Comma = cmp.Or(o.Comma, ',')
	first, err := from.row(rows)
	if err == io.EOF {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	t = &table{}
	if t.columns, err = o.columns(first); err != nil {
		return nil, err
	}
	for i, seen := 0, map[string]bool{}; i < len(t.columns) && !together; i++ {
		name := t.columns[i].name
		if seen[name] {
			return nil, fmt.Errorf("two columns have the name %q: name those to take in Options.Columns", name)
		}
		seen[name] = true
	}
	if t.folder, err = os.MkdirTemp(storage.ExistingFolder(output), ".csv-*"); err != nil {
		return nil, err
	}
	if err := t.fill(ctx, from, rows, first, o.NoHeader, together); err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

// fill reads the rows after the first one, and that where it has values.
func (t *table) fill(ctx context.Context, from *bounded, rows *csv.Reader, row []string, values, together bool) (err error) {
	width := 0 // of a row in bytes
	for i := range t.columns {
		c := &t.columns[i]
		width += c.dtype.Size()
		if i == 0 || !together {
			t.spools = append(t.spools, c.spool)
		}
		c.spool = t.spools[len(t.spools)-1]
		c.file = filepath.Join(t.folder, strconv.Itoa(len(t.spools))+".bin")
	}
	each := max(spoolBytes/width, 1) // rows in the buffers
	for ; err == nil; row, err = from.row(rows) {
		if !values {
			values = true
			continue
		}
		for i := range t.columns {
			c := &t.columns[i]
			if c.buf, err = c.parse(c.buf, strings.TrimSpace(row[c.field])); err != nil {
				line, _ := rows.FieldPos(c.field)
				return fmt.Errorf("line %d, column %q: %w", line, c.name, err)
			}
		}
		if t.rows++; t.rows%each == 0 {
			if err := t.flush(ctx); err != nil {
				return err
			}
		}
	}
	if err != io.EOF {
		return err
	}
	err = t.flush(ctx)
	for _, s := range t.spools {
		s.buf = nil
	}
	return err
}

func (t *table) flush(ctx context.Context) error {
	for _, s := range t.spools {
		if err := errors.Join(context.Cause(ctx), s.flush()); err != nil {
			return err
		}
	}
	return nil
}

// bounded ends reading where a row is too long, or has too many fields, to be held in memory.
type bounded struct {
	r            io.Reader
	comma        []byte
	left, fields int // of the row
}

var (
	errLongRow = fmt.Errorf("a row is longer than %s: is a quote not closed?", units.Exact(rowBytes))
	errWideRow = fmt.Errorf("a row has more than %s fields: is a quote not closed?", units.Count(rowFields))
)

func (b *bounded) Read(p []byte) (int, error) {
	switch {
	case b.left <= 0:
		return 0, errLongRow
	case b.fields < 0:
		return 0, errWideRow
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.fields -= bytes.Count(p[:n], b.comma)
	return n, err
}

// row reads the next row.
func (b *bounded) row(rows *csv.Reader) ([]string, error) {
	b.left, b.fields = rowBytes, rowFields+bufferBytes // what is read may belong to the next rows
	row, err := rows.Read()
	if errors.Is(err, csv.ErrFieldCount) {
		line, _ := rows.FieldPos(0)
		return nil, fmt.Errorf("line %d has %d fields, the first row has %d", line, len(row), rows.FieldsPerRecord)
	}
	return row, err
}

// columns returns the columns to read of a file with this first row.
func (o Options) columns(first []string) ([]column, error) {
	names := make([]string, len(first))
	fields := map[string]int{} // the first of a name
	for i, name := range first {
		if names[i] = strings.TrimSpace(name); o.NoHeader {
			names[i] = strconv.Itoa(i)
		}
		if _, again := fields[names[i]]; !again {
			fields[names[i]] = i
		}
	}
	taken := o.Columns
	if taken == nil {
		taken = names
	}
	types := o.DTypes
	switch {
	case len(taken) == 0:
		return nil, errors.New("Options.Columns is empty: name one or more, or leave it out to take all")
	case types == nil:
		types = []oocore.DType{oocore.Float64}
	case len(types) > 1 && len(types) != len(taken):
		return nil, fmt.Errorf("Options.DTypes has %d types for %d columns: give one for all, or one for each", len(types), len(taken))
	}
	all := make([]column, len(taken))
	for i, name := range taken {
		t := types[0]
		if len(types) > 1 {
			t = types[i]
		}
		field, known := fields[name]
		c := column{name: name, field: field, parse: parser(t), spool: &spool{dtype: t}}
		switch {
		case !known:
			return nil, fmt.Errorf("there is no column %q: the first row has %s", name, storage.QuoteNames("column", names))
		case o.Columns == nil:
			c.field = i // also where two have one name
		}
		if c.parse == nil {
			return nil, fmt.Errorf("values of %s are not read from text: read Float64 and use AsType", t)
		}
		all[i] = c
	}
	return all, nil
}

// parser returns what appends the value of a field to elements of a type; nil where there is none.
func parser(t oocore.DType) func(dst []byte, field string) ([]byte, error) {
	bits := 8 * t.Size()
	var parse func(field string) (uint64, error)
	switch {
	case t == dtype.Bool:
		parse = func(field string) (v uint64, err error) {
			b, err := strconv.ParseBool(field)
			if b {
				v = 1
			}
			return v, err
		}
	case t == dtype.Float32:
		parse = func(field string) (uint64, error) {
			v, err := strconv.ParseFloat(field, 32)
			return uint64(math.Float32bits(float32(v))), err
		}
	case t == dtype.Float64:
		parse = func(field string) (uint64, error) {
			v, err := strconv.ParseFloat(field, 64)
			if v != v {
				return 0x7ff8 << 48, err // NumPy's, which is not Go's
			}
			return math.Float64bits(v), err
		}
	case t.Kind() == dtype.KindInt:
		parse = func(field string) (uint64, error) {
			v, err := strconv.ParseInt(field, 10, bits)
			return uint64(v), err
		}
	case t.Kind() == dtype.KindUint:
		parse = func(field string) (uint64, error) { return strconv.ParseUint(field, 10, bits) }
	default:
		return nil
	}
	return func(dst []byte, field string) ([]byte, error) {
		v, err := parse(field)
		switch {
		case err == nil:
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], v)
			return append(dst, b[:bits/8]...), nil
		case field == "":
			return dst, errors.New("the field is empty: write nan for a missing value, or leave the column out by Options.Columns")
		case errors.Is(err, strconv.ErrRange):
			return dst, fmt.Errorf("%.80q is beyond the range of %s", field, t)
		}
		return dst, fmt.Errorf("%.80q is no %s", field, t)
	}
}
