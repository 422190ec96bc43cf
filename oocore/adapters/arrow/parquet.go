// Package arrow reads columns of Parquet files (.parquet) as arrays and writes such files, and reads Kerchunk's references in Parquet
// (refs.parq#name). Importing it is enough to read:
//
//	import "github.com/gonbext/gonbext/oocore/adapters/arrow"
//
//	price := oocore.Open("trades.parquet#price")
//	vectors := oocore.Open("documents.parquet#embedding")   // lists of one length: rows × length
//	x := oocore.Open("trades.parquet#table")                // all columns, which are numbers, as rows × columns
//	all := oocore.OpenAll("trades.parquet")                 // every column; those of text have an error
//	err := arrow.Write(ctx, x, "rows.parquet")
//	err = arrow.WriteColumns(ctx, all, "columns.parquet")
//
// #column may be left out where one column is an array. Columns have numbers, bools, float16, dates and
// timestamps, or lists of these of one length; dates and timestamps are integers, with their units in the
// attributes. Decimals, times of day, texts and lists of several lengths are rejected. Fields of structs are struct.field. A missing value
// is NaN in floats, and else an error that names its row. Files of one table are joined as others are: trades/*.parquet?concat=0#price.
//
// A row group is a chunk, which is decoded as a whole: the plan counts its column's memory, by the sizes
// that the file tells.
package arrow

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/format/tables"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(parquetFormat{storage.Extensions{".parquet"}, "a .parquet file is written as a whole, by gonbext convert or by Write of package oocore/adapters/arrow"})
}

type parquetFormat struct {
	storage.Extensions
	store.ReadOnly
}

var headers storage.Headers[*metadata.FileMetaData]

// readMetadata reads the footer of a file of so many bytes.
func readMetadata(name string, r io.ReaderAt, size int64) (*metadata.FileMetaData, error) {
	return headers.Read(name, r, func(take func(bytes int64) error) (m *metadata.FileMetaData, err error) {
		defer recovered(&err)
		f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size))
		if err != nil {
			return nil, err
		}
		m = f.MetaData()
		return m, take(int64(m.Size()))
	})
}

// recovered makes an error of a panic of the library, which malformed files can bring about.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the file is malformed: %.200s", strings.ReplaceAll(fmt.Sprint(r), "\n", " "))
	}
}

// column is what a file has of an array.
type column struct {
	index      int // of the schema's columns
	name       string
	dtype      dtype.Type
	attributes json.RawMessage
	list       bool
}

// columns returns those of a file, with what is wrong with them as arrays.
func columns(m *metadata.FileMetaData) (all []column, why []error) {
	for i := range m.Schema.NumColumns() {
		c := m.Schema.Column(i)
		of := column{index: i, name: c.Path(), list: c.MaxRepetitionLevel() == 1}
		if path := c.ColumnPath(); of.list && len(path) > 2 {
			of.name = strings.Join(path[:len(path)-2], ".") // without list.element
		}
		var err error
		if of.dtype, of.attributes, err = elementType(c); err == nil && c.MaxRepetitionLevel() > 1 {
			err = unsupported("lists of lists")
		}
		all, why = append(all, of), append(why, err)
	}
	return all, why
}

// elementType is that of a column, and what dates and times count.
func elementType(c *schema.Column) (t dtype.Type, attributes json.RawMessage, err error) {
	logical := c.LogicalType()
	if c.PhysicalType() == parquet.Types.Boolean {
		return dtype.Bool, nil, nil
	}
	switch logical := logical.(type) {
	case schema.IntLogicalType:
		signed := [...]dtype.Type{dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64}
		unsigned := [...]dtype.Type{dtype.Uint8, dtype.Uint16, dtype.Uint32, dtype.Uint64}
		if i := slices.Index([]int8{8, 16, 32, 64}, logical.BitWidth()); i >= 0 && logical.IsSigned() {
			return signed[i], nil, nil
		} else if i >= 0 {
			return unsigned[i], nil, nil
		}
	case schema.DateLogicalType:
		attributes, err = npy.TimeAttributes('M', "D")
		return dtype.Int32, attributes, err
	case schema.TimestampLogicalType:
		unit := map[schema.TimeUnitType]string{schema.TimeUnitMillis: "ms", schema.TimeUnitMicros: "us", schema.TimeUnitNanos: "ns"}[logical.TimeUnit()]
		attributes, err = npy.TimeAttributes('M', unit)
		return dtype.Int64, attributes, err
	case schema.Float16LogicalType:
		return dtype.Float16, nil, nil
	case schema.NoLogicalType, schema.UnknownLogicalType, nil:
		switch c.PhysicalType() {
		case parquet.Types.Int32:
			return dtype.Int32, nil, nil
		case parquet.Types.Int64:
			return dtype.Int64, nil, nil
		case parquet.Types.Float:
			return dtype.Float32, nil, nil
		case parquet.Types.Double:
			return dtype.Float64, nil, nil
		}
		return dtype.Invalid, nil, unsupported(c.PhysicalType().String())
	}
	return dtype.Invalid, nil, unsupported(logical.String())
}

// find returns the column of a name, or the only one.
func find(m *metadata.FileMetaData, name string) (column, error) {
	all, why := columns(m)
	var names []string
	found := -1
	for i, c := range all {
		switch {
		case name == c.name:
			if why[i] != nil {
				return c, fmt.Errorf("column %.80q: %w", name, why[i])
			}
			return c, nil
		case why[i] == nil:
			names, found = append(names, c.name), i
		}
	}
	switch {
	case name != "":
		return column{}, fmt.Errorf("there is no column %.80q: the file has %s", name, storage.QuoteNames("column that is an array", names))
	case len(names) != 1:
		return column{}, fmt.Errorf("the file has %s: add #NAME to the path, or #%s for all as rows × columns", storage.QuoteNames("column that is an array", names), tables.Whole)
	}
	return all[found], nil
}

func (x parquetFormat) Open(ctx context.Context, path string) (store.Array, error) {
	name, of, _ := x.Cut(path)
	return storage.OpenBy(ctx, name, func(o storage.Object, id store.FileVersion) (*tables.Array, error) {
		return open(ctx, path, name, of, o, id)
	})
}

func open(ctx context.Context, path, name, of string, o storage.Object, id store.FileVersion) (_ *tables.Array, err error) {
	defer recovered(&err)
	m, err := readMetadata(name, storage.HeadOf(ctx, o, id.Size), id.Size)
	if err != nil {
		return nil, err
	}
	if of == tables.Whole && m.Schema.ColumnIndexByName(of) < 0 {
		return openTable(path, m, o, id)
	}
	c, err := find(m, of)
	if err != nil {
		return nil, err
	}
	return openColumn(path, m, c, o, id)
}

// openTable opens all columns, which are numbers, as rows × columns of the type that holds them.
func openTable(path string, m *metadata.FileMetaData, o storage.Object, id store.FileVersion) (*tables.Array, error) {
	all, why := columns(m)
	parts := make([]*tables.Array, len(all))
	for i, c := range all {
		if why[i] == nil && (c.list || c.attributes != nil) {
			why[i] = errors.New("its elements are lists or dates")
		}
		if why[i] != nil {
			return nil, fmt.Errorf("column %.80q: %w; a table is of numbers alone: name columns, as NAME.parquet#column", c.name, why[i])
		}
		var err error
		if parts[i], err = openColumn(path, m, c, o, id); err != nil {
			return nil, err
		}
	}
	return tables.Join(parts)
}

func openColumn(path string, m *metadata.FileMetaData, c column, o storage.Object, id store.FileVersion) (*tables.Array, error) {
	length := int64(-1) // of a list
	info := store.Info{Path: path, Format: "parquet", DType: c.dtype, ID: id, Details: store.Details{Attributes: c.attributes}}
	var groups []int
	var heap int64
	for g := range m.NumRowGroups() {
		group := m.RowGroup(g)
		chunk, err := group.ColumnChunk(c.index)
		if err != nil {
			return nil, err
		}
		rows, values := group.NumRows(), chunk.NumValues()
		switch {
		case rows < 0 || values < 0 || chunk.TotalCompressedSize() < 0 || chunk.TotalCompressedSize() > id.Size || chunk.TotalUncompressedSize() < 0:
			return nil, errors.New("the file's footer has impossible sizes")
		case rows == 0:
		case !c.list && values != rows:
			return nil, fmt.Errorf("column %.80q has %d values in %d rows", c.name, values, rows)
		case c.list && length < 0:
			length = values / rows
		}
		if rows > 0 && c.list && (values%rows != 0 || values/rows != length) {
			return nil, fmt.Errorf("column %.80q has lists of several lengths: arrays have one", c.name)
		}
		groups = append(groups, int(rows))
		heap = max(heap, chunk.TotalCompressedSize()+2*chunk.TotalUncompressedSize())
		info.Bytes += chunk.TotalCompressedSize()
		info.Codec = strings.ToLower(chunk.Compression().String())
	}
	if c.list {
		info.Shape = []int{int(max(length, 0))}
	}
	if info.Codec == "uncompressed" {
		info.Codec = ""
	}
	return tables.New(info, o, groups, heap+decoderHeap, func(ctx context.Context, group int, dst []byte) (err error) {
		defer recovered(&err)
		f, err := file.NewParquetReader(io.NewSectionReader(storage.HeadOf(ctx, o, id.Size), 0, id.Size), file.WithMetadata(m))
		if err != nil {
			return err
		}
		r, err := f.RowGroup(group).Column(c.index)
		if err != nil {
			return err
		}
		if err := c.decode(r, dst, max(int(length), 1), tables.Begin(groups, group)); err != nil {
			return fmt.Errorf("column %.80q: %w", c.name, err)
		}
		return nil
	})
}

const (
	batch = 4096 // values
	// decoderHeap is what batches and the library's buffers take besides pages.
	decoderHeap = 1 << 20
)

// decode fills dst with the values of a column in a row group, in lists of a length. first is the
// group's first row.
func (c *column) decode(r file.ColumnChunkReader, dst []byte, length, first int) error {
	n := len(dst) / c.dtype.Size()
	switch r := r.(type) {
	case *file.BooleanColumnChunkReader:
		return drain(r, n, length, first, nil, convert(dst, func(v bool) bool { return v }))
	case *file.Float32ColumnChunkReader:
		return drain(r, n, length, first, new(math.Float32frombits(0x7fc00000)), convert(dst, func(v float32) float32 { return v }))
	case *file.Float64ColumnChunkReader:
		return drain(r, n, length, first, new(math.Float64frombits(0x7ff8<<48)), convert(dst, func(v float64) float64 { return v }))
	case *file.Int64ColumnChunkReader:
		return drain(r, n, length, first, nil, convert(dst, func(v int64) int64 { return v }))
	case *file.Int32ColumnChunkReader:
		switch c.dtype.Size() {
		case 1:
			return drain(r, n, length, first, nil, convert(dst, func(v int32) int8 { return int8(v) }))
		case 2:
			return drain(r, n, length, first, nil, convert(dst, func(v int32) int16 { return int16(v) }))
		}
		return drain(r, n, length, first, nil, convert(dst, func(v int32) int32 { return v }))
	case *file.FixedLenByteArrayColumnChunkReader:
		halves := dtype.Slice[uint16](dst)
		return drain(r, n, length, first, new(parquet.FixedLenByteArray{0, 0x7e}), func(at int, values []parquet.FixedLenByteArray) {
			for i, v := range values {
				halves[at+i] = binary.LittleEndian.Uint16(v)
			}
		})
	}
	return unsupported(r.Type().String())
}

// columnOf is the column of a group of rows whose values are of a type.
type columnOf[T any] interface {
	file.ColumnChunkReader
	ReadBatch(n int64, values []T, defined, repeated []int16) (levels int64, read int, err error)
}

// drain reads n values, in lists of a length, and gives them to put batch by batch. nan stands for missing ones; nil where nothing can.
func drain[T any](r columnOf[T], n, length, first int, nan *T, put func(at int, values []T)) error {
	values, defined, repeated := make([]T, batch), make([]int16, batch), make([]int16, batch)
	of := r.Descriptor()
	present := make([]int, 0, batch) // where values are, of a batch
	for at := 0; at < n; {
		want := min(n-at, batch)
		present = present[:0]
		levels, read, err := r.ReadBatch(int64(want), values[:want], defined[:want], repeated[:want])
		switch {
		case err != nil:
			return err
		case levels == 0:
			return errors.New("it has fewer values than the file's footer says")
		}
		for i := range int(levels) {
			switch {
			case of.MaxRepetitionLevel() > 0 && (repeated[i] == 0) != ((at+i)%length == 0):
				return errors.New("lists have several lengths: arrays have one")
			case of.MaxDefinitionLevel() == 0 || defined[i] == of.MaxDefinitionLevel():
				present = append(present, i)
			case nan == nil || of.MaxRepetitionLevel() > 0 && (of.SchemaNode().RepetitionType() != parquet.Repetitions.Optional || defined[i] != of.MaxDefinitionLevel()-1):
				return missing(first + (at+i)/length) // or a missing list
			}
		}
		if read != len(present) {
			return errors.New("it has fewer values than its levels say")
		}
		if read < int(levels) { // the values stand without gaps
			for i := read - 1; i >= 0; i-- {
				values[present[i]] = values[i]
			}
			for i, k := 0, 0; i < int(levels); i++ {
				if k < read && present[k] == i {
					k++
				} else {
					values[i] = *nan
				}
			}
		}
		put(at, values[:levels])
		at += int(levels)
	}
	if r.HasNext() {
		return errors.New("it has more values than the file's footer says")
	}
	return r.Err()
}

// Members lists the columns, also those of which no array is opened: a copy leaves none out without a word.
func (x parquetFormat) Members(ctx context.Context, path string) ([]store.Member, error) {
	name, of, _ := x.Cut(path)
	return storage.InFile(ctx, name, of, func(r io.ReaderAt, size int64) (names []string, err error) {
		defer recovered(&err)
		m, err := readMetadata(name, r, size)
		if err != nil {
			return nil, err
		}
		all, _ := columns(m)
		for _, c := range all {
			names = append(names, c.name)
		}
		return names, nil
	})
}

// missing is the error of a null.
func missing(row int) error {
	return fmt.Errorf("row %d has a missing value, for which there is a number, NaN, in floats alone: fill it (fillna in pandas, fill_null in pyarrow), store the column as float64, or drop the row", row)
}

// unsupported is the error of a column that is no array.
func unsupported(kind string) error {
	return fmt.Errorf("its elements are %s: arrays have numbers, bools, dates and times, and lists of one length of these", kind)
}

// convert stores the values of a batch as elements from a place on.
func convert[U, T dtype.Element](dst []byte, to func(T) U) func(at int, values []T) {
	elements := dtype.Slice[U](dst)
	return func(at int, values []T) {
		for i, v := range values {
			elements[at+i] = to(v)
		}
	}
}
