package csv

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Write computes an array of rows × columns, or of one column, to a file, which is there whole or not at all: as NumPy's loadtxt and
// pandas' read_csv read it, in the shortest decimals that mean the same element. The first row has the labels of the columns, else their numbers.
func Write(ctx context.Context, a *oocore.Array, file string, opts ...oocore.Option) error {
	w := &textWriter{}
	if err := w.begin(ctx, a); err != nil {
		return failed(err)
	}
	return disk.WriteWhole(file, func(f io.Writer) error {
		w.to = bufio.NewWriterSize(f, bufferBytes)
		header := csv.NewWriter(w.to)
		err := header.Write(w.names)
		header.Flush()
		if err == nil {
			err = a.WriteTo(ctx, w, "bin", opts...)
		}
		return errors.Join(err, w.to.Flush())
	})
}

// textWriter writes elements that come as bytes, row by row.
type textWriter struct {
	to     *bufio.Writer
	names  []string // of the columns
	dtype  dtype.Type
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
	if w.dtype = a.DType(); w.dtype.Kind() == dtype.KindComplex {
		return fmt.Errorf("elements of %s are not written as text: write Real and Imag", w.dtype)
	}
	n := 1
	if a.Dims() == 2 {
		n = a.Shape()[1]
	}
	if n > rowFields {
		return errWideRow
	}
	var err error
	w.names, err = host.Columns(ctx, a)
	return err
}

func (w *textWriter) Write(p []byte) (int, error) {
	n, size := len(p), w.dtype.Size()
	for len(p)+len(w.left) >= size {
		element := p[:size-len(w.left)]
		p = p[len(element):]
		if len(w.left) > 0 {
			element = append(w.left, element...)
			w.left = w.left[:0]
		}
		w.text = appendElement(w.text[:0], w.dtype, element)
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

// appendElement appends the text of an element: bools are 0 and 1, nan and inf as NumPy writes them.
func appendElement(text []byte, t dtype.Type, element []byte) []byte {
	v := dtype.Value{Type: t}
	for i := len(element) - 1; i >= 0; i-- {
		v.Lo = v.Lo<<8 | uint64(element[i])
	}
	if t == dtype.Bool {
		return append(text, '0'+element[0]&1)
	} else if t.Kind() == dtype.KindFloat {
		switch f := v.Float(); {
		case math.IsNaN(f):
			return append(text, "nan"...)
		case math.IsInf(f, 1):
			return append(text, "inf"...)
		case math.IsInf(f, -1):
			return append(text, "-inf"...)
		}
	}
	return v.Append(text)
}
