package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./internal/asm-gemm -out gemm_amd64.s -stubs gemm_stubs_amd64.go -pkg kernel

// hasVNNI says that multiplying 16-bit integers in pairs and adding is one instruction.
var hasVNNI = cpu.X86.HasAVX512VNNI

// tileShape is the tile that multiplyTile adds to.
func tileShape[T float]() (rows, cols int) {
	var v T
	switch {
	case hasAVX512:
		return 12, 128 / int(unsafe.Sizeof(v))
	case hasAVX2:
		return 6, 64 / int(unsafe.Sizeof(v))
	}
	return 4, 4
}

// multiplyTile adds the product of two panels of k steps to a tile of c.
func multiplyTile[T float](k int, a, b, c *T, ldc int) {
	pa, pb, pc := unsafe.Pointer(a), unsafe.Pointer(b), unsafe.Pointer(c)
	switch {
	case !hasAVX2:
		goTile(k, a, b, c, ldc)
	case wide[T]() && hasAVX512:
		gemm64AVX512(k, (*float64)(pa), (*float64)(pb), (*float64)(pc), ldc)
	case wide[T]():
		gemm64AVX2(k, (*float64)(pa), (*float64)(pb), (*float64)(pc), ldc)
	case hasAVX512:
		gemm32AVX512(k, (*float32)(pa), (*float32)(pb), (*float32)(pc), ldc)
	default:
		gemm32AVX2(k, (*float32)(pa), (*float32)(pb), (*float32)(pc), ldc)
	}
}

// multiplyPairTile adds the product of two panels of k pairs of 16-bit integers to a
// tile of c, which has the shape of one of float32.
func multiplyPairTile(k int, a, b *uint32, c *int32, ldc int) {
	switch {
	case !hasAVX2:
		goPairTile(k, a, b, c, ldc)
	case hasAVX512 && hasVNNI:
		gemm16VNNI(k, a, b, c, ldc)
	case hasAVX512:
		gemm16AVX512(k, a, b, c, ldc)
	default:
		gemm16AVX2(k, a, b, c, ldc)
	}
}
