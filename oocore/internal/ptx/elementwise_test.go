//go:build unix

package ptx_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// edges are the elements of a type where operations go wrong.
func edges(t dtype.Type) (all []dtype.Value) {
	switch {
	case t == dtype.Bool:
		for _, b := range []uint64{0, 1, 2, 255} {
			all = append(all, dtype.Value{Type: t, Lo: b})
		}
	case t.Integer():
		n := 8 * t.Size()
		for _, i := range []int64{0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, -1, -2, -3, -7, -8, -64,
			1<<(n-1) - 1, -1 << (n - 1), -1<<(n-1) + 1, 1<<(n/2) - 1, 1 << (n / 2), 1 << (n - 2)} {
			all = append(all, dtype.FromInt(t, i))
		}
	default:
		for _, f := range []float64{0, 1, 2, 3, 0.5, 0.25, 1.5, 2.5, 0.1, 0.7, 0.9999999, 1.0000001, math.Pi, math.Pi / 2, math.E, 7, 10, 20, 30.5, 87, 88, 89, 103, 104, 126, 127, 128, 149, 200, 255, 256,
			700, 709, 710, 745, 746, 1022, 1023, 1024, 1e4, 32767, 32768, 65504, 65519, 65520, 65535, 1e5, 1e6, 1 << 22, 1<<22 - 1, 1 << 24, 1<<24 + 2, 1 << 30, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1, 1 << 32, 1 << 52, 1 << 53, 1 << 62, 1 << 63, 1 << 64, 1e20, 1e30, 3e38, 1e200, 1e308,
			0x1p-14, 0x1p-24, 0x1p-25, 1e-3, 1e-5, 1e-8, 1e-20, 0x1p-126, 0x1.8p-127, 0x1p-149, 1e-300, 0x1p-1022, 0x1p-1074, 3e-310,
			math.MaxFloat32, math.MaxFloat64, math.Inf(1)} {
			all = append(all, dtype.FromFloat(t, f), dtype.FromFloat(t, -f))
		}
		all = append(all, dtype.FromFloat(t, math.NaN()))
	}
	return all
}

// operands are all pairs of edges in two columns, or the edges of one, then elements of
// random bits.
func operands(random *rand.Rand, types []dtype.Type) (columns [][]byte, n int) {
	const more = 1000
	n = 1
	lists := make([][]dtype.Value, len(types))
	for i, t := range types {
		lists[i] = edges(t)
		n *= len(lists[i])
	}
	n += more
	for i, t := range types {
		column, size := memory(n*t.Size()), t.Size()
		for j := range n {
			element := column[j*size:][:size]
			if j >= n-more {
				for k := range element {
					element[k] = byte(random.Uint32())
				}
				continue
			}
			at := j
			for _, list := range lists[:i] {
				at /= len(list)
			}
			lists[i][at%len(lists[i])].Put(element)
		}
		columns = append(columns, column)
	}
	return columns, n
}

// dense is a program's load of a whole array of one axis.
func dense(t dtype.Type, array, n int) plan.Load {
	return plan.Load{Kind: plan.LoadArray, Type: t, Array: array, View: grid.Identity([]int{n})}
}

// instruction is a program of one instruction on dense operands.
func instruction(op kernel.Op, t, to dtype.Type, operands []dtype.Type, n int) *plan.Program {
	p := &plan.Program{Domain: []int{n}, Code: []plan.Instr{{Op: op, Type: t, To: to}}, Out: []int{len(operands)}}
	for i, of := range operands {
		p.Loads = append(p.Loads, dense(of, i, n))
		p.Code[0].Args = append(p.Code[0].Args, i)
	}
	return p
}

// mapDense evaluates a program of dense loads for elements from on, and reports whether
// one is rare.
func mapDense(t *testing.T, m ptx.Module, out []byte, columns [][]byte, sizes []int, from, n int) (rare bool) {
	t.Helper()
	flag := memory(4)
	args := []any{flag, out}
	for i, c := range columns {
		// The addresses of a slice's elements may not be aligned to 16: copied.
		part := memory(n * sizes[i])
		copy(part, c[from*sizes[i]:])
		args = append(args, part)
	}
	args = append(args, n, from, n)
	run(t, m, "map", [][]int{{n}}, args...)
	return flag[0] != 0
}

// eachPart evaluates elements, by halves where one is rare, and calls check for those that
// the kernel did compute. It returns the number of rare ones.
func eachPart(t *testing.T, m ptx.Module, size int, columns [][]byte, sizes []int, from, n int, check func(from int, got []byte)) int {
	out := memory(n * size)
	if !mapDense(t, m, out, columns, sizes, from, n) {
		check(from, out)
		return 0
	}
	if n == 1 {
		return 1
	}
	return eachPart(t, m, size, columns, sizes, from, n/2, check) + eachPart(t, m, size, columns, sizes, from+n/2, n-n/2, check)
}

// elementwise is a case: an operation on a type, or a conversion.
type elementwise struct {
	op       kernel.Op
	from, to dtype.Type
	operands []dtype.Type
	cpu      kernel.Func
}

func (c elementwise) String() string {
	if c.op == kernel.Invalid {
		return fmt.Sprintf("%s to %s", c.from, c.to)
	}
	return fmt.Sprintf("%s of %s", c.op, c.from)
}

func elementwiseCases(t *testing.T) (all []elementwise) {
	can := ptx.Capabilities()
	for _, op := range kernel.Ops() {
		for _, of := range dtype.All() {
			if !can.Elementwise[op].Has(of) {
				continue
			}
			f, ok := kernel.Lookup(op, of)
			if !ok {
				t.Fatalf("%s of %s has a kernel for GPUs and none for the CPU", op, of)
			}
			c := elementwise{op, of, op.Result(of), nil, f}
			for range op.Arity() {
				c.operands = append(c.operands, of)
			}
			if op == kernel.Where {
				c.operands[0] = dtype.Bool
			}
			all = append(all, c)
		}
	}
	for _, from := range dtype.All() {
		for _, to := range dtype.All() {
			if can.Casts.Has(from) && can.Casts.Has(to) {
				f, _ := kernel.Cast(from, to)
				all = append(all, elementwise{kernel.Invalid, from, to, []dtype.Type{from}, f})
			}
		}
	}
	return all
}

func TestCapabilitiesHaveWhatTheCPUHasOfRealNumbers(t *testing.T) {
	can := ptx.Capabilities()
	for _, of := range dtype.All() {
		isReal := of.Kind() != dtype.KindComplex
		for _, op := range kernel.Ops() {
			if _, cpu := kernel.Lookup(op, of); can.Elementwise[op].Has(of) != (cpu && isReal) {
				t.Errorf("%s of %s: %v", op, of, can.Elementwise[op].Has(of))
			}
		}
		for _, row := range kernel.Reductions() {
			r := row.Reduction
			if _, cpu := kernel.NewFolder(r, of); can.Folds[r].Has(of) != (cpu && isReal) {
				t.Errorf("%s of %s: %v", r, of, can.Folds[r].Has(of))
			}
		}
		if can.Casts.Has(of) != isReal || can.Products.Has(of) != isReal {
			t.Errorf("casts of %s: %v, products: %v", of, can.Casts.Has(of), can.Products.Has(of))
		}
	}
}

// compute checks one case and returns the number of rare operands and of differences.
func (c elementwise) compute(t *testing.T, m ptx.Module, columns [][]byte, n int) (rare, wrong int) {
	t.Helper()
	want := memory(n * c.to.Size())
	args, sizes := make([][]byte, 3), make([]int, len(columns))
	copy(args, columns)
	for i, of := range c.operands {
		sizes[i] = of.Size()
	}
	c.cpu(n, want, args[0], args[1], args[2])
	size := c.to.Size()
	rare = eachPart(t, m, size, columns, sizes, 0, n, func(from int, got []byte) {
		for i := 0; i < len(got)/size; i++ {
			g, w := got[i*size:][:size], want[(from+i)*size:][:size]
			if alike(c.to, g, w) {
				continue
			}
			if wrong++; wrong <= 3 {
				var of []any
				for k := range columns {
					of = append(of, fmt.Sprintf("%x", columns[k][(from+i)*sizes[k]:][:sizes[k]]))
				}
				t.Logf("%s of %v is %x (%v) and not %x (%v)", c, of, g, number(c.to, g), w, number(c.to, w))
			}
		}
	})
	return rare, wrong
}

func TestMapComputesOperationsWithTheBitsOfTheCPU(t *testing.T) {
	if !evaluates(t) {
		return
	}
	random := testcases.Rand(t)
	for _, c := range elementwiseCases(t) {
		t.Run(c.String(), func(t *testing.T) {
			columns, n := operands(random, c.operands)
			m, err := ptx.Map(instruction(c.op, c.from, c.to, c.operands, n))
			if err != nil {
				t.Fatal(err)
			}
			if _, wrong := c.compute(t, m, columns, n); wrong > 0 {
				t.Errorf("%d of %d elements differ, with GONBEXT_SEED=%d", wrong, n, testcases.Seed(t))
			}
		})
	}
}

// specials are what data of any kind has: moderate numbers, and those by definition.
func specials(t dtype.Type) (all []dtype.Value) {
	for _, f := range []float64{0, 1, 2, 0.5, 3, 7.25, 100, 12345.678, 1e6, 1e8, 1e-3, 1e-6, math.Inf(1)} {
		all = append(all, dtype.FromFloat(t, f), dtype.FromFloat(t, -f))
	}
	return append(all, dtype.FromFloat(t, math.NaN()))
}

func TestMapLeavesNoUsualOperandToTheCPU(t *testing.T) {
	if !evaluates(t) {
		return
	}
	for _, c := range elementwiseCases(t) {
		if c.from != dtype.Float32 && c.from != dtype.Float64 || c.op == kernel.Invalid || c.op.Arity() == 3 {
			continue
		}
		some := specials(c.from)
		n, size := len(some)*len(some), c.from.Size()
		columns := [][]byte{memory(n * size), memory(n * size)}[:len(c.operands)]
		for i := range n {
			for k := range columns {
				some[[]int{i / len(some), i % len(some)}[k]].Put(columns[k][i*size:][:size])
			}
		}
		m, err := ptx.Map(instruction(c.op, c.from, c.to, c.operands, n))
		if err != nil {
			t.Fatal(err)
		}
		if rare, wrong := c.compute(t, m, columns, n); rare > 0 || wrong > 0 {
			t.Errorf("%s: of %d usual operands %d are rare and %d differ", c, n, rare, wrong)
		}
	}
}
