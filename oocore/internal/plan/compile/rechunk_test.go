package compile

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/op/group"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/store"
)

func planned(t *testing.T, root *graph.Node, target Target, budget int64) *size.Plan {
	t.Helper()
	p, err := sized(root, target, options(budget))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is written across what is read takes one pass where it can be filled in
// pieces, two where it cannot, and never more.
func TestRechunksTakeOnePassOrTwo(t *testing.T) {
	flat := graphtest.File(t, "acts.npy", dtype.Float32, 3_075_200, 512)
	rows := graphtest.Coded(t, "acts.zarr", []int{16384, 512}, 3_075_200, 512)
	columns, bytes := []int{3_075_200, 8}, int64(6_298_009_600)
	for _, x := range []*graph.Node{flat, rows} {
		open := planned(t, x, Target{Path: "out.zarr", Chunks: columns, Codec: "none"}, 512*graphtest.Mebi)
		if len(open.Stages) != 1 || open.Stages[0].Read != bytes || open.Stages[0].Written != bytes {
			t.Errorf("%s: uncompressed columns take %d stages", x.Name, len(open.Stages))
		}
		packed := planned(t, x, Target{Path: "out.zarr", Chunks: columns, Codec: "zstd:1"}, 512*graphtest.Mebi)
		if len(packed.Stages) != 2 || packed.Stages[0].Read+packed.Stages[1].Read != 2*bytes || packed.Stages[0].Written+packed.Stages[1].Written != 2*bytes {
			t.Fatalf("%s: compressed columns take %d stages", x.Name, len(packed.Stages))
		}
		between := packed.Arrays[packed.Stages[0].Outputs[0]]
		if between.Place != plan.InTemp || between.Blocks[1] != 8 || 4*grid.Size(between.Blocks) < 256<<10 {
			t.Errorf("%s: the array between lies in blocks of %v", x.Name, between.Blocks)
		}
		small := planned(t, x, Target{Path: "out.zarr", Chunks: columns, Codec: "zstd:1"}, 64*graphtest.Mebi)
		if len(small.Stages) != 2 || !slices.Equal(small.Arrays[small.Stages[0].Outputs[0]].Blocks, between.Blocks) {
			t.Errorf("%s: the stages depend on the budget", x.Name)
		}
	}
	alike := planned(t, rows, Target{Path: "out.zarr", Chunks: []int{32768, 256}, Codec: "zstd:1"}, 512*graphtest.Mebi)
	if len(alike.Stages) != 1 {
		t.Error("chunks that lie alike are rechunked")
	}
}

// Tasks and tiles are whole stored chunks, and a chunk that is larger than the budget
// is done in slabs of its rows, one behind the other.
func TestTilesAreWholeStoredChunks(t *testing.T) {
	x := graphtest.Coded(t, "x.zarr", []int{100, 70, 60}, 1000, 700, 600)
	for name, p := range map[string]*size.Plan{
		"map":    planned(t, graphtest.Apply(t, kernel.Sqrt, x), Target{Path: "o.npy"}, 512*graphtest.Mebi),
		"reduce": planned(t, graphtest.Fold(t, kernel.Sum, x, 0), Target{Path: "o.npy"}, 512*graphtest.Mebi),
	} {
		s := &p.Stages[0]
		for d, c := range []int{100, 70, 60} {
			if s.Grid.Chunks[d]%c != 0 && s.Grid.Chunks[d] < s.Grid.Shape[d] && name == "map" {
				t.Errorf("%s: chunks of tasks are %v", name, s.Grid.Chunks)
			}
			if s.Chunk[d]%c != 0 && s.Chunk[d] < s.Grid.Chunks[d] {
				t.Errorf("%s: what is done at once is %v of %v", name, s.Chunk, s.Grid.Chunks)
			}
		}
	}
	huge := graphtest.Coded(t, "huge.zarr", []int{1 << 20, 256}, 4<<20, 256)
	p := planned(t, huge, Target{Path: "o.zarr", Chunks: []int{1 << 20, 256}, Codec: "zstd:1"}, 64*graphtest.Mebi)
	s := &p.Stages[0]
	if s.DecodeWholeChunks || s.Tasks() != 4 || s.WriteTile[1] != 256 || s.WriteTile[0] == 1<<20 {
		t.Errorf("a chunk of 1 GiB in 64 MiB: whole %v, %d tasks, pieces of %v", s.DecodeWholeChunks, s.Tasks(), s.WriteTile)
	}
}

// A few columns to a chunk become whole rows of a file: in one pass where parts of chunks can be read,
// else in two, which move every byte twice. What is read and written of either are long runs.
func TestColumnsBecomeRowsOfAFile(t *testing.T) {
	bytes := int64(6_298_009_600)
	columns := func(name string, open bool) *graph.Node {
		n := graphtest.Coded(t, name, []int{3_075_200, 8}, 3_075_200, 512)
		if n.Stored.Info.Open = open; open {
			n.Stored.Info.Work = store.Work{Whole: 128 << 10, Stream: 128 << 10}
		}
		return n
	}
	for _, c := range []struct {
		name   string
		x      *graph.Node
		stages int
	}{
		{"open", columns("open.zarr", true), 1},
		{"packed", columns("packed.zarr", false), 2},
		{"far", columns("s3://bucket/open.zarr", true), 2},
	} {
		for _, root := range []*graph.Node{c.x, graphtest.Apply(t, kernel.Sqrt, c.x)} {
			for _, budget := range []int64{512 * graphtest.Mebi, 64 * graphtest.Mebi} {
				p := planned(t, root, Target{Path: "o.npy"}, budget)
				if len(p.Stages) != c.stages {
					t.Fatalf("%s: %d stages, want %d", c.name, len(p.Stages), c.stages)
				}
				var read int64
				for i := range p.Stages {
					read += p.Stages[i].Read
				}
				if read != int64(c.stages)*bytes {
					t.Errorf("%s in %d: %d bytes are read", c.name, budget, read)
				}
				last := &p.Stages[c.stages-1]
				if last.WriteTile[1] != 512 || last.Tile[1] != 512 || last.Tile[0] < 512 && c.stages == 1 {
					t.Errorf("%s in %d: tiles of %v, writes of %v", c.name, budget, last.Tile, last.WriteTile)
				}
			}
		}
	}
}

// Of two inputs that lie across each other one is copied first, whichever way the other lies, so that no chunk is
// decoded, and no row read, for each box of the other; small ones and those that lie alike are not.
func TestInputsAcrossEachOtherAreReadOnce(t *testing.T) {
	rows, columns := graphtest.Coded(t, "rows.zarr", []int{16384, 512}, 3_075_200, 512), graphtest.Coded(t, "columns.zarr", []int{3_075_200, 8}, 3_075_200, 512)
	flat, alike := graphtest.File(t, "flat.npy", dtype.Float32, 3_075_200, 512), graphtest.Coded(t, "alike.zarr", []int{8192, 512}, 3_075_200, 512)
	few := graphtest.Coded(t, "few.zarr", []int{2000, 8}, 2000, 512)
	for _, c := range []struct {
		a, b   *graph.Node
		stages int
	}{
		{rows, columns, 2}, {columns, rows, 2}, {columns, flat, 2}, {flat, columns, 2}, {rows, alike, 1}, {rows, flat, 1}, {few, graphtest.Coded(t, "some.zarr", []int{256, 512}, 2000, 512), 1},
	} {
		sum := graphtest.Apply(t, kernel.Add, c.a, c.b)
		for _, root := range []*graph.Node{sum, graphtest.Fold(t, kernel.Mean, sum, 0, 1)} {
			p := planned(t, root, Target{Path: "o.npy"}, 512*graphtest.Mebi)
			if len(p.Stages) != c.stages {
				t.Errorf("%s of %s and %s: %d stages, want %d", root, c.a.Name, c.b.Name, len(p.Stages), c.stages)
			}
		}
	}
	// Rows become columns a part at a time, and the columns that are added are copied before.
	for _, sum := range []*graph.Node{graphtest.Apply(t, kernel.Add, flat, columns), graphtest.Apply(t, kernel.Add, columns, flat)} {
		p := planned(t, sum, Target{Path: "o.zarr", Chunks: []int{3_075_200, 8}, Codec: "none"}, 512*graphtest.Mebi)
		if len(p.Stages) != 2 || p.Stages[0].Read != 3_075_200*512*4 {
			t.Errorf("%s to columns: %d stages, of which the first reads %d bytes", sum, len(p.Stages), p.Stages[0].Read)
		}
	}
}

// Chunked inputs are written to a file in C order by whole rows of their chunks, unless that
// leaves few tasks, tiles with side reductions are written, or requests wait for a network.
func TestChunkedInputsAreWrittenByWholeRows(t *testing.T) {
	large := func(name string) *graph.Node { return graphtest.Coded(t, name, []int{1000, 1000}, 20_000, 20_000) }
	small := graphtest.Coded(t, "small.zarr", []int{500, 500}, 3000, 3000)
	root := func(x *graph.Node) *graph.Node { return graphtest.Apply(t, kernel.Sqrt, x) }
	local := root(large("x.zarr"))
	for _, c := range []struct {
		name   string
		root   *graph.Node
		target Target
		chunks []int
	}{
		{"large", local, Target{Path: "o.npy"}, []int{1000, 20_000}},
		{"few tasks", root(small), Target{Path: "o.npy"}, []int{500, 2000}},
		{"named chunks", local, Target{Path: "o.npy", Chunks: []int{300, 5000}}, []int{300, 5000}},
		{"side reduction", local, Target{Path: "o.npy", SideReductions: []*graph.Node{graphtest.Fold(t, kernel.Sum, local, 0, 1)}}, []int{1000, 1000}},
		{"remote", root(large("s3://bucket/x.zarr")), Target{Path: "o.npy"}, []int{1000, 1000}},
	} {
		stages := planned(t, c.root, c.target, 1<<30).Stages
		if got := stages[len(stages)-1].Grid.Chunks; !slices.Equal(got, c.chunks) {
			t.Errorf("%s: tasks of %v, want %v", c.name, got, c.chunks)
		}
	}
}

// Large chunks take no more memory, and no fewer requests are in flight, where no rows get longer.
func TestLargeChunksTakeMemoryForLongRowsOnly(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 20_000, 20_000)
	s := planned(t, graphtest.Apply(t, kernel.Sqrt, x), Target{Path: "o.npy", Chunks: []int{5000, 20_000}}, 4<<30).Stages[0]
	if bytes := 4 * grid.Size(s.WriteTile); bytes > shapes.PassBytes {
		t.Errorf("a piece of contiguous data has %d bytes", bytes)
	}
	far := graphtest.Coded(t, "s3://bucket/x.zarr", []int{1000, 1000}, 20_000, 20_000)
	s = planned(t, far, Target{Path: "o.zarr", Chunks: []int{5000, 5000}, Codec: "none"}, 16<<30).Stages[0]
	if s.Slots != s.Tasks() {
		t.Errorf("%d of %d tasks wait for the network", s.Slots, s.Tasks())
	}
}

// What lies open in an object store is read a task at once, straight to where it belongs: a request for
// each tile that fits a core's cache would take sixteen times as many round trips.
func TestRemoteFilesAreReadATaskAtOnce(t *testing.T) {
	far := graphtest.File(t, "s3://bucket/x.npy", dtype.Float32, 1<<17, 1<<10)
	for name, root := range map[string]*graph.Node{"map": graphtest.Apply(t, kernel.Sqrt, far), "fold": graphtest.Fold(t, kernel.Mean, far, 0, 1)} {
		for budget, slots := range map[int64]int{64 * graphtest.Mebi: 4, 512 * graphtest.Mebi: 48} {
			s := planned(t, root, Target{Path: "o.npy"}, budget).Stages[0]
			if bytes := 4 * grid.Size(s.Tile); bytes != shapes.ChunkBytes {
				t.Errorf("%s: %d bytes are read at once", name, bytes)
			}
			if s.Slots < slots {
				t.Errorf("%s in %d bytes: %d requests are in flight, want %d at least", name, budget, s.Slots, slots)
			}
		}
	}
}

// A tall array has long runs in both orders: it stays in C order.
func TestTallTransposedTemporaryStaysInOrder(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 20_000_000, 8)
	p := planned(t, graphtest.Transpose(t, graphtest.Node(t)(fft.Along(graph.Site{}, fft.RealForward, x, 0, 1, ""))), Target{Path: "o.npy"}, 512*graphtest.Mebi)
	for i := range p.Arrays {
		if a := &p.Arrays[i]; a.Place == plan.InTemp && a.Blocks != nil {
			t.Errorf("%s lies in blocks of %v", a.Name, a.Blocks)
		}
	}
	if s := &p.Stages[len(p.Stages)-1]; s.Grid.Chunks[0] != s.Grid.Shape[0] {
		t.Errorf("chunks are %v of %v", s.Grid.Chunks, s.Grid.Shape)
	}
}

// Of three axes a box is long along the first and the last of the output and of what is read.
func TestTransposedTemporariesAreReadByLongRuns(t *testing.T) {
	for _, shape := range [][]int{{1024, 1024, 2048}, {300, 40_000, 200}, {64, 4096, 4096}, {8192, 16_384}, {20_000_000, 8}} {
		x := graphtest.File(t, "x.npy", dtype.Float32, shape...)
		p := planned(t, graphtest.Transpose(t, graphtest.Node(t)(fft.Along(graph.Site{}, fft.RealForward, x, 0, len(shape)-1, ""))), Target{Path: "o.npy"}, 512*graphtest.Mebi)
		s := &p.Stages[len(p.Stages)-1]
		l := &s.Programs[0].Loads[0]
		read := orderRun(p.Plan, l, s.Grid.Chunks)
		if p.Arrays[l.Array].Blocks != nil {
			read = blockRun(p.Plan, l, s.Grid.Chunks)
		}
		if written := grid.Run(s.Grid.Chunks, s.Grid.Shape, p.Arrays[l.Array].DType.Size()); min(read, written) < 32<<10 {
			t.Errorf("%v: chunks of %v are read by %d and written by %d bytes", shape, s.Grid.Chunks, read, written)
		}
	}
}

// Groups along an axis read stored chunks as they lie, once, and write the result alone: also where
// chunks have all of the other axes, and where accumulators of an array that lies open take several tasks.
func TestGroupsReadStoredChunksOnce(t *testing.T) {
	for name, x := range map[string]*graph.Node{
		"columns":   graphtest.Coded(t, "x.zarr", []int{365, 60, 90}, 7305, 180, 360),
		"maps":      graphtest.Coded(t, "x.zarr", []int{30, 180, 360}, 7305, 180, 360),
		"long rows": graphtest.Coded(t, "x.zarr", []int{7305, 3, 2}, 7305, 180, 360),
		"open":      graphtest.File(t, "x.npy", dtype.Float32, 731, 721, 1440),
	} {
		m := &graph.Maker{}
		l, err := group.New(graph.Site{}, x, m.Arange(x.Shape[0]), 0, 12, nil)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := group.Reduce(graph.Site{}, "mean", x, l, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := planned(t, mean, Target{Path: "out.npy"}, 512*graphtest.Mebi)
		var read, written int64
		for i := range p.Stages {
			read, written = read+p.Stages[i].Read, written+p.Stages[i].Written
		}
		bytes := int64(grid.Size(x.Shape) * 4)
		if result := int64(grid.Size(mean.Shape) * 4); read > bytes*21/20 || written > max(result, bytes/6) {
			t.Errorf("%s: of %d bytes %d are read, and %d written for a result of %d", name, bytes, read, written, result)
		}
	}
}
