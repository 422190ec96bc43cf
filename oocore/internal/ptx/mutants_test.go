//go:build unix

package ptx_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// mutant is a kernel with a fault: the n-th occurrence of a text is another one.
type mutant struct {
	from, to string
	n        int
}

// of returns the module with the fault; false where the text does not occur so often.
func (f mutant) of(m ptx.Module) (ptx.Module, bool) {
	at := 0
	for i := 0; ; i++ {
		next := strings.Index(m.Text[at:], f.from)
		if next < 0 {
			return m, false
		}
		at += next
		if i == f.n {
			m.Text = m.Text[:at] + f.to + m.Text[at+len(f.from):]
			return m, true
		}
		at += len(f.from)
	}
}

// TestMutantsAreCaught gives kernels faults, each of which has to show: as an error of the
// evaluator, or as a value that is not the CPU's and that no flag calls rare.
func TestMutantsAreCaught(t *testing.T) {
	if !evaluates(t) {
		return
	}
	check := func(name string, m ptx.Module, fault mutant, fails func(m ptx.Module) bool) {
		t.Run(fmt.Sprint(name, ", ", fault.from, " ", fault.n), func(t *testing.T) {
			bad, ok := fault.of(m)
			if !ok {
				t.Fatalf("%q occurs less often in\n%s", fault.from, m.Text)
			}
			shows := false
			for order := range int32(2) {
				compiled.order(order)
				if fails(m) {
					t.Error("the kernel fails without the fault")
				}
				shows = shows || fails(bad)
			}
			compiled.order(0)
			if !shows {
				t.Error("the fault does not show")
			}
		})
	}

	random := testcases.Rand(t)
	for _, c := range []struct {
		op       kernel.Op
		from, to dtype.Type
		faults   []mutant
	}{
		{kernel.Subtract, dtype.Float32, dtype.Float32, []mutant{
			{"sub.rn.f32 r12, r10, r11", "sub.rn.f32 r12, r11, r10", 0}, // operands swapped
			{"sub.rn.f32", "sub.rz.f32", 0},
			{"ld.global.b32", "ld.global.b64", 0},
		}},
		{kernel.Invalid, dtype.Float64, dtype.Float32, []mutant{{"cvt.rn.f32.f64", "cvt.rz.f32.f64", 0}}},
		{kernel.Invalid, dtype.Float64, dtype.BFloat16, []mutant{{"cvt.rz.f32.f64", "cvt.rn.f32.f64", 0}}},
		{kernel.Invalid, dtype.Float64, dtype.Int32, []mutant{{"selp.b32", "mov.b32", 0}, {"setp.gt.f64", "setp.lt.f64", 0}}},
		{kernel.Rint, dtype.Float32, dtype.Float32, []mutant{{"cvt.rni", "cvt.rzi", 0}, {"cvt.rni", "cvt.rmi", 0}}},
		{kernel.Exp, dtype.Float32, dtype.Float32, []mutant{{"fma.rn", "mul.rn", 0}, {"add.s32", "sub.s32", 0}}},
		{kernel.Log, dtype.Float64, dtype.Float64, []mutant{{"setp.geu", "setp.ge", 0}, {"setp.lt", "setp.gt", 0}}},
		{kernel.FloorDivide, dtype.Int32, dtype.Int32, []mutant{{"setp.eq.s32", "setp.ne.s32", 0}, {"setp.eq.s32", "setp.lt.s32", 1}}},
		{kernel.RightShift, dtype.Int8, dtype.Int8, []mutant{{"shr.s32", "shr.u32", 0}, {"ld.global.s8", "ld.global.u8", 0}}},
		{kernel.Maximum, dtype.Float64, dtype.Float64, []mutant{{"setp.nan", "setp.num", 0}}},
		{kernel.NotEqual, dtype.Float32, dtype.Bool, []mutant{{"setp.neu", "setp.ne", 0}}},
		// Without a flag for their rare operands:
		{kernel.Sin, dtype.Float64, dtype.Float64, []mutant{{"or.pred q0, q0, q", "or.pred q1, q1, q", 0}, {"or.pred q2, q2, p", "or.pred p0, p0, p", 0}}},
		{kernel.Power, dtype.Float32, dtype.Float32, []mutant{{"or.pred q2, q2, p", "or.pred p0, p0, p", 0}}},
		{kernel.Remainder, dtype.Float64, dtype.Float64, []mutant{{"or.pred q0, q0, q", "or.pred q1, q1, q", 0}}},
	} {
		e := elementwise{op: c.op, from: c.from, to: c.to, operands: []dtype.Type{c.from, c.from}}
		if c.op == kernel.Invalid {
			e.cpu, _ = kernel.Cast(c.from, c.to)
		} else {
			e.cpu, _ = kernel.Lookup(c.op, c.from)
		}
		if c.op == kernel.Invalid || c.op.Arity() == 1 {
			e.operands = e.operands[:1]
		}
		columns, n := operands(random, e.operands)
		m, err := ptx.Map(instruction(c.op, c.from, c.to, e.operands, n))
		if err != nil {
			t.Fatal(err)
		}
		want := memory(n * c.to.Size())
		args := make([][]byte, 3)
		copy(args, columns)
		e.cpu(n, want, args[0], args[1], args[2])
		fails := func(m ptx.Module) bool {
			flag, got := memory(4), memory(len(want))
			args := []any{flag, got}
			for _, column := range columns {
				args = append(args, column)
			}
			if err := try(m, "map", [][]int{{n}}, append(args, n, 0, n)...); err != nil {
				return true
			}
			for i := 0; flag[0] == 0 && i < n; i++ {
				size := c.to.Size()
				if !alike(c.to, got[i*size:][:size], want[i*size:][:size]) {
					return true
				}
			}
			return false
		}
		for _, fault := range c.faults {
			check(e.String(), m, fault, fails)
		}
	}

	// Barriers, of which each keeps threads from reading what others have not yet written,
	// or from writing what others have not yet read.
	const n = 5000
	x := usual(random, dtype.Int64, n, 1000, 500)
	sum := folds{shape: []int{n}, chunk: []int{n}, tile: []int{n}, block: []int{n}, axes: []int{0}, partials: 1}
	for _, c := range []struct {
		r        kernel.Reduction
		of       dtype.Type
		barriers int
	}{{kernel.Sum, dtype.Int64, 2}, {kernel.Var, dtype.Int64, 4}} {
		s := sum.stage(c.r, c.of, 0)
		m, err := ptx.Fold(s, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		state := func(m ptx.Module) ([]byte, error) {
			f, err := sum.begin(s)
			if err != nil {
				return nil, err
			}
			f.module = m
			if err := f.add(f.chunk, x); err != nil {
				return nil, err
			}
			return f.end()
		}
		want, err := state(m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.barriers {
			if i == 0 {
				continue // before the first use of shared memory nothing is to be kept
			}
			check(fmt.Sprint(c.r), m, mutant{"bar.sync 0;", "", i}, func(m ptx.Module) bool {
				got, err := state(m)
				return err != nil || !bytes.Equal(got, want)
			})
		}
	}

	m, err := ptx.Product(dtype.Int32, dtype.Int32)
	if err != nil {
		t.Fatal(err)
	}
	const side = 130
	a, b := usual(random, dtype.Int32, side*side, 0, 1000), usual(random, dtype.Int32, side*side, 0, 1000)
	product := func(m ptx.Module) []byte {
		c := memory(side * side * 4)
		if try(m, "product", [][]int{{side, side}}, c, a, b, side, side, side) != nil {
			return nil
		}
		return c
	}
	want := product(m)
	for _, fault := range []mutant{{"bar.sync 0;", "", 0}, {"bar.sync 0;", "", 1}, {"mad.lo.s32", "mad.lo.u64", 9}, {"add.s32", "sub.s32", 0}} {
		check("product", m, fault, func(m ptx.Module) bool { return !bytes.Equal(product(m), want) })
	}
}
