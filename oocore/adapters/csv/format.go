package csv

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/tables"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(format{storage.Extensions{".csv", ".tsv"}, "a .csv file is written as a whole, by gonbext convert or by Write of package oocore/adapters/csv"})
}

type format struct {
	storage.Extensions
	store.ReadOnly
}

const (
	noHeader   = "?header=none"
	groupBytes = 4 << 20 // of text in a group of rows
)

// cut takes a path apart. The file has its query.
func (x format) cut(path string) (file, name string, header bool) {
	plain := strings.Replace(path, noHeader, "", 1)
	file, name, _ = x.Extensions.Cut(plain)
	return file, name, plain == path
}

func (x format) Owns(path string) bool {
	return x.Extensions.Owns(strings.Replace(path, noHeader, "", 1))
}
func (x format) Place(path string) string { file, _, _ := x.cut(path); return file }

// contents are what one pass over a file finds.
type contents struct {
	comma  rune
	header bool
	fields []fieldOf
	starts []int64 // of groups of rows
	rows   []int   // of each
	row    int     // bytes of the longest
}

// fieldOf is a column: what its fields are so far.
type fieldOf struct {
	name                           string
	bools, integers, floats, empty bool
	why                            error // that it is no array
}

// missing are what pandas.read_csv takes for missing values.
var missing = []string{"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}

// see learns what a field is.
func (f *fieldOf) see(text string, line int) {
	if f.why != nil {
		return
	}
	if slices.Contains(missing, text) {
		f.empty = true
		return
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		f.integers = true
	} else if errors.Is(err, strconv.ErrRange) {
		f.why = fmt.Errorf("line %d has %.80q, which is beyond int64: where numbers have a point, as %.80s.0, the column is float64; csv.Save of package oocore/adapters/csv reads uint64 too", line, text, text)
	} else if _, err := strconv.ParseFloat(text, 64); err == nil {
		f.floats = true
	} else if plain(text, dtype.Int64) != text {
		f.bools = true
	} else {
		f.why = fmt.Errorf("line %d has %.80q: arrays have numbers and bools", line, text)
	}
	if f.why == nil && f.bools && (f.integers || f.floats) {
		f.why = fmt.Errorf("line %d has %.80q, and other lines have other than that: arrays have numbers or bools", line, text)
	}
}

// plain is a field as strconv reads it.
func plain(text string, t dtype.Type) string {
	switch {
	case t == dtype.Bool:
		return text
	case text == "true" || text == "True" || text == "TRUE":
		return "1"
	case text == "false" || text == "False" || text == "FALSE":
		return "0"
	case t == dtype.Float64 && slices.Contains(missing, text):
		return "nan"
	}
	return text
}

// dtype is the type of a column.
func (f *fieldOf) dtype() (dtype.Type, error) {
	switch {
	case f.why != nil:
		return 0, fmt.Errorf("column %.80q: %w", f.name, f.why)
	case f.bools && f.empty:
		return 0, fmt.Errorf("column %.80q: bools have no missing values: write 0 and 1", f.name)
	case f.bools:
		return dtype.Bool, nil
	case f.integers && !f.floats && !f.empty:
		return dtype.Int64, nil
	}
	return dtype.Float64, nil
}

var headers storage.Headers[*contents]

// scan reads a file once.
func scan(ctx context.Context, file string, header bool, r io.ReaderAt, size int64) (*contents, error) {
	return headers.Read(file+map[bool]string{false: noHeader}[header], r, func(take func(bytes int64) error) (*contents, error) {
		c := &contents{header: header, comma: comma(r, size)}
		at := begin(r)
		from := &bounded{r: io.NewSectionReader(r, at, size-at), comma: []byte(string(c.comma))}
		rows := csv.NewReader(bufio.NewReaderSize(from, bufferBytes))
		rows.ReuseRecord, rows.Comma = true, c.comma
		first := at
		for n := 0; ; n++ {
			row, err := from.row(rows)
			if err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			end := first + rows.InputOffset()
			c.row = max(c.row, int(end-at))
			if n == 0 {
				for i, text := range row {
					name := strings.TrimSpace(text)
					if !header {
						name = strconv.Itoa(i)
					}
					c.fields = append(c.fields, fieldOf{name: name})
				}
				if err := take(int64(len(row)) * 128); err != nil {
					return nil, err
				}
			}
			if n > 0 || !header {
				for i := range c.fields {
					line, _ := rows.FieldPos(i)
					c.fields[i].see(strings.TrimSpace(row[i]), line)
				}
				if k := len(c.starts); k == 0 || at-c.starts[k-1] >= groupBytes {
					c.starts, c.rows = append(c.starts, at), append(c.rows, 0)
					if err := errors.Join(context.Cause(ctx), take(16)); err != nil {
						return nil, err
					}
				}
				c.rows[len(c.rows)-1]++
			}
			at = end
		}
		if len(c.fields) == 0 {
			return nil, errors.New("the file is empty")
		}
		return c, nil
	})
}

// comma is what stands between the fields of a file.
func comma(r io.ReaderAt, size int64) rune {
	first := make([]byte, min(size, 64<<10))
	n, _ := r.ReadAt(first, 0) // an error shows again
	best, most, quoted := ',', 0, false
	count := map[rune]int{}
	for _, b := range first[:n] {
		if b == '"' {
			quoted = !quoted
		}
		if b == '\n' && !quoted {
			break
		} else if !quoted {
			count[rune(b)]++
		}
	}
	for _, c := range ",;\t|" {
		if count[c] > most {
			best, most = c, count[c]
		}
	}
	return best
}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	name, of, header := x.cut(path)
	return storage.OpenBy(ctx, name, func(o storage.Object, id store.FileVersion) (*tables.Array, error) {
		return open(ctx, path, name, of, header, o, id)
	})
}

func open(ctx context.Context, path, name, of string, header bool, o storage.Object, id store.FileVersion) (*tables.Array, error) {
	c, err := scan(ctx, name, header, storage.HeadOf(ctx, o, id.Size), id.Size)
	if err != nil {
		return nil, err
	}
	names := c.names()
	column := slices.IndexFunc(c.fields, func(f fieldOf) bool { return f.name == of })
	info := store.Info{Path: path, Format: "csv", ID: id, Bytes: id.Size}
	var taken []int
	switch {
	case of == tables.Whole && column < 0:
		info.Shape = []int{len(c.fields)}
		kinds := make([]dtype.Type, len(c.fields))
		for i := range c.fields {
			taken = append(taken, i)
			if kinds[i], err = c.fields[i].dtype(); err != nil {
				return nil, fmt.Errorf("%w; a table is of numbers alone: name columns, as NAME.csv#column", err)
			}
		}
		info.DType = dtype.PromoteAll(kinds...)
	case of == "" && len(names) != 1:
		return nil, fmt.Errorf("the file has %s: add #NAME to the path, or #%s for all as rows × columns", storage.QuoteNames("column of numbers", names), tables.Whole)
	case of != "" && column < 0:
		return nil, fmt.Errorf("there is no column %.80q: the file has %s", of, storage.QuoteNames("column of numbers", names))
	default:
		if of == "" {
			column = slices.IndexFunc(c.fields, func(f fieldOf) bool { return f.name == names[0] })
		}
		taken = []int{column}
		if info.DType, err = c.fields[column].dtype(); err != nil {
			return nil, err
		}
	}
	heap := int64(2*bufferBytes + 4*c.row + 64*len(c.fields))
	return tables.New(info, o, c.rows, heap, func(ctx context.Context, group int, dst []byte) error {
		from := io.NewSectionReader(storage.HeadOf(ctx, o, id.Size), c.starts[group], id.Size-c.starts[group])
		return c.decode(from, group, taken, info.DType, dst)
	})
}

// names are those of the columns of numbers.
func (c *contents) names() (names []string) {
	for _, f := range c.fields {
		if _, err := f.dtype(); err == nil {
			names = append(names, f.name)
		}
	}
	return names
}

// decode fills dst with the elements of some columns in a group of rows.
func (c *contents) decode(r io.Reader, group int, taken []int, t dtype.Type, dst []byte) error {
	from := &bounded{r: r, comma: []byte(string(c.comma))}
	rows := csv.NewReader(bufio.NewReaderSize(from, bufferBytes))
	rows.ReuseRecord, rows.Comma, rows.FieldsPerRecord = true, c.comma, len(c.fields)
	parse, out := parser(t), dst[:0]
	for n := range c.rows[group] {
		row, err := from.row(rows)
		if err != nil {
			return fmt.Errorf("the file was changed while it was read: row %d behind byte %d: %w", n, c.starts[group], err)
		}
		for _, i := range taken {
			if out, err = parse(out, plain(strings.TrimSpace(row[i]), t)); err != nil {
				return fmt.Errorf("column %.80q: %w", c.fields[i].name, err)
			}
		}
	}
	return nil
}

// begin is where the text of a file begins: behind the mark by which spreadsheets begin it.
func begin(r io.ReaderAt) int64 {
	const mark = "\ufeff"
	b := make([]byte, len(mark))
	if n, _ := r.ReadAt(b, 0); string(b[:n]) != mark { // an error shows again
		return 0
	}
	return int64(len(mark))
}

// Members lists the columns, also those of text, which no array is opened of: a copy leaves none out without a word.
func (x format) Members(ctx context.Context, path string) ([]store.Member, error) {
	name, of, header := x.cut(path)
	all, err := storage.InFile(ctx, name, of, func(r io.ReaderAt, size int64) ([]string, error) {
		c, err := scan(ctx, name, header, r, size)
		if err != nil {
			return nil, err
		}
		names := make([]string, len(c.fields))
		for i, f := range c.fields {
			names[i] = f.name
		}
		return names, nil
	})
	for i := range all {
		if !header {
			all[i].Path = name + noHeader + all[i].Path[len(name):]
		}
	}
	return all, err
}
