package plan

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// A device computes operations of boxes that have a formula as part of the program that reads
// their result. The stage's program is expanded for that: elements of a window become taps,
// loads of what one load holds for the tile and its border.

// WithFormulas is the stage with the formulas of operations in its program; the stage itself
// where there is none.
func (s *Stage) WithFormulas() *Stage {
	if s.Kind == MatMulStage || s.FixedChunks || !s.Programs[0].formulaic() {
		return s
	}
	prog := &s.Programs[0]
	x := expansion{Draft: Draft{Domain: prog.Domain}, taps: map[string]int{}}
	values := x.inline(prog, grid.Identity(prog.Domain))
	var results []int
	for _, v := range prog.Out {
		results = append(results, values[v])
	}
	out := *s
	out.Programs = []Program{x.Program(results, x.checks)}
	return &out
}

// formulaic reports a program that reads an operation that has a formula.
func (p *Program) formulaic() bool {
	return slices.ContainsFunc(p.Loads, func(l Load) bool { return formulaOf(&l) != nil })
}

// formulaOf is the formula of a load's operation; nil for none.
func formulaOf(l *Load) *blockwise.Formula {
	if l.Kind != LoadBlocks {
		return nil
	}
	f, ok := l.Op.Op.(blockwise.Formulaic)
	if !ok {
		return nil
	}
	return f.Formula(l.Shape)
}

// expansion is a program that is being made with formulas in it.
type expansion struct {
	Draft
	checks []int
	taps   map[string]int // elements of windows and numbers that are there
	terms  int
}

// inline adds a program whose domain is seen through a view, and returns its values.
func (x *expansion) inline(prog *Program, through grid.View) []int {
	values := make([]int, 0, len(prog.Loads)+len(prog.Code))
	for _, l := range prog.Loads {
		l.View = through.Through(l.View)
		v, ok := x.formula(&l)
		if !ok {
			v = x.Load(l)
		}
		values = append(values, v)
	}
	return x.apply(prog, values)
}

// apply adds a program's instructions on the values of its loads, and returns all values.
func (x *expansion) apply(prog *Program, values []int) []int {
	for _, in := range prog.Code {
		in.Args = slices.Clone(in.Args)
		for k, a := range in.Args {
			in.Args[k] = values[a]
		}
		values = append(values, x.Emit(in))
	}
	return values
}

// formula adds what a load's operation computes, if it has a formula that is not too long.
func (x *expansion) formula(l *Load) (value int, ok bool) {
	f := formulaOf(l)
	if f == nil || x.terms+len(f.Terms) > blockwise.MaxTerms {
		return 0, false
	}
	if len(f.Windows) > 0 && slices.Min(append([]int{1}, l.View.Step...)) < 1 {
		return 0, false // windows follow each other as the domain's elements do
	}
	chain := []*blockwise.Formula{f}
	windows := slices.Clone(f.Windows)
	var inputs []*Program
	for _, w := range windows {
		inputs = append(inputs, &l.Inputs[w.Input])
	}
	all, taps := len(f.Terms), f.Taps()
	for len(windows) == 1 {
		inner, border := surrounds(&windows[0], inputs[0])
		if inner == nil || x.terms+all+taps*len(inner.Terms) > blockwise.MaxTerms {
			break
		}
		all += taps * len(inner.Terms)
		taps *= inner.Taps()
		chain = append(chain, inner)
		w := &windows[0]
		w.Border, w.Type, w.Extent = border, inner.Windows[0].Type, slices.Clone(w.Extent)
		for d, n := range inner.Windows[0].Extent {
			w.Extent[d] += n - 1
		}
		inputs[0] = &inputs[0].Loads[0].Inputs[inner.Windows[0].Input]
	}
	x.terms += all
	seen := make([]windowed, len(windows))
	for i := range windows {
		seen[i] = x.windowed(&windows[i], l, inputs[i], taps)
	}
	elements := map[int]int{} // by input
	for _, t := range f.Terms {
		_, done := elements[t.Of]
		switch {
		case t.Kind == blockwise.Position:
			elements[position] = x.Load(Load{Kind: LoadIota, Type: dtype.Uint64, View: l.View, Shape: l.Shape,
				Value: dtype.ValueOf(uint64(0)), Delta: dtype.ValueOf(uint64(1))})
		case t.Kind == blockwise.Element && !done:
			in := &l.Inputs[t.Of]
			elements[t.Of] = x.inline(in, l.View)[in.Out[0]]
		}
	}
	return x.instance(chain, seen, elements, nil), true
}

// position is the key of an element's position among the values of inputs.
const position = -1

// surrounds returns the formula of the operation that computes all of a window's input, and
// the border of both; nil where each needs elements of its own.
func surrounds(w *blockwise.Window, in *Program) (*blockwise.Formula, blockwise.Op) {
	if len(in.Loads) != 1 || len(in.Code) > 0 || !in.Loads[0].View.Plain(in.Loads[0].Shape) {
		return nil, nil
	}
	inner := formulaOf(&in.Loads[0])
	joiner, ok := w.Border.(blockwise.Joiner)
	if !ok || inner == nil || len(inner.Windows) != 1 || len(inner.Fails) > 0 {
		return nil, nil
	}
	if slices.ContainsFunc(inner.Terms, func(t blockwise.Term) bool { return t.Kind == blockwise.Element || t.Kind == blockwise.Position }) {
		return nil, nil
	}
	border, ok := joiner.Join(inner.Windows[0].Border)
	if !ok {
		return nil, nil
	}
	return inner, border
}

// windowed is what windows show of an input, as values of the program.
type windowed struct {
	loads   []int          // one for each load of the input's program that is computed for each element, or one
	compute *Program       // nil where the load's elements are the input's
	at      map[string]int // elements that are computed already, by their places
}

// windowed adds the loads of what a tile's windows show of an input. One that is computed of
// what takes no more bytes is computed for each element of a window.
func (x *expansion) windowed(w *blockwise.Window, l *Load, in *Program, taps int) windowed {
	if borders := x.borders(w, in, taps); borders != nil {
		x.terms += taps * len(in.Code)
		out := windowed{compute: in, at: map[string]int{}}
		for i := range in.Loads {
			if from := &in.Loads[i]; from.Kind == LoadConst {
				out.loads = append(out.loads, x.number(from.Value, from.Type))
			} else {
				of := *w
				of.Type, of.Border = from.Type, borders[i]
				out.loads = append(out.loads, x.window(&of, l, &Program{Domain: in.Domain, Loads: []Load{*from}, Out: []int{0}}))
			}
		}
		return out
	}
	return windowed{loads: []int{x.window(w, l, in)}}
}

// borders are those of the loads that an input is computed of; nil where it is better computed
// as it is read.
func (x *expansion) borders(w *blockwise.Window, in *Program, taps int) []blockwise.Op {
	border, ok := w.Border.(blockwise.Retyper)
	if !ok || len(in.Code) == 0 || x.terms+taps*len(in.Code) > blockwise.MaxTerms {
		return nil
	}
	all := make([]blockwise.Op, len(in.Loads))
	bytes := 0
	for i := range in.Loads {
		from := &in.Loads[i]
		if from.Kind == LoadConst {
			continue
		}
		bytes += from.Type.Size()
		if all[i], ok = border.Of(from.Type); !ok || from.Kind != LoadArray {
			return nil
		}
	}
	if bytes > w.Type.Size() {
		return nil
	}
	return all
}

// window adds the load of what a tile's windows show.
func (x *expansion) window(w *blockwise.Window, l *Load, in *Program) int {
	n := len(w.Axis)
	v := grid.View{Shape: x.Domain, Axis: make([]int, n), Start: make([]int, n), Step: slices.Clone(w.Step)}
	for d, a := range w.Axis {
		if v.Axis[d] = a; a >= 0 {
			v.Axis[d], v.Start[d] = l.View.Axis[a], l.View.Start[a]*w.Step[d]
			v.Step[d] = w.Step[d] * l.View.Step[a]
		}
	}
	return x.Load(Load{Kind: LoadBlocks, Type: w.Type, View: v, Op: &blockwise.Value{Op: w.Border}, Inputs: []Program{*in}, Extent: w.Extent, Site: l.Site})
}

// instance adds the terms of the first of a chain of formulas, with its windows moved by a
// shift. Each takes the elements of its window from the next one.
func (x *expansion) instance(chain []*blockwise.Formula, seen []windowed, elements map[int]int, shift []int) int {
	values := make([]int, len(chain[0].Terms))
	for i, t := range chain[0].Terms {
		switch t.Kind {
		case blockwise.Element:
			values[i] = elements[t.Of]
		case blockwise.Position:
			values[i] = elements[position]
		case blockwise.Tap:
			at := slices.Clone(t.At)
			for d := range shift {
				at[d] += shift[d]
			}
			if len(chain) > 1 {
				values[i] = x.instance(chain[1:], seen, nil, at)
			} else {
				values[i] = x.element(&seen[t.Of], at)
			}
		case blockwise.Number:
			values[i] = x.number(t.Value, t.Type)
		default:
			in := Instr{Op: t.Op, Type: t.From, To: t.Type}
			for _, a := range t.Args {
				in.Args = append(in.Args, values[a])
			}
			values[i] = x.Emit(in)
		}
	}
	for _, v := range chain[0].Fails {
		x.checks = append(x.checks, values[v])
	}
	return values[chain[0].Result]
}

// element is the one of a window at a place.
func (x *expansion) element(w *windowed, at []int) int {
	if w.compute == nil {
		return x.tap(w.loads[0], at)
	}
	key := fmt.Sprint(at)
	if v, ok := w.at[key]; ok {
		return v
	}
	var values []int
	for i, v := range w.loads {
		if w.compute.Loads[i].Kind != LoadConst {
			v = x.tap(v, at)
		}
		values = append(values, v)
	}
	w.at[key] = x.apply(w.compute, values)[w.compute.Out[0]]
	return w.at[key]
}

// once returns the load that make adds where none has the key.
func (x *expansion) once(key string, make func() Load) int {
	v, ok := x.taps[key]
	if !ok {
		v = x.Load(make())
		x.taps[key] = v
	}
	return v
}

// tap adds an element of a window, for all who take it.
func (x *expansion) tap(window int, at []int) int {
	return x.once(fmt.Sprint(window, at), func() Load {
		base := -1 - window // among the loads
		b := &x.Loads[base]
		return Load{Kind: LoadTap, Type: b.Type, View: b.View, Base: base, At: at}
	})
}

// number adds a constant.
func (x *expansion) number(v dtype.Value, t dtype.Type) int {
	return x.once(fmt.Sprint("number ", t, v.Lo, v.Hi), func() Load {
		return Load{Kind: LoadConst, Type: t, Value: v, View: grid.View{Shape: x.Domain}}
	})
}
