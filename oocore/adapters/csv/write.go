package csv

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Write computes an array of rows × columns, or of one column, to a file, which is there whole or not at all: as NumPy's loadtxt and
// pandas' read_csv read it, in the shortest decimals that mean the same element. The first row has the labels of the columns, else their numbers.
func Write(ctx context.Context, a *oocore.Array, file string, opts ...oocore.Option) error {
	w := &textWriter{}
	if err := w.begin(ctx, a); err != nil {
		return failed(err)
	}
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return failed(err)
	}
	w.to = bufio.NewWriterSize(f, bufferBytes)
	header := csv.NewWriter(w.to)
	err = header.Write(w.names)
	header.Flush()
	if err == nil {
		err = a.WriteTo(ctx, w, "bin", opts...)
	}
	err = errors.Join(err, w.to.Flush())
	if err == nil {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = disk.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one that tells
	}
	return err
}

// textWriter writes elements that come as bytes, row by row.
type textWriter struct {
	to     *bufio.Writer
	names  []string // of the columns
	append func(text, element []byte) []byte
	size   int
	column int
	left   []byte // of an element of which more comes
	text   []byte
}

// begin finds the columns of an array, and how its elements are written.
func (w *textWriter) begin(ctx context.Context, a *oocore.Array) error {
	if err := a.Err(); err != nil {
		return err
	}
	if a.Dims() != 1 && a.Dims() != 2 {
		return fmt.Errorf("a table has rows and columns, the array has %d dimensions: reshape it", a.Dims())
	}
	w.size = a.DType().Size()
	if w.append = printer(a.DType()); w.append == nil {
		return fmt.Errorf("elements of %s are not written as text: use AsType", a.DType())
	}
	n := 1
	if a.Dims() == 2 {
		n = a.Shape()[1]
	}
	if n > rowFields {
		return errWideRow
	}
	for i := range n {
		w.names = append(w.names, strconv.Itoa(i))
	}
	if names := a.DimNames(); names != nil && a.Dims() == 2 && names[1] != "" {
		if of := a.Coord(names[1]); of.Err() == nil {
			labels, err := oocore.Collect[float64](ctx, of.AsType(dtype.Float64))
			if err != nil {
				return err
			}
			for i, v := range labels {
				w.names[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	}
	return nil
}

func (w *textWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p)+len(w.left) >= w.size {
		element := p[:w.size-len(w.left)]
		p = p[len(element):]
		if len(w.left) > 0 {
			element = append(w.left, element...)
			w.left = w.left[:0]
		}
		w.text = w.append(w.text[:0], element)
		if w.column++; w.column == len(w.names) {
			w.column = 0
			w.text = append(w.text, '\n')
		} else {
			w.text = append(w.text, ',')
		}
		if _, err := w.to.Write(w.text); err != nil {
			return n - len(p), err
		}
	}
	w.left = append(w.left, p...)
	return n, nil
}

// printer returns what appends the text of an element of a type; nil where there is none.
func printer(t oocore.DType) func(text, element []byte) []byte {
	bits := 8 * t.Size()
	number := func(b []byte) (v uint64) {
		for i := len(b) - 1; i >= 0; i-- {
			v = v<<8 | uint64(b[i])
		}
		return v
	}
	switch {
	case t == dtype.Bool:
		return func(text, b []byte) []byte { return append(text, '0'+b[0]&1) }
	case t == dtype.Float32:
		return func(text, b []byte) []byte {
			return appendFloat(text, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32)
		}
	case t == dtype.Float64:
		return func(text, b []byte) []byte {
			return appendFloat(text, math.Float64frombits(binary.LittleEndian.Uint64(b)), 64)
		}
	case t.Kind() == dtype.KindInt:
		return func(text, b []byte) []byte {
			return strconv.AppendInt(text, int64(number(b))<<(64-bits)>>(64-bits), 10)
		}
	case t.Kind() == dtype.KindUint:
		return func(text, b []byte) []byte { return strconv.AppendUint(text, number(b), 10) }
	}
	return nil
}

// appendFloat writes nan and inf as NumPy does.
func appendFloat(text []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(text, "nan"...)
	case math.IsInf(v, 1):
		return append(text, "inf"...)
	case math.IsInf(v, -1):
		return append(text, "-inf"...)
	}
	return strconv.AppendFloat(text, v, 'g', -1, bits)
}
