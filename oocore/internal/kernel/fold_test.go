package kernel

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var reductions = []Reduction{Sum, Prod, Mean, Var, Std, Min, Max, ArgMin, ArgMax, Any, All, CountNonzero}

// fill has n elements of a type: small numbers, so that extremes tie and
// products stay finite, and now and then what is not finite.
func fill(t dtype.Type, n int, seed uint64, special bool) []byte {
	out := randomMatrix(t, n, seed)
	if t.Kind() != dtype.KindFloat && t.Kind() != dtype.KindComplex {
		return out
	}
	r := rand.New(rand.NewPCG(seed, 1))
	parts := n
	if t.Kind() == dtype.KindComplex {
		parts *= 2
	}
	for i := range parts {
		v := math.Round(r.NormFloat64()*8) / 8
		if special && r.IntN(20) == 0 {
			v = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)]
		}
		switch t {
		case dtype.Float16:
			view[dtype.Float16Bits](out, parts)[i] = dtype.ToFloat16(float32(v))
		case dtype.BFloat16:
			view[dtype.BFloat16Bits](out, parts)[i] = dtype.ToBFloat16(float32(v))
		case dtype.Float32, dtype.Complex64:
			view[float32](out, parts)[i] = float32(v)
		default:
			view[float64](out, parts)[i] = v
		}
	}
	return out
}

// TestFoldCuts has a matrix reduced over its columns or rows give the same
// however it is cut into calls and merged: exactly where the arithmetic is
// exact, else within NumPy's own error.
func TestFoldCuts(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
			typ := rapid.SampledFrom(dtype.All()).Draw(r, "type")
			red := rapid.SampledFrom(reductions).Draw(r, "reduction")
			rows, cols := rapid.IntRange(1, 90).Draw(r, "rows"), rapid.IntRange(1, 90).Draw(r, "cols")
			special := rapid.Bool().Draw(r, "special")
			if red == Prod && typ.Kind() == dtype.KindComplex {
				special = false // infinities make a complex product depend on its order
			}
			x := fill(typ, rows*cols, rapid.Uint64().Draw(r, "seed"), special)
			f, ok := NewFolder(red, typ)
			if !ok {
				t.Fatalf("%v of %v: no folder", red, typ)
			}
			size, result := typ.Size(), red.Result(typ)

			// Over the rows: bands of rows, each in strips of columns, in two states.
			whole := foldCols(f, result, x, rows, cols, 0)
			cut := rapid.IntRange(0, rows).Draw(r, "cut")
			states := [2][]byte{aligned(make([]byte, f.Size()*cols)), aligned(make([]byte, f.Size()*cols))}
			for i, band := range [][2]int{{0, cut}, {cut, rows}} {
				f.Init(states[i], cols)
				for c := 0; c < cols; {
					w := rapid.IntRange(1, cols-c).Draw(r, "width")
					part := gather(x, size, cols, band[0], band[1]-band[0], c, w)
					f.Cols(states[i], cols, c, part, band[1]-band[0], w, int64(band[0]), 1)
					c += w
				}
			}
			f.Merge(states[0], states[1], cols)
			got := aligned(make([]byte, result.Size()*cols))
			f.Finish(got, states[0], cols, int64(rows), 0)
			compareFold(t, red, typ, got, whole)

			// Over the columns: runs of each row, and the rows in two calls.
			whole = foldRows(f, result, x, rows, cols, 0)
			state := aligned(make([]byte, f.Size()*rows))
			f.Init(state, rows)
			for c := 0; c < cols; {
				w := rapid.IntRange(1, cols-c).Draw(r, "width")
				for _, band := range [][2]int{{0, cut}, {cut, rows}} {
					h := band[1] - band[0]
					f.Rows(state, rows, band[0], gather(x, size, cols, band[0], h, c, w), h, w, int64(c))
				}
				c += w
			}
			got = aligned(make([]byte, result.Size()*rows))
			f.Finish(got, state, rows, int64(cols), 0)
			compareFold(t, red, typ, got, whole)
		})
	})
}

// gather copies a rectangle of a matrix of cols columns.
func gather(x []byte, size, cols, r, h, c, w int) []byte {
	var out []byte
	for i := range h {
		out = append(out, x[((r+i)*cols+c)*size:][:w*size]...)
	}
	return aligned(out)
}

// compareFold allows for rounding: a variance is compared with the elements'
// own size, since it may vanish.
func compareFold(t rapid.TB, r Reduction, typ dtype.Type, got, want []byte) {
	t.Helper()
	result := r.Result(typ)
	if k := result.Kind(); k != dtype.KindFloat && k != dtype.KindComplex || r == Min || r == Max {
		g, w := got, want
		if k == dtype.KindFloat || k == dtype.KindComplex {
			for i, v := range floats(result, w) { // any NaN is like another
				if u := floats(result, g)[i]; u != v && !(math.IsNaN(u) && math.IsNaN(v)) {
					t.Fatalf("%v of %v: element %d is %v, want %v", r, typ, i, u, v)
				}
			}
			return
		}
		if !bytes.Equal(g, w) {
			t.Fatalf("%v of %v: %x, want %x", r, typ, g, w)
		}
		return
	}
	size := 1.0
	if typ.Kind() == dtype.KindInt || typ.Kind() == dtype.KindUint { // deviations of any size
		size = math.Ldexp(1, 16*typ.Size())
	}
	g, w := floats(result, got), floats(result, want)
	for i := range w {
		if math.IsNaN(g[i]) && math.IsNaN(w[i]) || g[i] == w[i] {
			continue
		}
		if !(math.Abs(g[i]-w[i]) <= 16*tolerance(result)*max(size, math.Abs(w[i]))) {
			t.Fatalf("%v of %v: element %d is %v, want %v", r, typ, i, g[i], w[i])
		}
	}
}

// TestFoldRepeats has the same calls give the same bits, and no call touch
// accumulators or results that are not its own.
func TestFoldRepeats(t *testing.T) {
	const n, off, rows, cols = 60, 7, 33, 40
	atEachLevel(t, func(t *testing.T) {
		for _, typ := range dtype.All() {
			for _, r := range reductions {
				f, _ := NewFolder(r, typ)
				x := fill(typ, rows*cols, 5, true)
				run := func(twice bool) (finished []byte) {
					state := aligned(bytes.Repeat([]byte{0xa5}, n*f.Size()+64))
					f.Init(state[:n*f.Size()], n)
					f.Cols(state[:n*f.Size()], n, off, x, rows, cols, 0, 1)
					f.Rows(state[:n*f.Size()], n, off, x, rows, cols, int64(rows))
					if twice { // nothing, twice over
						f.Cols(state, n, off, nil, 0, cols, 0, 1)
						f.Rows(state, n, off, nil, rows, 0, 0)
						empty := aligned(make([]byte, n*f.Size()))
						f.Init(empty, n)
						f.Merge(state, empty, n)
						f.Merge(empty, state, n)
						copy(state, empty)
					}
					if !bytes.Equal(state[n*f.Size():], bytes.Repeat([]byte{0xa5}, 64)) {
						t.Errorf("%v of %v: wrote beyond the state", r, typ)
					}
					size := r.Result(typ).Size()
					out := aligned(bytes.Repeat([]byte{0x5a}, n*size+64))
					f.Finish(out[:n*size], state, n, rows+cols, 0)
					if !bytes.Equal(out[n*size:], bytes.Repeat([]byte{0x5a}, 64)) {
						t.Errorf("%v of %v: wrote beyond the results", r, typ)
					}
					return out
				}
				once := run(false)
				if !bytes.Equal(once, run(false)) {
					t.Errorf("%v of %v: the same calls give other bits", r, typ)
				}
				if !bytes.Equal(once, run(true)) {
					t.Errorf("%v of %v: empty folds change the result", r, typ)
				}
				size := r.Result(typ).Size()
				for i := range n {
					if (i < off || i >= off+cols) && !bytes.Equal(once[i*size:][:size], once[:size]) {
						t.Errorf("%v of %v: accumulator %d, which got nothing, is unlike another", r, typ, i)
					}
				}
			}
		}
	})
}

// TestFoldEmpty has reductions of nothing be NumPy's.
func TestFoldEmpty(t *testing.T) {
	want := map[Reduction]float64{Sum: 0, Prod: 1, Mean: math.NaN(), Var: math.NaN(), Std: math.NaN(),
		Any: 0, All: 1, CountNonzero: 0}
	for _, typ := range dtype.All() {
		for r, v := range want {
			f, _ := NewFolder(r, typ)
			got := floats(r.Result(typ), foldCols(f, r.Result(typ), nil, 0, 3, 0))[0]
			if got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
				t.Errorf("%v of no %v is %v, want %v", r, typ, got, v)
			}
		}
	}
}

// TestFoldExact compares float sums and variances with exact arithmetic: a sum
// of a million float64 of mixed sizes is right to the last bits, and the
// variance of numbers a billion away from zero to nine digits.
func TestFoldExact(t *testing.T) {
	const n, block = 1 << 20, 16384
	r := rand.New(rand.NewPCG(1, 1))
	x, far := make([]float64, n), make([]float64, n)
	total, farTotal := new(big.Float).SetPrec(2000), new(big.Float).SetPrec(2000)
	for i := range x {
		x[i] = math.Ldexp(r.Float64()-0.3, r.IntN(60))
		far[i] = 1e9 + r.NormFloat64()
		total.Add(total, big.NewFloat(x[i]))
		farTotal.Add(farTotal, big.NewFloat(far[i]))
	}
	mean, _ := farTotal.Quo(farTotal, big.NewFloat(n)).Float64()
	var dev, comp float64
	for _, v := range far {
		carry(&dev, &comp, (v-mean)*(v-mean))
	}
	atEachLevel(t, func(t *testing.T) {
		reduce := func(red Reduction, x []float64) float64 {
			f, _ := NewFolder(red, dtype.Float64)
			state, next := aligned(make([]byte, f.Size())), aligned(make([]byte, f.Size()))
			f.Init(state, 1)
			for b := 0; b < n; b += block {
				f.Init(next, 1)
				f.Cols(next, 1, 0, dtype.Bytes(x[b:b+block/2]), block/2, 1, 0, 1)
				f.Rows(next, 1, 0, dtype.Bytes(x[b+block/2:b+block]), 1, block/2, 0)
				f.Merge(state, next, 1)
			}
			out := make([]float64, 1)
			f.Finish(dtype.Bytes(out), state, 1, n, 0)
			return out[0]
		}
		want, _ := total.Float64()
		if got := reduce(Sum, x); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Errorf("sum is %v, want %v", got, want)
		}
		if got, want := reduce(Var, far), dev/n; math.Abs(got-want) > 1e-9*want {
			t.Errorf("variance is %v, want %v", got, want)
		}
	})
}

// TestFoldPositions has argmin and argmax give the first of ties, and of NaN,
// also where chunks along two reduced axes come in another order.
func TestFoldPositions(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		red    Reduction
		values []float64
		want   int64
	}{
		{ArgMin, []float64{3, 1, 2, 1}, 1},
		{ArgMax, []float64{3, 1, 3, 1}, 0},
		{ArgMin, []float64{3, nan, 1, nan}, 1},
		{ArgMax, []float64{nan, 9, nan, 1}, 0},
		{ArgMin, []float64{math.Inf(1), math.Inf(1)}, 0},
		{ArgMax, []float64{math.Inf(-1), math.Inf(-1)}, 0},
	} {
		f, _ := NewFolder(c.red, dtype.Float64)
		for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
			state, other := aligned(make([]byte, f.Size())), aligned(make([]byte, f.Size()))
			f.Init(state, 1)
			for _, i := range order {
				if i >= len(c.values) {
					continue
				}
				x := dtype.Bytes(c.values[i : i+1])
				if i%2 == 0 {
					f.Cols(state, 1, 0, x, 1, 1, int64(i), 1)
					continue
				}
				f.Init(other, 1)
				f.Rows(other, 1, 0, x, 1, 1, int64(i))
				f.Merge(state, other, 1)
			}
			out := make([]int64, 1)
			f.Finish(dtype.Bytes(out), state, 1, int64(len(c.values)), 0)
			if out[0] != c.want {
				t.Errorf("%v of %v in order %v is %d, want %d", c.red, c.values, order, out[0], c.want)
			}
		}
	}
}

// TestFoldLimits has integers wrap and hold at their ends as NumPy's do.
func TestFoldLimits(t *testing.T) {
	one := func(r Reduction, typ dtype.Type, x []byte) int64 {
		f, _ := NewFolder(r, typ)
		return view[int64](append(foldRows(f, r.Result(typ), x, 1, len(x)/typ.Size(), 0), make([]byte, 8)...), 1)[0]
	}
	if got := one(Sum, dtype.Int64, dtype.Bytes([]int64{math.MaxInt64, 1})); got != math.MinInt64 {
		t.Errorf("int64 sums wrap to %d", got)
	}
	if got := one(Sum, dtype.Uint8, []byte{255, 255, 255}); got != 765 {
		t.Errorf("uint8 sum is %d", got)
	}
	if got := one(Min, dtype.Int64, dtype.Bytes([]int64{math.MaxInt64})); got != math.MaxInt64 {
		t.Errorf("the least of the largest int64 is %d", got)
	}
	if got := one(Max, dtype.Int64, dtype.Bytes([]int64{math.MinInt64})); got != math.MinInt64 {
		t.Errorf("the greatest of the least int64 is %d", got)
	}
	if got := one(Max, dtype.Uint64, dtype.Bytes([]uint64{math.MaxUint64})); got != -1 {
		t.Errorf("the greatest uint64 is %d in bits", got)
	}
}

func TestFoldAllocatesNothing(t *testing.T) {
	for _, typ := range dtype.All() {
		for _, r := range reductions {
			f, _ := NewFolder(r, typ)
			x := randomMatrix(typ, 64*64, 1)
			state := aligned(make([]byte, 64*f.Size()))
			f.Init(state, 64)
			allocs := testing.AllocsPerRun(10, func() {
				f.Cols(state, 64, 0, x, 64, 64, 0, 1)
				f.Cols(state, 64, 0, x, 1024, 4, 0, 1)
				f.Rows(state, 64, 0, x, 64, 64, 0)
			})
			if _, pooled := f.(*widened); allocs > 0 && !(pooled && allocs <= 1) { // the race detector empties pools
				t.Errorf("%v of %v: %v allocations", r, typ, allocs)
			}
		}
	}
}

// TestFoldLongRows has rows longer than what is converted at a time.
func TestFoldLongRows(t *testing.T) {
	const cols = 40_001
	x := make([]int32, 2*cols)
	var totals [2]float64
	for i := range x {
		x[i] = int32(i*i%1009) - 500
		totals[i/cols] += float64(x[i])
	}
	f, _ := NewFolder(Mean, dtype.Int32)
	rows := view[float64](foldRows(f, dtype.Float64, dtype.Bytes(x), 2, cols, 0), 2)
	columns := view[float64](foldCols(f, dtype.Float64, dtype.Bytes(x), 2, cols, 0), cols)
	for r, total := range totals {
		if want := total / cols; rows[r] != want {
			t.Errorf("mean of row %d is %v, want %v", r, rows[r], want)
		}
	}
	for c, got := range columns {
		if want := (float64(x[c]) + float64(x[cols+c])) / 2; got != want {
			t.Fatalf("mean of column %d is %v, want %v", c, got, want)
		}
	}
	largest, _ := NewFolder(ArgMax, dtype.Float16)
	h := make([]dtype.Float16Bits, cols)
	h[cols-2] = dtype.ToFloat16(1)
	if got := view[int64](foldRows(largest, dtype.Int64, dtype.Bytes(h), 1, cols, 0), 1)[0]; got != cols-2 {
		t.Errorf("argmax is %d, want %d", got, cols-2)
	}
}
