package fft

import (
	"math"

	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

//go:generate go run ./internal/asm -out passes_loops_amd64.s -stubs passes_loops_amd64.go -pkg fft

// The instructions that passes use, as kernel says, and the complex numbers of a vector.
var (
	level = kernel.Level()
	lanes = map[string]int{"avx512": 4, "avx2": 2}[level]
)

// constants are what passes multiply with, in the order of the generator's table.
var constants = [...]float64{1, 0.5, math.Sqrt(3) / 2, math.Cos(2 * math.Pi / 5), math.Sin(2 * math.Pi / 5), math.Cos(4 * math.Pi / 5), math.Sin(4 * math.Pi / 5)}

type loop func(m, groups int, x, y, roots *complex128, step int, constants *float64)

var loops = map[string]map[int]loop{
	"avx512": {2: pass2AVX512, 3: pass3AVX512, 4: pass4AVX512, 5: pass5AVX512},
	"avx2":   {2: pass2AVX2, 3: pass3AVX2, 4: pass4AVX2, 5: pass5AVX2},
}[level]

// vectorPass is a pass in vectors, where the transforms side by side fill such.
func vectorPass(x, y []complex128, radix, m, s int, roots []complex128, step int) bool {
	f := loops[radix]
	if f == nil || s%lanes != 0 {
		return false
	}
	f(m, s/lanes, &x[0], &y[0], &roots[0], step, &constants[0])
	return true
}
