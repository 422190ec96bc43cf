package filter

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("filter.median", Median{}, blockwise.KeepsAxes) }

// Median is the middle of what a window shows, the upper one of an even number, or the element of another rank; NaN
// where there is a NaN.
type Median struct {
	window.Window
	Rank int `json:",omitempty"` // from 1 on; 0 is the middle
}

// rank counts from 0.
func (o Median) rank() int {
	if o.Rank > 0 {
		return o.Rank - 1
	}
	return grid.Size(o.Window.Sizes()) / 2
}

// netElems bounds the windows that go through a network, whose steps grow faster than
// its elements: for larger ones counting takes less.
const netElems = 256

// wide is the type that it compares in.
func (o Median) wide() dtype.Type {
	switch {
	case o.DType == dtype.Bool:
		return dtype.Uint8
	case o.DType.Short():
		return dtype.Float32
	}
	return o.DType
}

// form is the window as rows, of columns that follow each other along the last axis that
// has more than one.
func (o Median) form() (rows, columns int) {
	rows, columns = 1, 1
	for _, n := range o.Window.Sizes() {
		rows *= n
		if n > 1 {
			columns = n
		}
	}
	return rows / columns, columns
}

// network is what the window goes through; nil where it is counted.
func (o Median) network() *network {
	rows, columns := o.form()
	if rows*columns > netElems {
		return nil
	}
	return networkOf(rows, columns, o.rank())
}

// Requirements is the box with its border, a tile, and what its windows go through. A core looks
// at about four elements in a nanosecond.
func (o Median) Requirements(box []int) blockwise.Requirements {
	net := o.network()
	need := need(&o.Window, box, func(m *blockwise.ScratchLayout, tile []int) { o.work(m, net, tile) })
	need.Work = int64(grid.Size(box)) * min(int64(grid.Size(o.Window.Sizes())), netElems) / 4
	return need
}

// selector has a tile in the type that is compared, with its border and without, and
// memory for a network or a counter.
type selector struct {
	in, out   []byte
	registers []byte
	counter   *counter
}

func (o Median) work(m *blockwise.ScratchLayout, net *network, tile []int) *selector {
	with, without := elements(&o.Window, tile)
	size := o.wide().Size()
	s := &selector{in: m.Take(with * size), out: m.Take(without * size)}
	if net == nil {
		s.counter = newCounter(m, with)
		return s
	}
	r := rowsOf(&o.Window, tile)
	s.registers = m.Take(net.registers * (net.segment(r.n, size) + net.extra*r.inner) * size)
	return s
}

// Fill selects.
func (o Median) Fill(ctx context.Context, t *blockwise.Task) error {
	rows, columns := o.form()
	net := o.network()
	widen, narrow := cast(o.DType, o.wide()), cast(o.wide(), o.DType)
	select1 := counts[o.wide()]
	return fill(ctx, &o.Window, t, func(m *blockwise.ScratchLayout, tile []int) func(dst, src []byte, tile []int) {
		s := o.work(m, net, tile)
		offsets := make([]int, rows)
		return func(dst, src []byte, tile []int) {
			with, without := elements(&o.Window, tile)
			widen(with, s.in, src)
			for k, off := range offsetsOf(&o.Window, tile) {
				if k%columns == 0 {
					offsets[k/columns] = off
				}
			}
			if net == nil {
				select1(s.counter, &o.Window, tile, s.out, s.in, offsets, columns, o.rank())
			} else {
				net.run(rowsOf(&o.Window, tile), o.wide(), s.out, s.in, s.registers, offsets)
			}
			narrow(without, dst, s.out)
		}
	})
}

// segment is how many elements of a row go through the network at once, so that its
// registers stay near the core.
func (net *network) segment(row, size int) int {
	const near = 128 << 10
	return max(min(row, near/(net.registers+1)/size), min(row, 64))
}

// run takes the rows of a tile through the network. offsets are where the window's rows
// begin, from where a row does.
func (net *network) run(r rows, t dtype.Type, out, in, registers []byte, offsets []int) {
	least, _ := kernel.Lookup(kernel.Minimum, t)
	most, _ := kernel.Lookup(kernel.Maximum, t)
	size := t.Size()
	segment := net.segment(r.n, size)
	stride := (segment + net.extra*r.inner) * size
	for from, to := range r.all() {
		for done := 0; done < r.n; done += segment {
			n := min(segment, r.n-done)
			row := func(p place) []byte {
				if p.row < net.registers {
					return registers[p.row*stride+p.shift*r.inner*size:]
				}
				return in[(from+done+offsets[p.row-net.registers]+p.shift*r.inner)*size:]
			}
			for i := range net.steps {
				s := &net.steps[i]
				fold := least
				if s.larger {
					fold = most
				}
				fold(n+s.extra*r.inner, registers[s.dst*stride:], row(s.a), row(s.b), nil)
			}
			copy(out[(to+done)*size:][:n*size], row(place{row: net.result}))
		}
	}
}

// maxMedian bounds the elements of a window, through each of which a task goes for one
// element of its result without looking up.
const maxMedian = 1 << 17

// MedianOf is scipy.ndimage.median_filter: the median of a window of the given lengths.
func MedianOf(site graph.Site, a SizeArgs) (*graph.Node, error) {
	return ranked(site, "median_filter", a, func(n int) (int, error) { return n / 2, nil })
}

// Percentile is scipy.ndimage.percentile_filter: the element of a window below which so many percent of the others are.
func Percentile(site graph.Site, a PercentileArgs) (*graph.Node, error) {
	return ranked(site, "percentile_filter", SizeArgs{X: a.X, Sizes: a.Sizes, Border: a.Border}, func(n int) (int, error) {
		p := a.Percentile
		if p < 0 {
			p += 100
		}
		if !(p >= 0 && p <= 100) {
			return 0, fmt.Errorf("takes a percentile from -100 to 100, not %v", a.Percentile)
		}
		return min(int(float64(n)*p/100), n-1), nil
	})
}

// ranked is the element of a window whose rank follows from how many it has.
func ranked(site graph.Site, name string, a SizeArgs, rank func(n int) (int, error)) (*graph.Node, error) {
	x, b := a.X, a.Border
	if err := ordered(x); err != nil {
		return nil, graph.Reject(site, name, err, x)
	}
	w, err := window.New(x.Shape, x.DType, a.Sizes, b)
	if err != nil {
		return nil, graph.Reject(site, name, err, x)
	}
	elements := 1.0
	for _, n := range w.Sizes() {
		elements *= float64(n)
	}
	if elements > maxMedian {
		return nil, graph.Reject(site, name, fmt.Errorf("a window of shape %s has %.0f elements, more than %d: filter a downsampled array instead", grid.Format(w.Sizes()), elements, maxMedian), x)
	}
	at, err := rank(int(elements))
	if err != nil {
		return nil, graph.Reject(site, name, err, x)
	}
	if elements == 1 {
		return x, nil
	}
	o := Median{Window: w}
	args := append([]string{grid.Format(w.Sizes())}, args(b)...)
	if at != int(elements)/2 {
		o.Rank = at + 1
		args = append(args, fmt.Sprintf("rank %d", at))
	}
	return graph.NewBlockwise(site, name, o, x.Shape, x.DType, []*graph.Node{x}, args...)
}

// Formula is the network.
func (o Median) Formula([]int) *blockwise.Formula {
	net := o.network()
	if net == nil {
		return nil
	}
	_, columns := o.form()
	f := window.Formula(o.Window)
	var places [][]int
	for at := range window.Counting(o.Window.Sizes()) {
		places = append(places, slices.Clone(at))
	}
	// Rows are numbered by the step that computes them, behind the window's own. A register
	// has that of the last step before.
	inputs := len(places) / columns
	held := make([]int, net.registers)
	from := make([][2]place, len(net.steps))
	for i := range net.steps {
		s := &net.steps[i]
		for k, p := range []place{s.a, s.b} {
			if p.row < net.registers {
				p.row = held[p.row]
			} else {
				p.row -= net.registers
			}
			from[i][k] = p
		}
		held[s.dst] = inputs + i
	}
	terms := map[place]int{}
	var value func(p place) int
	value = func(p place) int {
		if term, ok := terms[p]; ok || len(f.Terms) > blockwise.MaxTerms {
			return term
		}
		var term int
		if p.row < inputs {
			term = f.Cast(f.Tap(0, places[p.row*columns+p.shift]...), o.wide())
		} else {
			i := p.row - inputs
			op := kernel.Minimum
			if net.steps[i].larger {
				op = kernel.Maximum
			}
			a, b := from[i][0], from[i][1]
			term = f.Apply(op, value(place{a.row, a.shift + p.shift}), value(place{b.row, b.shift + p.shift}))
		}
		terms[p] = term
		return term
	}
	f.Result = f.Cast(value(place{row: held[net.result]}), o.DType)
	return f
}
