package oocore

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
)

// MapOptions are what MapChunks may be told.
type MapOptions struct {
	Chunks []int // the lengths of a chunk; nil lets the planner choose
}

// MapChunks computes each chunk of the result by a Go function: f fills dst from
// src, the same block of a, both dense in C order. It is called for many chunks
// at once, each time with memory that is its own until it returns; its error
// ends the run. T must be the type of a's elements: AsType brings them there.
func MapChunks[T, U Element](f func(dst []U, src []T, at Block) error, a *Array, o MapOptions) *Array {
	return build("map_chunks", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, &Error{Op: "map_chunks", Site: site, Err: errors.New("there is no function: it is nil")}
		}
		if want := dtype.Of[T](); in[0].DType != want {
			return nil, &Error{Op: "map_chunks", Shapes: [][]int{in[0].Shape}, Types: []dtype.Type{in[0].DType}, Site: site,
				Err: fmt.Errorf("the function takes %s elements, the array has %s: AsType brings them there", want, in[0].DType)}
		}
		call := func(dst []byte, src [][]byte, at Block) error {
			return f(dtype.Slice[U](dst), dtype.Slice[T](src[0]), at)
		}
		fn := &graph.Func{Call: call, Chunks: o.Chunks, Name: functionName(f)}
		return graph.Map(site, fn, dtype.Of[U](), in[0])
	}, a)
}

// functionName is a declared function's own name; "" for a literal's, which has
// none.
func functionName(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	name = name[strings.LastIndex(name, "/")+1:]
	_, name, _ = strings.Cut(name, ".")
	if strings.ContainsAny(name, ".[") {
		return ""
	}
	return name
}
