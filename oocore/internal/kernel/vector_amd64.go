package kernel

import "github.com/gonbext/gonbext/oocore/dtype"

//go:generate go run ./internal/asm cpu .

// What the loops that follow need beyond AVX2 or AVX-512 comes with these on
// every processor: float16 conversion (F16C) and BMI2.
type (
	vectorKey struct {
		op Op
		t  dtype.Type
	}
	castKey struct{ from, to dtype.Type }
)

func vectorLookup(op Op, t dtype.Type) Func {
	switch {
	case hasAVX512:
		return lookupAVX512(op, t)
	case hasAVX2:
		return lookupAVX2(op, t)
	}
	return nil
}

func vectorCast(from, to dtype.Type) Func {
	switch {
	case hasAVX512:
		return castAVX512(from, to)
	case hasAVX2:
		return castAVX2(from, to)
	}
	return nil
}

// vectorQ8 encodes blocks, where there are vectors.
func vectorQ8(blocks int, dst []byte, x []float32) bool {
	if hasAVX2 {
		vecQ8AVX2(blocks, dst, x)
	}
	return hasAVX2
}

// randomGroups sets as many elements as whole groups of vectors hold, from a
// block of Philox on, and returns their number.
func randomGroups(dst []byte, t dtype.Type, seed, counter uint64) int {
	loop, bytes := vecRandomFloat32AVX2, 64
	switch {
	case hasAVX512 && t == dtype.Float32:
		loop, bytes = vecRandomFloat32AVX512, 128
	case hasAVX512:
		loop, bytes = vecRandomFloat64AVX512, 128
	case !hasAVX2:
		return 0
	case t == dtype.Float64:
		loop = vecRandomFloat64AVX2
	}
	groups := len(dst) / bytes
	loop(groups, dst, seed, counter)
	return groups * bytes / t.Size()
}
