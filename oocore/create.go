package oocore

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/stack"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Open returns a stored array: x.npy, or x.bin?shape=1000,512&dtype=float32. Only its
// header is read.
func Open(path string) *Array { return OpenContext(context.Background(), path) }

// OpenContext is Open, which ends with ctx where it waits for a server.
func OpenContext(ctx context.Context, path string) *Array {
	site := graph.Caller()
	stored, err := store.OpenContext(ctx, path)
	if of, ok := errors.AsType[*stack.Several](err); ok {
		n, err := label.Join(site, label.Files{Paths: of.Files, Axis: of.Axis, Dim: of.Dim, Joined: of.Joined}, labels(ctx))
		return made(graph.Result(site, "open", n, graph.Unnamed(err)))
	}
	if err != nil {
		// Both the operation and the store's error say "open": once is enough.
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = &openError{inner}
		}
		a := made(nil, &Error{Op: "open", Site: site, Err: err})
		a.opaque = path
		return a
	}
	info := stored.Info()
	if err := stored.Close(); err != nil {
		return made(nil, &Error{Op: "open", Site: site, Err: err})
	}
	return made(graph.Open(site, info, ""))
}

// openError is an *fs.PathError that does not name its operation.
type openError struct{ err *fs.PathError }

func (e *openError) Error() string { return e.err.Path + ": " + e.err.Err.Error() }

func (e *openError) Unwrap() error { return e.err }

// OpenStack returns the files that a pattern matches, as filepath.Match has it, as one array:
// each is a part along a new axis, in the order of their names. They have one shape and
// dtype. Only their headers are read, and reading opens one file at a time for each task. Open
// of frames/*.zarr?axis=time gives the new axis, the first, a name. Files whose numbers are packed in different ways are decoded, as
// DecodeCF does, and the labels of dimensions are to be the same in all files.
//
// Open of months/*.nc?concat=time#tas, or of months/*.npy?concat=0, joins files along a dimension that they have, of whatever lengths there,
// in the order of its labels, or of the files' names where there are none. Labels that overlap are an error.
func OpenStack(pattern string, axis int) *Array {
	return OpenContext(context.Background(), stack.Path(pattern, axis))
}

// FromStore returns an array that the program reads by itself, such as a store.Array of another library's file. It
// must stay open while arrays that are made of it are in use; they do not close it. What is saved of it
// is computed anew each time unless its Info().ID.Version tells its versions apart.
func FromStore(a store.Array) *Array {
	site := graph.Caller()
	if a == nil {
		return made(nil, &Error{Op: "from_store", Site: site, Err: errors.New("the store.Array is nil")})
	}
	return made(graph.Open(site, storage.Attach(a), filepath.Base(a.Info().Path)))
}

// PathIn returns a path of a file of an fs.FS, for Open, OpenAll and whatever else reads paths, such as oocore.PathIn(embedded, "data/x.npy"): of an
// embed.FS, a zip.Reader, an fstest.MapFS. All formats are read so that are read from web servers. Versions of what is
// read are checksums of it.
func PathIn(fsys fs.FS, path string) string { return blob.Mount(fsys) + path }

// FromSlice returns an array of a copy of v, in C order; without a shape, of one
// dimension. One length may be -1, which the others give.
func FromSlice[T Element](v []T, shape ...int) *Array {
	if len(shape) == 0 {
		shape = []int{len(v)}
	}
	return made(graph.FromBytes(graph.Caller(), slices.Clone(dtype.Bytes(v)), dtype.Of[T](), shape...))
}

// Zeros returns an array of zeros of a type. It takes no memory.
func Zeros(t DType, shape ...int) *Array { return constant("zeros", t, 0, shape) }

// Ones returns an array of ones of a type. It takes no memory.
func Ones(t DType, shape ...int) *Array { return constant("ones", t, 1, shape) }

func constant(op string, t DType, value int64, shape []int) *Array {
	site := graph.Caller()
	err := graph.CheckType(t, map[int64]string{0: "oocore.Zeros", 1: "oocore.Ones"}[value]+"(oocore.Float64", shape)
	var n *graph.Node
	if err == nil {
		n, err = graph.Full(site, dtype.FromInt(t, value), shape...)
	}
	if err != nil {
		err = &Error{Op: op, Site: site, Err: unwrapped(err)}
	}
	return made(n, err)
}

// TriangleIndices returns the rows and the columns of the elements on and below a diagonal of a
// matrix, with Lower, or on and above it, with Upper, in C order, as int64: NumPy's
// tril_indices(rows, diagonal, columns) and triu_indices. They take the passes of Cumsum over
// the rows.
func TriangleIndices(rows, columns, diagonal int, of types.Triangle) (row, column *Array) {
	in := called(map[types.Triangle]string{Lower: "tril_indices", Upper: "triu_indices"}[of])
	all := in.List(order.TriangleIndices(in.Site, order.TriangleArgs{Upper: of == Upper, Rows: rows, Diagonal: diagonal, Columns: columns}))
	return all[0], all[1]
}

// Random returns numbers uniform in [0, 1) as Float32 or Float64. An element depends on the
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

// RandomNormal returns numbers of the normal distribution of mean 0 and variance 1, in a float
// type, by Box and Muller's method, of blocks of Philox4x32-10 (Salmon and others, SC11, 2011) as all
// random numbers are. Random says what of them stays the same from run to run.
func RandomNormal(t DType, seed uint64, shape ...int) *Array {
	return made(random.Normals(graph.Caller(), t, seed, shape...))
}

// RandomIntegers returns integers from low up to but not including high, all equally likely, in
// an integer type that has them all.
func RandomIntegers(t DType, seed uint64, low, high int64, shape ...int) *Array {
	return made(random.Integers(graph.Caller(), t, seed, low, high, shape...))
}

// ChoiceOptions are the less common arguments of Choice.
type ChoiceOptions struct {
	Distinct bool   // no element is drawn twice
	Weights  *Array // how likely each element is, relative to the others; not with Distinct
}
