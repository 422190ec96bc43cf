package random

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// mostCount bounds the integers that have a formula: for few of them a word is hardly ever
// drawn again.
const mostCount = 1 << 32

// Formula draws as Fill does, with the first words that an element has.
func (o Draws) Formula([]int) *blockwise.Formula {
	if o.Distribution == Integer && (o.Count == 0 || o.Count > mostCount) {
		return nil
	}
	f := &blockwise.Formula{}
	d := draw{f}
	at := f.Position()
	a, b := d.pair(at, uint64(o.Distribution), o.Seed)
	odd := f.Apply(kernel.NotEqual, f.Apply(kernel.BitAnd, at, d.number(1)), d.number(0))
	switch o.Distribution {
	case Normal:
		f.Result = d.normal(a, b, odd)
	case Integer:
		f.Result = d.below(f.Apply(kernel.Where, odd, b, a), o.Count)
		f.Result = f.Apply(kernel.Add, f.Cast(f.Result, dtype.Int64), f.Constant(dtype.ValueOf(o.Low)))
	default:
		f.Result = f.Apply(kernel.Where, odd, b, a)
	}
	return f
}

// draw makes terms of words of 64 bits.
type draw struct{ f *blockwise.Formula }

func (d draw) number(v uint64) int { return d.f.Constant(dtype.ValueOf(v)) }
func (d draw) low(x int) int       { return d.f.Apply(kernel.BitAnd, x, d.number(1<<32-1)) }
func (d draw) high(x int) int      { return d.f.Apply(kernel.RightShift, x, d.number(32)) }
func (d draw) xor(x, y int) int    { return d.f.Apply(kernel.BitXor, x, y) }

// pair is Draws.pair of the first attempt, by the rounds of kernel.Philox.
func (d draw) pair(at int, upper, seed uint64) (a, b int) {
	block := d.f.Apply(kernel.RightShift, at, d.number(1))
	c0, c1, c2, c3 := d.low(block), d.high(block), d.number(upper), d.number(0)
	k0, k1 := uint32(seed), uint32(seed>>32)
	for range 10 {
		p0, p1 := d.f.Apply(kernel.Multiply, c0, d.number(0xD2511F53)), d.f.Apply(kernel.Multiply, c2, d.number(0xCD9E8D57))
		c0, c1, c2, c3 = d.xor(d.xor(d.high(p1), c1), d.number(uint64(k0))), d.low(p1), d.xor(d.xor(d.high(p0), c3), d.number(uint64(k1))), d.low(p0)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	join := func(low, high int) int {
		return d.f.Apply(kernel.BitOr, d.f.Apply(kernel.LeftShift, high, d.number(32)), low)
	}
	return join(c0, c1), join(c2, c3)
}

// normal is Draws.normals.
func (d draw) normal(a, b, odd int) int {
	real := func(v float64) int { return d.f.Constant(dtype.ValueOf(v)) }
	uniform := func(word int) int {
		word = d.f.Cast(d.f.Apply(kernel.RightShift, word, d.number(11)), dtype.Float64)
		return d.f.Apply(kernel.Multiply, word, real(0x1p-53))
	}
	log := d.f.Apply(kernel.Log, d.f.Apply(kernel.Subtract, real(1), uniform(a)))
	radius := d.f.Apply(kernel.Sqrt, d.f.Apply(kernel.Multiply, log, real(-2)))
	angle := d.f.Apply(kernel.Multiply, real(2*math.Pi), uniform(b))
	return d.f.Apply(kernel.Multiply, radius, d.f.Apply(kernel.Where, odd, d.f.Apply(kernel.Sin, angle), d.f.Apply(kernel.Cos, angle)))
}

// below is the first attempt of Draws.below: the upper word of the product of two. A word that
// has to be drawn again is left to the CPU.
func (d draw) below(word int, n uint64) int {
	count := d.number(n)
	carry := d.high(d.f.Apply(kernel.Multiply, d.low(word), count))
	upper := d.f.Apply(kernel.Add, d.f.Apply(kernel.Multiply, d.high(word), count), carry)
	d.f.Fails = []int{d.f.Apply(kernel.Less, d.f.Apply(kernel.Multiply, word, count), d.number(-n%n))}
	return d.high(upper)
}
