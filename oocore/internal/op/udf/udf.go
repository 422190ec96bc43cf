// Package udf holds operations that Go functions of the program compute: of whole
// chunks, of chunks with their neighbours, of lines along an axis, and batches that are
// handed to a loop.
//
// Such an operation exists in one process, is computed in chunks of its own, and each
// chunk once. A function has its memory until it returns: see lender.
package udf

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() {
	blockwise.Describe(&Mapped{}, blockwise.Exact)
	blockwise.Describe(&Overlapped{}, blockwise.Exact, blockwise.KeepsAxes)
	blockwise.Describe(&Along{}, blockwise.Exact)
	blockwise.Describe(&Feed{}, blockwise.Exact)
}

// chunkBytes is about what a chunk has where nothing else says how long it is.
const chunkBytes = 2 << 20

// Function sets a chunk's elements from those of each input's, dense in C order.
type Function func(dst []byte, src [][]byte, at grid.Box) error

// chunks are the lengths that a result is computed in where the program names none:
// those that the first input is stored in, several together while they are small, else
// boxes of about chunkBytes in which the halo is the least.
func chunks(shape []int, size int, halo []int, in []*graph.Node) []int {
	room := max(chunkBytes/max(size, 1), 1)
	if cell := stored(in); cell != nil && len(cell) == len(shape) {
		box := make([]int, len(shape))
		for d := range box {
			box[d] = max(min(cell[d], shape[d]), 1)
		}
		for d := len(box) - 1; d >= 0; d-- {
			box[d] = max(min(box[d]*max(room/grid.Size(box), 1), shape[d]), 1)
		}
		return box
	}
	box := grid.Whole(shape).Chunks
	for grid.Size(box) > room {
		best := -1
		for d, n := range box {
			// The first axis is cut first, where no halo speaks against it.
			if n > 1 && (best < 0 || float64(halo[d])/float64(n) < float64(halo[best])/float64(box[best])) {
				best = d
			}
		}
		box[best] = (box[best] + 1) / 2
	}
	return box
}

// stored are the chunks that the first input lies in on disk.
func stored(in []*graph.Node) []int {
	for _, n := range in {
		for n.Kind == graph.Elementwise || n.Kind == graph.Cast {
			n = n.In[0]
		}
		if n.Kind == graph.Source && slices.Equal(n.Shape, n.Stored.Info.Shape) {
			return n.Stored.Info.Chunks
		}
	}
	return nil
}

// CheckChunks checks chunks that the program names.
func CheckChunks(chunks, shape []int) error {
	if len(chunks) != len(shape) {
		return fmt.Errorf("chunks %s have other dimensions than shape %s", grid.Format(chunks), grid.Format(shape))
	}
	for _, c := range chunks {
		if c < 1 {
			return fmt.Errorf("chunks %s have a length below one", grid.Format(chunks))
		}
	}
	return nil
}

// read reads a box of an input.
func read(ctx context.Context, t *blockwise.Task, i int, box grid.Box, dst []byte) error {
	if box.Size() == 0 {
		return nil
	}
	return t.In[i].Read(ctx, box, dst)
}
