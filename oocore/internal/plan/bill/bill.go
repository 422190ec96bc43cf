// Package bill counts what a run asks object stores and web servers for before it runs: requests by kind, and bytes. It follows a
// sized plan as slots execute it, tile by tile, and the stores' ways of reading and writing, without asking anything.
//
// Counted is a run from a cold start: inputs are opened, nothing lies at the outputs' places and nothing was saved there before, all
// chunks of inputs are stored, none of an output is left out because it has only fill values, and no request is sent again.
package bill

import (
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/requests"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Why a bill is no exact count.
const (
	compressed = "chunks are compressed, and counted as if they were not"
	someOrder  = "what slots read of one shard or file depends on which of them comes first"
	unknown    = "the places of chunks in a file are not known"
	referred   = "what references lead to is not counted"
	operation  = "what an operation or a device reads is counted by its bytes"
	streams    = "chunks are decoded as they come, or lie in shards, and requests depend on how well they are compressed"
	processes  = "worker processes open their inputs themselves"
	collection = "what a collection asks for besides its arrays is not known"
	function   = "results of Go functions without a Version are not looked at again"
)

// Of returns what a run of a plan that saves its outputs, or collects one, asks for, with the opening of its inputs; nil where it asks
// nothing. about says why it may be somewhat more or less; "" where the counts are exact.
func Of(p *size.Plan) (all []record.Traffic, about string) {
	c := counter{Plan: p, at: map[string]*record.Traffic{}}
	c.fixed()
	if len(c.at) == 0 {
		return nil, strings.Join(c.about, "; ")
	}
	for i := range p.Stages {
		c.reads(i)
	}
	if p.Each.Workers > 0 {
		c.unsure(processes)
	}
	for _, t := range c.at {
		all = record.AddTraffic(all, []record.Traffic{*t})
	}
	return all, strings.Join(c.about, "; ")
}

// counter adds up.
type counter struct {
	*size.Plan
	at    map[string]*record.Traffic // by place
	about []string
}

func (c *counter) unsure(why string) {
	if why != "" && !slices.Contains(c.about, why) {
		c.about = append(c.about, why)
	}
}

// add counts requests of a kind for an array, with the bytes of all of them.
func (c *counter) add(a *plan.Array, kind string, n, read, written int64) {
	place := blob.PlaceOf(a.Path).Server()
	t := c.at[place]
	if t == nil {
		t = &record.Traffic{Place: place, Requests: map[string]int64{}}
		c.at[place] = t
	}
	if n > 0 {
		t.Requests[kind] += n
	}
	t.Read, t.Written = t.Read+read, t.Written+written
}

// sum adds a Traffic so many times.
func (c *counter) sum(all []record.Traffic, times int64) {
	for _, t := range all {
		a := &plan.Array{Path: t.Place}
		c.add(a, "", 0, times*t.Read, times*t.Written)
		for kind, n := range t.Requests {
			c.add(a, kind, times*n, 0, 0)
		}
	}
}

// mostOpen is how many inputs stay open between the look at their versions and the stages that read them.
const mostOpen = 16

// fixed counts what does not depend on tiles: versions of inputs before and after, and what is written.
func (c *counter) fixed() {
	saves := c.Arrays[c.Output].Place == plan.InResult
	seen := map[string]bool{}
	for i := range c.Arrays {
		a := &c.Arrays[i]
		opening := storage.Opening(a.Path)
		if strings.Contains(a.Format, "by references") {
			c.unsure(referred)
		}
		if a.Place != plan.InFile || !a.Store.Network && opening == nil {
			continue
		}
		c.sum(opening, 1) // which the stage that reads it needs, too
		if seen[a.Path] {
			continue
		}
		if c.sum(opening, 1); saves {
			again := int64(1) // after the run; that from before stays open for it
			if len(seen) >= mostOpen || !a.Store.Network {
				again = 2
			}
			c.sum(opening, again)
			c.add(a, requests.List, 2*storage.ListedPages(a.Path, units(a).Len()), 0, 0)
		}
		seen[a.Path] = true
	}
	first := true
	for i := range c.Outputs() {
		if a := &c.Arrays[i]; a.Place == plan.InResult && a.Store.Network {
			if c.write(a); first { // a run on a cluster may have left a note
				c.add(a, requests.RangedGet, 1, 0, 0)
			}
			first = false
		}
	}
}

// units is the grid of an input's objects.
func units(a *plan.Array) grid.Grid {
	if a.Object != nil {
		return grid.Grid{Shape: a.Shape, Chunks: a.Object}
	}
	if a.Chunks != nil {
		return grid.Grid{Shape: a.Shape, Chunks: a.Chunks}
	}
	return grid.Whole(a.Shape)
}

// write counts a new output.
func (c *counter) write(a *plan.Array) {
	t, unsure, err := storage.Foretell(a.Path, store.Meta{Shape: a.Shape, DType: a.DType, Chunks: a.Chunks, Shards: a.Shards, Codec: a.Layout.Codec, Details: a.Details})
	if err != nil {
		unsure = err.Error()
	}
	c.unsure(unsure)
	if a.Collection > 0 {
		c.unsure(collection)
	}
	c.sum([]record.Traffic{t}, 1)
	if c.Function != "" {
		c.unsure(function)
	}
	if a.Layout.Codec != "none" {
		c.unsure(compressed)
	}
	l := &a.Layout
	item := int64(a.DType.Size())
	chunk := int64(grid.Size(l.Chunks())) * item
	sizes := map[int64]int64{} // how many objects have so many bytes
	if l.Chunk == nil {
		sizes[chunk] = int64(grid.Grid{Shape: a.Shape, Chunks: l.Unit}.Len())
	} else {
		index := int64(16*grid.Grid{Shape: l.Unit, Chunks: l.Chunk}.Len() + 4)
		for _, b := range (grid.Grid{Shape: a.Shape, Chunks: l.Unit}).All() {
			sizes[int64(grid.Grid{Shape: b.Shape, Chunks: l.Chunk}.Len())*chunk+index]++
		}
	}
	for bytes, n := range sizes {
		if bytes <= requests.PartBytes {
			c.add(a, requests.Put, n, 0, n*bytes)
			continue
		}
		c.add(a, requests.Part, n*((bytes+requests.PartBytes-1)/requests.PartBytes), 0, n*bytes)
		c.add(a, requests.Post, 2*n, 0, 0)
	}
}
