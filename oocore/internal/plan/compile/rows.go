package compile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
)

// An expression such as a softmax of each row, whose reductions are along the last axes and of
// which the result takes each row's own values, would read its input for each reduction and once more. Where
// a row is small, one stage reads whole rows once and does all that in memory: see Rows.

// mostRowBytes is what rows have that are computed together because of chunks, with all that is held of them.
const mostRowBytes = 2 * shapes.ChunkBytes

// fuseRows joins reductions of rows with the stage that uses their results.
func (c *compiler) fuseRows() error {
	p := c.plan
	gone, maker, uses := map[int]bool{}, map[int]int{}, map[int]int{}
	for i := range p.Stages {
		for _, a := range p.Stages[i].Outputs {
			maker[a] = i
		}
		for l := range p.Stages[i].Arrays() {
			uses[l.Array]++
		}
	}
	for i := len(p.Stages) - 1; i >= 0; i-- {
		if gone[i] {
			continue
		}
		f := rowFusion{plan: p, maker: maker, uses: uses, into: i}
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
	var stages []plan.Stage
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
	var arrays []plan.Array
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
		s := &p.Stages[i]
		renumber(s.Outputs)
		for k := range s.Programs {
			for l := range s.Programs[k].Arrays() {
				l.Array = number[l.Array]
			}
		}
	}
	renumber(c.outputs) // which the plan's other outputs are part of
	p.Output = c.outputs[0]
}

// rowFusion is a stage with the reductions that are to be computed in it.
type rowFusion struct {
	plan    *plan.Plan
	maker   map[int]int // stage of each array
	uses    map[int]int // loads of each array
	into    int         // the stage
	first   int         // the first of the axes that are reduced
	reduces []int       // stages, in order
}

// find looks for the reductions of rows that the stage takes the results of. There are none where something else
// takes those, too.
func (f *rowFusion) find() {
	p, s := f.plan, &f.plan.Stages[f.into]
	prog := &s.Programs[0]
	if s.Kind == plan.MatMulStage || s.Factors != nil || s.FixedChunks || s.Grid.Offset != nil || s.Kind == plan.MapStage && len(s.Folds) > 0 ||
		grid.Size(s.Grid.Shape) == 0 || shapes.Crossed(prog) != nil || slices.ContainsFunc(prog.Out, func(v int) bool { return v != prog.Out[0] }) {
		return
	}
	in := []int{f.into} // the stage, and reductions that it needs
	for k := 0; k < len(in); k++ {
		for _, l := range p.Stages[in[k]].Programs[0].Loads {
			if i, made := f.maker[l.Array]; l.Kind == plan.LoadArray && made && !slices.Contains(in, i) && f.eligible(i) {
				in = append(in, i)
			}
		}
	}
	slices.Sort(in)
	f.reduces = in[:len(in)-1]
	others := 0 // loads of the results
	for _, i := range f.reduces {
		for _, a := range p.Stages[i].Outputs {
			others += f.uses[a]
		}
	}
	for _, i := range in {
		for k := range p.Stages[i].Programs[0].Loads {
			if l := &p.Stages[i].Programs[0].Loads[k]; f.value(l) && l.AlongRows(p.Arrays[l.Array].Shape) {
				others--
			}
		}
	}
	if others > 0 {
		f.reduces = nil
	}
}

// eligible reports a reduction of rows of the stage's domain, to temporary arrays.
func (f *rowFusion) eligible(i int) bool {
	s := &f.plan.Stages[i]
	if _, taken := takenTiles(&s.Programs[0]); taken || s.Kind != plan.ReduceStage || len(s.Folds[0].Axes) == 0 || !slices.Equal(s.Grid.Shape, f.plan.Stages[f.into].Grid.Shape) || shapes.Crossed(&s.Programs[0]) != nil ||
		slices.ContainsFunc(s.Outputs, func(a int) bool { return f.plan.Arrays[a].Place != plan.InTemp }) {
		return false
	}
	first := s.Folds[0].Axes[0]
	if first == 0 || !s.ReducesRows(first) || f.first > 0 && f.first != first {
		return false
	}
	f.first = first
	return true
}

// value reports a load of what one of the reductions makes.
func (f *rowFusion) value(l *plan.Load) bool {
	return l.Kind == plan.LoadArray && slices.ContainsFunc(f.reduces, func(i int) bool { return slices.Contains(f.plan.Stages[i].Outputs, l.Array) })
}

// inputs calls yield with what the reductions and the stage read, in order, with the key of what is the same.
func (f *rowFusion) inputs(yield func(key string, l *plan.Load)) {
	for _, i := range append(slices.Clone(f.reduces), f.into) {
		loads := f.plan.Stages[i].Programs[0].Loads
		for k := range loads {
			if l := &loads[k]; l.Reads() && !f.value(l) {
				yield(f.key(l), l)
			}
		}
	}
}

// key is what equal loads have in common. Those of Go functions, which cannot be written, are like no other.
func (f *rowFusion) key(l *plan.Load) string {
	if text, err := json.Marshal(l); err == nil && (l.Kind == plan.LoadArray || f.plan.Function == "") {
		return string(text)
	}
	return fmt.Sprintf("%p", l)
}

// compactShape are the lengths of what a load shows of the domain: one along the axes along which it is broadcast.
func compactShape(l *plan.Load) []int {
	lengths := slices.Repeat([]int{1}, len(l.View.Shape))
	for _, a := range l.View.Axis {
		if a >= 0 {
			lengths[a] = l.View.Shape[a]
		}
	}
	return lengths
}

// alone is a program that reads what a load shows, without the axes along which it is broadcast.
func alone(l *plan.Load) plan.Program {
	one := *l
	one.View.Shape = compactShape(l)
	return plan.Program{Domain: one.View.Shape, Loads: []plan.Load{one}, Out: []int{0}}
}

// fits reports that something would be read more than once, by rows that are small, and that the tasks of the stage
// have as a whole; perhaps after their chunks have been made as long. It does not ask for the budget: plans are the
// same for each.
func (f *rowFusion) fits() bool {
	p, s := f.plan, &f.plan.Stages[f.into]
	bytes := s.Programs[0].Type(s.Programs[0].Out[0]).Size() // of all that is held for an element
	seen, again, together := map[string]bool{}, false, 0
	f.inputs(func(key string, l *plan.Load) {
		one := alone(l)
		switch {
		case !slices.Equal(one.Domain, s.Grid.Shape):
		case seen[key]:
			again = true
		default:
			seen[key] = true
			bytes += l.Type.Size()
			together = max(together, shapes.RowsAtOnce(p, &one, s.Grid.Shape, f.first))
		}
	})
	row := s.Grid.Shape[f.first:]
	whole := func(box []int) bool { return box == nil || slices.Equal(grid.Clip(box, s.Grid.Shape)[f.first:], row) }
	switch {
	case !again || grid.Size(row)*bytes > shapes.ChunkBytes || together*bytes > mostRowBytes:
		return false
	case s.Kind == plan.ReduceStage:
		return whole(s.FoldTile)
	case whole(s.Grid.Chunks) && whole(s.StoreChunk):
		return true
	}
	chunks := slices.Concat(s.Grid.Chunks[:f.first], row)
	if stored := shapes.Stored(p, &s.Programs[0]); stored != nil && s.StoreChunk != nil { // as many as are decoded together
		wide := slices.Clone(chunks)
		for d, n := range chunks[:f.first] {
			wide[d] = min((stored[d]+n-1)/n*n, s.Grid.Shape[d])
		}
		if grid.Size(wide)*bytes <= mostRowBytes {
			chunks = wide
		}
	}
	if grid.Size(chunks)*bytes > mostRowBytes || p.Arrays[s.Outputs[0]].Blocks != nil {
		return false
	}
	s.Grid.Chunks, s.FixedChunks = chunks, s.StoreChunk != nil // then whole rows are computed at once, and written chunk by chunk
	return true
}

// fuse makes the stage's program that of whole rows.
func (f *rowFusion) fuse() {
	p, s := f.plan, &f.plan.Stages[f.into]
	shape, t := s.Grid.Shape, s.Programs[0].Type(s.Programs[0].Out[0])
	r := plan.Rows{First: f.first, Plan: &plan.Plan{}}
	load := plan.Load{Kind: plan.LoadBlocks, Type: t, View: grid.Identity(shape), Shape: shape, Site: s.Site}
	number := map[string]int{} // of the arrays of the plan of rows
	f.inputs(func(key string, l *plan.Load) {
		if _, ok := number[key]; !ok {
			load.Inputs = append(load.Inputs, alone(l))
			number[key] = r.Plan.AddArray(plan.Array{Place: plan.InFile, Shape: compactShape(l), DType: l.Type})
		}
	})
	value := func(array int) string { return fmt.Sprint("value ", array) }
	for _, i := range append(slices.Clone(f.reduces), f.into) {
		from := &p.Stages[i]
		one := plan.Stage{Kind: plan.ReduceStage, Grid: grid.Grid{Shape: shape, Chunks: from.Grid.Chunks}, Folds: from.Folds, FoldTile: from.FoldTile, FoldBlock: from.FoldBlock}
		prog := from.Programs[0]
		if i == f.into {
			one = plan.Stage{Kind: plan.MapStage, Grid: grid.Whole(shape), Outputs: []int{r.Plan.AddArray(plan.Array{Place: plan.InResult, Shape: shape, DType: t})}}
			prog.Out = prog.Out[:1]
		} else {
			for _, a := range from.Outputs {
				number[value(a)] = r.Plan.AddArray(temporary("", p.Arrays[a].Shape, p.Arrays[a].DType))
				one.Outputs = append(one.Outputs, number[value(a)])
			}
		}
		prog.Loads = slices.Clone(prog.Loads)
		for k := range prog.Loads {
			switch l := &prog.Loads[k]; {
			case f.value(l):
				l.Array = number[value(l.Array)]
			case l.Reads():
				array := number[f.key(&from.Programs[0].Loads[k])]
				*l = plan.Load{Kind: plan.LoadArray, Type: l.Type, Array: array, View: repeated(r.Plan.Arrays[array].Shape, shape)}
			}
		}
		one.Programs = []plan.Program{prog}
		r.Plan.Stages = append(r.Plan.Stages, one)
	}
	r.Plan.Output = len(r.Plan.Arrays) - 1
	load.Op = &blockwise.Value{Op: r}
	s.Programs, s.Repeats = []plan.Program{{Domain: shape, Loads: []plan.Load{load}, Out: make([]int, len(s.Programs[0].Out))}}, nil
	if s.Note != "" {
		s.Note += "; "
	}
	s.Note += fmt.Sprintf("rows of %s are read once, and reduced in memory", grid.Format(shape[f.first:]))
}

// repeated is the view of an array that repeats it along its axes of length one.
func repeated(shape, domain []int) grid.View {
	v := grid.Identity(domain)
	for d, n := range shape {
		if n != domain[d] {
			v.Axis[d] = -1
		}
	}
	return v
}
