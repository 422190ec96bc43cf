package bill

import (
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/requests"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// reads counts what the tasks of a stage read.
func (c *counter) reads(stage int) {
	s := c.Placed(stage)
	remote := func(l *plan.Load) bool { return l.Kind == plan.LoadArray && c.Arrays[l.Array].Store.Network }
	any := false
	for l := range s.Arrays() {
		any = any || remote(l)
	}
	switch {
	case !any || s.Tasks() == 0:
		return
	case s.Kind == plan.MatMulStage || s.Factors != nil || c.OnDevice[stage] != nil || s.Programs[0].HasBlocks():
		c.roughly(s)
		return
	}
	prog := &s.Programs[0]
	lane := &s.Buffers.Slot.Lane
	for i := range prog.Loads {
		if l := &prog.Loads[i]; remote(l) && (!prog.Plain() || i == prog.Out[0]) {
			tile := lane.Tile
			if prog.Plain() {
				tile = nil
			}
			c.load(s, l, tile, lane.Loads[i].Read.Scratch.Bytes())
		}
	}
}

// load counts what all tasks read of one array, by tiles, or by the boxes that they evaluate where there are none.
func (c *counter) load(s *size.Stage, l *plan.Load, tile []int, buffer int64) {
	a := &c.Arrays[l.Array]
	read, begin := c.reader(s, a, buffer)
	for i, box := range s.Grid.All() {
		begin(i)
		boxes(s, box, func(b grid.Box) {
			if tile == nil {
				read(l.Region(b))
				return
			}
			for t := range b.Split(tile) {
				read(l.Region(t))
			}
		})
	}
}

// boxes goes through what a task evaluates at once.
func boxes(s *size.Stage, task grid.Box, yield func(grid.Box)) {
	if s.Kind == plan.MapStage && s.Buffers.Slot.Chunk.Bytes() > 0 {
		for b := range task.Split(s.Tile) {
			yield(b)
		}
		return
	}
	for inner := range s.Chunks(task) {
		if s.Kind != plan.MapStage {
			yield(inner)
			continue
		}
		for b := range inner.Split(s.WriteTile) {
			yield(b)
		}
	}
}

// reader returns what counts a session's Read, and what counts the beginning of a task.
func (c *counter) reader(s *size.Stage, a *plan.Array, buffer int64) (read func(grid.Region), begin func(task int)) {
	ask := func(bytes int64) { c.add(a, requests.RangedGet, 1, bytes, 0) }
	item := a.DType.Size()
	plain := a.Open || a.Codec == "none"
	if a.Chunks == nil {
		return func(r grid.Region) {
			err := storage.RemoteReads(a.Shape, item, r, buffer, func(at, n int64) {
				if n <= requests.StreamBelow {
					c.unsure(someOrder)
				}
				o := requests.Object{Size: a.Bytes()}
				o.Read(at, n, ask)
			})
			if err != nil {
				c.unsure(err.Error())
			}
		}, func(int) {}
	}
	switch {
	case a.Format != "zarr v2" && a.Format != "zarr v3" || strings.Contains(a.Path, ".zip"):
		c.unsure(unknown)
	case !plain:
		if c.unsure(compressed); !s.DecodeWholeChunks || a.Object != nil {
			c.unsure(streams)
		}
	}
	f := &chunked.Foretold{Shape: a.Shape, Chunk: a.Chunks, Shard: a.Object, Item: item, Plain: plain, Prefetched: s.Workspaces > 0, Ask: ask}
	return func(r grid.Region) {
		if f.Read(r); f.Shared() {
			c.unsure(someOrder)
		}
	}, f.Begin
}

// roughly counts what a stage reads by its bytes.
func (c *counter) roughly(s *size.Stage) {
	c.unsure(operation)
	var all int64
	var arrays []int
	for l := range s.Arrays() {
		if !slices.Contains(arrays, l.Array) {
			arrays = append(arrays, l.Array)
			all += c.Arrays[l.Array].Bytes()
		}
	}
	for _, i := range arrays {
		if a := &c.Arrays[i]; a.Store.Network {
			each := int64(requests.PieceBytes)
			if a.Chunks != nil {
				each = int64(grid.Size(a.Chunks) * a.DType.Size())
			}
			bytes := int64(float64(s.Read) * float64(a.Bytes()) / float64(max(all, 1)))
			c.add(a, requests.RangedGet, (bytes+each-1)/each, bytes, 0)
		}
	}
}
