// Package cost is the table of what the parts of a run take, in nanoseconds of one core at
// nominal rates. Compiling reads it to decide what is materialised and what is computed
// again, and the prediction of seconds multiplies it by what a machine's earlier runs took.
//
// The rates of arithmetic were measured on an AMD EPYC with AVX-512, of operands in its
// cache: BenchmarkElementwise, BenchmarkCast and BenchmarkFold measure them again.
package cost

import (
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/kernel"
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
)

// Keep is what materialising a byte takes, and Reread what each stage takes that reads it:
// two cores wait for the disk meanwhile.
const (
	Keep   = Buffered + 2*Disk
	Reread = Copy + 2*Disk
)

// vector and unary are a byte of the operands of vector loops, of two operands and of one.
const vector, unary = 0.03, 0.02

// byClass are an element's costs by its type: of integers and bools, float32, float64 and
// complex numbers. 0 is that of vector loops.
type byClass [4]float64

func (c byClass) of(t dtype.Type) float64 {
	switch {
	case t.Kind() < dtype.KindFloat:
		return c[0]
	case t.Kind() == dtype.KindComplex:
		return c[3]
	case t == dtype.Float64:
		return c[2]
	}
	return c[1]
}

// complexLoop is a complex element's where a loop only compares or selects.
const complexLoop = 3.5

// elementwise has the operations whose loops take longer than moving their operands.
var elementwise = map[kernel.Op]byClass{
	kernel.Add: {3: 1}, kernel.Subtract: {3: 0.8}, kernel.Multiply: {3: 9},
	kernel.Divide: {0, 0.12, 0.35, 12}, kernel.FloorDivide: {2.5, 5.3, 22}, kernel.Remainder: {2.5, 7, 22},
	kernel.Power: {4, 1.9, 3.8, 99}, kernel.Arctan2: {0, 0.47, 1.9}, kernel.Hypot: {0, 0.23, 0.6},
	kernel.LeftShift: {0: 2}, kernel.RightShift: {0: 2},
	kernel.Absolute: {3: 5.7}, kernel.Sign: {1.7, 1.8, 1.6, 11}, kernel.Square: {3: 9}, kernel.Sqrt: {0, 0.19, 0.6, 3.5},
	kernel.Cbrt: {0, 0.44, 1}, kernel.Reciprocal: {1.9, 0.11, 0.34, 12}, kernel.Rint: {3: 8},
	kernel.Exp: {0, 0.23, 0.74, 25}, kernel.Exp2: {0, 0.2, 0.67, 16}, kernel.Expm1: {0, 0.42, 1.2, 41},
	kernel.Log: {0, 0.25, 0.75, 30}, kernel.Log2: {0, 0.28, 0.9, 31}, kernel.Log10: {0, 0.29, 0.97, 32}, kernel.Log1p: {0, 0.43, 1, 27},
	kernel.Erf: {0, 0.56, 2.1}, kernel.Sin: {0, 0.35, 1.2, 41}, kernel.Cos: {0, 0.36, 1.2, 39}, kernel.Tan: {0, 0.46, 1.5, 30},
	kernel.Arcsin: {0, 0.31, 1.3, 32}, kernel.Arccos: {0, 0.34, 1.5, 29}, kernel.Arctan: {0, 0.34, 1.5, 28},
	kernel.Sinh: {0, 0.39, 1.3, 32}, kernel.Cosh: {0, 0.37, 1.2, 31}, kernel.Tanh: {0, 0.32, 1.8, 32},
	kernel.Arcsinh: {0, 0.88, 2.1, 86}, kernel.Arccosh: {0, 0.65, 2.2, 38}, kernel.Arctanh: {0, 0.66, 1.4, 28},
	kernel.IsNaN: {0: 0.5}, kernel.IsInf: {3: 6}, kernel.Real: {3: 2}, kernel.Imag: {0.4, 0.6, 0.3, 2}, kernel.Conjugate: {3: 8},
}

// Elementwise is an operation's on an element, of operands of a type; of the last two for
// Where. 16-bit floats are computed as float32.
func Elementwise(op kernel.Op, t dtype.Type) float64 {
	if t.Short() && op != kernel.Where {
		return Elementwise(op, dtype.Float32) + float64(op.Arity())*Cast(t, dtype.Float32) + Cast(dtype.Float32, t)
	}
	if n := elementwise[op].of(t); n > 0 {
		return n
	}
	if t.Kind() == dtype.KindComplex && op != kernel.Negative && op != kernel.Where {
		return complexLoop
	}
	size := float64(t.Size())
	if op.Arity() == 1 {
		return unary * size
	}
	return vector * size
}

// Cast is an element's conversion.
func Cast(from, to dtype.Type) float64 {
	wide := func(t dtype.Type) bool {
		return t == dtype.Float32 || t == dtype.Float64 || t == dtype.Int32 || t == dtype.Int64
	}
	size := float64(max(from.Size(), to.Size()))
	switch {
	case from == to || wide(from) && wide(to) || from.Short() && to == dtype.Float32 || from == dtype.Float32 && to.Short(),
		from.Integer() && from.Size() <= 4 && to == dtype.Float32:
		return unary * size
	case from.Short() || to.Short():
		return 3.6
	case from.Kind() == dtype.KindFloat:
		return 3
	case from.Kind() == dtype.KindComplex || to.Kind() == dtype.KindComplex:
		return 1.8
	}
	return 0.5
}

// folds are those of an element by the reduction, in rows of the array or along them.
var folds = map[kernel.Reduction]byClass{
	kernel.Sum: {0.55, 0.08, 0.09, 0.17}, kernel.Mean: {0.6, 0.08, 0.09, 0.19}, kernel.Prod: {0.8, 0.6, 0.6, 1.6},
	kernel.Var: {0.7, 0.18, 0.18, 0.37}, kernel.Std: {0.7, 0.18, 0.18, 0.37}, kernel.Min: {0.5, 0.06, 0.1, 24}, kernel.Max: {0.5, 0.06, 0.1, 24},
	kernel.ArgMin: {0.9, 0.7, 0.6, 29}, kernel.ArgMax: {0.9, 0.7, 0.6, 29}, kernel.Any: {0.6, 1, 1, 3}, kernel.All: {0.8, 1, 1, 3},
	kernel.CountNonzero: {0.6, 0.6, 0.6, 1},
}

// Fold is that of an element that is folded.
func Fold(r kernel.Reduction, t dtype.Type) float64 {
	if t.Short() {
		return folds[r].of(dtype.Float32) + Cast(t, dtype.Float32)
	}
	return folds[r].of(t)
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
