//go:build unix

package ptx_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
	"github.com/gonbext/gonbext/oocore/internal/vm"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// folds is a reduction of an array's chunk, tile by tile.
type folds struct {
	shape, chunk []int
	tile, block  []int
	axes         []int
	from         []int // where the chunk begins
	partials     int
}

var foldShapes = []folds{
	{shape: []int{1000}, chunk: []int{1000}, tile: []int{300}, block: []int{100}, axes: []int{0}, partials: 4},
	{shape: []int{6, 700}, chunk: []int{6, 500}, tile: []int{6, 500}, block: []int{1, 250}, axes: []int{1}, partials: 1},
	{shape: []int{600, 7}, chunk: []int{600, 7}, tile: []int{200, 7}, block: []int{50, 7}, axes: []int{0}, partials: 12},
	{shape: []int{90, 130}, chunk: []int{40, 100}, tile: []int{17, 100}, block: []int{17, 50}, axes: []int{0}, from: []int{40, 0}, partials: 2},
	{shape: []int{9, 20, 8}, chunk: []int{9, 10, 8}, tile: []int{4, 10, 8}, block: []int{2, 10, 8}, axes: []int{0, 2}, from: []int{0, 10, 0}, partials: 3},
	{shape: []int{9, 20, 8}, chunk: []int{9, 20, 4}, tile: []int{9, 20, 4}, block: []int{1, 7, 4}, axes: []int{1}, from: []int{0, 0, 4}, partials: 2},
	{shape: []int{5, 1, 33}, chunk: []int{5, 1, 33}, tile: []int{5, 1, 33}, block: []int{1, 1, 33}, axes: []int{0, 1, 2}, partials: 1},
}

// stage is a stage that folds elements of type t.
func (c folds) stage(r kernel.Reduction, t dtype.Type, ddof float64) *plan.Stage {
	count := int64(1)
	for _, a := range c.axes {
		count *= int64(c.shape[a])
	}
	load := plan.Load{Kind: plan.LoadArray, Type: t, View: grid.Identity(c.shape)}
	return &plan.Stage{Kind: plan.ReduceStage, Grid: grid.Grid{Shape: c.shape, Chunks: c.chunk}, FoldTile: c.chunk, FoldBlock: c.block,
		Programs: []plan.Program{{Domain: c.shape, Loads: []plan.Load{load}, Out: []int{0}}},
		Folds:    []plan.Fold{{Kind: r, Axes: c.axes, DDof: ddof, Count: count}}}
}

// whole is the chunk, within the array.
func (c folds) whole() grid.Box {
	b := grid.Box{Start: make([]int, len(c.shape)), Shape: make([]int, len(c.shape))}
	copy(b.Start, c.from)
	for d := range c.shape {
		b.Shape[d] = min(c.chunk[d], c.shape[d]-b.Start[d])
	}
	return b
}

// folding is a chunk that the kernels of a module fold.
type folding struct {
	module                         ptx.Module
	stage                          *size.DeviceStage
	chunk                          grid.Box
	n, partials                    int // accumulators of the chunk, and partial results of each
	rare, stopped, states, results []byte
}

// begin makes the accumulators of a chunk empty.
func (c folds) begin(s *plan.Stage) (*folding, error) {
	m, err := ptx.Fold(s, 0, c.partials)
	if err != nil {
		return nil, err
	}
	f := &folding{module: m, stage: &size.DeviceStage{Stage: size.Stage{Stage: s, Chunk: s.FoldTile, Block: s.FoldBlock}}, chunk: c.whole(), n: 1, partials: c.partials, rare: memory(4), stopped: memory(4)}
	for d, length := range f.chunk.Shape {
		if !s.Folds[0].Folds(d) {
			f.n *= length
		}
	}
	size := s.Folder(0).Size()
	f.states, f.results = memory(f.n*f.partials*size), memory(f.n*size)
	return f, try(m, "init", [][]int{{f.n * f.partials}}, f.states, f.n*f.partials)
}

// add folds a tile.
func (f *folding) add(tile grid.Box, x []byte) error {
	args := []any{f.rare, f.stopped, f.states, x, f.n, f.stage.BlocksBefore(f.chunk, tile)}
	for d := range tile.Shape {
		args = append(args, tile.Start[d], tile.Shape[d], f.chunk.Start[d], f.chunk.Shape[d])
	}
	return try(f.module, "fold", [][]int{tile.Shape}, args...)
}

// end gives the accumulators.
func (f *folding) end() ([]byte, error) {
	if f.partials == 1 {
		return f.states, nil
	}
	return f.results, try(f.module, "merge", [][]int{{f.n}}, f.results, f.states, f.n)
}

// fold folds a chunk whose elements at gives for a tile on the CPU and by the kernels, and
// returns the results of both.
func (c folds) fold(t *testing.T, r kernel.Reduction, of dtype.Type, ddof float64, at func(tile grid.Box) []byte) (cpu, gpu []byte, n int, count int64) {
	t.Helper()
	s := c.stage(r, of, ddof)
	f, err := c.begin(s)
	if err != nil {
		t.Fatal(err)
	}
	n, count = f.n, int64(f.chunk.Size()/f.n)
	folder, layout := s.Folder(0), vm.NewLayout(s, 0)
	onCPU := memory(n * folder.Size())
	folder.Init(onCPU, n)
	layout.Chunk(f.chunk)
	for tile := range f.chunk.Split(c.tile) {
		x := at(tile)
		layout.Fold(folder, onCPU, n, x, tile)
		if err := f.add(tile, x); err != nil {
			t.Fatalf("%v in\n%s", err, excerpt(f.module.Text, err.Error()))
		}
	}
	onGPU, err := f.end()
	if err != nil {
		t.Fatalf("%v in\n%s", err, excerpt(f.module.Text, err.Error()))
	}
	size := r.Result(of).Size()
	results := [2][]byte{memory(n * size), memory(n * size)}
	for i, state := range [][]byte{onCPU, onGPU} {
		folder.Finish(results[i], state, n, count, ddof)
	}
	return results[0], results[1], n, count
}

// exact reports a reduction whose order is of no concern.
func exact(r kernel.Reduction, t dtype.Type) bool {
	switch r.Row().Family {
	case kernel.Total:
		return t.Kind() != dtype.KindFloat
	case kernel.Average, kernel.Spread:
		return false
	}
	return true
}

func foldCases(each func(r kernel.Reduction, t dtype.Type)) {
	can := ptx.Capabilities()
	for _, row := range kernel.Reductions() {
		r := row.Reduction
		for _, t := range dtype.All() {
			if can.Folds[r].Has(t) {
				each(r, t)
			}
		}
	}
}

func TestFoldOfAnyOrderHasTheBitsOfTheCPU(t *testing.T) {
	if !evaluates(t) {
		return
	}
	random := testcases.Rand(t)
	foldCases(func(r kernel.Reduction, of dtype.Type) {
		if !exact(r, of) {
			return
		}
		t.Run(fmt.Sprint(r, " of ", of), func(t *testing.T) {
			for _, c := range foldShapes {
				some := edges(of)
				random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
				some = some[:min(len(some), 1+random.IntN(8))] // often without NaN, zero or other extremes
				cpu, gpu, n, _ := c.fold(t, r, of, 0, func(tile grid.Box) []byte {
					x, size := memory(tile.Size()*of.Size()), of.Size()
					for i := range tile.Size() {
						some[random.IntN(len(some))].Put(x[i*size:][:size])
					}
					return x
				})
				result := r.Result(of)
				size := result.Size()
				for i := range n {
					g, w := gpu[i*size:][:size], cpu[i*size:][:size]
					zeros := result.Kind() == dtype.KindFloat && number(result, g) == 0 && number(result, w) == 0
					if !zeros && !alike(result, g, w) {
						t.Errorf("%+v: result %d is %x and not %x, with GONBEXT_SEED=%d", c, i, g, w, testcases.Seed(t))
						break
					}
				}
			}
		})
	})
}

// usual is n random numbers of type t around a mean.
func usual(random *rand.Rand, t dtype.Type, n int, mean, deviation float64) []byte {
	x, size := memory(n*t.Size()), t.Size()
	for i := range n {
		f := mean + deviation*random.NormFloat64()
		var v dtype.Value
		switch {
		case t == dtype.Bool:
			v = dtype.ValueOf(f > mean)
		case t.Integer():
			v = dtype.FromInt(t, int64(f))
		default:
			v = dtype.FromFloat(t, f)
		}
		v.Put(x[i*size:][:size])
	}
	return x
}

// truth is the reduction of some elements in many digits.
func truth(r kernel.Reduction, x []float64, ddof float64) *big.Float {
	digits := func() *big.Float { return new(big.Float).SetPrec(300) }
	sum, prod := digits(), digits().SetInt64(1)
	for _, f := range x {
		sum.Add(sum, digits().SetFloat64(f))
		prod.Mul(prod, digits().SetFloat64(f))
	}
	mean := digits().Quo(sum, digits().SetInt64(int64(len(x))))
	switch r {
	case kernel.Sum:
		return sum
	case kernel.Prod:
		return prod
	case kernel.Mean:
		return mean
	}
	squares := digits()
	for _, f := range x {
		d := digits().Sub(digits().SetFloat64(f), mean)
		squares.Add(squares, d.Mul(d, d))
	}
	v := squares.Quo(squares, digits().SetFloat64(float64(len(x))-ddof))
	if r == kernel.Std {
		v.Sqrt(v)
	}
	return v
}

func TestFoldOfFloatsErrsNoMoreThanTwiceAsMuchAsTheCPU(t *testing.T) {
	if !evaluates(t) {
		return
	}
	random := testcases.Rand(t)
	foldCases(func(r kernel.Reduction, of dtype.Type) {
		if exact(r, of) {
			return
		}
		shapes := foldShapes
		if of == dtype.Float64 || of == dtype.Float32 { // shared by many blocks
			shapes = append(shapes, folds{shape: []int{40000}, chunk: []int{40000}, tile: []int{40000}, block: []int{4000}, axes: []int{0}, partials: 8})
		}
		t.Run(fmt.Sprint(r, " of ", of), func(t *testing.T) {
			var off [2]float64
			var count int
			for _, c := range shapes {
				mean, deviation, ddof := 100., 10., float64(random.IntN(2))
				if r == kernel.Prod {
					mean, deviation = 1, 0.1
				}
				values := map[int][]float64{}
				chunk := c.whole()
				s := c.stage(r, of, ddof)
				cpu, gpu, n, _ := c.fold(t, r, of, ddof, func(tile grid.Box) []byte {
					x := usual(random, of, tile.Size(), mean, deviation)
					widened := make([]byte, 8*tile.Size())
					cast, _ := kernel.Cast(of, dtype.Float64)
					cast(tile.Size(), widened, x, nil, nil)
					for i := range tile.Size() {
						rest, result, stride := i, 0, 1
						for d := len(tile.Shape) - 1; d >= 0; d-- {
							at := rest%tile.Shape[d] + tile.Start[d] - chunk.Start[d]
							rest /= tile.Shape[d]
							if !s.Folds[0].Folds(d) {
								result += at * stride
								stride *= chunk.Shape[d]
							}
						}
						values[result] = append(values[result], number(dtype.Float64, widened[8*i:]))
					}
					return x
				})
				result := r.Result(of)
				size := result.Size()
				for i := range n {
					want := truth(r, values[i], ddof)
					f, _ := want.Float64()
					for which, b := range [][]byte{cpu, gpu} {
						d, _ := new(big.Float).Sub(want, big.NewFloat(number(result, b[i*size:]))).Float64()
						off[which] += (d / halfPlace(result, f)) * (d / halfPlace(result, f))
					}
				}
				count += n
			}
			// The roots of the mean squares, of which exact rounding leaves some 0.6.
			onCPU, onGPU := math.Sqrt(off[0]/float64(count)), math.Sqrt(off[1]/float64(count))
			if !(onGPU <= 2*max(onCPU, 0.6)) {
				t.Errorf("results are off by %.3g half units in the last place, and by %.3g on the CPU, with GONBEXT_SEED=%d", onGPU, onCPU, testcases.Seed(t))
			}
		})
	})
}

// halfPlace is half a unit in the last place of a number in a type.
func halfPlace(t dtype.Type, f float64) float64 {
	places := map[dtype.Type]int{dtype.Float16: 11, dtype.BFloat16: 8, dtype.Float32: 24, dtype.Float64: 53}[t]
	_, e := math.Frexp(f)
	return math.Ldexp(1, e-places-1)
}

// A tile with rare operands is not folded, nor are those after it until the flag of the
// chunk is cleared.
func TestFoldStopsAtTileWithRareOperands(t *testing.T) {
	if !evaluates(t) {
		return
	}
	c := foldShapes[0]
	c.partials = 1
	f, err := c.begin(c.stage(kernel.Sum, dtype.Float32, 0))
	if err != nil {
		t.Fatal(err)
	}
	x := usual(testcases.Rand(t), dtype.Float32, 300, 1, 1)
	for i, rare := range []byte{1, 0, 0} {
		if f.rare[0] = rare; i == 2 {
			f.stopped[0] = 0
		}
		if err := f.add(grid.Box{Start: []int{300 * i}, Shape: []int{300}}, x); err != nil {
			t.Fatal(err)
		}
		if stops := byte(1); i < 2 && (f.rare[0] != stops || f.stopped[0] != stops || number(dtype.Float64, f.states) != 0) {
			t.Errorf("tile %d: flags %d and %d, and the accumulator is %v", i, f.rare[0], f.stopped[0], number(dtype.Float64, f.states))
		}
	}
	if f.rare[0] != 0 || number(dtype.Float64, f.states) == 0 {
		t.Errorf("the tile after the flag is cleared is not folded")
	}
}

// The order of additions is that of blocks, however they are cut into tiles, and whichever
// of them come back from the CPU one by one.
func TestFoldOfAnyTilesHasTheSameBits(t *testing.T) {
	if !evaluates(t) {
		return
	}
	random := testcases.Rand(t)
	tilings := map[string][][]int{
		"vector": {{1000}, {300}, {100}, {700}},
		"rows":   {{600, 7}, {200, 7}, {50, 7}, {450, 7}},
		"cube":   {{9, 10, 8}, {4, 10, 8}, {2, 10, 8}},
		"runs":   {{9, 20, 4}, {4, 20, 4}, {1, 14, 4}, {1, 7, 4}},
	}
	for name, c := range map[string]folds{"vector": foldShapes[0], "rows": foldShapes[2], "cube": foldShapes[4], "runs": foldShapes[5]} {
		whole := c.whole()
		for _, r := range []kernel.Reduction{kernel.Sum, kernel.Prod, kernel.Mean, kernel.Std} {
			x := usual(random, dtype.Float32, whole.Size(), 1, 0.1)
			var want []byte
			for _, tile := range tilings[name] {
				f, err := c.begin(c.stage(r, dtype.Float32, 0))
				if err != nil {
					t.Fatal(err)
				}
				for b := range whole.Split(tile) {
					part, from, strides := memory(4*b.Size()), 0, grid.Strides(whole.Shape)
					for d := range strides {
						from += (b.Start[d] - whole.Start[d]) * strides[d]
					}
					kernel.Copy(4, b.Shape, part, 0, grid.Strides(b.Shape), x, from, strides)
					if err := f.add(b, part); err != nil {
						t.Fatal(err)
					}
				}
				got, err := f.end()
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s of %s: tiles of %v give other bits than %v, with GONBEXT_SEED=%d", r, name, tile, tilings[name][0], testcases.Seed(t))
				}
			}
		}
	}
}
