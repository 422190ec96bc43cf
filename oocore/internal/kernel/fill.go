package kernel

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Fill sets n elements to v.
func Fill(n int, dst []byte, v dtype.Value) {
	size := v.Type.Size()
	if n == 0 {
		return
	}
	dst = dst[:n*size]
	v.Put(dst)
	for done := size; done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}

// Iota sets n elements to first + delta·(at+i), of the type of first. Integers
// wrap around. Floats and complex numbers are computed in float64 parts with
// one rounding to float64, then one to the type.
func Iota(n int, dst []byte, first, delta dtype.Value, at int64) {
	switch t := first.Type; {
	case t == dtype.Bool:
		d := view[bool](dst, n)
		for i := range d {
			d[i] = first.Lo != 0 || delta.Lo != 0 && at+int64(i) != 0
		}
	case t.Integer():
		BySize(t.Size(), iotaWrapping[int8], iotaWrapping[int16], iotaWrapping[int32], iotaWrapping[int64])(n, dst, first.Int(), delta.Int(), at)
	default:
		iotaReal(n, dst, first, delta, at)
	}
}

func iotaWrapping[T signed](n int, dst []byte, first, delta, at int64) {
	d := view[T](dst, n)
	v := T(first + delta*at)
	for i := range d {
		d[i] = v
		v += T(delta)
	}
}

func iotaReal(n int, dst []byte, first, delta dtype.Value, at int64) {
	x, y := first.Complex(), delta.Complex()
	re := func(i int) float64 { return math.FMA(real(y), float64(at+int64(i)), real(x)) }
	switch first.Type {
	case dtype.Float16:
		for i, d := 0, view[dtype.Float16Bits](dst, n); i < n; i++ {
			d[i] = dtype.ToFloat16(roundToOdd(re(i)))
		}
	case dtype.BFloat16:
		for i, d := 0, view[dtype.BFloat16Bits](dst, n); i < n; i++ {
			d[i] = dtype.ToBFloat16(roundToOdd(re(i)))
		}
	case dtype.Float32:
		for i, d := 0, view[float32](dst, n); i < n; i++ {
			d[i] = float32(re(i))
		}
	case dtype.Float64:
		for i, d := 0, view[float64](dst, n); i < n; i++ {
			d[i] = re(i)
		}
	case dtype.Complex64:
		for i, d := 0, view[complex64](dst, n); i < n; i++ {
			d[i] = complex64(complex(re(i), math.FMA(imag(y), float64(at+int64(i)), imag(x))))
		}
	case dtype.Complex128:
		for i, d := 0, view[complex128](dst, n); i < n; i++ {
			d[i] = complex(re(i), math.FMA(imag(y), float64(at+int64(i)), imag(x)))
		}
	}
}
