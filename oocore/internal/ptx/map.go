package ptx

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
)

// MostParameters bounds the parameters of a kernel: CUDA passes 4,096 bytes of them before
// its version 12.1.
const MostParameters = 4096 / 8

// Map returns the kernel "map" of a program, which computes its values for a tile of the
// domain. Its parameters are, in this order:
//
//   - the address of the word that rare operands set to 1;
//   - for each of the program's results the address of its elements, dense and in C order
//     of the tile; 0 where the result is not wanted;
//   - for each load of an array or an operation the address of its elements for the tile,
//     dense and in the array's own order; of one that taps take, what it holds;
//   - the number of the tile's elements;
//   - for each axis of the domain where the tile begins and its length.
//
// Any grid and block of one dimension will do.
func Map(p *plan.Program) (Module, error) {
	m := mapper{emitter: newEmitter("map"), prog: p}
	if err := m.write(); err != nil {
		return Module{}, err
	}
	if len(m.params) > MostParameters {
		return Module{}, fmt.Errorf("has no room for the %d parameters of a kernel", len(m.params))
	}
	return newModule([]Kernel{m.kernel(blocksFor)}, m.text()), nil
}

// mapper writes a program's kernel.
type mapper struct {
	*emitter
	prog            *plan.Program
	outs            []string
	loads           []source // by load
	starts, lengths []string // by axis
	values          []string
}

// source is what a load's elements are found by.
type source struct {
	base    string   // address of elements, or position of a generator at the tile's start
	strides []string // by axis, of elements: registers of 32 bits; "" for none
	along   []string // of what taps take: strides by its own axes
	first   string   // of what taps take: the index of the present element's window
	steps   []int    // by axis, of positions of a generator
}

func (m *mapper) write() error {
	rare := m.pointer("rare")
	for k := range m.prog.Out {
		m.outs = append(m.outs, m.pointer(fmt.Sprint("out", k)))
	}
	m.loads = make([]source, len(m.prog.Loads))
	for i := range m.prog.Loads {
		l := &m.prog.Loads[i]
		if l.Type.Kind() == dtype.KindComplex {
			return fmt.Errorf("has no kernels for %s", l.Type)
		}
		if reads(l) {
			m.loads[i].base = m.pointer(fmt.Sprint("in", i))
		}
	}
	n := m.length("n")
	for d := range m.prog.Domain {
		m.starts = append(m.starts, m.param(fmt.Sprint("start", d)))
		m.lengths = append(m.lengths, m.length(fmt.Sprint("length", d)))
	}
	for i := range m.prog.Loads {
		m.prepare(i)
	}
	m.rare = m.is("ne.u32", n, n)
	m.eachElement(n, m.element)
	one := m.word("mov.u32", 1)
	m.under(m.rare, "st.global.u32 [%s], %s", rare, one)
	return m.check()
}

func reads(l *plan.Load) bool { return l.Kind == plan.LoadArray || l.Kind == plan.LoadBlocks }

// check says which instruction has no kernel.
func (m *mapper) check() error {
	for i, in := range m.prog.Code {
		if m.values[len(m.prog.Loads)+i] != "" {
			continue
		}
		if in.Op == kernel.Invalid {
			return fmt.Errorf("does not convert %s to %s", in.Type, in.To)
		}
		return fmt.Errorf("has no %s of %s", in.Op, in.Type)
	}
	return nil
}

// prepare computes what a load's strides are in this tile, and a generator's first
// position.
func (m *mapper) prepare(i int) {
	l, s := &m.prog.Loads[i], &m.loads[i]
	axes := len(m.prog.Domain)
	switch {
	case l.Extent != nil:
		m.window(l, s)
	case reads(l) && !l.Dense():
		s.strides = make([]string, axes)
		stride := ""
		for d := len(l.View.Axis) - 1; d >= 0; d-- {
			a := l.View.Axis[d]
			if a < 0 || m.prog.Domain[a] == 1 {
				continue
			}
			step := stride
			if step == "" {
				step = m.word("mov.u32", 1)
			}
			if s.strides[a] != "" {
				step = m.word("add.u32", s.strides[a], step)
			}
			s.strides[a] = step
			if stride == "" {
				stride = m.lengths[a]
			} else {
				stride = m.word("mul.lo.u32", stride, m.lengths[a])
			}
		}
	case l.Kind == plan.LoadIota || l.Kind == plan.LoadRandom:
		s.steps = make([]int, axes)
		origin := 0
		strides := grid.Strides(l.Shape)
		for d, a := range l.View.Axis {
			origin += l.View.Start[d] * strides[d]
			if a >= 0 {
				s.steps[a] += l.View.Step[d] * strides[d]
			}
		}
		s.base = m.double("mov.b64", origin)
		for a, step := range s.steps {
			if step != 0 {
				s.base = m.double("mad.lo.s64", m.starts[a], step, s.base)
			}
		}
	}
}

// window computes the strides of what taps take.
func (m *mapper) window(l *plan.Load, s *source) {
	s.strides, s.along = make([]string, len(m.prog.Domain)), make([]string, len(l.Extent))
	stride := m.word("mov.u32", 1)
	for d := len(l.Extent) - 1; d >= 0; d-- {
		s.along[d] = stride
		held, a := fmt.Sprint(l.Extent[d]), l.View.Axis[d]
		if a >= 0 && m.prog.Domain[a] != 1 {
			step := m.word("mul.lo.u32", stride, l.View.Step[d])
			if s.strides[a] != "" {
				step = m.word("add.u32", s.strides[a], step)
			}
			s.strides[a] = step
			held = m.word("mad.lo.u32", m.word("sub.u32", m.lengths[a], 1), l.View.Step[d], l.Extent[d])
		}
		if d > 0 {
			stride = m.word("mul.lo.u32", stride, held)
		}
	}
}

// eachElement writes a loop in which the grid's threads take turns.
func (e *emitter) eachElement(n string, body func(index string)) {
	first := e.word("mad.lo.u32", e.word("mov.u32", "%ctaid.x"), e.word("mov.u32", "%ntid.x"), e.word("mov.u32", "%tid.x"))
	e.loop(first, n, e.word("mul.lo.u32", e.word("mov.u32", "%ntid.x"), e.word("mov.u32", "%nctaid.x")), body)
}

// loop writes a loop over a counter from a value up to an end, in steps.
func (e *emitter) loop(from, end, step string, body func(i string)) {
	again, done := e.label(), e.label()
	i := e.word("mov.u32", from)
	e.at(again)
	e.under(e.is("ge.u32", i, end), "bra %s", done)
	body(i)
	e.do("add.u32 %s, %s, %s", i, i, step)
	e.do("bra %s", again)
	e.at(done)
}

// element computes the program for the index-th element of the tile.
func (m *mapper) element(index string) {
	at := m.coordinates(index)
	m.values = make([]string, len(m.prog.Loads)+len(m.prog.Code))
	for i := range m.prog.Loads {
		switch s := &m.loads[i]; {
		case m.prog.Loads[i].Extent != nil:
			s.first = m.offset(s, at)
		case m.prog.Loads[i].Kind != plan.LoadTap:
			m.values[i] = m.loaded(i, index, at)
		}
	}
	// Taps are loaded when they are first used: registers would not suffice for all at once.
	value := func(v int) string {
		if v < len(m.prog.Loads) && m.values[v] == "" {
			m.values[v] = m.loaded(v, index, at)
		}
		return m.values[v]
	}
	for i, in := range m.prog.Code {
		var a []string
		for _, v := range in.Args {
			if value(v) == "" {
				return // has no kernel
			}
			a = append(a, value(v))
		}
		v := &m.values[len(m.prog.Loads)+i]
		if in.Op != kernel.Invalid {
			*v = m.compute(in.Op, in.Type, a)
		} else if in.Type.Kind() != dtype.KindComplex && in.To.Kind() != dtype.KindComplex {
			*v = m.cast(in.Type, in.To, a[0])
		}
	}
	for _, v := range m.prog.Checks {
		m.isRare(m.holds(value(v)))
	}
	for k, v := range m.prog.Out {
		skip, t := m.label(), m.prog.Type(v)
		if value(v) == "" {
			return
		}
		m.under(m.is("eq.u64", m.outs[k], 0), "bra %s", skip)
		m.store(t, m.address(m.outs[k], index, t.Size()), m.values[v])
		m.at(skip)
	}
}

// coordinates takes the index of an element apart, as far as loads ask for it. The last
// quotient is the first axis's coordinate.
func (m *mapper) coordinates(index string) []string {
	at := make([]string, len(m.prog.Domain))
	first := len(at)
	for a := len(at) - 1; a >= 0; a-- {
		if m.asks(a) {
			first = a
		}
	}
	var outer []int // axes before the first that is asked for, which are not one long
	for a := range first {
		if m.prog.Domain[a] != 1 {
			outer = append(outer, a)
		}
	}
	rest := index
	for a := len(at) - 1; a >= first; a-- {
		if m.prog.Domain[a] == 1 {
			continue
		}
		before := len(outer) > 0 || slices.ContainsFunc(m.prog.Domain[first:a], func(n int) bool { return n != 1 })
		if !before {
			at[a] = rest
			continue
		}
		whole := m.word("div.u32", rest, m.lengths[a])
		at[a] = m.word("sub.u32", rest, m.word("mul.lo.u32", whole, m.lengths[a]))
		rest = whole
	}
	return at
}

// asks reports whether a load is not dense or constant along an axis.
func (m *mapper) asks(a int) bool {
	for _, s := range m.loads {
		if s.strides != nil && s.strides[a] != "" || s.steps != nil && s.steps[a] != 0 {
			return m.prog.Domain[a] != 1
		}
	}
	return false
}

// loaded is a load's element.
func (m *mapper) loaded(i int, index string, at []string) string {
	l, s := &m.prog.Loads[i], &m.loads[i]
	switch l.Kind {
	case plan.LoadConst:
		return m.value(l.Value)
	case plan.LoadIota, plan.LoadRandom:
		position := s.base
		for a, step := range s.steps {
			if step != 0 && at[a] != "" {
				position = m.double("mad.lo.s64", m.double("cvt.u64.u32", at[a]), step, position)
			}
		}
		if l.Kind == plan.LoadIota {
			return m.iota(l, position)
		}
		return m.random(l, position)
	}
	if l.Kind == plan.LoadTap {
		s = &m.loads[l.Base]
		index = s.first
		for d, by := range l.At {
			if by > 0 {
				index = m.word("mad.lo.u32", s.along[d], by, index)
			}
		}
	} else if s.strides != nil {
		index = m.offset(s, at)
	}
	return m.load(l.Type, m.address(s.base, index, l.Type.Size()))
}

// offset is the index of the present element in what a load holds.
func (m *mapper) offset(s *source, at []string) string {
	index := m.constant(dtype.Uint32, 0)
	for a, stride := range s.strides {
		if stride != "" {
			index = m.word("mad.lo.u32", at[a], stride, index)
		}
	}
	return index
}

// Capabilities are the operations and types that Map, Fold and Product have kernels for.
func Capabilities() device.Capabilities {
	real := func(t dtype.Type) bool { return t.Kind() != dtype.KindComplex }
	c := device.Capabilities{Elementwise: map[kernel.Op]device.Types{}, Casts: device.TypesOf(real), Folds: map[kernel.Reduction]device.Types{}}
	for _, op := range kernel.Ops() {
		c.Elementwise[op] = device.TypesOf(func(t dtype.Type) bool { return computes(op, t) })
	}
	for _, row := range kernel.Reductions() {
		r := row.Reduction
		c.Folds[r] = device.TypesOf(func(t dtype.Type) bool { _, ok := newFolding(r, t); return ok })
	}
	c.Products = device.TypesOf(func(t dtype.Type) bool { _, err := Product(t, kernel.GemmType(t)); return err == nil })
	return c
}

// computes reports whether there is a kernel of an operation on a type.
func computes(op kernel.Op, t dtype.Type) bool {
	if t.Kind() == dtype.KindComplex {
		return false
	}
	if _, ok := kernel.Lookup(op, t); !ok {
		return false
	}
	e := newEmitter("")
	e.rare = e.is("ne.u32", 0, 0)
	return e.compute(op, t, []string{"r0", "r0", "r0"}[:op.Arity()]) != ""
}
