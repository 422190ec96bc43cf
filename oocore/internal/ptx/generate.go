package ptx

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// iota is the element of an arithmetic sequence at a position of 64 bits.
func (e *emitter) iota(l *plan.Load, at string) string {
	t := l.Type
	switch {
	case t == dtype.Bool:
		if l.Value.Lo != 0 || l.Delta.Lo == 0 {
			return e.constant(t, min(l.Value.Lo, 1))
		}
		return e.truth(e.is("ne.s64", at, 0))
	case t.Integer():
		x := e.double("mad.lo.s64", at, l.Delta.Int(), fmt.Sprintf("0x%X", uint64(l.Value.Int())))
		if t.Size() == 8 {
			return x
		}
		return e.wrapped(t, e.word("cvt.u32.u64", x))
	}
	f := dtype.Float64
	x := e.double("fma.rn.f64", float(f, l.Delta.Float()), e.double("cvt.rn.f64.s64", at), float(f, l.Value.Float()))
	return e.cast(f, t, x)
}

// random is a uniform number in [0, 1) at a position of 64 bits: kernel.Random's.
func (e *emitter) random(l *plan.Load, at string) string {
	each, half := uint64(4), 2
	if l.Type == dtype.Float64 {
		each, half = 2, 1
	}
	counter := e.double("shr.u64", at, half)
	w := e.philox(counter, l.Seed)
	which := e.word("and.b32", e.word("cvt.u32.u64", at), each-1)
	odd := e.is("ne.u32", e.word("and.b32", which, 1), 0)
	if l.Type == dtype.Float64 {
		lower := e.choose(dtype.Uint32, odd, w[2], w[0])
		upper := e.choose(dtype.Uint32, odd, w[3], w[1])
		both := e.double("or.b64", e.double("shl.b64", e.double("cvt.u64.u32", upper), 32), e.double("cvt.u64.u32", lower))
		return e.double("mul.rn.f64", e.double("cvt.rn.f64.u64", e.double("shr.u64", both, 11)), float(l.Type, 0x1p-53))
	}
	high := e.is("ne.u32", e.word("and.b32", which, 2), 0)
	x := e.choose(dtype.Uint32, high, e.choose(dtype.Uint32, odd, w[3], w[2]), e.choose(dtype.Uint32, odd, w[1], w[0]))
	return e.word("mul.rn.f32", e.word("cvt.rn.f32.u32", e.word("shr.u32", x, 8)), float(l.Type, 0x1p-24))
}

// philox is the four words of Philox4x32-10 for a counter below 2⁶⁴.
func (e *emitter) philox(counter string, key uint64) [4]string {
	c := [4]string{e.word("cvt.u32.u64", counter), e.word("cvt.u32.u64", e.double("shr.u64", counter, 32)), e.constant(dtype.Uint32, 0), e.constant(dtype.Uint32, 0)}
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		const first, second = "0xD2511F53", "0xCD9E8D57"
		hi0, lo0 := e.word("mul.hi.u32", c[0], first), e.word("mul.lo.u32", c[0], first)
		hi1, lo1 := e.word("mul.hi.u32", c[2], second), e.word("mul.lo.u32", c[2], second)
		mixed := func(hi, other string, k uint32) string {
			return e.word("xor.b32", e.word("xor.b32", hi, other), fmt.Sprintf("0x%X", k))
		}
		c = [4]string{mixed(hi1, c[1], k0), lo1, mixed(hi0, c[3], k1), lo0}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c
}

// value is a constant in a register.
func (e *emitter) value(v dtype.Value) string {
	b := v.Lo
	if v.Type.Kind() == dtype.KindInt {
		b = uint64(v.Int())
	}
	if bits(v.Type) == 32 {
		b &= math.MaxUint32
	}
	return e.constant(v.Type, b)
}
