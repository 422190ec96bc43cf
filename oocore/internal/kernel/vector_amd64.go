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

// vectorLoop is a loop for AVX-512 and for AVX2, nil where there is none.
type vectorLoop struct{ wide, narrow Func }

func (l vectorLoop) best() Func {
	switch {
	case hasAVX512:
		return l.wide
	case hasAVX2:
		return l.narrow
	}
	return nil
}

// rareLoop is one that stops before a vector with a rare operand, with the lanes of each vector.
type rareLoop struct {
	wide, narrow           func(n int, dst, a, b, c []byte) int
	wideLanes, narrowLanes int
}

func vectorLookup(op Op, t dtype.Type) Func {
	r, ok := rareLoops[vectorKey{op, t}]
	switch {
	case !ok:
		return vectorLoops[vectorKey{op, t}].best()
	case hasAVX512:
		return helped(r.wide, r.wideLanes, op, t)
	case hasAVX2:
		return helped(r.narrow, r.narrowLanes, op, t)
	}
	return nil
}

func vectorCast(from, to dtype.Type) Func { return castLoops[castKey{from, to}].best() }

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
