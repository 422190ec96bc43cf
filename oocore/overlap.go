package oocore

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// Boundary says what lies beyond the edges of an array.
type Boundary string

// The boundaries, with what lies before and after a b c d. The zero value is
// BoundaryReflect.
const (
	BoundaryReflect  Boundary = "reflect"  // d c b a | a b c d | d c b a
	BoundaryMirror   Boundary = "mirror"   // d c b | a b c d | c b a
	BoundaryNearest  Boundary = "nearest"  // a a a a | a b c d | d d d d
	BoundaryWrap     Boundary = "wrap"     // a b c d | a b c d | a b c d
	BoundaryConstant Boundary = "constant" // k k k k | a b c d | k k k k
	BoundaryNone     Boundary = "none"     // a b c d: chunks end with the array
)

// OverlapOptions are the options of Overlap.
type OverlapOptions struct {
	// Depth is how many neighbours a chunk has along each axis, on either side; one number
	// holds for all axes. It is at most the array's length.
	Depth    []int
	Boundary Boundary
	Value    float64 // k of BoundaryConstant
	// Chunks are the lengths of a chunk of the result. For nil they are those of the array's stored
	// chunks, or give chunks of about 2 MiB with a small border.
	Chunks []int
}

// Overlap computes each chunk of the result by a Go function that sees the chunk's
// neighbours: f sets all of dst from src, the chunk with its border, both dense in C
// order and of at.Shape. What it sets of the border is trimmed. at is where src lies in
// a, and may begin before it or end after it, where a boundary continues beyond the edges.
//
// The function is called as MapChunks calls it. Borders are read once more by each
// neighbour; otherwise it is one pass.
func Overlap[T, U Element](f func(dst []U, src []T, at Block) error, a *Array, o OverlapOptions) *Array {
	return build("overlap", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, noFunction(site, "overlap")
		}
		if err := takes[T](site, "overlap", in[0]); err != nil {
			return nil, err
		}
		call := func(dst []byte, src [][]byte, at Block) error {
			return f(dtype.Slice[U](dst), dtype.Slice[T](src[0]), at)
		}
		return udf.Overlap(site, call, dtype.Of[U](), udf.OverlapOptions{
			Name: functionName(f), Depth: o.Depth, Boundary: window.Mode(o.Boundary), Value: o.Value, Chunks: o.Chunks}, in[0])
	}, a)
}

// ApplyAlong computes lines along an axis by a Go function, as NumPy's
// apply_along_axis: f fills dst, of length elements, from a line of a. A length of -1 is
// the line's own; one of 1 stays as an axis, which Squeeze removes.
//
// The function is called for many lines at once, each time with memory that is its own
// until it returns. A run holds some whole lines for each of the chunks in flight, about
// 4 MiB of them or one; it is one pass over a.
func ApplyAlong[T, U Element](f func(dst []U, line []T) error, a *Array, axis, length int) *Array {
	return build("apply_along", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, noFunction(site, "apply_along")
		}
		if err := takes[T](site, "apply_along", in[0]); err != nil {
			return nil, err
		}
		call := func(dst, line []byte) error { return f(dtype.Slice[U](dst), dtype.Slice[T](line)) }
		return udf.ApplyAlong(site, call, dtype.Of[U](), udf.AlongOptions{Name: functionName(f), Axis: axis, Length: length}, in[0])
	}, a)
}
