package exec

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/grid"
)

// A snapshot of a product has the accumulators of tiles that are not whole: bands of
// them, as they lie in memory, and those that the snapshot before has and no super-tile
// has read yet. Each tile counts the panels that it has. The run that goes on there may
// have other super-tiles, as tiles and panels do not depend on the budget.

// savedBand is a row of tiles of a super-tile, in a snapshot.
type savedBand struct {
	First  int   `json:"first"` // task of the first tile
	Steps  []int `json:"steps"` // panels that each tile has
	Rows   int   `json:"rows"`
	Cols   int   `json:"cols"` // of all tiles together
	Offset int64 `json:"offset"`
}

// restoredTile is where a snapshot has the accumulators of a tile; the zero value is one
// that has nothing.
type restoredTile struct {
	steps  int // panels
	from   io.ReaderAt
	offset int64 // of the first row
	stride int64 // bytes from one row to the next
}

// read reads a row.
func (t *restoredTile) read(dst []byte, row int) error {
	if _, err := t.from.ReadAt(dst, t.offset+int64(row)*t.stride); err != nil {
		return fmt.Errorf("what an earlier run left of the product: %w", err)
	}
	return nil
}

// SnapshotBytes returns the size of the accumulators in memory, and of those that were
// restored.
func (p *product) SnapshotBytes() int64 { return int64(len(p.acc)) + p.restoredBytes }

// Snapshot writes the accumulators of tiles that are not whole.
func (p *product) Snapshot(w *checkpoint.SnapshotWriter) (meta []byte, merged int64, err error) {
	p.mu.Lock()
	c := p.pipeline
	p.mu.Unlock()
	if c == nil {
		return nil, 0, nil
	}
	c.pause()
	defer c.proceed()
	bands, live := c.unfinished()
	for i, b := range live {
		bands[i].Offset = w.Offset()
		if _, err := w.Write(c.band(b.tile, b.row)); err != nil {
			return nil, 0, err
		}
	}
	unread, err := c.copyRestored(w)
	if err != nil {
		return nil, 0, err
	}
	if bands = append(bands, unread...); len(bands) == 0 {
		return nil, 0, nil
	}
	meta, err = json.Marshal(bands)
	return meta, 0, err
}

// copyRestored copies the tiles of the last snapshot that no super-tile has read yet.
func (c *matmulPipeline) copyRestored(w *checkpoint.SnapshotWriter) (bands []savedBand, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	buffer := make([]byte, copyBytes)
	for _, task := range slices.Sorted(maps.Keys(c.restored)) {
		saved, shape := c.restored[task], c.stage.Grid.Box(task).Shape[c.dims()-2:]
		bands = append(bands, savedBand{First: task, Steps: []int{saved.steps}, Rows: shape[0], Cols: shape[1], Offset: w.Offset()})
		line := shape[1] * c.m.Type.Size()
		if line > len(buffer) {
			buffer = make([]byte, line)
		}
		most := len(buffer) / line
		for row := 0; row < shape[0]; row += most {
			n := min(most, shape[0]-row)
			for i := range n {
				if err := saved.read(buffer[i*line:][:line], row+i); err != nil {
					return nil, err
				}
			}
			if _, err := w.Write(buffer[:n*line]); err != nil {
				return nil, err
			}
		}
	}
	return bands, nil
}

// pause waits until no worker changes an accumulator.
func (c *matmulPipeline) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = true
	for c.active > 0 {
		c.moved.Wait()
	}
}

func (c *matmulPipeline) proceed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = false
	c.moved.Broadcast()
}

// unfinished returns the bands of accumulators that have panels and are not whole.
func (c *matmulPipeline) unfinished() (bands []savedBand, live []band) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, s := range c.owner {
		if s == nil || s.left[at-s.first] == 0 {
			continue
		}
		row, perRow := at-s.first, s.tiles.Count(1)
		box := grid.Box{Start: []int{s.box.Start[0] + row*c.m.TileM, s.box.Start[1]}, Shape: []int{min(c.m.TileM, s.box.Shape[0]-row*c.m.TileM), s.box.Shape[1]}}
		b := savedBand{First: c.linear(s.batch, box.Start), Rows: box.Shape[0], Cols: box.Shape[1]}
		begun := false
		for tile := row * perRow; tile < (row+1)*perRow; tile++ {
			steps := 0
			if s.added[tile] > s.from {
				steps = max(s.added[tile], s.saved[tile].steps)
				begun = true
			}
			b.Steps = append(b.Steps, steps)
		}
		if begun {
			bands, live = append(bands, b), append(live, band{s, row})
		}
	}
	return bands, live
}

// restore finds the tiles of a snapshot. What cannot be of this product is computed again.
func (p *product) restore(meta []byte, from io.ReaderAt) error {
	var bands []savedBand
	if json.Unmarshal(meta, &bands) != nil {
		return nil
	}
	size, columns := p.m.Type.Size(), p.stage.Grid.Count(p.dims()-1)
	p.restored, p.restoredBytes = map[int]restoredTile{}, 0
	for _, b := range bands {
		last := b.Offset + int64(b.Rows)*int64(b.Cols)*int64(size) - 1
		if _, err := from.ReadAt(make([]byte, 1), last); err != nil {
			continue
		}
		for i, steps := range b.Steps {
			task := b.First + i
			if task < 0 || task >= p.stage.Tasks() || b.First%columns+i >= columns || steps <= 0 || steps > max(p.sums.Len(), 1) {
				continue
			}
			shape := p.stage.Grid.Box(task).Shape[p.dims()-2:]
			if b.Rows != shape[0] || i*p.m.TileN+shape[1] > b.Cols {
				continue
			}
			p.restored[task] = restoredTile{steps, from, b.Offset + int64(i*p.m.TileN*size), int64(b.Cols * size)}
			p.restoredBytes += int64(shape[0] * shape[1] * size)
		}
	}
	return nil
}
