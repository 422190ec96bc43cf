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

// Func computes n elements of dst from as many of its operands; those beyond
// the operation's arity are nil. dst may be one of them whose elements are no
// narrower.
type Func func(n int, dst, a, b, c []byte)

// Op is an elementwise operation: the number of its row.
type Op uint8
