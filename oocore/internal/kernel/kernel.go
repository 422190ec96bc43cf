// Package kernel holds the inner loops: elementwise functions, conversions,
// reductions and matrix products over plain memory.
//
// Kernels trust their caller: buffers are long enough, aligned to 64 bytes or
// to an element, and do not overlap unless they are the same. They allocate
// nothing and touch no byte beyond the n elements that they are given. An
// element's result depends on its operands alone, never on its place in the
// block, on n or on the processor's vector width. Functions of float64 are within
// one unit in the last place and those of float32 within two, and both are equal to
// the bit on every machine.
package kernel

import "runtime"

// Func computes n elements of dst from as many of its operands; those beyond
// the operation's arity are nil. dst may be one of them whose elements are no
// narrower.
type Func func(n int, dst, a, b, c []byte)

// Op is an elementwise operation: the number of its row.
type Op uint8

// Level names the instructions that the loops use: "avx512", "avx2" or "go".
// The environment variable GONBEXT_CPU lowers it.
func Level() string {
	switch {
	case hasAVX512:
		return "avx512"
	case hasAVX2:
		return "avx2"
	}
	return "go"
}

// Vectors names the instructions that sums are added up with: their order, and so their
// last bits, differ from one to another.
func Vectors() string { return runtime.GOARCH + " " + Level() }

// Multiplier names what multiplies matrices of floats: the BLAS library, with its
// release and the processor that its loops are for, or "own".
func Multiplier() string {
	if l := loadBLAS(); l != nil {
		return l.version
	}
	return "own"
}
