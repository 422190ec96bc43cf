package linalg

import "github.com/gonbext/gonbext/oocore/internal/kernel"

//go:generate go run ./internal/asm -out rows_loops_amd64.s -stubs rows_loops_amd64.go -pkg linalg

// The instructions that loops over rows use, as kernel says, and the elements of a group.
var (
	level = kernel.Level()
	group = map[string]int{"avx512": 32, "avx2": 16}[level]
)

// dot is the sum of products.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	if group == 0 || len(x) < group {
		return dotPlain(x, y)
	}
	n := len(x) / group
	var sum float64
	if level == "avx512" {
		sum = dotAVX512(n, &x[0], &y[0])
	} else {
		sum = dotAVX2(n, &x[0], &y[0])
	}
	return sum + dotPlain(x[n*group:], y[n*group:])
}

// axpy adds s·x to y.
func axpy(s float64, x, y []float64) {
	y = y[:len(x)]
	n := 0
	if group > 0 && len(x) >= group {
		n = len(x) / group
		if level == "avx512" {
			axpyAVX512(n, s, &x[0], &y[0])
		} else {
			axpyAVX2(n, s, &x[0], &y[0])
		}
	}
	axpyPlain(s, x[n*group:], y[n*group:])
}

// rotate turns x to cos·x - sin·y and y to sin·x + cos·y.
func rotate(x, y []float64, cos, sin float64) {
	y = y[:len(x)]
	n := 0
	if group > 0 && len(x) >= group {
		n = len(x) / group
		if level == "avx512" {
			rotateAVX512(n, &x[0], &y[0], cos, sin)
		} else {
			rotateAVX2(n, &x[0], &y[0], cos, sin)
		}
	}
	rotatePlain(x[n*group:], y[n*group:], cos, sin)
}
