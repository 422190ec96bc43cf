//go:build unix

package ptx_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
	"github.com/gonbext/gonbext/oocore/internal/vm"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// mapTile computes a tile of a program by the CPU's machine and by its kernel, and reports
// whether the kernel met rare operands.
func mapTile(t *testing.T, p *plan.Program, m ptx.Module, tile grid.Box, inputs [][]byte) (cpu, gpu [][]byte, rare bool) {
	t.Helper()
	n := tile.Size()
	_, registers := p.Registers(false)
	machine, err := vm.New(p, memory(registers*plan.BlockElems*p.Width()), false)
	if err != nil {
		t.Fatal(err)
	}
	if n > plan.BlockElems {
		t.Fatal("the tile is more than one block")
	}
	machine.Tile(tile, inputs)
	machine.Block(tile, 0, nil)
	flag := memory(4)
	args := []any{flag}
	for k, v := range p.Out {
		size := p.Type(v).Size()
		cpu = append(cpu, machine.Result(k)[:n*size])
		gpu = append(gpu, memory(n*size))
		args = append(args, gpu[k])
	}
	for i := range p.Loads {
		if p.Loads[i].Reads() {
			args = append(args, inputs[i])
		}
	}
	args = append(args, n)
	for d := range tile.Shape {
		args = append(args, tile.Start[d], tile.Shape[d])
	}
	run(t, m, "map", [][]int{tile.Shape}, args...)
	return cpu, gpu, flag[0] != 0
}

// maps is a random program, tile by tile.
type maps struct {
	random *rand.Rand
	can    device.Capabilities
	prog   *plan.Program
}

// domains are of one axis to four, some of them one long.
func (g *maps) domain() (shape []int) {
	for range 1 + g.random.IntN(4) {
		shape = append(shape, 1+g.random.IntN(9)*g.random.IntN(2))
	}
	return shape
}

// view is a random view of an array or a generator, and the array's shape: axes are left
// out, permuted, sliced, reversed and taken twice.
func (g *maps) view(domain []int, reversed bool) (grid.View, []int) {
	v := grid.View{Shape: domain}
	var shape []int
	axes := g.random.Perm(len(domain))
	if g.random.IntN(5) == 0 { // a diagonal
		axes = append(axes, axes[0])
	}
	for _, a := range axes {
		switch g.random.IntN(4) {
		case 0: // broadcast
			continue
		case 1: // an axis that is indexed
			length := 1 + g.random.IntN(4)
			v.Axis, v.Start, v.Step, shape = append(v.Axis, -1), append(v.Start, g.random.IntN(length)), append(v.Step, 1), append(shape, length)
		}
		step := 1 + g.random.IntN(3)
		start := g.random.IntN(3)
		length := start + step*(domain[a]-1) + 1 + g.random.IntN(2)
		if reversed && g.random.IntN(2) == 0 {
			start, step = length-1, -step
			length += max(0, -step*(domain[a]-1)-start)
			start = length - 1
		}
		v.Axis, v.Start, v.Step, shape = append(v.Axis, a), append(v.Start, start), append(v.Step, step), append(shape, length)
	}
	return v, shape
}

var realTypes = []dtype.Type{dtype.Bool, dtype.Int8, dtype.Int16, dtype.Int32, dtype.Int64, dtype.Uint8, dtype.Uint16, dtype.Uint32,
	dtype.Uint64, dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64}

// value returns a value of a type, made by a cast where there is none.
func (g *maps) value(t dtype.Type) int {
	p := g.prog
	n := len(p.Loads) + len(p.Code)
	for _, v := range g.random.Perm(n) {
		if p.Type(v) == t && (v >= len(p.Loads) || p.Loads[v].Extent == nil) {
			return v
		}
	}
	from := g.some()
	p.Code = append(p.Code, plan.Instr{Op: kernel.Invalid, Type: p.Type(from), To: t, Args: []int{from}})
	return n
}

// program makes loads of each kind and instructions that take them and each other.
func (g *maps) program() {
	domain := g.domain()
	g.prog = &plan.Program{Domain: domain}
	pick := func() dtype.Type { return realTypes[g.random.IntN(len(realTypes))] }
	for range 1 + g.random.IntN(4) {
		l := plan.Load{Type: pick()}
		switch g.random.IntN(7) {
		case 6:
			g.window(l.Type)
			continue
		case 0:
			l.Kind = plan.LoadConst
			some := edges(l.Type)
			l.Value, l.View = some[g.random.IntN(len(some))], grid.View{Shape: domain}
		case 1:
			l.Kind = plan.LoadIota
			l.View, l.Shape = g.view(domain, true)
			some := edges(l.Type)
			l.Value, l.Delta = some[g.random.IntN(len(some))], some[g.random.IntN(len(some))]
		case 2:
			l.Kind, l.Type, l.Seed = plan.LoadRandom, []dtype.Type{dtype.Float32, dtype.Float64}[g.random.IntN(2)], g.random.Uint64()
			l.View, l.Shape = g.view(domain, true)
		case 3:
			l.Kind, l.View = plan.LoadArray, grid.Identity(domain)
		default:
			l.Kind = plan.LoadArray
			l.View, _ = g.view(domain, false)
		}
		g.prog.Loads = append(g.prog.Loads, l)
	}
	for range g.random.IntN(9) {
		rows := kernel.Rows()
		op, of := rows[g.random.IntN(len(rows))].Op, pick()
		if !g.can.Elementwise[op].Has(of) {
			continue
		}
		in := plan.Instr{Op: op, Type: of, To: op.Result(of)}
		for i := range op.Arity() {
			t := of
			if op == kernel.Where && i == 0 {
				t = dtype.Bool
			}
			in.Args = append(in.Args, g.value(t))
		}
		g.prog.Code = append(g.prog.Code, in)
	}
	for range 1 + g.random.IntN(3) {
		g.prog.Out = append(g.prog.Out, g.some())
	}
}

// window adds a load of what windows show, and taps of it.
func (g *maps) window(t dtype.Type) {
	base := plan.Load{Kind: plan.LoadBlocks, Type: t}
	base.View, _ = g.view(g.prog.Domain, false)
	for range base.View.Axis {
		base.Extent = append(base.Extent, 1+g.random.IntN(4))
	}
	if base.Extent == nil {
		base.Extent = []int{}
	}
	at := len(g.prog.Loads)
	g.prog.Loads = append(g.prog.Loads, base)
	for range 1 + g.random.IntN(4) {
		tap := plan.Load{Kind: plan.LoadTap, Type: t, View: base.View, Base: at}
		for _, n := range base.Extent {
			tap.At = append(tap.At, g.random.IntN(n))
		}
		g.prog.Loads = append(g.prog.Loads, tap)
	}
}

// some is a random value that an instruction can take, and a result can be.
func (g *maps) some() int {
	for {
		n := g.random.IntN(len(g.prog.Loads) + len(g.prog.Code))
		if n >= len(g.prog.Loads) || g.prog.Loads[n].Extent == nil {
			return n
		}
	}
}

// input is random elements for a tile of a load: edges and others.
func (g *maps) input(l *plan.Load, tile grid.Box) []byte {
	n := 1
	for d, a := range l.View.Axis {
		switch {
		case l.Extent != nil && a >= 0:
			n *= (tile.Shape[a]-1)*l.View.Step[d] + l.Extent[d]
		case l.Extent != nil:
			n *= l.Extent[d]
		case a >= 0:
			n *= tile.Shape[a]
		}
	}
	x, size, some := memory(n*l.Type.Size()), l.Type.Size(), edges(l.Type)
	for i := range n {
		if g.random.IntN(3) == 0 {
			some[g.random.IntN(len(some))].Put(x[i*size:][:size])
		} else {
			copy(x[i*size:][:size], usual(g.random, l.Type, 1, 1, 20))
		}
	}
	return x
}

func TestMapOfRandomProgramsHasTheBitsOfTheCPU(t *testing.T) {
	if !evaluates(t) {
		return
	}
	g := &maps{random: testcases.Rand(t), can: ptx.Capabilities()}
	cases := 300
	if testcases.All() {
		cases = 5000
	}
	compared := 0
	for i := range cases {
		g.program()
		m, err := ptx.Map(g.prog)
		if err != nil {
			t.Fatal(err)
		}
		tile := grid.Box{}
		for _, n := range g.prog.Domain {
			start := g.random.IntN(n)
			tile.Start, tile.Shape = append(tile.Start, start), append(tile.Shape, 1+g.random.IntN(n-start))
		}
		inputs := make([][]byte, len(g.prog.Loads))
		for k := range g.prog.Loads {
			if l := &g.prog.Loads[k]; l.Reads() {
				inputs[k] = g.input(l, tile)
			}
		}
		cpu, gpu, rare := mapTile(t, g.prog, m, tile, inputs)
		if rare {
			continue
		}
		compared++
		for k, v := range g.prog.Out {
			of := g.prog.Type(v)
			size := of.Size()
			for e := range tile.Size() {
				if c, d := cpu[k][e*size:][:size], gpu[k][e*size:][:size]; !alike(of, c, d) {
					t.Fatalf("program %d, %s: result %d, element %d of %v is %x and not %x, with GONBEXT_SEED=%d", i, describe(g.prog), k, e, tile, d, c, testcases.Seed(t))
				}
			}
		}
	}
	if compared < cases/2 {
		t.Errorf("only %d of %d programs had no rare operand", compared, cases)
	}
}

func describe(p *plan.Program) (text string) {
	for i, l := range p.Loads {
		text += fmt.Sprintf("%d = %s %s %+v %v; ", i, l.Kind, l.Type, l.View, l.Shape)
	}
	for i, in := range p.Code {
		text += fmt.Sprintf("%d = %s %s to %s %v; ", len(p.Loads)+i, in.Op, in.Type, in.To, in.Args)
	}
	return fmt.Sprint(text, p.Out)
}

func TestMapLeavesUnwantedResultsOut(t *testing.T) {
	if !evaluates(t) {
		return
	}
	p := instruction(kernel.Add, dtype.Int32, dtype.Int32, []dtype.Type{dtype.Int32, dtype.Int32}, 2)
	p.Out = []int{2, 0}
	m, err := ptx.Map(p)
	if err != nil {
		t.Fatal(err)
	}
	x, second := memory(8), memory(8)
	copy(x, []byte{1, 0, 0, 0, 2, 0, 0, 0})
	run(t, m, "map", [][]int{{2}}, memory(4), []byte(nil), second, x, x, 2, 0, 2)
	if string(second) != string(x) {
		t.Errorf("the wanted result is %v", second)
	}
}

func TestMapRejectsWhatHasNoKernel(t *testing.T) {
	for _, c := range []struct {
		prog *plan.Program
		want string
	}{
		{instruction(kernel.Exp, dtype.Complex64, dtype.Complex64, []dtype.Type{dtype.Complex64}, 3), "has no kernels for complex64"},
		{instruction(kernel.Exp, dtype.Float16, dtype.Float16, []dtype.Type{dtype.Float16}, 3), "has no exp of float16"},
		{instruction(kernel.Invalid, dtype.Float32, dtype.Complex64, []dtype.Type{dtype.Float32}, 3), "does not convert float32 to complex64"},
	} {
		if _, err := ptx.Map(c.prog); err == nil || err.Error() != c.want {
			t.Errorf("%v and not %q", err, c.want)
		}
	}
}

// The planner counts the parameters that kernels have.
func TestMapHasTheParametersThatThePlanCounts(t *testing.T) {
	p := instruction(kernel.Where, dtype.Float32, dtype.Float32, []dtype.Type{dtype.Bool, dtype.Float32, dtype.Float32}, 10)
	p.Loads[1] = plan.Load{Kind: plan.LoadConst, Type: dtype.Float32, View: p.Loads[1].View, Value: dtype.ValueOf(float32(1))}
	m, err := ptx.Map(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.KernelParameters(), len(m.Kernels[0].Params); got != want {
		t.Errorf("the plan counts %d parameters, and the kernel has %d: %v", got, want, m.Kernels[0].Params)
	}
}
