package index_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var types = []dtype.Type{dtype.Uint8, dtype.Int16, dtype.Float32, dtype.Int64, dtype.Complex128}

// pointers are indices into a length, some from its end.
func pointers(rng *rand.Rand, lengths []int, length int, sorted bool) blockwisetest.Array {
	v := make([]int64, grid.Size(lengths))
	for i := range v {
		v[i] = int64(rng.IntN(2*length) - length)
		if sorted {
			v[i] = int64(rng.IntN(length))
		}
	}
	if sorted {
		slices.Sort(v)
	}
	return blockwisetest.Array{Shape: lengths, DType: dtype.Int64, Data: dtype.Bytes(v)}
}

func place(at, shape []int) int {
	n := 0
	for d, i := range at {
		n = n*shape[d] + i
	}
	return n
}

// picked is the array whose element at each index is the one at from's of the input.
func picked(lengths []int, in blockwisetest.Array, from func(at []int) []int) []byte {
	size := in.DType.Size()
	out := make([]byte, 0, grid.Size(lengths)*size)
	for _, b := range (grid.Grid{Shape: lengths, Chunks: slices.Repeat([]int{1}, len(lengths))}).All() {
		n := place(from(b.Start), in.Shape)
		out = append(out, in.Data[n*size:(n+1)*size]...)
	}
	return out
}

func lengths(r *rapid.T, name string, dims, low, high int) []int {
	return rapid.SliceOfN(rapid.IntRange(low, high), dims, dims).Draw(r, name)
}

func TestTaken(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		from := lengths(r, "shape", rapid.IntRange(1, 3).Draw(r, "dims"), 1, 12)
		at := rapid.IntRange(0, len(from)-1).Draw(r, "axis")
		indices := pointers(rng, lengths(r, "indices", rapid.IntRange(0, 2).Draw(r, "k"), 1, 6), from[at], rapid.Bool().Draw(r, "sorted"))
		op := index.Gather{Axis: at, Dims: len(indices.Shape), Shape: from, Tile: lengths(r, "tile", len(from), 1, 12), Item: dt.Size(), Chunked: rapid.Bool().Draw(r, "chunked")}
		to := slices.Concat(from[:at], indices.Shape, from[at+1:])
		in := blockwisetest.Random(rng, from, dt)
		want := picked(to, in, func(i []int) []int {
			x := int(dtype.Slice[int64](indices.Data)[place(i[at:at+op.Dims], indices.Shape)])
			if x < 0 {
				x += from[at]
			}
			return slices.Concat(i[:at], []int{x}, i[at+op.Dims:])
		})
		if got := blockwisetest.Same(t, op, to, dt, in, indices); !bytes.Equal(got, want) {
			r.Fatalf("%+v by %v is wrong", op, dtype.Slice[int64](indices.Data))
		}
	})
}

func TestAlong(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		from := lengths(r, "shape", rapid.IntRange(1, 3).Draw(r, "dims"), 1, 12)
		at := rapid.IntRange(0, len(from)-1).Draw(r, "axis")
		to := slices.Clone(from)
		to[at] = rapid.IntRange(1, 9).Draw(r, "length")
		indices := pointers(rng, to, from[at], false)
		op := index.Along{Axis: at, Shape: from, Tile: lengths(r, "tile", len(from), 1, 12), Item: dt.Size()}
		if rapid.Bool().Draw(r, "cut") {
			op.Cut = lengths(r, "chunks", len(from), 1, 9)
		}
		in := blockwisetest.Random(rng, from, dt)
		want := picked(to, in, func(i []int) []int {
			x := int(dtype.Slice[int64](indices.Data)[place(i, to)])
			if x < 0 {
				x += from[at]
			}
			i = slices.Clone(i)
			i[at] = x
			return i
		})
		if got := blockwisetest.Same(t, op, to, dt, in, indices); !bytes.Equal(got, want) {
			r.Fatalf("%+v by %v is wrong", op, dtype.Slice[int64](indices.Data))
		}
	})
}

func TestAssigned(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		lengths := lengths(r, "shape", rapid.IntRange(1, 3).Draw(r, "dims"), 1, 12)
		op := index.Assigned{Shape: lengths, Item: dt.Size()}
		for _, n := range lengths {
			start := rapid.IntRange(0, n-1).Draw(r, "start")
			step := rapid.IntRange(1, 4).Draw(r, "step")
			op.Start, op.Step = append(op.Start, start), append(op.Step, step)
			op.Count = append(op.Count, rapid.IntRange(1, (n-1-start)/step+1).Draw(r, "count"))
		}
		base, values := blockwisetest.Random(rng, lengths, dt), blockwisetest.Random(rng, op.Count, dt)
		want := slices.Clone(base.Data)
		size := dt.Size()
		for _, b := range (grid.Grid{Shape: op.Count, Chunks: slices.Repeat([]int{1}, len(lengths))}).All() {
			at := slices.Clone(b.Start)
			for d := range at {
				at[d] = op.Start[d] + op.Step[d]*at[d]
			}
			to, from := place(at, lengths)*size, place(b.Start, op.Count)*size
			copy(want[to:to+size], values.Data[from:])
		}
		if got := blockwisetest.Same(t, op, lengths, dt, base, values); !bytes.Equal(got, want) {
			r.Fatalf("%+v is wrong", op)
		}
	})
}

// mask is bools as a file may hold them: what is not zero is true.
func mask(rng *rand.Rand, lengths []int, share float64) (a blockwisetest.Array, places []int) {
	a = blockwisetest.Array{Shape: lengths, DType: dtype.Bool, Data: make([]byte, grid.Size(lengths))}
	for i := range a.Data {
		if rng.Float64() < share {
			a.Data[i] = byte(1 + rng.IntN(255))
			places = append(places, i)
		}
	}
	return a, places
}

func TestCountedAndSelected(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		from := lengths(r, "shape", rapid.IntRange(1, 3).Draw(r, "dims"), 1, 14)
		m, places := mask(rng, from, rapid.SampledFrom([]float64{0, 0.02, 0.5, 1}).Draw(r, "share"))
		block := grid.Auto(from, 1, rapid.IntRange(1, 300).Draw(r, "block"))
		blocks := grid.Grid{Shape: from, Chunks: block}
		counts := dtype.Slice[int64](blockwisetest.Same(t, index.Counted{Shape: from, Block: block}, []int{blocks.Len()}, dtype.Int64, m))
		ends, total := make([]int64, len(counts)), int64(0)
		for i, c := range counts {
			total += c
			ends[i] = total
		}
		if int(total) != len(places) {
			r.Fatalf("%d trues are counted of %d", total, len(places))
		}
		if total == 0 {
			return
		}
		in := blockwisetest.Random(rng, from, dt)
		want := picked([]int{len(places)}, blockwisetest.Array{Shape: []int{len(in.Data) / dt.Size()}, DType: dt, Data: in.Data},
			func(at []int) []int { return []int{places[at[0]]} })
		op := index.Selected{Shape: from, Block: block, Item: dt.Size(), Cut: rapid.IntRange(0, 9).Draw(r, "cut")}
		e := blockwisetest.Array{Shape: []int{len(ends)}, DType: dtype.Int64, Data: dtype.Bytes(ends)}
		if got := blockwisetest.Same(t, op, []int{len(places)}, dt, in, m, e); !bytes.Equal(got, want) {
			r.Fatalf("%+v is wrong", op)
		}
	})
}

// More blocks than are read of at once.
func TestSelectedOfManyBlocks(t *testing.T) {
	rng := testcases.Rand(t)
	from := []int{1000, 3}
	m, places := mask(rng, from, 0.3)
	ends, total := make([]int64, 1000), int64(0)
	for i := range ends {
		for _, b := range m.Data[3*i : 3*i+3] {
			if b != 0 {
				total++
			}
		}
		ends[i] = total
	}
	in := blockwisetest.Random(rng, from, dtype.Int16)
	flat := blockwisetest.Array{Shape: []int{3000}, DType: dtype.Int16, Data: in.Data}
	want := picked([]int{len(places)}, flat, func(at []int) []int { return []int{places[at[0]]} })
	op := index.Selected{Shape: from, Block: []int{1, 3}, Item: 2}
	got := blockwisetest.Same(t, op, []int{len(places)}, dtype.Int16, in, m, blockwisetest.Array{Shape: []int{1000}, DType: dtype.Int64, Data: dtype.Bytes(ends)})
	if !bytes.Equal(got, want) {
		t.Error("it is wrong")
	}
}

func TestSpread(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 200).Draw(r, "counts")
		var ends, want []int64
		for i, c := range counts {
			for range c {
				want = append(want, int64(i))
			}
			ends = append(ends, int64(len(want)))
		}
		if len(want) == 0 {
			return
		}
		got := blockwisetest.Same(t, index.Spread{Count: len(counts)}, []int{len(want)}, dtype.Int64,
			blockwisetest.Array{Shape: []int{len(ends)}, DType: dtype.Int64, Data: dtype.Bytes(ends)})
		if !slices.Equal(dtype.Slice[int64](got), want) {
			r.Fatalf("%v of %v", dtype.Slice[int64](got), counts)
		}
	})
}

func TestLocated(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		from := lengths(r, "shape", rapid.IntRange(1, 3).Draw(r, "dims"), 1, 14)
		m, places := mask(rng, from, rapid.SampledFrom([]float64{0.02, 0.5, 1}).Draw(r, "share"))
		if len(places) == 0 {
			return
		}
		op := index.Nonzero{Shape: from, Block: grid.Auto(from, 1, rapid.IntRange(1, 300).Draw(r, "block")), Flat: rapid.Bool().Draw(r, "flat"), Cut: rapid.IntRange(0, 9).Draw(r, "cut")}
		var ends, want []int64
		total := 0
		for _, b := range (grid.Grid{Shape: from, Chunks: op.Block}).All() {
			first := place(b.Start, from)
			for total < len(places) && places[total] < first+b.Size() {
				total++
			}
			ends = append(ends, int64(total))
		}
		to := []int{len(places), len(from)}
		for _, p := range places {
			if op.Flat {
				want = append(want, int64(p))
				continue
			}
			for d := range from {
				want = append(want, int64(p/grid.Size(from[d+1:])%from[d]))
			}
		}
		if op.Flat {
			to = to[:1]
		}
		got := blockwisetest.Same(t, op, to, dtype.Int64, m, blockwisetest.Array{Shape: []int{len(ends)}, DType: dtype.Int64, Data: dtype.Bytes(ends)})
		if !slices.Equal(dtype.Slice[int64](got), want) {
			r.Fatalf("%+v is wrong", op)
		}
	})
}
