// Command arrayapi evaluates expressions for the test-suite of Python's array API
// standard, which namespace.py brings to it: each request is a line of JSON with the
// expression and its arrays' types and shapes, and then their elements; each answer
// likewise, or an error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// budget is what each evaluation has.
const budget = "128MiB"

type array struct {
	Name  string     `json:"name,omitempty"`
	DType dtype.Type `json:"dtype"`
	Shape []int      `json:"shape"`
}

type request struct {
	Expression string  `json:"expression"`
	Inputs     []array `json:"inputs"`
}

type answer struct {
	array
	Error string `json:"error,omitempty"`
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		if err := serve(in, out); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
	}
}

// serve answers one request.
func serve(in *bufio.Reader, out *bufio.Writer) error {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	names := make(oocore.Names)
	for _, a := range r.Inputs {
		elements := make([]byte, grid.Size(a.Shape)*a.DType.Size())
		if _, err := io.ReadFull(in, elements); err != nil {
			return err
		}
		names[a.Name] = types[a.DType].from(elements, a.Shape)
	}
	x := oocore.EvalContext(context.Background(), r.Expression, names, oocore.Memory(budget))
	made := answer{array: array{DType: x.DType(), Shape: x.Shape()}}
	var elements []byte
	if err = x.Err(); err == nil {
		elements, err = types[x.DType()].collect(x)
	}
	if err != nil {
		made = answer{Error: err.Error()}
	}
	if err := json.NewEncoder(out).Encode(made); err != nil {
		return err
	}
	if _, err := out.Write(elements); err != nil {
		return err
	}
	return out.Flush()
}

// typed are the functions of a type of elements.
type typed struct {
	from    func(b []byte, shape []int) *oocore.Array
	collect func(a *oocore.Array) ([]byte, error)
}

var types = map[dtype.Type]typed{
	dtype.Bool: of[bool](), dtype.Int8: of[int8](), dtype.Int16: of[int16](), dtype.Int32: of[int32](), dtype.Int64: of[int64](),
	dtype.Uint8: of[uint8](), dtype.Uint16: of[uint16](), dtype.Uint32: of[uint32](), dtype.Uint64: of[uint64](),
	dtype.Float16: of[dtype.Float16Bits](), dtype.BFloat16: of[dtype.BFloat16Bits](), dtype.Float32: of[float32](), dtype.Float64: of[float64](),
	dtype.Complex64: of[complex64](), dtype.Complex128: of[complex128](),
}

func of[T dtype.Element]() typed {
	return typed{
		from: func(b []byte, shape []int) *oocore.Array {
			// An empty shape would stand for the slice's own.
			v := oocore.FromSlice(dtype.Slice[T](b))
			return v.Reshape(shape...)
		},
		collect: func(a *oocore.Array) ([]byte, error) {
			v, err := oocore.Collect[T](context.Background(), a, oocore.Memory(budget))
			return dtype.Bytes(v), err
		},
	}
}
