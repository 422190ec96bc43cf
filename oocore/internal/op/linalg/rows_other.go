//go:build !amd64

package linalg

// dot is the sum of products.
func dot(x, y []float64) float64 { return dotPlain(x, y) }

// axpy adds s·x to y.
func axpy(s float64, x, y []float64) { axpyPlain(s, x, y) }

// rotate turns x to cos·x - sin·y and y to sin·x + cos·y.
func rotate(x, y []float64, cos, sin float64) { rotatePlain(x, y, cos, sin) }
