package scan

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// scanned runs the stages of a scan.
func scanned(t *testing.T, s Scan, data []byte) []byte {
	t.Helper()
	in := []blockwisetest.Array{{Shape: s.Shape, DType: s.Type, Data: data}}
	if s.blocks() > 1 {
		totals := blockwisetest.Array{Shape: s.states(), DType: dtype.Uint64}
		totals.Data = blockwisetest.Same(t, Totals{s}, s.states(), dtype.Uint64, in[0])
		carries := blockwisetest.Array{Shape: s.states(), DType: dtype.Uint64}
		carries.Data = blockwisetest.Same(t, Carries{s}, s.states(), dtype.Uint64, totals)
		in = append(in, carries)
	}
	return blockwisetest.Same(t, Running{s}, s.Shape, s.Type, in...)
}

func small(rng *rand.Rand, t dtype.Type, n int) []byte {
	b := make([]byte, n*t.Size())
	for i := range n {
		v := dtype.FromInt(t, rng.Int64N(5)-2)
		if t.Kind() == dtype.KindComplex {
			v = dtype.FromComplex(t, complex(float64(rng.IntN(5)-2), float64(rng.IntN(5)-2)))
		}
		v.Put(b[i*t.Size():])
	}
	return b
}

// Small integers add up exactly in every type, in every cut into blocks.
func TestSumsOfIntegersAreExact(t *testing.T) {
	rng := testcases.Rand(t)
	for _, dt := range dtype.All() {
		if dt == dtype.Bool {
			continue
		}
		for _, c := range []struct {
			shape []int
			axis  int
		}{{[]int{100}, 0}, {[]int{3, 50}, 1}, {[]int{50, 3}, 0}, {[]int{2, 20, 3}, 1}, {[]int{1}, 0}, {[]int{230, 1024}, 0}} {
			for _, block := range []int{1, 7, 16, 200} { // the last is read in pieces of 64 rows of 1024
				if c.shape[c.axis] == 230 && (block < 200 || dt != dtype.Float64) {
					continue
				}
				data := small(rng, dt, grid.Size(c.shape))
				s := Scan{Shape: c.shape, Axis: c.axis, Block: min(block, c.shape[c.axis]), Type: dt}
				got := scanned(t, s, data)
				_, n, inner := s.around(c.shape)
				size := dt.Size()
				for i := 0; i < grid.Size(c.shape); i += 1 + grid.Size(c.shape)/1000 {
					sum := complex128(0)
					first := i/(n*inner)*n*inner + i%inner
					for k := first; k <= i; k += inner {
						sum += at(dt, data[k*size:])
					}
					if dt.Kind() == dtype.KindUint {
						if at64(got[i*size:], size) != wrapped(dt, data, first, i, inner) {
							t.Fatalf("%s %v: element %d", dt, c, i)
						}
						continue
					}
					if at(dt, got[i*size:]) != sum {
						t.Fatalf("%s %+v by blocks of %d: element %d is %v, want %v", dt, c, block, i, at(dt, got[i*size:]), sum)
					}
				}
			}
		}
	}
}

func at(t dtype.Type, b []byte) complex128 {
	v := dtype.Value{Type: t}
	for k := range t.Size() {
		if k < 8 {
			v.Lo |= uint64(b[k]) << (8 * k)
		} else {
			v.Hi |= uint64(b[k]) << (8 * (k - 8))
		}
	}
	return v.Complex()
}

func at64(b []byte, size int) (u uint64) {
	for k := range size {
		u |= uint64(b[k]) << (8 * k)
	}
	return u
}

// wrapped is a sum of unsigned integers.
func wrapped(t dtype.Type, data []byte, first, last, step int) (sum uint64) {
	for k := first; k <= last; k += step {
		sum += at64(data[k*t.Size():], t.Size())
	}
	return sum << (64 - 8*t.Size()) >> (64 - 8*t.Size())
}

// Sums of float64 that lose most of their digits are as if added in many more.
func TestSumsAreCompensated(t *testing.T) {
	rng := testcases.Rand(t)
	const n = 4000
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Ldexp(rng.Float64()-0.5, rng.IntN(100)-50)
	}
	s := Scan{Shape: []int{n}, Axis: 0, Block: 64, Type: dtype.Float64}
	got := dtype.Slice[float64](scanned(t, s, dtype.Bytes(x)))
	sum := new(big.Float).SetPrec(400)
	for i, v := range x {
		sum.Add(sum, new(big.Float).SetFloat64(v))
		want, _ := sum.Float64()
		if d := math.Abs(got[i] - want); d > math.Abs(want)*1e-15+1e-16 {
			t.Fatalf("sum %d is %g, want %g", i, got[i], want)
		}
	}
}

func TestInfinitiesAndNaN(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{1, inf, 1, 2, -inf, 3, 1}
	want := []float64{1, inf, inf, inf, nan, nan, nan}
	for _, block := range []int{2, 3, 7} {
		s := Scan{Shape: []int{7}, Axis: 0, Block: block, Type: dtype.Float64}
		if got := dtype.Slice[float64](scanned(t, s, dtype.Bytes(x))); !same(got, want) {
			t.Errorf("sums by blocks of %d: %v", block, got)
		}
		p := []float64{2, 0, 3, 1e300, 1e300, 1, -1}
		s.Product = true
		if got := dtype.Slice[float64](scanned(t, s, dtype.Bytes(p))); !same(got, []float64{2, 0, 0, 0, 0, 0, 0}) {
			t.Errorf("products by blocks of %d: %v", block, got)
		}
		p = []float64{-2, inf, 3, 0, 1, 1, -1}
		if got := dtype.Slice[float64](scanned(t, s, dtype.Bytes(p))); !same(got, []float64{-2, -inf, -inf, nan, nan, nan, nan}) {
			t.Errorf("products by blocks of %d: %v", block, got)
		}
	}
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y || x == 0 && y == 0
	})
}

// Products that are far beyond the range on the way are right where they are back.
func TestProductsKeepTheirRange(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Complex64, dtype.Complex128} {
		const n = 301
		data := make([]byte, n*dt.Size())
		want := 1.0
		for i := range n {
			v := 64.0
			if i >= n/2 {
				v = 1.0 / 64
			}
			want = math.Pow(64, float64(n/2-(n-n/2)))
			dtype.FromComplex(dt, complex(v, 0)).Put(data[i*dt.Size():])
		}
		for _, block := range []int{5, 64, n} {
			s := Scan{Product: true, Shape: []int{n}, Axis: 0, Block: block, Type: dt}
			got := scanned(t, s, data)
			if last := at(dt, got[(n-1)*dt.Size():]); last != complex(want, 0) {
				t.Errorf("%s by blocks of %d: %v, want %g", dt, block, last, want)
			}
			if middle := at(dt, got[(n/2-1)*dt.Size():]); dt == dtype.Float32 && !math.IsInf(real(middle), 1) {
				t.Errorf("%s: the largest is %v", dt, middle)
			}
		}
	}
}

// A scan of a scan's differences is the scan again.
func TestBlocksOfNodes(t *testing.T) {
	rng := testcases.Rand(t)
	x, err := graph.FromBytes(graph.Site{}, small(rng, dtype.Int32, 3*1000*500), dtype.Int32, 3, 1000, 500)
	if err != nil {
		t.Fatal(err)
	}
	for axis := range 3 {
		n, err := Cumulative(graph.Site{}, "cumsum", false, x, axis)
		if err != nil {
			t.Fatal(err)
		}
		if n.DType != dtype.Int64 || !slices.Equal(n.Shape, x.Shape) {
			t.Errorf("it is %s of %v", n.DType, n.Shape)
		}
		s := n.Blocks.Op.(Running).Scan
		if axis == 1 && s.blocks() != 1000/s.Block+1 && s.blocks() != (1000+s.Block-1)/s.Block {
			t.Errorf("%d blocks", s.blocks())
		}
	}
}

func TestChunksAreSmall(t *testing.T) {
	for _, shape := range [][]int{{1e12}, {1e9}, {3075200, 512}, {512, 3075200}, {1, 256, 1024, 1021}, {10, 10}, {7, 1 << 30}} {
		for axis := range shape {
			for _, dt := range []dtype.Type{dtype.Int8, dtype.Float32, dtype.Complex128} {
				s := newScan(false, &graph.Node{Shape: shape, DType: dt}, axis)
				if s.blocks() == 1 {
					continue
				}
				for _, op := range []blockwise.Op{Totals{s}, Carries{s}} {
					if b := grid.Size(blockwise.ChunksOf(op)) * 8; b > 8<<20 {
						t.Errorf("%v along %d: %T by %d bytes", shape, axis, op, b)
					}
					if b := op.Requirements(blockwise.ChunksOf(op)).Scratch; b > 16<<20 {
						t.Errorf("%v along %d: %T takes %d bytes", shape, axis, op, b)
					}
				}
				if part := float64(grid.Size(s.states())*8) / float64(grid.Size(shape)*dt.Size()); part > 0.2 {
					t.Errorf("%v along %d: totals are %.2f of the array", shape, axis, part)
				}
			}
		}
	}
}

func TestBytesDoNotDependOnBlocksOfOthers(t *testing.T) {
	rng := testcases.Rand(t)
	x := make([]float32, 999)
	for i := range x {
		x[i] = rng.Float32()
	}
	s := Scan{Shape: []int{999}, Axis: 0, Block: 100, Type: dtype.Float32}
	got := scanned(t, s, dtype.Bytes(x))
	// The first blocks of a longer line are those of a shorter one.
	short := Scan{Shape: []int{450}, Axis: 0, Block: 100, Type: dtype.Float32}
	if !bytes.Equal(scanned(t, short, dtype.Bytes(x[:450])), got[:450*4]) {
		t.Error("what comes after changes what is before")
	}
}

// A plan has whatever spacing it is given.
func TestSlopesOfAnySpacingAreEncoded(t *testing.T) {
	for _, spacing := range []float64{0, math.Inf(1), math.NaN()} {
		data := dtype.Bytes([]float64{1, 2, 4})
		op := Slopes{Shape: []int{3}, Type: dtype.Float64, Spacing: dtype.ValueOf(spacing), EdgeOrder: 1}
		got := dtype.Slice[float64](blockwisetest.Same(t, op, []int{3}, dtype.Float64, blockwisetest.Array{Shape: []int{3}, DType: dtype.Float64, Data: data}))
		if want := 1 / spacing; got[0] != want && want == want {
			t.Errorf("spacing %v: %v", spacing, got)
		}
	}
}

// The slopes of squares, 1 apart, are twice their roots, at the ends as far as those of lines
// reach, in every type and in whatever boxes.
func TestSlopesOfSquaresAreExact(t *testing.T) {
	for _, dt := range dtype.All() {
		if dt.Kind() < dtype.KindFloat {
			continue
		}
		for _, c := range []struct {
			shape []int
			axis  int
		}{{[]int{3}, 0}, {[]int{12}, 0}, {[]int{7, 5}, 1}, {[]int{2, 6, 3}, 1}} {
			for order := 1; order <= 2; order++ {
				length, inner := c.shape[c.axis], grid.Size(c.shape[c.axis+1:])
				x, want := make([]byte, grid.Size(c.shape)*dt.Size()), make([]byte, grid.Size(c.shape)*dt.Size())
				for k := range grid.Size(c.shape) {
					i := k / inner % length
					slope := 2 * i
					switch {
					case order == 1 && i == 0:
						slope = 1
					case order == 1 && i == length-1:
						slope = 2*i - 1
					}
					dtype.FromInt(dt, int64(i*i)).Put(x[k*dt.Size():])
					dtype.FromInt(dt, int64(slope)).Put(want[k*dt.Size():])
				}
				op := Slopes{Shape: c.shape, Type: dt, Axis: c.axis, Spacing: dtype.ValueOf(1.0), EdgeOrder: order}
				if got := blockwisetest.Same(t, op, c.shape, dt, blockwisetest.Array{Shape: c.shape, DType: dt, Data: x}); !bytes.Equal(got, want) {
					t.Errorf("%s %v along axis %d, edge order %d: %x, want %x", dt, c.shape, c.axis, order, got, want)
				}
			}
		}
	}
}

// A filter along blocks has the numbers of its recursion, which an infinity never leaves.
func TestFiltersCarryTheirStateFromBlockToBlock(t *testing.T) {
	const n = 1000
	x := make([]float64, n)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for _, far := range []float64{0, math.Inf(1), math.NaN()} {
		x[n/3] += far
		s := Scan{Rule: filterRule, Numbers: []float64{2, 0.1, 0.2, 0.1, -1.8, 0.81}, Shape: []int{n}, Type: dtype.Float64}
		s.Block = 96
		got := dtype.Slice[float64](scanned(t, s, dtype.Bytes(x)))
		y := make([]float64, n)
		at := func(v []float64, i int) float64 {
			if i < 0 {
				return 0
			}
			return v[i]
		}
		for i := range y {
			y[i] = 0.1*x[i] + 0.2*at(x, i-1) + 0.1*at(x, i-2) + 1.8*at(y, i-1) - 0.81*at(y, i-2)
			if d := math.Abs(got[i] - y[i]); !(d < 1e-9) && (y[i]-y[i] == 0 || got[i]-got[i] == 0) {
				t.Fatalf("with %v: element %d is %v, want %v", far, i, got[i], y[i])
			}
		}
	}
}
