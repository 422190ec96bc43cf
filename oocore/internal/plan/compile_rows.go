package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// An expression such as a softmax of each row, whose reductions are along the last axes and of
// which the result takes each row's own values, would read its input for each reduction and once more. Where
// a row is small, one stage reads whole rows once and does all that in memory: see Rows.

// fuseRows joins reductions of rows with the stage that uses their results.
func (c *compiler) fuseRows() error {
	p := c.plan
	gone := map[int]bool{} // stages
	for i := len(p.Stages) - 1; i >= 0; i-- {
		if gone[i] {
			continue
		}
		f := rowFusion{plan: p, into: i, gone: gone}
		if f.find(); len(f.reduces) == 0 || !f.fits() {
			continue
		}
		f.fuse()
		for _, k := range f.reduces {
			gone[k] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	dropped := make([]bool, len(p.Arrays))
	var stages []Stage
	for i, s := range p.Stages {
		if !gone[i] {
			stages = append(stages, s)
			continue
		}
		for _, a := range s.Outputs {
			dropped[a] = true
		}
	}
	p.Stages = stages
	c.dropArrays(dropped)
	return nil
}

// dropArrays removes arrays that no stage has, and numbers the others anew.
func (c *compiler) dropArrays(dropped []bool) {
	p := c.plan
	number := make([]int, len(p.Arrays))
	var arrays []Array
	for i, a := range p.Arrays {
		number[i] = len(arrays)
		if !dropped[i] {
			arrays = append(arrays, a)
		}
	}
	p.Arrays = arrays
	renumber := func(list []int) {
		for i, a := range list {
			list[i] = number[a]
		}
	}
	for i := range p.Stages {
		renumber(p.Stages[i].Outputs)
		for l := range p.Stages[i].Arrays() {
			l.Array = number[l.Array]
		}
	}
	for i := range p.Stages { // levels of a pyramid read what its stage writes
		for k := range p.Stages[i].Factors {
			for l := range p.Stages[i].Programs[k+1].Arrays() {
				l.Array = number[l.Array]
			}
		}
	}
	renumber(c.outputs) // which the plan's other outputs are part of
	p.Output = c.outputs[0]
}

// rowFusion is a stage with the reductions that are to be computed in it.
type rowFusion struct {
	plan    *Plan
	into    int          // the stage
	gone    map[int]bool // stages that are in others already
	first   int          // the first of the axes that are reduced
	reduces []int        // stages, in order
}

// find looks for the reductions: those whose results only the stage and each other take, each
// row its own, and that read something that another of them or the stage reads, too.
func (f *rowFusion) find() {
	p, s := f.plan, &f.plan.Stages[f.into]
	prog := &s.Programs[0]
	if s.Kind == MatMulStage || s.Factors != nil || s.FixedChunks || s.Grid.Offset != nil || s.Kind == MapStage && len(s.Folds) > 0 ||
		grid.Size(s.Grid.Shape) == 0 || crossed(prog) != nil || slices.ContainsFunc(prog.Out, func(v int) bool { return v != prog.Out[0] }) {
		return
	}
	maker, readers := map[int]int{}, map[int][]int{}
	for i := range p.Stages {
		if f.gone[i] {
			continue
		}
		for _, a := range p.Stages[i].Outputs {
			maker[a] = i
		}
		for l := range p.Stages[i].Arrays() {
			readers[l.Array] = append(readers[l.Array], i)
		}
	}
	in := []int{f.into} // the stage, and reductions that may be in it
	for k := 0; k < len(in); k++ {
		for _, l := range p.Stages[in[k]].Programs[0].Loads {
			i, made := maker[l.Array]
			if l.Kind != LoadArray || !made || slices.Contains(in, i) || !f.eligible(i) {
				continue
			}
			in = append(in, i)
		}
	}
	slices.Sort(in)
	for again := true; again; {
		again = false
		for k, i := range in {
			if i != f.into && !(f.own(i, in, readers) && f.shares(i, in)) {
				in, again = slices.Delete(in, k, k+1), true
				break
			}
		}
	}
	f.reduces = slices.DeleteFunc(in, func(i int) bool { return i == f.into })
}

// eligible reports a reduction of rows of the stage's domain.
func (f *rowFusion) eligible(i int) bool {
	s := &f.plan.Stages[i]
	if s.Kind != ReduceStage || !slices.Equal(s.Grid.Shape, f.plan.Stages[f.into].Grid.Shape) || crossed(&s.Programs[0]) != nil {
		return false
	}
	first := s.Folds[0].Axes[0]
	if f.first == 0 {
		f.first = first
	}
	return first > 0 && first == f.first && s.reducesRows(first)
}

// own reports a reduction whose results are temporary, and taken by the stages of a list alone, each row its own.
func (f *rowFusion) own(i int, in []int, readers map[int][]int) bool {
	for _, out := range f.plan.Stages[i].Outputs {
		if f.plan.Arrays[out].Place != InTemp {
			return false
		}
		direct := 0
		for _, k := range in {
			for _, l := range f.plan.Stages[k].Programs[0].Loads {
				if l.Kind == LoadArray && l.Array == out && l.alongRows(f.plan.Arrays[out].Shape) {
					direct++
				}
			}
		}
		if direct != len(readers[out]) {
			return false
		}
	}
	return true
}

// shares reports a reduction that reads an element for each of the domain that another stage of a list reads too.
func (f *rowFusion) shares(i int, in []int) bool {
	read := map[string]bool{}
	for _, k := range in {
		if k == i {
			continue
		}
		for _, l := range f.plan.Stages[k].Programs[0].Loads {
			read[loadKey(&l)] = true
		}
	}
	return slices.ContainsFunc(f.plan.Stages[i].Programs[0].Loads, func(l Load) bool {
		return l.Reads() && slices.Equal(l.compact(), l.View.Shape) && read[loadKey(&l)]
	})
}

// loadKey is what equal loads have in common. One of a Go function is like no other.
func loadKey(l *Load) string {
	if text, err := json.Marshal(l); err == nil && l.named() {
		return string(text)
	}
	return fmt.Sprintf("%p", l)
}

// named reports a load whose operations, and those that they read, have names.
func (l *Load) named() bool {
	if l.Kind == LoadBlocks && blockwise.Name(l.Op.Op) == "" {
		return false
	}
	for i := range l.Inputs {
		for k := range l.Inputs[i].Loads {
			if !l.Inputs[i].Loads[k].named() {
				return false
			}
		}
	}
	return true
}

// compact are the lengths of what a load shows of the domain: one along the axes along which it is broadcast.
func (l *Load) compact() []int {
	lengths := slices.Repeat([]int{1}, len(l.View.Shape))
	for _, a := range l.View.Axis {
		if a >= 0 {
			lengths[a] = l.View.Shape[a]
		}
	}
	return lengths
}

// mostRowBytes is what rows have that are computed together because of chunks, with all that is held of them.
const mostRowBytes = 2 * chunkBytes

// fits reports rows that are small, and that the tasks of the stage have as a whole; perhaps after
// their chunks have been made as long. It does not ask for the budget: plans are the same for each.
func (f *rowFusion) fits() bool {
	p, s := f.plan, &f.plan.Stages[f.into]
	whole := func(box []int) bool { return slices.Equal(clip(box, s.Grid.Shape)[f.first:], s.Grid.Shape[f.first:]) }
	bytes := s.Programs[0].Type(s.Programs[0].Out[0]).Size()
	seen, together := map[string]bool{}, 0
	for _, i := range append([]int{f.into}, f.reduces...) {
		for _, l := range p.Stages[i].Programs[0].Loads {
			if key := loadKey(&l); l.Reads() && !seen[key] && slices.Equal(l.compact(), l.View.Shape) {
				seen[key] = true
				bytes += l.Type.Size()
				one := l.alone()
				together = max(together, p.rowsAtOnce(&one, s.Grid.Shape, f.first))
			}
		}
	}
	if grid.Size(s.Grid.Shape[f.first:])*bytes > chunkBytes || together*bytes > mostRowBytes {
		return false
	}
	switch {
	case s.Kind == ReduceStage:
		return whole(s.FoldTile)
	case whole(s.Grid.Chunks) && (s.StoreChunk == nil || whole(s.StoreChunk)):
		return true
	}
	chunks := slices.Concat(s.Grid.Chunks[:f.first], s.Grid.Shape[f.first:])
	if grid.Size(chunks)*bytes > mostRowBytes || p.Arrays[s.Outputs[0]].Blocks != nil {
		return false
	}
	s.Grid.Chunks, s.FixedChunks = chunks, s.StoreChunk != nil // then whole rows are computed at once, and written chunk by chunk
	return true
}

// fuse makes the stage's program that of whole rows.
func (f *rowFusion) fuse() {
	p, s := f.plan, &f.plan.Stages[f.into]
	prog := &s.Programs[0]
	shape, t := s.Grid.Shape, prog.Type(prog.Out[0])
	r := Rows{First: f.first, Plan: &Plan{}}
	load := Load{Kind: LoadBlocks, Type: t, View: grid.Identity(shape), Shape: shape, Site: s.Site}
	inputs, values := map[string]int{}, map[int]int{}
	for _, i := range append(slices.Clone(f.reduces), f.into) {
		for k := range p.Stages[i].Programs[0].Loads {
			l := &p.Stages[i].Programs[0].Loads[k]
			if key := loadKey(l); l.Reads() && !f.value(l) {
				if _, ok := inputs[key]; !ok {
					inputs[key] = r.Plan.add(Array{Place: InFile, Shape: l.compact(), DType: l.Type})
					load.Inputs = append(load.Inputs, l.alone())
				}
			}
		}
	}
	step := func(i int, kind StageKind, result []int) {
		from := &p.Stages[i]
		one := Stage{Kind: kind, Grid: grid.Grid{Shape: shape, Chunks: from.Grid.Chunks}, Folds: from.Folds, FoldTile: from.FoldTile, FoldBlock: from.FoldBlock, Outputs: result}
		to := from.Programs[0]
		to.Loads = slices.Clone(to.Loads)
		for k := range to.Loads {
			l := &to.Loads[k]
			switch {
			case !l.Reads():
			case f.value(l):
				l.Array = values[l.Array]
			default:
				array := inputs[loadKey(&from.Programs[0].Loads[k])]
				*l = Load{Kind: LoadArray, Type: l.Type, Array: array, View: broadcast(r.Plan.Arrays[array].Shape, shape)}
			}
		}
		if kind == MapStage {
			to.Out, one.Grid.Chunks, one.Folds, one.FoldTile, one.FoldBlock = to.Out[:1], clip(shape, shape), nil, nil, nil
		}
		one.Programs = []Program{to}
		r.Plan.Stages = append(r.Plan.Stages, one)
	}
	for _, i := range f.reduces {
		var outputs []int
		for _, a := range p.Stages[i].Outputs {
			values[a] = r.Plan.add(temporary("", p.Arrays[a].Shape, p.Arrays[a].DType))
			outputs = append(outputs, values[a])
		}
		step(i, ReduceStage, outputs)
	}
	r.Plan.Output = r.Plan.add(Array{Place: InResult, Shape: shape, DType: t})
	step(f.into, MapStage, []int{r.Plan.Output})
	load.Op = &blockwise.Value{Op: r}
	s.Programs = []Program{{Domain: shape, Loads: []Load{load}, Out: make([]int, len(prog.Out))}}
	s.Repeats = nil
	if s.Note != "" {
		s.Note += "; "
	}
	s.Note += fmt.Sprintf("rows of %s are read once, and reduced in memory", grid.Format(shape[f.first:]))
}

// value reports a load of what one of the reductions makes.
func (f *rowFusion) value(l *Load) bool {
	return l.Kind == LoadArray && slices.ContainsFunc(f.reduces, func(i int) bool { return slices.Contains(f.plan.Stages[i].Outputs, l.Array) })
}

// alone is a program that reads what a load shows, without the axes along which it is broadcast.
func (l *Load) alone() Program {
	one := *l
	one.View.Shape = l.compact()
	return Program{Domain: one.View.Shape, Loads: []Load{one}, Out: []int{0}}
}

// broadcast is the view of an array that repeats it along its axes of length one.
func broadcast(shape, domain []int) grid.View {
	v := grid.Identity(domain)
	for d, n := range shape {
		if n != domain[d] {
			v.Axis[d] = -1
		}
	}
	return v
}
