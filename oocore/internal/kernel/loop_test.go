package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// namedLoop is a loop with the types of its operands and of its result.
type namedLoop struct {
	name string
	op   Op // Invalid for a conversion
	f    Func
	in   []dtype.Type
	out  dtype.Type
}

// allLoops is every loop of a level.
func allLoops() (all []namedLoop) {
	for _, op := range Ops() {
		for _, t := range dtype.All() {
			f, ok := Lookup(op, t)
			if !ok {
				continue
			}
			in := []dtype.Type{t, t}[:min(op.Arity(), 2)]
			switch op {
			case Where:
				in = []dtype.Type{dtype.Bool, t, t}
			case MulAdd:
				in = []dtype.Type{t, t, t}
			}
			all = append(all, namedLoop{fmt.Sprint(op, " of ", t), op, f, in, op.Result(t)})
		}
	}
	for _, from := range dtype.Stored() {
		for _, to := range dtype.Stored() {
			if f, ok := Cast(from, to); ok {
				all = append(all, namedLoop{fmt.Sprint(from, " to ", to), Invalid, f, []dtype.Type{from}, to})
			}
		}
	}
	return all
}

// operandBytes is random elements, half of them of few bits: zeros, ones and
// small numbers, infinities, NaN and numbers of any size.
func operandBytes(r *rand.Rand, t dtype.Type, n int) []byte {
	b := make([]byte, n*t.Size())
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	if t.Kind() == dtype.KindBool {
		for i := range b {
			b[i] &= 1
		}
		return b
	}
	for i := range n {
		if r.IntN(2) == 0 {
			v := []dtype.Value{dtype.FromInt(t, int64(r.IntN(7)-3))}
			if k := t.Kind(); k == dtype.KindFloat || k == dtype.KindComplex {
				v = append(v, dtype.FromFloat(t, r.NormFloat64()*10), dtype.FromFloat(t, r.NormFloat64()))
			}
			v[r.IntN(len(v))].Put(b[i*t.Size():])
		}
	}
	return b
}

// usualBytes is runs of numbers of one sign and size, as most arrays are, with one of any bits here
// and there.
func usualBytes(r *rand.Rand, t dtype.Type, n int) []byte {
	b, scale := operandBytes(r, t, n), 0.
	if k := t.Kind(); k != dtype.KindFloat && k != dtype.KindComplex {
		return b
	}
	for i := range n {
		if i%50 == 0 {
			scale = math.Exp(r.NormFloat64()*4) * []float64{1, 1, -1}[r.IntN(3)]
		}
		if r.IntN(100) != 0 {
			dtype.FromFloat(t, r.ExpFloat64()*scale).Put(b[i*t.Size():])
		}
	}
	return b
}

const guard = 0xa5

// guarded is room for size bytes between guards, off from a vector's alignment.
func guarded(size, off int) (whole, inner []byte) {
	whole = bytes.Repeat([]byte{guard}, 128+off+size)
	return whole, whole[64+off : 64+off+size : 64+off+size]
}

func (l namedLoop) call(n int, dst []byte, in [][]byte) {
	var o [3][]byte
	copy(o[:], in)
	l.f(n, dst, o[0], o[1], o[2])
}

// TestPlaceDoesNotMatter cuts each loop's operands anywhere: the results are
// those of the whole, no byte around them is touched, and no operand changes.
func TestPlaceDoesNotMatter(t *testing.T) {
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			loops := allLoops()
			rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
				n := rapid.IntRange(0, 150).Draw(t, "n")
				from := rapid.IntRange(0, n).Draw(t, "from")
				count := rapid.IntRange(0, n-from).Draw(t, "count")
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				for _, l := range loops {
					if fault := l.placeMatters(r, n, from, count); fault != "" {
						t.Fatal(fault)
					}
				}
			})
		})
	}
}

// placeMatters says in what count elements from one on differ from the same
// ones of n, or what is touched beside them.
func (l namedLoop) placeMatters(r *rand.Rand, n, from, count int) string {
	whole := make([]byte, n*l.out.Size())
	in, part, kept := make([][]byte, len(l.in)), make([][]byte, len(l.in)), make([][]byte, len(l.in))
	for i, u := range l.in {
		in[i] = operandBytes(r, u, n)
		_, part[i] = guarded(count*u.Size(), 8*r.IntN(8))
		copy(part[i], in[i][from*u.Size():])
		kept[i] = bytes.Clone(part[i])
	}
	l.call(n, whole, in)
	around, dst := guarded(count*l.out.Size(), 8*r.IntN(8))
	l.call(count, dst, part)
	if want := whole[from*l.out.Size():][:count*l.out.Size()]; !bytes.Equal(dst, want) {
		return fmt.Sprintf("%s: elements %d to %d of %d are %x alone and %x among the others", l.name, from, from+count, n, dst, want)
	}
	first := len(around) - 64 - len(dst)
	for i, b := range around {
		if b != guard && (i < first || i >= first+len(dst)) {
			return fmt.Sprintf("%s of %d elements wrote at byte %d of its result of %d", l.name, count, i-first, len(dst))
		}
	}
	for i := range part {
		if !bytes.Equal(part[i], kept[i]) {
			return fmt.Sprintf("%s changed its operand %d", l.name, i)
		}
	}
	return ""
}

// TestResultOverOperand has each loop write over each operand of the result's
// size.
func TestResultOverOperand(t *testing.T) {
	const n = 77
	for _, level := range levels() {
		t.Run(level.name, func(t *testing.T) {
			defer level.use()()
			r := rand.New(rand.NewPCG(5, 6))
			for _, l := range allLoops() {
				in := make([][]byte, len(l.in))
				for i, u := range l.in {
					in[i] = operandBytes(r, u, n)
				}
				want := make([]byte, n*l.out.Size())
				l.call(n, want, in)
				for i, u := range l.in {
					if u.Size() != l.out.Size() {
						continue
					}
					over := append([][]byte{}, in...)
					over[i] = bytes.Clone(in[i])
					l.call(n, over[i], over)
					if !bytes.Equal(over[i], want) {
						t.Errorf("%s over operand %d gives another result", l.name, i)
					}
				}
			}
		})
	}
}

// TestLevelsAgree: results are the same at each level.
func TestLevelsAgree(t *testing.T) {
	levelsAgree(t, 1000, operandBytes)
	levelsAgree(t, 10000, usualBytes)
}

func levelsAgree(t *testing.T, n int, operands func(r *rand.Rand, t dtype.Type, n int) []byte) {
	var names []string
	results := map[string][]byte{}
	from := map[string]string{}
	for _, level := range levels() {
		restore := level.use()
		r := rand.New(rand.NewPCG(7, 8))
		for _, l := range allLoops() {
			in := make([][]byte, len(l.in))
			for i, u := range l.in {
				in[i] = operands(r, u, n)
			}
			got := make([]byte, n*l.out.Size())
			l.call(n, got, in)
			want, ok := results[l.name]
			if !ok {
				names = append(names, l.name)
			}
			for i := 0; ok && i < len(got); i += l.out.Size() {
				if u := units(l.out, got[i:], want[i:]); u != 0 {
					t.Errorf("%s gives %x with %s and %x with %s", l.name, got[i:i+l.out.Size()], level.name, want[i:i+l.out.Size()], from[l.name])
					break
				}
			}
			results[l.name], from[l.name] = got, level.name
		}
		restore()
	}
	if len(names) < 500 {
		t.Errorf("only %d loops", len(names))
	}
}
