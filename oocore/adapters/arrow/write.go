package arrow

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// internals say what writing holds while an array is computed.
var internals = door.Get(oocore.Plan{})

const (
	groupBytes = 8 << 20  // of elements in a row group that is written
	writeBytes = 32 << 20 // of Go's heap that writing takes: a row group, a column of it, and pages
	mostFields = 10_000   // columns of a file that is written: each takes some hundred bytes in each row group
)

// Write computes an array of rows × columns, or of one column, to a Parquet file, which is there whole or not at all. Columns have the
// labels of the array's last axis as their names, else their numbers, as pandas.DataFrame(x).add_prefix("") has them. Row groups have 8 MiB of
// elements, compressed by Snappy, pandas' default. Dates that count milliseconds, microseconds or nanoseconds from 1970-01-01 are timestamps, and days of
// int32 dates.
func Write(ctx context.Context, a *oocore.Array, path string, opts ...oocore.Option) error {
	if err := a.Err(); err != nil {
		return failed(err)
	}
	if a.Dims() != 1 && a.Dims() != 2 {
		return failed(fmt.Errorf("a table has rows and columns, the array has %d dimensions: reshape it", a.Dims()))
	}
	if a.Dims() == 2 && (a.Shape()[1] == 0 || a.Shape()[1] > mostFields) {
		return failed(fmt.Errorf("a file takes 1 to %d columns, the array has %d: save it to NAME.zarr, or as one column of lists by WriteColumns", mostFields, a.Shape()[1]))
	}
	names, err := host.Columns(ctx, a)
	if err != nil {
		return failed(err)
	}
	fields := make([]field, len(names))
	for i, name := range names {
		fields[i] = field{name: name, of: a}
	}
	return write(path, fields, func(t *table) error {
		shape := []int{max(groupBytes/(len(fields)*a.DType().Size()), 1), len(fields)}
		w := &rowWriter{table: t, shape: shape, rows: make([]byte, 0, grid.Size(shape)*a.DType().Size())}
		if err := a.WriteTo(ctx, w, "bin", append(opts[:len(opts):len(opts)], holding(path, fields))...); err != nil {
			return err
		}
		return w.flush()
	})
}

// WriteColumns computes a collection to a Parquet file, as Write does: each array is a column of its name. Those of two dimensions are
// columns of lists. All arrays have the same number of rows. They are computed in one run, to temporary files of their size beside the output.
func WriteColumns(ctx context.Context, all *oocore.Collection, path string, opts ...oocore.Option) (err error) {
	var fields []field
	numbered := new(oocore.Collection)
	for name, a := range all.All() {
		switch {
		case a.Err() != nil:
			return failed(a.Err())
		case a.Dims() != 1 && a.Dims() != 2:
			return failed(fmt.Errorf("%.80q has %d dimensions: a column has one, and one of lists two", name, a.Dims()))
		case len(fields) > 0 && a.Shape()[0] != fields[0].of.Shape()[0]:
			return failed(fmt.Errorf("columns have as many rows: %.80q has %d, %.80q has %d", fields[0].name, fields[0].of.Shape()[0], name, a.Shape()[0]))
		}
		f := field{name: name, of: a, length: 1, list: a.Dims() == 2}
		if f.list {
			if f.length = a.Shape()[1]; f.length == 0 {
				return failed(fmt.Errorf("%.80q: lists of no elements are no column", name))
			}
		}
		numbered = numbered.With(strconv.Itoa(len(fields)), a)
		fields = append(fields, f)
	}
	if len(fields) == 0 || len(fields) > mostFields {
		return failed(fmt.Errorf("a file takes 1 to %d columns, the collection has %d", mostFields, len(fields)))
	}
	folder, err := os.MkdirTemp(storage.ExistingFolder(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(folder)
	if _, err := numbered.Save(ctx, folder, append(opts[:len(opts):len(opts)], holding(path, fields))...); err != nil { // writing follows, in the same budget
		return err
	}
	return write(path, fields, func(t *table) error {
		row, rows := 0, fields[0].of.Shape()[0]
		stored := make([]store.Array, len(fields))
		for i, f := range fields {
			row = max(row, f.length*f.of.DType().Size())
			if stored[i], err = store.OpenContext(ctx, filepath.Join(folder, strconv.Itoa(i)+".npy")); err != nil {
				return err
			}
			defer stored[i].Close()
		}
		n := max(groupBytes/max(row, 1), 1)
		buffer := make([]byte, min(n, rows)*row)
		for at := 0; at < rows; at += n {
			r := types.Region{Start: []int{at, 0}, Count: []int{min(n, rows-at), 0}, Step: []int{1, 1}}
			err := t.group(func(i int) ([]byte, error) {
				f := fields[i]
				r.Count[1] = f.length
				data, dims := buffer[:r.Count[0]*f.length*f.of.DType().Size()], f.of.Dims()
				return data, stored[i].Read(ctx, data, types.Region{Start: r.Start[:dims], Count: r.Count[:dims], Step: r.Step[:dims]})
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// holding is the option of what writing takes of the budget: with the file, where that is in memory.
func holding(path string, fields []field) oocore.Option {
	bytes := int64(writeBytes)
	if disk.InMemory(storage.ExistingFolder(path)) {
		for _, f := range fields {
			column := int64(max(f.length, 1)) * int64(f.of.DType().Size()) * int64(f.of.Shape()[0])
			bytes += column + column/16
		}
	}
	return internals.Holding(bytes)
}

func failed(err error) error { return &oocore.Error{Op: "parquet", Site: graph.Caller(), Err: err} }

// field is a column that is written.
type field struct {
	name   string
	of     *oocore.Array
	list   bool
	length int // of a list
}

// node is the column in a schema.
func (f field) node() (schema.Node, error) {
	physical, logical, length, t := parquet.Types.Int32, schema.LogicalType(schema.NoLogicalType{}), -1, f.of.DType()
	unit, since, dates := host.Dates(f.of)
	stamp := map[float64]schema.TimeUnitType{1e-3: schema.TimeUnitMillis, 1e-6: schema.TimeUnitMicros, 1e-9: schema.TimeUnitNanos}[unit]
	switch {
	case dates && since == 0 && t == dtype.Int32 && unit == 24*60*60:
		logical = schema.DateLogicalType{}
	case dates && since == 0 && t == dtype.Int64 && stamp != schema.TimeUnitUnknown:
		physical, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(false, stamp)
	case dates:
		return nil, fmt.Errorf("column %.80q: dates are written where they count ms, us or ns of int64, or days of int32, from 1970-01-01: bring them to one, and give it by oocore.Attributes", f.name)
	case t.Integer():
		if t.Size() == 8 {
			physical = parquet.Types.Int64
		}
		logical = schema.NewIntLogicalType(int8(8*t.Size()), t.Kind() == dtype.KindInt)
	case t == dtype.Bool:
		physical = parquet.Types.Boolean
	case t == dtype.Float16:
		physical, logical, length = parquet.Types.FixedLenByteArray, schema.Float16LogicalType{}, 2
	case t == dtype.Float32:
		physical = parquet.Types.Float
	case t == dtype.Float64:
		physical = parquet.Types.Double
	default:
		return nil, fmt.Errorf("column %.80q: Parquet has no elements of %s: use AsType", f.name, t)
	}
	if !f.list {
		return schema.NewPrimitiveNodeLogical(f.name, parquet.Repetitions.Required, logical, physical, length, -1)
	}
	element, err := schema.NewPrimitiveNodeLogical("element", parquet.Repetitions.Required, logical, physical, length, -1)
	if err != nil {
		return nil, err
	}
	list, err := schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{element}, -1)
	if err != nil {
		return nil, err
	}
	return schema.NewGroupNodeLogical(f.name, parquet.Repetitions.Required, schema.FieldList{list}, schema.NewListLogicalType(), -1)
}

// table is a file that is written.
type table struct {
	*file.Writer
	fields []field
}

// write writes a file of columns, whose row groups fill has.
func write(path string, fields []field, fill func(t *table) error) error {
	nodes, seen := make(schema.FieldList, len(fields)), map[string]bool{}
	for i, f := range fields {
		var err error
		if nodes[i], err = f.node(); err != nil {
			return failed(err)
		}
		if seen[f.name] {
			return failed(fmt.Errorf("two columns have the name %.80q", f.name))
		}
		seen[f.name] = true
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		return failed(err)
	}
	return disk.WriteWhole(path, func(w io.Writer) (err error) {
		defer recovered(&err)
		to := bufio.NewWriter(w)
		p := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithVersion(parquet.V2_LATEST), parquet.WithDictionaryDefault(false))
		t := &table{file.NewParquetWriter(to, root, file.WithWriterProps(p)), fields}
		return errors.Join(fill(t), t.Close(), to.Flush())
	})
}

// group writes a row group of the elements that column returns.
func (t *table) group(column func(i int) ([]byte, error)) error {
	g, err := t.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for i, f := range t.fields {
		data, err := column(i)
		if err != nil {
			return err
		}
		w, err := g.NextColumn()
		if err == nil {
			err = f.put(w, data)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return err
		}
	}
	return g.Close()
}

// put writes elements.
func (f field) put(w file.ColumnChunkWriter, data []byte) error {
	size := f.of.DType().Size()
	length := max(f.length, 1)
	values := max(batch/length, 1) * length
	var defined, repeated []int16
	if f.list {
		defined, repeated = make([]int16, values), make([]int16, values)
		for i := range defined {
			defined[i] = 1
			repeated[i] = min(int16(i%length), 1)
		}
	}
	for len(data) > 0 {
		b := data[:min(values*size, len(data))]
		data = data[len(b):]
		if f.list {
			defined, repeated = defined[:len(b)/size], repeated[:len(b)/size]
		}
		var err error
		switch w := w.(type) {
		case *file.BooleanColumnChunkWriter:
			_, err = w.WriteBatch(dtype.Slice[bool](b), defined, repeated)
		case *file.Float32ColumnChunkWriter:
			_, err = w.WriteBatch(dtype.Slice[float32](b), defined, repeated)
		case *file.Float64ColumnChunkWriter:
			_, err = w.WriteBatch(dtype.Slice[float64](b), defined, repeated)
		case *file.Int64ColumnChunkWriter:
			_, err = w.WriteBatch(dtype.Slice[int64](b), defined, repeated)
		case *file.Int32ColumnChunkWriter:
			_, err = w.WriteBatch(widened(f.of.DType(), b), defined, repeated)
		case *file.FixedLenByteArrayColumnChunkWriter:
			halves := make([]parquet.FixedLenByteArray, len(b)/2)
			for i := range halves {
				halves[i] = b[2*i:][:2]
			}
			_, err = w.WriteBatch(halves, defined, repeated)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// widened are integers of up to 32 bits, as Parquet has them.
func widened(t dtype.Type, b []byte) []int32 {
	switch t {
	case dtype.Int8:
		return widen(dtype.Slice[int8](b))
	case dtype.Uint8:
		return widen(dtype.Slice[uint8](b))
	case dtype.Int16:
		return widen(dtype.Slice[int16](b))
	case dtype.Uint16:
		return widen(dtype.Slice[uint16](b))
	}
	return dtype.Slice[int32](b)
}

func widen[T int8 | uint8 | int16 | uint16](v []T) []int32 {
	wide := make([]int32, len(v))
	for i := range v {
		wide[i] = int32(v[i])
	}
	return wide
}

// rowWriter gathers rows that come as bytes until they are a row group.
type rowWriter struct {
	*table
	shape  []int // of a row group
	rows   []byte
	column []byte
}

func (w *rowWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		k := min(len(p)-n, cap(w.rows)-len(w.rows))
		w.rows = append(w.rows, p[n:n+k]...)
		n += k
		if len(w.rows) == cap(w.rows) {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (w *rowWriter) flush() error {
	if len(w.rows) == 0 {
		return nil
	}
	size, columns := w.fields[0].of.DType().Size(), w.shape[1]
	n := len(w.rows) / size / columns
	w.column = slices.Grow(w.column[:0], n*size)[:n*size]
	err := w.group(func(i int) ([]byte, error) {
		l, err := strided.Of([]int{n, columns}, size, types.Region{Start: []int{0, i}, Count: []int{n, 1}, Step: []int{1, 1}})
		if err == nil {
			l.Gather(w.column, w.rows, 0)
		}
		return w.column, err
	})
	w.rows = w.rows[:0]
	return err
}
