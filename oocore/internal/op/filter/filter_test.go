package filter

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var modes = []window.Mode{window.Reflect, window.Mirror, window.Nearest, window.Wrap, window.Constant}

// random is an array of a type: floats around zero, whole numbers from 0 on.
func random(rng *rand.Rand, t dtype.Type, shape ...int) blockwisetest.Array {
	n := grid.Size(shape)
	_, count := parts(t)
	wide := make([]float64, n*count)
	for i := range wide {
		if wide[i] = rng.NormFloat64(); t.Kind() < dtype.KindFloat {
			wide[i] = float64(rng.IntN(100))
		}
	}
	real, _ := parts(t)
	data := make([]byte, n*t.Size())
	cast(dtype.Float64, real)(n*count, data, dtype.Bytes(wide))
	return blockwisetest.Array{Shape: shape, DType: t, Data: data}
}

func someShape(rng *rand.Rand) []int {
	most := [][]int{{400}, {70, 90}, {13, 17, 30}, {6, 5, 7, 20}}[rng.IntN(4)]
	shape := make([]int, len(most))
	for d, n := range most {
		shape[d] = 1 + rng.IntN(n)
	}
	return shape
}

func someWindow(rng *rand.Rand, shape []int, t dtype.Type, most int) window.Window {
	sizes := make([]int, len(shape))
	origin := make([]int, len(shape))
	for d := range sizes {
		sizes[d] = 1 + rng.IntN(most)
		origin[d] = rng.IntN(sizes[d]) - sizes[d]/2
	}
	w, err := window.New(shape, t, sizes, window.Border{Mode: modes[rng.IntN(len(modes))], Value: 1, Origin: origin})
	if err != nil {
		panic(err)
	}
	return w
}

// Each operation computes the same bits in boxes of any kind, within what it says that
// it needs, and as its JSON says.
func TestBoxesDoNotShow(t *testing.T) {
	rng := testcases.Rand(t)
	types := []dtype.Type{dtype.Uint8, dtype.Int32, dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex64, dtype.Complex128, dtype.Bool}
	for range 60 {
		shape, dt := someShape(rng), types[rng.IntN(len(types))]
		x := random(rng, dt, shape...)
		var op blockwise.Op
		in := []blockwisetest.Array{x}
		result, rt := shape, dt
		switch kind := rng.IntN(6); {
		case kind == 0 && dt != dtype.Bool:
			w := someWindow(rng, shape, dt, 5)
			weights := random(rng, dtype.Float64, w.Sizes()...)
			if op = (DirectConv{Window: w}); rng.IntN(2) == 0 {
				op = DirectConv{Window: w, Weights: dtype.Slice[float64](weights.Data)}
			} else {
				in = append(in, weights)
			}
		case kind == 1 && dt != dtype.Bool:
			factors := make([]int, len(shape))
			result = slices.Clone(shape)
			for d := range factors {
				factors[d] = 1 + rng.IntN(min(shape[d], 9))
				result[d] = (shape[d] + factors[d] - 1) / factors[d]
			}
			rt = kernel.Mean.Result(dt)
			op = Downsampled{Shape: shape, DType: dt, Result: rt, Factors: factors}
		case kind == 2 && dt.Kind() < dtype.KindComplex:
			op = Median{Window: someWindow(rng, shape, dt, 5)}
		case kind == 3 && dt.Kind() < dtype.KindComplex && len(shape) < 3:
			op = Median{Window: someWindow(rng, shape, dt, 40)}
		default:
			axis := rng.IntN(len(shape))
			w := someWindow(rng, shape, dt, 40)
			for d := range shape {
				if d != axis {
					w.Lo[d], w.Hi[d] = 0, 0
				}
			}
			op = Running{Window: w, Axis: axis, Op: kernel.Add}
			if dt.Kind() < dtype.KindComplex {
				op = Running{Window: w, Axis: axis, Op: []kernel.Op{kernel.Minimum, kernel.Maximum}[rng.IntN(2)]}
			}
		}
		blockwisetest.Same(t, op, result, rt, in...)
	}
}

// shown is what a window shows of each element, in C order, by the definition of modes.
func shown(w window.Window, x []float64, each func(at int, window []float64)) {
	place := func(i, n int) int {
		for i < 0 || i >= n {
			switch w.Mode {
			case window.Reflect:
				if i < 0 {
					i = -1 - i
				} else {
					i = 2*n - 1 - i
				}
			case window.Mirror:
				if n == 1 {
					return 0
				}
				if i < 0 {
					i = -i
				} else {
					i = 2*n - 2 - i
				}
			case window.Nearest:
				i = min(max(i, 0), n-1)
			case window.Wrap:
				i = (i + n) % n
			default:
				return -1
			}
		}
		return i
	}
	strides := grid.Strides(w.Shape)
	sizes := w.Sizes()
	i := 0
	for at := range window.Counting(w.Shape) {
		var all []float64
		for k := range window.Counting(sizes) {
			from, inside := 0, true
			for d := range k {
				p := place(at[d]+k[d]-w.Lo[d], w.Shape[d])
				inside = inside && p >= 0
				from += p * strides[d]
			}
			if inside {
				all = append(all, x[from])
			} else {
				all = append(all, w.Value.Float())
			}
		}
		each(i, all)
		i++
	}
}

// Medians through networks and by counting are the middle elements, of windows of any
// form over borders of any mode, and NaN where there is one.
func TestMedian(t *testing.T) {
	rng := testcases.Rand(t)
	for range 40 {
		shape := someShape(rng)
		w := someWindow(rng, shape, dtype.Float64, []int{0, 60, 17, 7, 4}[len(shape)])
		x := random(rng, dtype.Float64, shape...)
		v := dtype.Slice[float64](x.Data)
		for i := range v {
			if v[i] = math.Round(2 * v[i]); rng.IntN(400) == 0 {
				v[i] = math.NaN()
			}
		}
		got := dtype.Slice[float64](blockwisetest.Fill(t, Median{Window: w}, shape, dtype.Float64, nil, x))
		shown(w, v, func(at int, window []float64) {
			slices.Sort(window) // NaN first
			want := window[len(window)/2]
			if math.IsNaN(window[0]) {
				want = math.NaN()
			}
			if got[at] != want && !(math.IsNaN(want) && math.IsNaN(got[at])) {
				t.Fatalf("%+v: element %d is %v, want %v", w, at, got[at], want)
			}
		})
	}
}

// A network selects every rank, of windows of every small form.
func TestNetworks(t *testing.T) {
	rng := testcases.Rand(t)
	for rows := 1; rows <= 7; rows++ {
		for columns := 1; columns <= 9; columns++ {
			for rank := range rows * columns {
				net := newNetwork(rows, columns, rank)
				const n = 20
				width := n + columns - 1
				x := make([]float64, rows*width)
				for i := range x {
					x[i] = float64(rng.IntN(30))
				}
				offsets := make([]int, rows)
				for i := range offsets {
					offsets[i] = i * width
				}
				got := make([]float64, n)
				registers := make([]float64, net.registers*(n+net.extra))
				net.run(rows1(n), dtype.Float64, dtype.Bytes(got), dtype.Bytes(x), dtype.Bytes(registers), offsets)
				for j := range n {
					var window []float64
					for i := range rows {
						window = append(window, x[i*width+j:][:columns]...)
					}
					slices.Sort(window)
					if got[j] != window[rank] {
						t.Fatalf("rank %d of %d×%d is %v, want %v", rank, rows, columns, got[j], window[rank])
					}
				}
			}
		}
	}
	// That of 5×5 has no more steps than it had: each is a pass over all elements.
	if n := len(networkOf(5, 5, 12).steps); n > 90 {
		t.Errorf("the median of 5×5 takes %d steps", n)
	}
}

// rows1 is one row of n.
func rows1(n int) rows { return rows{n: n, inner: 1} }

// Sums at each level of instructions are those of the definition: the vectors' round once
// for each addend, and all of them alike.
func TestWeigh(t *testing.T) {
	rng := testcases.Rand(t)
	defer func(v string) { vectors = v }(vectors)
	for range 50 {
		n, taps := 1+rng.IntN(300), 1+rng.IntN(40)
		offsets, weights := make([]int, taps), make([]float64, taps)
		src := make([]float64, n+200)
		for i := range src {
			src[i] = rng.NormFloat64()
		}
		for k := range offsets {
			offsets[k], weights[k] = rng.IntN(200), rng.NormFloat64()
		}
		start := make([]float64, n)
		for i := range start {
			start[i] = rng.NormFloat64()
		}
		fused, apart := slices.Clone(start), slices.Clone(start)
		for i := range n {
			for k, w := range weights {
				fused[i] = math.FMA(w, src[i+offsets[k]], fused[i])
				apart[i] += float64(w * src[i+offsets[k]])
			}
		}
		levels := map[string][]string{"avx512": {"avx512", "avx2", "go"}, "avx2": {"avx2", "go"}, "go": {"go"}}[kernel.Level()]
		for _, vectors = range levels {
			want := fused
			if vectors == "go" {
				want = apart
			}
			got := make([]float64, n)
			copy(got, start)
			weigh(got, src, offsets, weights)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d sums of %d are others", vectors, n, taps)
			}
		}
	}
}

// Rows that share their neighbours have the sums that each has alone.
func TestRowsThatShareNeighbours(t *testing.T) {
	rng := testcases.Rand(t)
	defer func(v string) { vectors = v }(vectors)
	for range 60 {
		sizes := []int{1 + rng.IntN(3), quad + rng.IntN(6), 1 + rng.IntN(9)}
		tile := []int{1 + rng.IntN(3), 1 + rng.IntN(11), 1 + rng.IntN(90)}
		if rng.IntN(2) == 0 {
			sizes, tile = sizes[1:], tile[1:]
		}
		w := window.Window{Shape: tile, DType: dtype.Float64, Lo: make([]int, len(sizes)), Hi: make([]int, len(sizes))}
		for d, n := range sizes {
			w.Hi[d] = n - 1
		}
		src, weights := make([]float64, grid.Size(w.Lengths(tile))), make([]float64, grid.Size(sizes))
		for i := range src {
			src[i] = rng.NormFloat64()
		}
		for i := range weights {
			weights[i] = rng.NormFloat64()
		}
		p := DirectConv{Window: w}.taps(tile, weights)
		if sizes[len(sizes)-1] > 1 && p.shared == nil {
			t.Fatalf("windows of %v share nothing", sizes)
		}
		for _, vectors = range map[string][]string{"avx512": {"avx512", "avx2", "go"}, "avx2": {"avx2", "go"}, "go": {"go"}}[kernel.Level()] {
			r := rowsOf(&w, tile)
			got, want := make([]float64, grid.Size(tile)), make([]float64, grid.Size(tile))
			p.sum(got, src, r)
			for from, to := range r.all() {
				weigh(want[to:][:r.n], src[from:], p.offsets, p.weights)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: windows of %v over a tile of %v have other sums together", vectors, sizes, tile)
			}
		}
	}
}

// computed runs what a node function builds, over arrays in memory.
func computed(t *testing.T, n *graph.Node, err error, leaves map[*graph.Node]blockwisetest.Array) blockwisetest.Array {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := leaves[n]; ok {
		return a
	}
	if n.Kind != graph.Blockwise {
		t.Fatalf("a node of kind %d", n.Kind)
	}
	var in []blockwisetest.Array
	for _, x := range n.In {
		in = append(in, computed(t, x, nil, leaves))
	}
	return blockwisetest.Array{Shape: n.Shape, DType: n.DType, Data: blockwisetest.Fill(t, n.Blocks.Op, n.Shape, n.DType, nil, in...)}
}

func leaf(t *testing.T, a blockwisetest.Array) (*graph.Node, map[*graph.Node]blockwisetest.Array) {
	n, err := graph.FromBytes(graph.Site{}, a.Data, a.DType, a.Shape...)
	if err != nil {
		t.Fatal(err)
	}
	return n, map[*graph.Node]blockwisetest.Array{n: a}
}

// A correlation is linear; a Gaussian's weights leave a constant as it is, and its
// derivatives make of a polynomial what they do of the function.
func TestGaussianOfPolynomials(t *testing.T) {
	const n = 120
	x := make([]float64, n*n)
	for i := range x {
		r, c := float64(i/n), float64(i%n)
		x[i] = 5 + 3*r - 2*c + 0.5*r*c
	}
	a, leaves := leaf(t, blockwisetest.Array{Shape: []int{n, n}, DType: dtype.Float64, Data: dtype.Bytes(x)})
	for _, c := range []struct {
		order []int
		want  func(r, c float64) float64
	}{
		{[]int{0, 0}, func(r, c float64) float64 { return 5 + 3*r - 2*c + 0.5*r*c }},
		{[]int{1, 0}, func(_, c float64) float64 { return 3 + 0.5*c }},
		{[]int{0, 1}, func(r, _ float64) float64 { return -2 + 0.5*r }},
		{[]int{1, 1}, func(_, _ float64) float64 { return 0.5 }},
	} {
		out, err := Gaussian(graph.Site{}, GaussianArgs{X: a, Sigmas: []float64{3}, Orders: c.order, Truncate: 8, Border: window.Border{}})
		got := dtype.Slice[float64](computed(t, out, err, leaves).Data)
		for i := 30; i < n-30; i++ { // away from the edges
			for j := 30; j < n-30; j++ {
				if want := c.want(float64(i), float64(j)); math.Abs(got[i*n+j]-want) > 1e-8*(1+math.Abs(want)) {
					t.Fatalf("order %v: element %d, %d is %v, want %v", c.order, i, j, got[i*n+j], want)
				}
			}
		}
	}
}

// A convolution with a single 1 moves the array; where that leaves the window, the
// border says what comes in.
func TestConvolutionWithAnImpulse(t *testing.T) {
	rng := testcases.Rand(t)
	for _, mode := range modes {
		a := random(rng, dtype.Float32, 20, 30)
		impulse := make([]float64, 5*4)
		impulse[1*4+3] = 1
		x, leaves := leaf(t, a)
		w, _ := leaf(t, blockwisetest.Array{Shape: []int{5, 4}, DType: dtype.Float64, Data: dtype.Bytes(impulse)})
		out, err := Correlate(graph.Site{}, WeightArgs{X: x, Weights: w, Border: window.Border{Mode: mode, Value: 2}})
		if err != nil {
			t.Fatal(err)
		}
		leaves[w] = blockwisetest.Array{Shape: []int{5, 4}, DType: dtype.Float64, Data: dtype.Bytes(impulse)}
		got := dtype.Slice[float32](computed(t, out, err, leaves).Data)
		v := dtype.Slice[float32](a.Data)
		wide := make([]float64, len(v))
		for i := range v {
			wide[i] = float64(v[i])
		}
		shown(out.Blocks.Op.(DirectConv).Window, wide, func(at int, window []float64) {
			if got[at] != float32(window[1*4+3]) {
				t.Fatalf("%s: element %d is %v, want %v", mode, at, got[at], window[1*4+3])
			}
		})
	}
}

// Weights of zero keep out what is not a number.
func TestZeroWeightsTakeNoPart(t *testing.T) {
	x := []float64{1, 2, math.NaN(), 4, 5, math.Inf(1), 7, 8}
	w, err := window.New([]int{8}, dtype.Float64, []int{3}, window.Border{})
	if err != nil {
		t.Fatal(err)
	}
	got := dtype.Slice[float64](blockwisetest.Same(t, DirectConv{Window: w, Weights: []float64{1, 0, 1}}, []int{8}, dtype.Float64,
		blockwisetest.Array{Shape: []int{8}, DType: dtype.Float64, Data: dtype.Bytes(x)}))
	if want := []float64{3, math.NaN(), 6, math.NaN(), math.Inf(1), 12, math.Inf(1), 15}; !bytes.Equal(dtype.Bytes(got), dtype.Bytes(want)) {
		for i := range want {
			if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
}

// Transforms give what sums do, but for rounding, over borders of any mode and elements of
// any type; what is not finite reaches as far as it does there.
func TestTransformsAreSums(t *testing.T) {
	rng := testcases.Rand(t)
	for _, dt := range []dtype.Type{dtype.Float64, dtype.Float32, dtype.Complex128, dtype.Int32, dtype.Float64} {
		for range 6 {
			shape := someShape(rng)
			w := someWindow(rng, shape, dt, []int{0, 90, 20, 8, 4}[len(shape)])
			if !slices.ContainsFunc(w.Sizes(), func(n int) bool { return n > 1 }) {
				continue
			}
			x := random(rng, dt, shape...)
			if v := dtype.Slice[float64](x.Data); dt == dtype.Float64 {
				v[rng.IntN(len(v))] = []float64{1, math.NaN(), math.Inf(1)}[rng.IntN(3)]
			}
			weights := random(rng, dtype.Float64, w.Sizes()...)
			if dt == dtype.Int32 {
				for i, v := range dtype.Slice[float64](weights.Data) {
					dtype.Slice[float64](weights.Data)[i] = math.Round(v)
				}
			}
			o := transformed(w)
			for d := range o.Tiles { // several chunks
				o.Tiles[d] = max(o.Tiles[d]/2, 1)
			}
			got := blockwisetest.Same(t, o, shape, dt, x, weights)
			want := blockwisetest.Fill(t, DirectConv{Window: w}, shape, dt, nil, x, weights)
			real, count := parts(dt)
			n := grid.Size(shape) * count
			a, b := make([]float64, n), make([]float64, n)
			cast(real, dtype.Float64)(n, dtype.Bytes(a), got)
			cast(real, dtype.Float64)(n, dtype.Bytes(b), want)
			close := 1e-12
			if dt == dtype.Float32 {
				close = 1e-5
			}
			for i := range a {
				if math.Abs(a[i]-b[i]) > close*float64(grid.Size(weights.Shape)) || math.IsNaN(a[i]) != math.IsNaN(b[i]) {
					t.Fatalf("%+v of %s: element %d is %v, want %v", w, dt, i, a[i], b[i])
				}
			}
		}
	}
}

// Means of blocks whose own mean is known, also of blocks that are read in parts.
// What is said of a box holds for all that are no longer, such as those at the end of an axis.
func TestDownsampleOfShorterBoxReadsNoMore(t *testing.T) {
	op := Downsampled{Shape: []int{5000, 4100}, DType: dtype.Float32, Result: dtype.Float64, Factors: []int{2, 2}}
	for _, box := range [][]int{{512, 512}, {2500, 2050}, {32, 512}} {
		most := op.Requirements(box)
		for _, shorter := range [][]int{{box[0], 2}, {3, box[1]}, {box[0], 1}, {box[0] - 1, box[1] - 1}} {
			need := op.Requirements(shorter)
			if need.Scratch > most.Scratch || need.Reads[0][0] > most.Reads[0][0] || need.Reads[0][1] > most.Reads[0][1] {
				t.Errorf("a box of %v takes %+v, one of %v %+v", shorter, need, box, most)
			}
		}
	}
}

func TestDownsampleOfLargeBlocks(t *testing.T) {
	shape, factors := []int{900, 1000}, []int{600, 700}
	x := make([]float64, shape[0]*shape[1])
	for i := range x {
		x[i] = float64(i/shape[1]/factors[0]*2 + i%shape[1]/factors[1])
	}
	op := Downsampled{Shape: shape, DType: dtype.Float64, Result: dtype.Float64, Factors: factors}
	got := dtype.Slice[float64](blockwisetest.Same(t, op, []int{2, 2}, dtype.Float64, blockwisetest.Array{Shape: shape, DType: dtype.Float64, Data: dtype.Bytes(x)}))
	if !slices.Equal(got, []float64{0, 1, 2, 3}) {
		t.Errorf("%v", got)
	}
}
