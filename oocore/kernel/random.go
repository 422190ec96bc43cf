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
		random32(view[float32](dst, n), seed, uint64(at))
	case dtype.Float64:
		random64(view[float64](dst, n), seed, uint64(at))
	}
}

// random32 takes four elements of each block of Philox.
func random32(d []float32, seed, at uint64) {
	for len(d) > 0 {
		w := philox(at/4, seed)
		if at%4 == 0 && len(d) >= 4 {
			d[0], d[1], d[2], d[3] = float32From(w[0]), float32From(w[1]), float32From(w[2]), float32From(w[3])
			d, at = d[4:], at+4
			continue
		}
		d[0] = float32From(w[at%4])
		d, at = d[1:], at+1
	}
}

// random64 takes two elements of each block of Philox.
func random64(d []float64, seed, at uint64) {
	for len(d) > 0 {
		w := philox(at/2, seed)
		if at%2 == 0 && len(d) >= 2 {
			d[0], d[1] = float64From(w[0], w[1]), float64From(w[2], w[3])
			d, at = d[2:], at+2
			continue
		}
		d[0] = float64From(w[at%2*2], w[at%2*2+1])
		d, at = d[1:], at+1
	}
}

func float32From(w uint32) float32 { return float32(w>>8) * (1.0 / (1 << 24)) }

func float64From(lo, hi uint32) float64 {
	return float64((uint64(hi)<<32|uint64(lo))>>11) * (1.0 / (1 << 53))
}

// philox is the block of four words of a counter under a key. The counter's
// upper half is zero.
func philox(counter, key uint64) [4]uint32 {
	c0, c1, c2, c3 := uint32(counter), uint32(counter>>32), uint32(0), uint32(0)
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
