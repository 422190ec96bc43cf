// Package cost is the table of what the parts of a run take, in nanoseconds of one core at
// nominal rates. Compiling reads it to decide what is materialised and what is computed
// again, and the prediction of seconds multiplies it by what a machine's earlier runs took.
//
// What an element takes stands in the rows of operations and reductions, in package kernel;
// here is all else. BenchmarkCast measures conversions again.
package cost

import (
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Of a byte.
const (
	Copy      = 0.15 // read from the page cache or from memory
	Fetch     = 0.2  // brought from the disk into the page cache
	Buffered  = 1.2  // written through the page cache
	Direct    = 0.08 // written past it
	Transpose = 0.8
	Broadcast = 0.02 // repeated, or read with steps
	Touch     = 0.5  // of a buffer, when it is first used
	Disk      = 0.5  // the disk's own time, in which a core may wait
)

// Of other things.
const (
	ShortRead  = 1500  // a run of a file that is read, where runs are short
	ShortWrite = 3000  // one that is written
	Object     = 150e3 // a file that is written for a chunk, or of one that is read
	DiskObject = 1e6   // the disk's own time for it
	Task       = 15e3
	Stage      = 3e6 // besides its tasks
	Random     = 2   // an element
	Iota       = 0.3
	Single     = 10 // in addition, of either, where the elements of a row do not follow each other
)

// Keep is what materialising a byte takes, and Reread what each stage takes that reads it:
// two cores wait for the disk meanwhile.
const (
	Keep   = Buffered + 2*Disk
	Reread = Copy + 2*Disk
)

// Elementwise is an operation's on an element, of operands of a type; of the last two for
// Where. 16-bit floats are computed as float32.
func Elementwise(op kernel.Op, t dtype.Type) float64 {
	if t.Short() && op != kernel.Where {
		return Elementwise(op, dtype.Float32) + float64(op.Arity())*Cast(t, dtype.Float32) + Cast(dtype.Float32, t)
	}
	return op.Row().Cost(t)
}

// Cast is an element's conversion.
func Cast(from, to dtype.Type) float64 {
	wide := func(t dtype.Type) bool {
		return t == dtype.Float32 || t == dtype.Float64 || t == dtype.Int32 || t == dtype.Int64
	}
	switch {
	case to.StorageOnly() && from != to:
		return 3 + Cast(from, dtype.Float32)
	case from.StorageOnly() && from != to:
		return 0.5 + Cast(dtype.Float32, to)
	case from == to || wide(from) && wide(to) || from.Short() && to == dtype.Float32 || from == dtype.Float32 && to.Short(),
		from.Integer() && from.Size() <= 4 && to == dtype.Float32:
		return 0.02 * float64(max(from.Size(), to.Size()))
	case from.Short() || to.Short():
		return 3.6
	case from.Kind() == dtype.KindFloat:
		return 3
	case from.Kind() == dtype.KindComplex || to.Kind() == dtype.KindComplex:
		return 1.8
	}
	return 0.5
}

// Product is that of a multiplication in a product of matrices, and of an addition likewise.
func Product(t dtype.Type) float64 {
	size := float64(t.Size()) / 4
	switch {
	case t.Kind() < dtype.KindFloat:
		return 0.5 * size
	case t.Kind() == dtype.KindComplex:
		return 0.04 * size
	}
	return 0.01 * size
}

// blocks are those of a byte of operations that fill boxes, where moving it takes less.
var blocks = map[string]float64{
	"sort_lines": 1.4, "sort_runs": 1.4, "quantiles": 3, "searchsorted": 3.5, "unique_table": 2.5,
	"rolling": 1.3, "count": 1, "special": 3.5,
}

// Block is a byte's that an operation which fills boxes reads or makes.
func Block(name string) float64 { return max(blocks[name], 0.5) }

// codecs are those of a byte that is decoded, and that is encoded.
var codecs = map[string]struct{ decode, encode float64 }{
	"zstd": {1, 2.2}, "gzip": {3, 20}, "zlib": {3, 20}, "blosc": {0.12, 0.8}, "lz4": {0.3, 0.8},
	"lzma": {16, 0}, "bzip2": {30, 0}, "delta": {0.4, 0}, "fixedscaleoffset": {0.6, 0}, "quantize": {0.3, 0}, "astype": {0.3, 0}, "bitround": {0.1, 0}, "packbits": {1, 0},
	"lzw": {5, 0}, "predictor": {0.6, 0}, "floatpredictor": {1.1, 0},
}

// Codec is that of a byte of a codec in the form of store.Meta, such as "shuffle+zstd:3": what
// decoding and what encoding it takes.
func Codec(text string) (decode, encode float64) {
	for part := range strings.SplitSeq(text, "+") {
		word, _, _ := strings.Cut(part, ":")
		decode += codecs[word].decode
		encode += codecs[word].encode
	}
	return decode, encode
}

// Generator is what an element of a generator takes that is seen through a view.
func Generator(random bool, v grid.View) float64 {
	own, last := Iota, len(v.Axis)-1
	if random {
		own = Random
	}
	if row := len(v.Shape) - 1; last >= 0 && row >= 0 && v.Shape[row] > 1 && (v.Axis[last] != row || v.Step[last] != 1) {
		own += Single
	}
	return own
}

// Boxes is what an operation takes to fill a box of its result, without computing what it
// reads of inputs of the given shapes.
func Boxes(op blockwise.Op, t dtype.Type, box []int, need blockwise.Requirements, inputs [][]int) float64 {
	elements := grid.Size(box)
	for k, reads := range need.Reads {
		elements += grid.Size(grid.Clip(reads, inputs[k]))
	}
	return max(float64(need.Work), float64(elements)*Block(blockwise.Name(op))*float64(t.Size()))
}
