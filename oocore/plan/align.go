package plan

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/grid"
)

// Chunks of a stored array are decoded as a whole, so tasks and tiles are made of
// whole ones where they can be.

// storedChunks are the lengths in a program's domain of the stored chunks of its largest
// chunked input; nil where no input is chunked. What an operation reads counts where
// it has the shape of the result.
func (p *Plan) storedChunks(prog *Program) []int {
	var of *Load
	for i := range prog.Loads {
		l := &prog.Loads[i]
		for k := range l.Inputs {
			if !slices.Equal(l.Inputs[k].Domain, l.Shape) || of != nil {
				continue
			}
			if stored := p.storedChunks(&l.Inputs[k]); stored != nil {
				return l.shown(stored)
			}
		}
		if l.Kind == LoadArray && p.Arrays[l.Array].Chunks != nil && (of == nil || p.Arrays[l.Array].Bytes() > p.Arrays[of.Array].Bytes()) {
			of = l
		}
	}
	if of == nil {
		return nil
	}
	return of.shown(p.Arrays[of.Array].Chunks)
}

// shown are the lengths in the domain of chunks of the load's array.
func (l *Load) shown(chunks []int) []int {
	lengths := slices.Repeat([]int{1}, len(l.View.Shape))
	for d, c := range chunks {
		if a := l.View.Axis[d]; a >= 0 {
			lengths[a] = (c + abs(l.View.Step[d]) - 1) / abs(l.View.Step[d])
		}
	}
	return clip(lengths, l.View.Shape)
}

// grow makes a box of whole stored chunks, as many as fit into room elements: along the last
// axes first, so that its rows are long. One stored it always is.
func grow(stored, shape []int, room int) []int {
	box := clip(stored, shape)
	for d := len(box) - 1; d >= 0; d-- {
		times := room / max(grid.Size(box), 1)
		if times < 1 {
			break
		}
		box[d] = max(min(box[d]*times, shape[d]), 1)
		if box[d] < shape[d] {
			box[d] -= box[d] % stored[d]
			break
		}
	}
	return box
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
