package kernel

import (
	"math/rand/v2"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// randomMatrix has n elements of either sign, none of them special.
func randomMatrix(t dtype.Type, n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	out := aligned(make([]byte, n*t.Size()))
	if t.Kind() == dtype.KindComplex {
		n *= 2
	}
	for i := range n {
		v := r.NormFloat64()
		switch t {
		case dtype.Bool:
			out[i] = byte(r.IntN(2))
		case dtype.Float16:
			view[dtype.Float16Bits](out, n)[i] = dtype.ToFloat16(float32(v))
		case dtype.BFloat16:
			view[dtype.BFloat16Bits](out, n)[i] = dtype.ToBFloat16(float32(v))
		case dtype.Float32, dtype.Complex64:
			view[float32](out, n)[i] = float32(v)
		case dtype.Float64, dtype.Complex128:
			view[float64](out, n)[i] = v
		default:
			dtype.Value{Type: t, Lo: r.Uint64()}.Put(out[i*t.Size():])
		}
	}
	return out
}
