package oocore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/store"
)

// Open returns a stored array: x.npy, or x.bin?shape=1000,512&dtype=float32. Only its
// header is read.
func Open(path string) *Array { return OpenContext(context.Background(), path) }

// OpenContext is Open, which ends with ctx where it waits for a server.
func OpenContext(ctx context.Context, path string) *Array {
	site := graph.Caller()
	stored, err := store.OpenContext(ctx, path)
	if err != nil {
		// Both the operation and the store's error say "open": once is enough.
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("%s: %w", inner.Path, inner.Err)
		}
		return &Array{err: &Error{Op: "open", Site: site, Err: err}}
	}
	info := stored.Info()
	if err := stored.Close(); err != nil {
		return &Array{err: &Error{Op: "open", Site: site, Err: err}}
	}
	return made(graph.Open(site, info, ""))
}

// OpenStack returns the files that a pattern matches, as filepath.Match has it, as one array:
// each is a part along a new axis, in the order of their names. They have one shape and
// dtype. Only their headers are read, and reading opens one file at a time for each task. Open
// of frames/*.zarr?axis=time gives the new axis, the first, a name.
func OpenStack(pattern string, axis int) *Array {
	return OpenContext(context.Background(), store.StackPath(pattern, axis))
}

// FromSlice returns an array of a copy of v, in C order; without a shape, of one
// dimension.
func FromSlice[T Element](v []T, shape ...int) *Array {
	if len(shape) == 0 {
		shape = []int{len(v)}
	}
	return made(graph.FromBytes(graph.Caller(), slices.Clone(dtype.Bytes(v)), dtype.Of[T](), shape...))
}

// Full returns an array of one value, a number of Go: an int becomes int64, a
// float64 float64. It takes no memory.
func Full(value any, shape ...int) *Array {
	return build("full", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if in[0].Kind != graph.Constant || len(in[0].Shape) > 0 {
			return nil, &Error{Op: "full", Site: site, Err: errors.New("takes a number, not an array")}
		}
		return graph.Full(site, in[0].Value, shape...)
	}, value)
}

// Zeros returns an array of zeros of a type. It takes no memory.
func Zeros(t DType, shape ...int) *Array { return constant("zeros", t, 0, shape) }

// Ones returns an array of ones of a type. It takes no memory.
func Ones(t DType, shape ...int) *Array { return constant("ones", t, 1, shape) }

func constant(op string, t DType, value int64, shape []int) *Array {
	site := graph.Caller()
	if t.Size() == 0 {
		return &Array{err: &Error{Op: op, Site: site, Err: errors.New("the dtype is invalid: give one such as oocore.Float32")}}
	}
	n, err := graph.Full(site, dtype.FromInt(t, value), shape...)
	if err != nil {
		err = &Error{Op: op, Site: site, Err: unwrapped(err)}
	}
	return made(n, err)
}

// Linspace returns count float64 numbers at equal distances from start to stop, both
// included; without the end they are Linspace(start, stop, count+1).Slice(":-1"). It takes no
// memory.
func Linspace(start, stop float64, count int) *Array {
	return made(graph.Linspace(graph.Caller(), start, stop, count))
}

// TriangleIndices returns the rows and the columns of the elements on and below a diagonal of a
// matrix, or with upper of those on and above it, in C order, as int64: NumPy's
// tril_indices(rows, diagonal, columns) and triu_indices. They take the passes of Cumsum over
// the rows.
func TriangleIndices(rows, columns, diagonal int, upper bool) (row, column *Array) {
	all := operate(map[bool]string{false: "tril_indices", true: "triu_indices"}[upper], nil, rows, diagonal, columns)
	return all[0], all[1]
}

// Random returns numbers uniform in [0, 1) of a float type. An element depends on the
// seed and its position alone, so neither chunks nor budgets change it, and it
// takes no memory.
//
// This is so of all random numbers here. The same seed gives the same bits with every budget, number
// of workers and device as long as the engine's version is the same, of distributions that have
// parameters on processors of one architecture. Another version may change the last bits of what is
// computed by logarithms and the like, as RandomNormal is, and a saved array that depends on them
// is then computed anew.
func Random(t DType, seed uint64, shape ...int) *Array {
	return made(graph.Uniform(graph.Caller(), t, seed, shape...))
}
