package ptx

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// folding is how one reduction of elements of one type is done. Its accumulators are
// those of kernel.Folder, field by field, so that the host merges and finishes them.
type folding struct {
	from      dtype.Type // of elements, in memory
	t         dtype.Type // that they are folded in
	fields    []dtype.Type
	empty     []uint64 // bits of the fields of an empty accumulator
	positions bool     // take needs an element's position
	moments   bool     // two passes: the mean, and the squares of what elements differ from it
	take      func(e *emitter, acc []string, x, position string)
	join      func(e *emitter, acc, other []string) // other comes later
}

// newFolding returns the folding of a reduction of elements of type t; false where there
// is no kernel for it.
func newFolding(r kernel.Reduction, t dtype.Type) (folding, bool) {
	if t.Kind() == dtype.KindComplex {
		return folding{}, false
	}
	f := folding{from: t, t: t}
	averaged := r == kernel.Mean || r == kernel.Var || r == kernel.Std
	switch {
	case t.Short():
		f.t = dtype.Float32
	case averaged && t.Kind() != dtype.KindFloat:
		f.t = dtype.Float64
	}
	isFloat := f.t.Kind() == dtype.KindFloat
	if t == dtype.Bool {
		switch r {
		case kernel.Sum:
			r = kernel.CountNonzero
		case kernel.Min, kernel.Prod:
			r = kernel.All
		case kernel.Max:
			r = kernel.Any
		case kernel.ArgMin, kernel.ArgMax: // of the bytes, as kernel does
			f.from, f.t = dtype.Uint8, dtype.Uint8
		}
	}
	switch r {
	case kernel.Sum, kernel.Mean:
		switch {
		case f.t == dtype.Float64:
			f.carried()
		case isFloat:
			f.plain(dtype.Float64, 0, "add.rn.f64")
		default:
			f.plain(dtype.Int64, 0, "add.s64")
		}
	case kernel.Prod:
		if isFloat {
			f.plain(dtype.Float64, math.Float64bits(1), "mul.rn.f64")
		} else {
			f.plain(dtype.Int64, 1, "mul.lo.s64")
		}
	case kernel.Var, kernel.Std:
		f.fields, f.empty, f.moments = []dtype.Type{dtype.Float64, dtype.Float64, dtype.Float64}, []uint64{0, 0, 0}, true
		f.join = joinMoments
	case kernel.Min, kernel.Max:
		f.extreme(r == kernel.Max)
	case kernel.ArgMin, kernel.ArgMax:
		f.position(r == kernel.ArgMax)
	case kernel.CountNonzero:
		f.plain(dtype.Int64, 0, "add.s64")
		f.take = func(e *emitter, acc []string, x, _ string) {
			one := e.choose(dtype.Int64, e.nonzero(f.t, x), 1, 0)
			e.do("add.s64 %s, %s, %s", acc[0], acc[0], one)
		}
	case kernel.Any, kernel.All:
		f.truth(r == kernel.All)
	default:
		return folding{}, false
	}
	return f, true
}

// nonzero is true of NaN too.
func (e *emitter) nonzero(t dtype.Type, x string) string {
	if t.Kind() == dtype.KindFloat {
		return e.is("neu."+arithmetic(t), x, float(t, 0))
	}
	return e.is("ne."+arithmetic(t), x, 0)
}

// plain folds by one instruction on elements converted to the accumulator's type.
func (f *folding) plain(t dtype.Type, empty uint64, instruction string) {
	f.fields, f.empty = []dtype.Type{t}, []uint64{empty}
	f.join = func(e *emitter, acc, other []string) {
		e.do("%s %s, %s, %s", instruction, acc[0], acc[0], other[0])
	}
	f.take = func(e *emitter, acc []string, x, _ string) {
		f.join(e, acc, []string{e.cast(f.t, t, x)})
	}
}

// carried adds float64 with what rounding leaves, as kernel does (D. Knuth's two-sum).
func (f *folding) carried() {
	f.fields, f.empty = []dtype.Type{dtype.Float64, dtype.Float64}, []uint64{0, 0}
	f.take = func(e *emitter, acc []string, x, _ string) { e.carry(acc[0], acc[1], x) }
	f.join = func(e *emitter, acc, other []string) {
		e.carry(acc[0], acc[1], other[0])
		e.do("add.rn.f64 %s, %s, %s", acc[1], acc[1], other[1])
	}
}

// carry adds x to sum and what that rounds off to lost.
func (e *emitter) carry(sum, lost, x string) {
	t := e.double("add.rn.f64", sum, x)
	b := e.double("sub.rn.f64", t, sum)
	first := e.double("sub.rn.f64", sum, e.double("sub.rn.f64", t, b))
	rest := e.double("add.rn.f64", first, e.double("sub.rn.f64", x, b))
	e.do("add.rn.f64 %s, %s, %s", lost, lost, rest)
	e.do("mov.b64 %s, %s", sum, t)
}

// settled is a sum and what rounding has left, as one number: of an infinite sum the
// latter is NaN.
func (e *emitter) settled(sum, lost string) string {
	both := e.double("add.rn.f64", sum, lost)
	return e.choose(dtype.Float64, e.is("nan.f64", both, both), sum, both)
}

// extreme folds to the least or the greatest; NaN wins.
func (f *folding) extreme(greatest bool) {
	f.fields = []dtype.Type{f.t}
	f.empty = []uint64{limit(f.t, greatest)}
	beats := "lt."
	if greatest {
		beats = "gt."
	}
	f.join = func(e *emitter, acc, other []string) {
		x, kind := other[0], arithmetic(f.t)
		better := e.is(beats+kind, x, acc[0])
		if f.t.Kind() == dtype.KindFloat {
			better = e.or(better, e.is("nan."+kind, x, x))
		}
		e.under(better, "mov.b%d %s, %s", bits(f.t), acc[0], x)
	}
	f.take = func(e *emitter, acc []string, x, _ string) { f.join(e, acc, []string{x}) }
}

// limit is the bits of the number that any other is at least, or at most.
func limit(t dtype.Type, lowest bool) uint64 {
	n := 8 * t.Size()
	switch t.Kind() {
	case dtype.KindFloat:
		inf := math.Inf(1)
		if lowest {
			inf = math.Inf(-1)
		}
		if t == dtype.Float64 {
			return math.Float64bits(inf)
		}
		return uint64(math.Float32bits(float32(inf)))
	case dtype.KindInt:
		low := -int64(1) << (n - 1)
		b := uint64(low)
		if !lowest {
			b = ^b
		}
		if bits(t) == 32 {
			b &= math.MaxUint32
		}
		return b
	}
	if lowest {
		return 0
	}
	return math.MaxUint64 >> (64 - n)
}

// position folds to the position of the first extreme, and that; NaN is more extreme than
// any number. -1 is the position of none.
func (f *folding) position(greatest bool) {
	f.fields, f.empty, f.positions = []dtype.Type{dtype.Int64, f.t}, []uint64{math.MaxUint64, 0}, true
	beats := "lt."
	if greatest {
		beats = "gt."
	}
	f.join = func(e *emitter, acc, other []string) {
		kind := arithmetic(f.t)
		better := func(v, w string) string {
			p := e.is(beats+kind, v, w)
			if f.t.Kind() == dtype.KindFloat {
				p = e.or(p, e.and(e.is("nan."+kind, v, v), e.is("num."+kind, w, w)))
			}
			return p
		}
		earlier := e.is("lt.s64", other[0], acc[0])
		takes := e.or(better(other[1], acc[1]), e.and(earlier, e.not(better(acc[1], other[1]))))
		takes = e.or(takes, e.is("lt.s64", acc[0], 0))
		takes = e.and(takes, e.is("ge.s64", other[0], 0))
		e.under(takes, "mov.b64 %s, %s", acc[0], other[0])
		e.under(takes, "mov.b%d %s, %s", bits(f.t), acc[1], other[1])
	}
	f.take = func(e *emitter, acc []string, x, position string) { f.join(e, acc, []string{position, x}) }
}

// truth folds to whether any element, or all, are not zero.
func (f *folding) truth(all bool) {
	f.fields, f.empty = []dtype.Type{dtype.Bool}, []uint64{0}
	instruction := "or.b32"
	if all {
		f.empty[0], instruction = 1, "and.b32"
	}
	f.join = func(e *emitter, acc, other []string) {
		e.do("%s %s, %s, %s", instruction, acc[0], acc[0], other[0])
	}
	f.take = func(e *emitter, acc []string, x, _ string) {
		f.join(e, acc, []string{e.truth(e.nonzero(f.t, x))})
	}
}

// joinMoments joins counts, means and sums of squared deviations, as kernel does (Chan,
// Golub and LeVeque, 1979).
func joinMoments(e *emitter, acc, other []string) {
	t := dtype.Float64
	zero := float(t, 0)
	first, none := e.is("eq.f64", acc[0], zero), e.is("eq.f64", other[0], zero)
	total := e.double("add.rn.f64", acc[0], other[0])
	share := e.double("div.rn.f64", other[0], total)
	delta := e.double("sub.rn.f64", other[1], acc[1])
	square := e.double("mul.rn.f64", delta, delta)
	between := e.double("mul.rn.f64", e.double("mul.rn.f64", square, acc[0]), share)
	dev := e.double("add.rn.f64", acc[2], e.double("add.rn.f64", other[2], between))
	mean := e.double("add.rn.f64", acc[1], e.double("mul.rn.f64", delta, share))
	for i, joined := range []string{total, mean, dev} {
		joined = e.choose(t, first, other[i], joined)
		joined = e.choose(t, none, acc[i], joined)
		e.do("mov.b64 %s, %s", acc[i], joined)
	}
}
