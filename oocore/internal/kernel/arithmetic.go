package kernel

import "runtime"

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
