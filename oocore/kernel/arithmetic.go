package kernel

import "runtime"

// Vectors names the instructions that sums are added up with: their order, and so their
// last bits, differ from one to another.
func Vectors() string {
	level := "go"
	switch {
	case hasAVX512:
		level = "avx512"
	case hasAVX2:
		level = "avx2"
	}
	return runtime.GOARCH + " " + level
}

// Multiplier names what multiplies matrices of floats: the BLAS library, with its
// release and the processor that its loops are for, or "own".
func Multiplier() string {
	if l := loadBLAS(); l != nil {
		return l.version
	}
	return "own"
}
