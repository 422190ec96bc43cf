package matmul

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
)

// A snapshot of a product has the accumulators of tiles that are not whole, row of
// tiles by row as they lie in memory, and those that the snapshot before has and no super-tile
// has read yet. Each tile counts the panels that it has. The run that resumes there may
// have other super-tiles, as tiles and panels do not depend on the budget.

// savedRow is a row of tiles of a super-tile, in a snapshot.
type savedRow struct {
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
func (p *Product) SnapshotBytes() int64 { return int64(len(p.acc)) + p.restoredBytes }

// Snapshot writes the accumulators of tiles that are not whole, row by row: each counts
// its own panels, so that workers add to all rows but the one that is written.
func (p *Product) Snapshot(w *checkpoint.SnapshotWriter) (meta []byte, merged int, err error) {
	p.pipelineMu.Lock()
	defer p.pipelineMu.Unlock()
	c := p.pipeline
	if c == nil {
		return nil, 0, nil
	}
	// Tiles that are read from the last snapshot meanwhile are in their rows again.
	rows, err := c.copyRestored(w)
	if err != nil {
		return nil, 0, err
	}
	for at := range c.againstWork() {
		b, live, ok := c.hold(at)
		if ok {
			b.Offset = w.Offset()
			rows = append(rows, b)
			_, err = w.Write(c.accumulators(live.tile, live.row))
		}
		c.release()
		if err != nil {
			return nil, 0, err
		}
	}
	if len(rows) == 0 {
		return nil, 0, nil
	}
	meta, err = json.Marshal(rows)
	return meta, 0, err
}

// copyRestored copies the tiles of the last snapshot that no super-tile has read yet.
func (c *pipeline) copyRestored(w *checkpoint.SnapshotWriter) (rows []savedRow, err error) {
	c.mu.Lock()
	tasks := slices.Sorted(maps.Keys(c.restored))
	c.mu.Unlock()
	var buffer []byte
	for _, task := range tasks {
		c.mu.Lock()
		saved, unread := c.restored[task]
		c.mu.Unlock()
		if !unread {
			continue
		}
		shape := c.stage.Grid.Box(task).Shape[c.dims()-2:]
		rows = append(rows, savedRow{First: task, Steps: []int{saved.steps}, Rows: shape[0], Cols: shape[1], Offset: w.Offset()})
		line := shape[1] * c.m.Type.Size()
		if n := max(line, checkpoint.CopyBytes); n > len(buffer) {
			buffer = make([]byte, n)
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
	return rows, nil
}

// againstWork returns all rows of accumulators, from the one that workers have just left
// backwards: they go forwards, and meet the snapshot at one row.
func (c *pipeline) againstWork() iter.Seq[int] {
	c.mu.Lock()
	first := 0
	if len(c.panels) > 0 {
		first = c.panels[0].row(c.next)
	}
	c.mu.Unlock()
	return func(yield func(int) bool) {
		for i := range c.owner {
			if !yield((first + len(c.owner) - 1 - i) % len(c.owner)) {
				return
			}
		}
	}
}

// hold waits until no worker adds to a row of accumulators, and lets none until release.
// ok reports that it has panels and is not whole.
func (c *pipeline) hold(at int) (b savedRow, live tileRow, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = at
	for c.adding[at] > 0 {
		c.moved.Wait()
	}
	s := c.owner[at]
	if s == nil || s.left[at-s.first] == 0 {
		return b, live, false
	}
	row, perRow := at-s.first, s.tiles.Count(1)
	b = savedRow{First: c.taskOf(s, row*perRow),
		Rows: min(c.m.TileM, s.box.Shape[0]-row*c.m.TileM), Cols: s.box.Shape[1]}
	for tile := row * perRow; tile < (row+1)*perRow; tile++ {
		steps := 0
		if s.added[tile] > s.from {
			steps, ok = max(s.added[tile], s.saved[tile].steps), true
		}
		b.Steps = append(b.Steps, steps)
	}
	return b, tileRow{s, row}, ok
}

func (c *pipeline) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = noRow
	c.moved.Broadcast()
}

// Restore finds the tiles that a snapshot has of tasks. What cannot be of this product is
// computed again.
func (p *Product) Restore(meta []byte, from io.ReaderAt, tasks checkpoint.Tasks) {
	var rows []savedRow
	if json.Unmarshal(meta, &rows) != nil {
		return
	}
	size, columns := p.m.Type.Size(), p.stage.Grid.Count(p.dims()-1)
	p.restored, p.restoredBytes = map[int]restoredTile{}, 0
	for _, b := range rows {
		last := b.Offset + int64(b.Rows)*int64(b.Cols)*int64(size) - 1
		if _, err := from.ReadAt(make([]byte, 1), last); err != nil {
			continue
		}
		for i, steps := range b.Steps {
			task := b.First + i
			if !tasks.Has(task) || b.First%columns+i >= columns || steps <= 0 || steps > max(p.sums.Len(), 1) {
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
}
