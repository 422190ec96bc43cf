package arrow

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/gonbext/gonbext/oocore/internal/format/kerchunk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() { kerchunk.Rows = readRows }

// readRows reads a file of Kerchunk's references.
func readRows(ctx context.Context, path string, most int) ([]kerchunk.Row, error) {
	return storage.ReadHead(ctx, path, func(r io.ReaderAt, id store.FileVersion) ([]kerchunk.Row, error) { return rowsOf(r, id.Size, most) })
}

func rowsOf(r io.ReaderAt, size int64, most int) (rows []kerchunk.Row, err error) {
	defer recovered(&err)
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	if n := f.NumRows(); n < 0 || n > int64(most) {
		return nil, fmt.Errorf("it has %d rows, and record_size is %d", n, most)
	}
	for g := range f.NumRowGroups() {
		group := f.RowGroup(g)
		first, n := len(rows), int(group.NumRows())
		if n < 0 || n > most-first {
			return nil, errors.New("the file's groups of rows have impossible lengths")
		}
		rows = append(rows, make([]kerchunk.Row, n)...)
		for i := range f.MetaData().Schema.NumColumns() {
			c, err := group.Column(i)
			if err != nil {
				return nil, err
			}
			if _, none := c.Descriptor().LogicalType().(schema.NullLogicalType); none {
				continue
			}
			of := rows[first:]
			switch name := c.Descriptor().Path(); name {
			case "path":
				err = each(c, n, func(i int, v parquet.ByteArray) { of[i].Path = string(v) })
			case "offset":
				err = each(c, n, func(i int, v int64) { of[i].Offset = v })
			case "size":
				err = each(c, n, func(i int, v int64) { of[i].Size = v })
			case "raw":
				err = each(c, n, func(i int, v parquet.ByteArray) { of[i].Raw = append([]byte{}, v...) })
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// each gives the values of n rows that are not missing to put.
func each[T any](c file.ColumnChunkReader, n int, put func(i int, v T)) error {
	of := c.Descriptor()
	r, ok := c.(columnOf[T])
	if !ok || of.MaxRepetitionLevel() > 0 {
		return fmt.Errorf("column %.80q: %w", of.Path(), unsupported(c.Type().String()))
	}
	values, defined := make([]T, batch), make([]int16, batch)
	for at := 0; at < n; {
		levels, read, err := r.ReadBatch(int64(min(n-at, batch)), values, defined, nil)
		switch {
		case err != nil:
			return err
		case levels == 0:
			return errors.New("it has fewer values than the file's footer says")
		}
		next := 0
		for i := range int(levels) {
			if of.MaxDefinitionLevel() > 0 && defined[i] != of.MaxDefinitionLevel() {
				continue
			}
			if next >= read {
				return errors.New("it has fewer values than its levels say")
			}
			put(at+i, values[next])
			next++
		}
		at += int(levels)
	}
	return nil
}
