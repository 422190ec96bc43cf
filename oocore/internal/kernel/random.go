package kernel

import (
	"math/bits"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Random sets n elements of type t, float32 or float64, to uniform numbers in
// [0, 1): those at positions at, at+1, … of the sequence that seed names. An
// element depends on seed and its position alone. A float32 has 24 random bits
// and a float64 53, from Philox4x32-10: J. Salmon, M. Moraes, R. Dror and
// D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11, 2011.
func Random(n int, dst []byte, t dtype.Type, seed uint64, at int64) {
	switch t {
	case dtype.Float32:
		randomBlocks(view[float32](dst, n), t, 4, seed, uint64(at), func(w [4]uint32, i uint64) float32 {
			return float32(w[i]>>8) * (1.0 / (1 << 24))
		})
	case dtype.Float64:
		randomBlocks(view[float64](dst, n), t, 2, seed, uint64(at), func(w [4]uint32, i uint64) float64 {
			return float64((uint64(w[2*i+1])<<32|uint64(w[2*i]))>>11) * (1.0 / (1 << 53))
		})
	}
}

// randomBlocks takes each of a block's elements in turn. What begins a block and
// fills vectors is left to them.
func randomBlocks[T float](d []T, t dtype.Type, each uint64, seed, at uint64, element func(w [4]uint32, i uint64) T) {
	for vectors := true; len(d) > 0; {
		if at%each == 0 && vectors {
			done := randomGroups(dtype.Bytes(d), t, seed, at/each)
			d, at, vectors = d[done:], at+uint64(done), false
			continue
		}
		w := Philox(at/each, 0, seed)
		for i := at % each; i < each && len(d) > 0; i++ {
			d[0] = element(w, i)
			d, at = d[1:], at+1
		}
	}
}

// Philox returns the block of four words that Philox4x32-10 has for a counter of 128
// bits, given by its lower half and its upper one, under a key.
func Philox(lower, upper, key uint64) [4]uint32 {
	c0, c1, c2, c3 := uint32(lower), uint32(lower>>32), uint32(upper), uint32(upper>>32)
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		hi0, lo0 := bits.Mul32(0xD2511F53, c0)
		hi1, lo1 := bits.Mul32(0xCD9E8D57, c2)
		c0, c1, c2, c3 = hi1^c1^k0, lo1, hi0^c3^k1, lo0
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return [4]uint32{c0, c1, c2, c3}
}
