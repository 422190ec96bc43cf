package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/arena"
	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/record"
)

// Operations that fill boxes. One that takes any box is a load of the program that
// reads it; one with chunks of its own has a stage, whose program is that load alone.

// opKey is what two nodes of the same operation have in common. An operation that
// cannot be written is like no other.
func opKey(n *graph.Node) string {
	if blockwise.Name(n.Blocks.Op) == "" {
		return fmt.Sprintf(" %p", n)
	}
	text, err := json.Marshal(blockwise.Value{Op: n.Blocks.Op})
	if err != nil {
		return fmt.Sprintf(" %p", n)
	}
	return " " + string(text)
}

// mark finds the operations whose results are kept though they take any box: those
// that are seen in steps, of which most would be computed in vain, and those that a
// product reads, which it does many times over.
func (l *lowering) mark(root *graph.Node) {
	for n := range graph.Nodes(root) {
		switch n.Kind {
		case graph.View:
			if slices.ContainsFunc(n.View.Step, func(s int) bool { return abs(s) > 1 }) {
				l.keep[l.one(n.In[0])] = true
			}
		case graph.MatMul:
			for _, in := range n.In {
				l.markBelow(in)
			}
		}
	}
}

func (l *lowering) markBelow(n *graph.Node) {
	switch n.Kind {
	case graph.Blockwise:
		l.keep[l.one(n)] = true
	case graph.Elementwise, graph.Cast, graph.View:
		for _, in := range n.In {
			l.markBelow(in)
		}
	}
}

// keepCostly keeps what several passes read where computing it for each of them takes
// longer than writing it and reading it back: the input of a softmax, for one. Of
// operations of each other the last is kept. That follows from shapes alone, so that a
// run can go on with another budget.
func (l *lowering) keepCostly(root *graph.Node) {
	for again := true; again; {
		again = false
		passes := l.passes(root)
		var costly *graph.Node
		for n := range graph.Nodes(root) { // those that are read come before those that read
			n = l.one(n)
			bytes := int64(grid.Size(n.Shape) * n.DType.Size())
			if more := int64(passes[n] - 1); more > 0 && more*l.work(n) > storeNanos*bytes {
				costly, again = n, true
			}
		}
		if again {
			l.keep[costly], l.readers[costly] = true, passes[costly]
		}
	}
	clear(l.depth)
}

// storeNanos is what writing a byte and reading it back takes, in nanoseconds of a core.
const storeNanos = 4

// passes are how many stages compute each operation that is not held.
func (l *lowering) passes(root *graph.Node) map[*graph.Node]int {
	passes := map[*graph.Node]int{}
	stage := func(of ...*graph.Node) {
		seen := map[*graph.Node]bool{}
		var visit func(n *graph.Node)
		visit = func(n *graph.Node) {
			n = l.one(n)
			if seen[n] || l.held(n) {
				return
			}
			seen[n] = true
			if n.Kind == graph.Blockwise {
				passes[n]++
			}
			for _, in := range n.In {
				visit(in)
			}
		}
		for _, n := range of {
			visit(n)
		}
	}
	clear(l.depth)
	for _, level := range l.levels(root) {
		together := map[string][]*graph.Node{} // reductions of one pass
		for _, n := range level {
			if n.Kind == graph.Reduce {
				key := fmt.Sprint(n.Fold.Axes, n.In[0].Shape)
				together[key] = append(together[key], n.In[0])
			} else {
				stage(n.In...)
			}
		}
		for _, of := range together {
			stage(of...)
		}
	}
	stage(root)
	return passes
}

// work is what computing a node from what is held takes, as far as operations say so.
func (l *lowering) work(n *graph.Node) (nanos int64) {
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node)
	visit = func(n *graph.Node) {
		n = l.one(n)
		if seen[n] || l.held(n) {
			return
		}
		seen[n] = true
		if n.Kind == graph.Blockwise {
			nanos += n.Blocks.Op.Need(clip(n.Shape, n.Shape)).Work
		}
		for _, in := range n.In {
			visit(in)
		}
	}
	visit(n)
	return nanos
}

// op is the load that computes an operation's node.
func (l *lowering) op(n *graph.Node) Load {
	load := Load{Kind: LoadBlocks, Type: n.DType, View: grid.Identity(n.Shape), Shape: n.Shape, Op: &blockwise.Value{Op: n.Blocks.Op}}
	for _, in := range n.In {
		load.Inputs = append(load.Inputs, l.program(in))
	}
	if blockwise.Name(n.Blocks.Op) == "" {
		l.plan.bound = true
	}
	return load
}

// opStage computes and keeps the result of an operation.
func (p *Plan) opStage(l *lowering, root, n *graph.Node, t Target) error {
	s := Stage{Kind: MapStage, Name: n.String(), Site: n.Site.String()}
	s.Programs = []Program{{Domain: n.Shape, Loads: []Load{l.op(n)}, Out: []int{0}}}
	chunks := n.Blocks.Op.Chunks()
	s.Exact = chunks != nil
	if !s.Exact {
		chunks = p.mapChunks(&s.Programs[0], n.Shape, n.DType.Size())
	}
	s.Grid = grid.Grid{Shape: n.Shape, Chunks: clip(chunks, n.Shape)}
	p.mend(&s.Programs[0], s.Grid.Chunks, s.Site)
	out, ok, err := p.whole(l, root, n, t, &s)
	switch {
	case err != nil:
		return err
	case ok:
	case scattered(s.Grid.Chunks, n.Shape, n.DType.Size()):
		out = p.temporary(n.String(), n.Shape, n.DType)
		p.Arrays[out].Blocks = s.Grid.Chunks
		l.arrays[l.one(n)] = out
	default:
		if out, err = p.result(l, root, n, t); err != nil {
			return err
		}
	}
	s.Outputs = []int{out}
	if passes := l.readers[l.one(n)]; passes > 0 {
		s.Note = fmt.Sprintf("kept: %d passes read it, and computing it for each takes longer", passes)
	}
	p.Stages = append(p.Stages, s)
	return nil
}

// mend rechunks what operations would read many times over for boxes of a program's
// domain, because those lie across it.
func (p *Plan) mend(prog *Program, box []int, site string) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind != LoadBlocks {
			continue
		}
		need := l.Op.Need(l.Box(box))
		for k, reads := range need.Reads {
			in := &l.Inputs[k]
			reads = clip(reads, in.Domain)
			for j := range in.Loads {
				if !need.Sparse && p.across(&in.Loads[j], reads) {
					p.rearrange(&in.Loads[j], reads, site)
				}
			}
			p.mend(in, reads, site)
		}
	}
}

// scattered reports chunks of a large array that would lie in a file in C order as
// short runs: each page of it would be written many times. Such a result is kept by
// chunks, and what reads that puts it in order.
func scattered(chunks, shape []int, size int) bool {
	return runOf(chunks, shape, size) < shortRun && grid.Size(shape)*size > acrossBytes
}

// runOf is how many bytes of a box lie together in an array in C order.
func runOf(box, shape []int, size int) int {
	run := size
	for d := len(shape) - 1; d >= 0; d-- {
		run *= box[d]
		if box[d] < shape[d] {
			break
		}
	}
	return run
}

// shortRun is what is written at once where that is worth a pass of its own to avoid.
const shortRun = 2 * pageBytes

// whole adds the output of a stage whose chunks are whole units of it, which its tasks
// then write themselves.
func (p *Plan) whole(l *lowering, root, n *graph.Node, t Target, s *Stage) (int, bool, error) {
	if n != root || !s.Exact || t.Path == "" || t.Region != nil {
		return 0, false, nil
	}
	a, err := p.output(n, t, s.Grid.Chunks)
	if err != nil || !a.Layout.Sessions() {
		return 0, false, err
	}
	for d, c := range s.Grid.Chunks {
		if c%a.Layout.Unit[d] != 0 && c < n.Shape[d] {
			return 0, false, nil
		}
	}
	s.Unit = a.Layout.Chunks()
	p.Output = len(p.Arrays)
	return l.hold(n, a), true, nil
}

// blocks reports a program that reads what an operation computes.
func (p *Program) blocks() bool {
	return slices.ContainsFunc(p.Loads, func(l Load) bool { return l.Kind == LoadBlocks })
}

// Box are the lengths in the load's own array of what a tile of the domain needs.
func (l *Load) Box(tile []int) []int {
	box := make([]int, len(l.View.Axis))
	for d, a := range l.View.Axis {
		box[d] = 1
		if a >= 0 {
			box[d] = tile[a]
		}
	}
	return box
}

// Reversed reports a load whose array is seen backwards along some axis.
func (l *Load) Reversed() bool {
	return slices.ContainsFunc(l.View.Step, func(s int) bool { return s < 0 })
}

// addOps adds what the operations among a program's loads take for tiles of at most
// the given lengths, beside the loads' own elements.
func (p *Plan) addOps(b *record.Bytes, prog *Program, tile []int) {
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind != LoadBlocks {
			continue
		}
		need := l.Op.Need(l.Box(tile))
		if need.Scratch > 0 {
			b[record.Scratch] += arena.Reserved(need.Scratch)
		}
		if l.Reversed() {
			b[record.Scratch] += l.InputBytes(tile)
		}
		for k, box := range need.Reads {
			p.addLane(b, &l.Inputs[k], clip(box, l.Inputs[k].Domain))
		}
	}
}

// opReads adds what an operation reads from files for all tiles of a domain. One that
// reads a little at a time reads all of its inputs once.
func (p *Sized) opReads(s *SizedStage, l *Load, tile []int, times int64, stored func(int) bool) {
	boxes := times
	for d, n := range l.View.Shape {
		boxes *= int64((n + tile[d] - 1) / max(tile[d], 1))
	}
	need := l.Op.Need(l.Box(tile))
	for k, box := range need.Reads {
		in := &l.Inputs[k]
		whole := int64(max(grid.Size(in.Domain), 1))
		each := int64(grid.Size(clip(box, in.Domain)))
		before := s.Read
		p.reads(s, in, clip(box, in.Domain), times, stored)
		if all := boxes * each; all > whole && !need.Once { // reads counted each element once
			s.Read = before + int64(float64(s.Read-before)*float64(all)/float64(whole))
		}
	}
}

// waste is how many times over operations read for boxes of the given lengths: 1 for
// those without a halo, of files that lie as the boxes do.
func (p *Plan) waste(prog *Program, box []int) float64 {
	most := 1.0
	for i := range prog.Loads {
		l := &prog.Loads[i]
		if l.Kind == LoadArray {
			if a := &p.Arrays[l.Array]; a.Blocks == nil && a.Bytes() > acrossBytes {
				most = max(most, p.times(l, box))
			}
		}
		if l.Kind != LoadBlocks {
			continue
		}
		mine := l.Box(box)
		whole, need := l.Op.Need(clip(l.Shape, l.Shape)), l.Op.Need(mine)
		for k, reads := range need.Reads {
			in := &l.Inputs[k]
			share := float64(grid.Size(mine)) / float64(max(grid.Size(l.Shape), 1)) // of the result
			all := float64(max(grid.Size(clip(whole.Reads[k], in.Domain)), 1))      // that the whole result reads
			if share > 0 && !need.Once {
				most = max(most, float64(grid.Size(clip(reads, in.Domain)))/all/share)
			}
			if !need.Sparse {
				most = max(most, p.waste(in, clip(reads, in.Domain)))
			}
		}
	}
	return most
}

// little is how much waste is not worth a larger box.
const little = 1.15

// opChunks are whole rows, up to bandBytes of them where operations would read much
// more than once for fewer, and boxes where also that is not enough: but those only if
// they do not lie in the result as short runs, or rows would be read too many times.
func (p *Plan) opChunks(prog *Program, shape []int, size int) []int {
	for bytes := chunkBytes; bytes <= bandBytes; bytes *= 2 {
		rows := grid.Auto(shape, size, bytes)
		if p.waste(prog, rows) <= little {
			alignRows(rows, shape, size)
			return rows
		}
	}
	box := p.square(prog, grid.Whole(shape).Chunks, bandBytes/size)
	if rows := grid.Auto(shape, size, bandBytes); runOf(box, shape, size) < shortRun && p.waste(prog, rows) <= acrossTimes {
		alignRows(rows, shape, size)
		return rows
	}
	return box
}

// compact cuts a chunk into boxes of at most about elems elements: whole rows where
// that wastes little.
func (p *Plan) compact(prog *Program, chunk []int, elems int) []int {
	rows := grid.Auto(chunk, 1, elems)
	if w := p.waste(prog, rows); w > little {
		if box := p.square(prog, chunk, elems); p.waste(prog, box) < w {
			return box
		}
	}
	return rows
}

// square cuts a box to about elems elements, halving each time the axis where that
// wastes the least.
func (p *Plan) square(prog *Program, box []int, elems int) []int {
	box = slices.Clone(box)
	for grid.Size(box) > max(elems, 1) {
		best, least := -1, 0.0
		for d := range box {
			if box[d] < 2 {
				continue
			}
			half := slices.Clone(box)
			half[d] = (box[d] + 1) / 2
			if w := p.waste(prog, half); best < 0 || w < least {
				best, least = d, w
			}
		}
		box[best] = (box[best] + 1) / 2
	}
	return box
}

// checkOp refuses what a decoded operation cannot be.
func (p *Plan) checkOp(l *Load) (err error) {
	if l.Op == nil || l.Op.Op == nil {
		return errors.New("it has no operation")
	}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("operation %s is not for a result of shape %s", blockwise.Name(l.Op.Op), grid.Format(l.Shape))
		}
	}()
	need := l.Op.Need(clip(l.Shape, l.Shape))
	if len(need.Reads) != len(l.Inputs) || need.Scratch < 0 {
		return fmt.Errorf("operation %s has %d inputs, not %d", blockwise.Name(l.Op.Op), len(l.Inputs), len(need.Reads))
	}
	for k := range l.Inputs {
		if len(need.Reads[k]) != len(l.Inputs[k].Domain) {
			return fmt.Errorf("input %d of operation %s has another shape", k, blockwise.Name(l.Op.Op))
		}
		if err := p.checkProgram(&l.Inputs[k]); err != nil {
			return err
		}
	}
	return nil
}
