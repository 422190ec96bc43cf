package order

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// elements are n of a type: many equal ones, or any bits, NaN and -0 among the floats.
func elements(rng *rand.Rand, t dtype.Type, n int, equal bool) []byte {
	b := make([]byte, n*t.Size())
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	if t == dtype.Bool {
		for i := range b {
			b[i] &= 1
		}
	}
	if equal {
		for i := range n {
			v := dtype.FromInt(t, rng.Int64N(7)-3)
			if t.Kind() == dtype.KindComplex {
				v = dtype.FromComplex(t, complex(float64(rng.IntN(3)-1)*0.5, float64(rng.IntN(3)-1)))
			}
			v.Put(b[i*t.Size():])
		}
	}
	if t.Kind() < dtype.KindFloat {
		return b
	}
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1, -1}
	for range n / 5 {
		i := rng.IntN(n)
		v := dtype.FromFloat(t, special[rng.IntN(len(special))])
		if t.Kind() == dtype.KindComplex {
			v = dtype.FromComplex(t, complex(special[rng.IntN(len(special))], special[rng.IntN(len(special))]))
		}
		v.Put(b[i*t.Size():])
	}
	return b
}

// value is the i-th element as a complex number, or an integer beside it.
func value(t dtype.Type, b []byte, i int) (z complex128, u uint64) {
	var v dtype.Value
	v.Type = t
	for k := range t.Size() {
		if k < 8 {
			v.Lo |= uint64(b[i*t.Size()+k]) << (8 * k)
		} else {
			v.Hi |= uint64(b[i*t.Size()+k]) << (8 * (k - 8))
		}
	}
	if t.Kind() >= dtype.KindFloat {
		return v.Complex(), 0
	}
	if t.Kind() == dtype.KindInt {
		return 0, uint64(v.Int()) ^ 1<<63
	}
	return 0, v.Lo
}

// compare is NumPy's order, spelt out.
func compare(t dtype.Type, b []byte, i, j int) int {
	x, a := value(t, b, i)
	y, c := value(t, b, j)
	if t.Kind() < dtype.KindFloat {
		switch {
		case a < c:
			return -1
		case a > c:
			return 1
		}
		return 0
	}
	isNaN := func(f float64) int {
		if f != f {
			return 1
		}
		return 0
	}
	cls := func(z complex128) int { return 2*isNaN(real(z)) + isNaN(imag(z)) }
	if cls(x) != cls(y) {
		return cls(x) - cls(y)
	}
	for _, p := range [][2]float64{{real(x), real(y)}, {imag(x), imag(y)}} {
		switch {
		case p[0] < p[1]:
			return -1
		case p[0] > p[1]:
			return 1
		}
	}
	return 0
}

// ordered is the stable order of a line.
func ordered(t dtype.Type, b []byte, at, step, n int) []int64 {
	order := make([]int64, n)
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(i, j int64) int { return compare(t, b, at+int(i)*step, at+int(j)*step) })
	return order
}

func TestLines(t *testing.T) {
	rng := testcases.Rand(t)
	for _, dt := range dtype.All() {
		for _, shape := range [][]int{{1}, {2}, {23}, {24, 7}, {3, 190, 5}, {700}, {2, 3, 4, 5}} {
			for axis := range shape {
				for _, equal := range []bool{false, true} {
					data := elements(rng, dt, grid.Size(shape), equal)
					in := blockwisetest.Array{Shape: shape, DType: dt, Data: data}
					got := blockwisetest.Same(t, Lines{Sorting: Sorting{Type: dt}, Shape: shape, Axis: axis}, shape, dt, in)
					at := dtype.Slice[int64](blockwisetest.Same(t, Lines{Sorting: Sorting{Type: dt, Positions: true}, Shape: shape, Axis: axis}, shape, dtype.Int64, in))
					inner := grid.Size(shape[axis+1:])
					n := shape[axis]
					for line := range grid.Size(shape) / n {
						first := line/inner*n*inner + line%inner
						for k, from := range ordered(dt, data, first, inner, n) {
							to := first + k*inner
							if at[to] != from {
								t.Fatalf("%s %v along %d: position %d of line %d is %d, want %d", dt, shape, axis, k, line, at[to], from)
							}
							both := append(slices.Clone(got[to*dt.Size():(to+1)*dt.Size()]), data[(first+int(from)*inner)*dt.Size():][:dt.Size()]...)
							if compare(dt, both, 0, 1) != 0 {
								t.Fatalf("%s %v along %d: element %d of line %d is %v", dt, shape, axis, k, line, got[to*dt.Size():(to+1)*dt.Size()])
							}
						}
					}
				}
			}
		}
	}
}

// Sorting moves elements and changes none: what is sorted has the same bits, but for
// the payloads of NaN.
func TestSortingKeepsElements(t *testing.T) {
	rng := testcases.Rand(t)
	for _, dt := range dtype.All() {
		const n = 3000
		data := elements(rng, dt, n, dt.Size() == 1)
		if dt.Kind() == dtype.KindFloat { // one NaN
			for i := range n {
				if z, _ := value(dt, data, i); z != z {
					dtype.Value{Type: dt, Lo: classOf(dt).nan}.Put(data[i*dt.Size():])
				}
			}
		}
		got := blockwisetest.Fill(t, Lines{Sorting: Sorting{Type: dt}, Shape: []int{n}}, []int{n}, dt, nil, blockwisetest.Array{Shape: []int{n}, DType: dt, Data: data})
		parts := func(b []byte) [][]byte {
			p := slices.Collect(slices.Chunk(b, dt.Size()))
			slices.SortFunc(p, bytes.Compare)
			return p
		}
		if !slices.EqualFunc(parts(got), parts(data), bytes.Equal) {
			t.Errorf("%s: the sorted elements are others", dt)
		}
	}
}

// Long lines, by rows that are short here: every number of runs, with lines beside each
// other, sorts as one does.
func TestExternalIsSorting(t *testing.T) {
	rng := testcases.Rand(t)
	turn := 0
	for _, dt := range []dtype.Type{dtype.Bool, dtype.Int16, dtype.Float32, dtype.Uint64, dtype.Float64, dtype.Complex64, dtype.Complex128} {
		for _, positions := range []bool{false, true} {
			for _, c := range []struct{ outer, n, row, fan, part int }{
				{1, 5000, 512, 20, 512}, {2, 5000, 1024, 3, 1024}, {1, 513, 512, 2, 512}, {1, 20000, 512, 3, 512}, {1, 9999, 512, 2, 512}, {3, 2048, 1024, 2, 1024},
				{1, 20000, 4096, 5, 512}, {2, 5000, 2048, 3, 1024},
			} {
				l := Line{Sorting: Sorting{Type: dt, Positions: positions}, N: c.n, Row: c.row, Part: c.part}
				if l.Part < l.Row && !l.inPlace() {
					continue
				}
				for _, equal := range []bool{false, true} {
					if turn++; turn%11 != 0 && !testcases.Full() {
						continue
					}
					shape := []int{c.outer, c.n}
					data := elements(rng, dt, c.outer*c.n, equal)
					in := blockwisetest.Array{Shape: shape, DType: dt, Data: data}
					out := dt
					if positions {
						out = dtype.Int64
					}
					want := blockwisetest.Fill(t, Lines{Sorting: Sorting{Type: dt, Positions: positions}, Shape: shape, Axis: 1}, shape, out, nil, in)
					got := external2(t, l, c.fan, in)
					if !bytes.Equal(got, want) {
						t.Fatalf("%s, positions %v, %+v: merged differs from sorted", dt, positions, c)
					}
				}
			}
		}
	}
}

// external2 runs the stages of an external sort, with so many runs a merge at most.
func external2(t *testing.T, l Line, fan int, in ...blockwisetest.Array) []byte {
	t.Helper()
	stored, words := l.stored()
	outer := in[0].Shape[0]
	fill := func(op blockwise.Op, shape []int, dt dtype.Type, in ...blockwisetest.Array) []byte {
		return blockwisetest.Fill(t, op, shape, dt, nil, in...)
	}
	if l.Type == dtype.Float32 && l.N == 5000 {
		fill = func(op blockwise.Op, shape []int, dt dtype.Type, in ...blockwisetest.Array) []byte {
			return blockwisetest.Same(t, op, shape, dt, in...)
		}
	}
	shape := []int{outer, l.rows(), l.width()}
	rows := blockwisetest.Array{Shape: shape, DType: stored, Data: fill(Runs{l, 2}, shape, stored, in...)}
	for n := 1; ; n *= fan {
		v := Level{Line: l, Dims: 3, Rows: n, Fan: min(fan, (l.rows()+n-1)/n), Every: sampled}
		samples := blockwisetest.Array{Shape: []int{outer, l.rows(), l.samples() * words}, DType: stored}
		for r := range outer * l.rows() {
			row := rows.Data[r*l.width()*stored.Size():][:l.width()*stored.Size()]
			samples.Data = append(samples.Data, row[l.Row*words*stored.Size():]...)
		}
		windows := blockwisetest.Array{Shape: []int{outer, v.parts(), 2, v.Fan}, DType: dtype.Int64}
		windows.Data = fill(Windows{v}, windows.Shape, dtype.Int64, samples)
		m := Merge{v, n*v.Fan >= l.rows()}
		if m.Last {
			return fill(m, in[0].Shape, l.result(), rows, windows)
		}
		rows.Data = fill(m, shape, stored, rows, windows)
	}
}

// Windows that were damaged are an error before anything is taken for them.
func TestMergeRejectsDamagedWindows(t *testing.T) {
	l := Line{Sorting: Sorting{Type: dtype.Float64}, N: 1024, Row: 512, Part: 512}
	m := Merge{Level{Line: l, Dims: 2, Rows: 1, Fan: 2, Every: sampled}, true}
	rows := blockwisetest.Array{Shape: []int{2, l.width()}, DType: dtype.Uint64, Data: make([]byte, 8*2*l.width())}
	windows := blockwisetest.Array{Shape: []int{2, 2, 2}, DType: dtype.Int64, Data: dtype.Bytes([]int64{0, 0, 1 << 28, 0, 0, 0, 512, 512})}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := blockwisetest.Try(t, m, []int{1024}, dtype.Float64, rows, windows)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; err == nil || taken > 16<<20 {
		t.Errorf("%d bytes were taken, and the error is %v", taken, err)
	}
}

func TestLevelsAreWithinTheirBounds(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.Uint8, dtype.Float32, dtype.Float64, dtype.Complex128} {
		for _, positions := range []bool{false, true} {
			for n := 100; n < 1e12; n = n*3 + 1 {
				l := newLine(n, Sorting{Type: dt, Positions: positions}).widened()
				size := l.records().size()
				all, err := levels(l, 2)
				if err != nil {
					if int64(n)*int64(size) < 1<<38 {
						t.Errorf("%d of %s: %v", n, dt, err)
					}
					continue
				}
				rows := 1
				for _, v := range all {
					if v.Rows != rows || v.Fan < 2 || v.Every%sampled != 0 {
						t.Errorf("%d of %s: %+v", n, dt, v)
					}
					w := Windows{v}
					if s := w.Requirements(nil).Scratch; s > 12<<20 && s > int64(l.Row*size) {
						t.Errorf("%d of %s: windows take %d bytes", n, dt, s)
					}
					if b := grid.Size(w.Chunks()) * 8; b > 16<<20 {
						t.Errorf("%d of %s: boxes of windows take %d bytes: %+v", n, dt, b, v)
					}
					if s := (Merge{v, true}).Requirements(nil).Scratch; s > 37<<20 {
						t.Errorf("%d of %s: a merge takes %d bytes", n, dt, s)
					}
					rows *= v.Fan
				}
				if rows < l.rows() {
					t.Errorf("%d of %s: merges of %d rows make %d", n, dt, l.rows(), rows)
				}
				if passes := len(all); (int64(n)*int64(size) <= 4<<30 || l.inPlace() && int64(n)*int64(size) <= 24<<30) && passes > 1 {
					t.Errorf("%d of %s: %d merges", n, dt, passes)
				}
			}
		}
	}
}

// The first of long lines, by rows that are short here, are those of sorted ones.
func TestTopIsSortingCut(t *testing.T) {
	rng := testcases.Rand(t)
	for _, dt := range []dtype.Type{dtype.Int8, dtype.Float32, dtype.Float64, dtype.Complex64, dtype.Complex128} {
		for _, positions := range []bool{false, true} {
			for _, c := range []struct{ n, row, first, join int }{
				{5000, 512, 20, 10}, {5000, 500, 100, 3}, {1030, 256, 60, 2}, {1025, 256, 60, 4}, {770, 256, 64, 2},
			} {
				shape := []int{2, c.n}
				data := elements(rng, dt, 2*c.n, dt.Size() < 8)
				in := blockwisetest.Array{Shape: shape, DType: dt, Data: data}
				s := Sorting{Type: dt, Positions: positions, Descending: c.first%8 == 0}
				sorted := blockwisetest.Fill(t, Lines{Sorting: s, Shape: shape, Axis: 1}, shape, s.result(), nil, in)
				size := s.result().Size()
				want := append(slices.Clone(sorted[:c.first*size]), sorted[c.n*size:][:c.first*size]...)
				cut := []int{2, c.first}
				if got := blockwisetest.Same(t, Lines{Sorting: s, Shape: shape, Axis: 1, First: c.first}, cut, s.result(), in); !bytes.Equal(got, want) {
					t.Fatalf("%s, positions %v, %+v: the first of lines", dt, positions, c)
				}
				l := Line{Sorting: s, N: c.n, Row: c.row}
				stored, words := l.stored()
				at := blockwisetest.Array{Shape: []int{2, l.rows(), c.first * words}, DType: stored}
				at.Data = blockwisetest.Same(t, TopRows{Line: l, Dims: 2, First: c.first}, at.Shape, stored, in)
				for span := 1; ; {
					j := TopConcat{Line: l, Dims: 2, First: c.first, Rows: at.Shape[1], Span: span, Join: c.join}
					span *= c.join
					have := (at.Shape[1] + c.join - 1) / c.join
					if j.Last = have == 1; j.Last {
						j.Join = at.Shape[1]
						if got := blockwisetest.Same(t, j, cut, s.result(), at); !bytes.Equal(got, want) {
							t.Fatalf("%s, positions %v, %+v: the first of rows", dt, positions, c)
						}
						break
					}
					to := []int{2, have, c.first * words}
					at = blockwisetest.Array{Shape: to, DType: stored, Data: blockwisetest.Same(t, j, to, stored, at)}
				}
			}
		}
	}
}

// memory is an input of one dimension.
type memory []byte

func (m memory) Read(_ context.Context, box grid.Box, dst []byte) error {
	size := len(dst) / max(box.Size(), 1)
	copy(dst, m[box.Start[0]*size:])
	return nil
}

func box1(n int) grid.Box { return grid.Entire([]int{n}) }

// The first of lines side by side, in parts that are short here, are those of sorted ones.
func TestTopAcrossIsSortingCut(t *testing.T) {
	rng := testcases.Rand(t)
	for _, dt := range []dtype.Type{dtype.Bool, dtype.Int8, dtype.Uint16, dtype.Float16, dtype.Int32, dtype.Float32, dtype.Uint64, dtype.Float64} {
		for _, positions := range []bool{false, true} {
			for _, c := range []struct {
				shape       []int
				axis, first int
			}{
				{[]int{1000, 7}, 0, 5}, {[]int{100, 3}, 0, 1}, {[]int{90, 2}, 0, 90}, {[]int{2, 333, 2, 3}, 1, 13}, {[]int{2, 9, 3}, 1, 2},
			} {
				for i := range 4 {
					data := elements(rng, dt, grid.Size(c.shape), i%2 == 0)
					in := blockwisetest.Array{Shape: c.shape, DType: dt, Data: data}
					s := Sorting{Type: dt, Positions: positions, Descending: i/2 == 0}
					out := slices.Clone(c.shape)
					out[c.axis] = c.first
					want := blockwisetest.Fill(t, Lines{Sorting: s, Shape: c.shape, Axis: c.axis, First: c.first}, out, s.result(), nil, in)
					a := Across{Sorting: s, Shape: c.shape, Axis: c.axis, First: c.first}
					stored, _ := a.line().stored()
					parts := blockwisetest.Array{Shape: a.partShape(), DType: stored}
					if a.groups() < 2 && c.shape[c.axis] > 2 {
						t.Fatalf("%v has one part", c.shape)
					}
					parts.Data = blockwisetest.Fill(t, TopAcross{a}, parts.Shape, stored, nil, in)
					if got := blockwisetest.Same(t, TopAcrossJoined{a}, out, s.result(), parts); !bytes.Equal(got, want) {
						t.Fatalf("%s, positions %v, descending %v, %+v: differs from the first of sorted lines", dt, positions, s.Descending, c)
					}
				}
			}
		}
	}
}

// Words of every span and many lengths are sorted, by scattering, by digits and in place.
func TestWordsAreSorted(t *testing.T) {
	rng := testcases.Rand(t)
	for _, n := range []int{0, 1, 2, 24, 25, 100, 1000, 40_000, 70_000, 300_000} {
		for _, width := range []int{1, 7, 9, 17, 18, 33, 64} {
			for _, skewed := range []bool{false, true} {
				a := make([]uint64, n)
				for i := range a {
					a[i] = rng.Uint64()>>(64-width) + 12345
					if skewed && i%100 != 0 {
						a[i] = a[i]>>(width/2) + 12345
					}
				}
				want := slices.Clone(a)
				slices.Sort(want)
				for _, room := range []int{n, n / 2, n / 300} {
					if got := sortWords(slices.Clone(a), make([]uint64, room), 0); !slices.Equal(got, want) {
						t.Fatalf("%d words of %d bits, skewed %v, with room for %d", n, width, skewed, room)
					}
				}
				short, wanted := make([]uint32, n), make([]uint32, n)
				for i := range a {
					short[i], wanted[i] = uint32(a[i]), uint32(a[i])
				}
				slices.Sort(wanted)
				for _, room := range []int{n, n / 3} {
					if got := sortWords(slices.Clone(short), make([]uint32, room), 0); !slices.Equal(got, wanted) {
						t.Fatalf("%d short words of %d bits, skewed %v, with room for %d", n, width, skewed, room)
					}
				}
				for i := range a { // keys above positions
					a[i] = a[i]<<32 | uint64(i)
				}
				want = slices.Clone(a)
				slices.Sort(want)
				if got := sortWords(a, make([]uint64, n), 32); !slices.Equal(got, want) {
					t.Fatalf("%d numbered words of %d bits, skewed %v", n, width, skewed)
				}
			}
		}
	}
}

// Lists of every span and many lengths, of which some are empty, are merged whether their
// words fit into what is sorted at once or not.
func TestListsAreMerged(t *testing.T) {
	rng := testcases.Rand(t)
	for _, n := range []int{0, 1, 100, 5000, 200_000} {
		for _, width := range []int{0, 1, 9, 33, 64} {
			for _, lists := range []int{1, 2, 50, 300} {
				for _, skewed := range []bool{false, true} {
					a := make([]uint64, n)
					for i := range a {
						a[i] = rng.Uint64() >> (64 - width)
						if skewed && i%100 != 0 {
							a[i] >>= width / 2
						}
					}
					from, to := make([]int64, lists), make([]int64, lists)
					at := 0
					for i := range lists {
						from[i] = int64(at)
						if at += rng.IntN(2*n/lists + 1); at > n || i == lists-1 {
							at = n
						}
						to[i] = int64(at)
						slices.Sort(a[from[i]:at])
					}
					want := slices.Clone(a)
					slices.Sort(want)
					for _, room := range []int{30, mergeRoom / 8} {
						got := make([]uint64, n)
						if mergeWords(a, got, make([]uint64, room), slices.Clone(from), to); !slices.Equal(got, want) {
							t.Fatalf("%d words of %d bits in %d lists, skewed %v, with room for %d", n, width, lists, skewed, room)
						}
					}
				}
			}
		}
	}
}

// What is brought into the order of keys is what the keys' positions point to.
func TestElementsGoWithTheirKeys(t *testing.T) {
	rng := testcases.Rand(t)
	shape := []int{2, 5000}
	keys := make([]uint64, grid.Size(shape))
	for i := range keys {
		keys[i] = rng.Uint64() >> (56 * (i % 2)) // every second one is there many times
	}
	key := blockwisetest.Array{Shape: shape, DType: dtype.Uint64, Data: dtype.Bytes(keys)}
	at := dtype.Slice[int64](blockwisetest.Fill(t, Lines{Sorting: Sorting{Type: dtype.Uint64, Positions: true}, Shape: shape, Axis: 1}, shape, dtype.Int64, nil, key))
	for _, dt := range []dtype.Type{dtype.Bool, dtype.Float16, dtype.Int32, dtype.Complex64, dtype.Complex128} {
		data := elements(rng, dt, grid.Size(shape), false)
		got := external2(t, Line{Sorting: Sorting{Type: dtype.Uint64, With: dt}, N: 5000, Row: 1024, Part: 1024}, 3, key, blockwisetest.Array{Shape: shape, DType: dt, Data: data})
		for i, from := range at {
			from += int64(i / 5000 * 5000)
			if !bytes.Equal(got[i*dt.Size():][:dt.Size()], data[int(from)*dt.Size():][:dt.Size()]) {
				t.Fatalf("%s: element %d is not the one whose key is there", dt, i)
			}
		}
	}
}
