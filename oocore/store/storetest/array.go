// Package storetest is the suite of tests that every store passes.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy" // formats that tests compare with
	_ "github.com/gonbext/gonbext/oocore/internal/format/raw"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// willRead gives an array a hint, which it may take at any time for any region.
func willRead(a store.Array, r grid.Region) {
	if a, ok := a.(storage.Ahead); ok {
		a.WillRead(r)
	}
}

// TestArray tests reading. open stores the given elements, dense and in C
// order, and opens what it stored; types are those that the format can hold.
func TestArray(t *testing.T, types []dtype.Type, open func(t testing.TB, m store.Meta, data []byte) store.Array) {
	ctx := context.Background()
	NoLeaks(t)
	stored := func(t testing.TB, dt dtype.Type, shape ...int) (store.Array, []byte) {
		t.Helper()
		data := Elements(dt, grid.Size(shape))
		a := open(t, store.Meta{Shape: shape, DType: dt}, data)
		t.Cleanup(func() { a.Close() })
		return a, data
	}
	for _, dt := range types {
		t.Run(dt.String(), func(t *testing.T) {
			a, data := stored(t, dt, 5, 6)
			if info := a.Info(); info.DType != dt || grid.Format(info.Shape) != "(5, 6)" {
				t.Errorf("Info says shape %v of %s", info.Shape, info.DType)
			}
			checkRead(t, a, data, All([]int{5, 6}))
			checkRead(t, a, data, grid.Region{Start: []int{4, 1}, Count: []int{3, 3}, Step: []int{-2, 2}})
		})
	}
	for _, shape := range [][]int{{}, {0, 3}, {3, 0, 2}, {0}, {1}, {17}, {2, 3, 1, 4, 2}} {
		t.Run("shape"+grid.Format(shape), func(t *testing.T) {
			a, data := stored(t, types[0], shape...)
			if got := a.Info().Shape; grid.Format(got) != grid.Format(shape) {
				t.Errorf("Info says shape %v", got)
			}
			checkRead(t, a, data, All(shape))
		})
	}
	t.Run("regions", func(t *testing.T) {
		rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
			dt := rapid.SampledFrom(types).Draw(r, "dtype")
			shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 5).Draw(r, "shape")
			data := Elements(dt, grid.Size(shape))
			a := open(t, store.Meta{Shape: shape, DType: dt}, data)
			defer a.Close()
			willRead(a, DrawRegion(r, shape))
			checkRead(r, a, data, DrawRegion(r, shape))
		})
	})
	t.Run("concurrent", func(t *testing.T) {
		a, data := stored(t, types[0], 64, 33)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for row := range 64 {
					checkRead(t, a, data, grid.Region{Start: []int{(row + i) % 64, 32}, Count: []int{1, 33}, Step: []int{1, -1}})
				}
			})
		}
		wg.Wait()
	})
	t.Run("rejected", func(t *testing.T) {
		a, _ := stored(t, types[0], 4, 4)
		for name, c := range map[string]struct {
			r grid.Region
			n int
		}{
			"behind the end":     {grid.Region{Start: []int{1, 0}, Count: []int{4, 4}, Step: []int{1, 1}}, 16},
			"before the start":   {grid.Region{Start: []int{2, 0}, Count: []int{4, 4}, Step: []int{-1, 1}}, 16},
			"too few dimensions": {grid.Region{Start: []int{0}, Count: []int{4}, Step: []int{1}}, 4},
			"step of zero":       {grid.Region{Start: []int{0, 0}, Count: []int{4, 4}, Step: []int{0, 1}}, 16},
			"negative count":     {grid.Region{Start: []int{0, 0}, Count: []int{-4, -4}, Step: []int{1, 1}}, 16},
			"short buffer":       {All([]int{4, 4}), 15},
			"long buffer":        {All([]int{4, 4}), 17},
		} {
			willRead(a, c.r)
			if err := a.Read(ctx, Elements(types[0], c.n), c.r); err == nil {
				t.Errorf("%s: read without an error", name)
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		a, data := stored(t, types[0], 4, 4)
		done, cancel := context.WithCancel(ctx)
		cancel()
		if err := a.Read(done, make([]byte, len(data)), All([]int{4, 4})); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled read returns %v", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		a, data := stored(t, types[0], 4, 4)
		noError(t, a.Close())
		if err := a.Read(ctx, make([]byte, len(data)), All([]int{4, 4})); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("a read after Close returns %v", err)
		}
		willRead(a, All([]int{4, 4}))
	})
	t.Run("sessions", func(t *testing.T) {
		rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
			dt := rapid.SampledFrom(types).Draw(r, "dtype")
			shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(r, "shape")
			data := Elements(dt, grid.Size(shape))
			a := open(t, store.Meta{Shape: shape, DType: dt}, data)
			defer a.Close()
			coded, ok := a.(storage.Coded)
			if !ok { // it has nothing to decode
				return
			}
			work := a.Info().Work
			s, err := coded.Session(make([]byte, rapid.SampledFrom([]int64{work.Whole, work.Stream}).Draw(r, "work")))
			noError(r, err)
			defer s.Close()
			for range 4 {
				checkRead(r, reads{a, s}, data, DrawRegion(r, shape))
			}
		})
	})
	t.Run("parts", func(t *testing.T) {
		a, _ := stored(t, types[0], 64, 33)
		info := a.Info()
		if !info.Open {
			return
		}
		s, err := a.(storage.Coded).Session(make([]byte, info.Work.Whole))
		noError(t, err)
		defer s.Close()
		one := make([]byte, info.DType.Size())
		if n, err := s.Read(ctx, one, grid.Region{Start: []int{5, 3}, Count: []int{1, 1}, Step: []int{1, 1}}); err != nil || n > int64(len(one)) {
			t.Errorf("chunks lie open, and an element of one takes %d bytes: %v", n, err)
		}
	})
	t.Run("Info is the caller's", func(t *testing.T) {
		a, data := stored(t, types[0], 4, 4)
		a.Info().Shape[0] = 1000
		checkRead(t, a, data, All([]int{4, 4}))
	})
	t.Run("reshape", func(t *testing.T) {
		a, data := stored(t, types[0], 4, 6)
		r, ok := a.(storage.Reshaper)
		if !ok { // its arrays have one shape only
			return
		}
		b, err := r.Reshape([]int{3, 8})
		noError(t, err)
		checkRead(t, b, data, grid.Region{Start: []int{2, 1}, Count: []int{3, 4}, Step: []int{-1, 2}})
		checkRead(t, a, data, All([]int{4, 6}))
		for _, shape := range [][]int{{5, 5}, {-4, -6}, {}} {
			if _, err := r.Reshape(shape); err == nil {
				t.Errorf("(4, 6) became %v", shape)
			}
		}
	})
}

// reads is an array that is read through a session.
type reads struct {
	store.Array
	session store.Session
}

func (a reads) Read(ctx context.Context, dst []byte, r grid.Region) error {
	_, err := a.session.Read(ctx, dst, r)
	return err
}

// TestCoded reads an array that holds data, in sessions of so many bytes of work and without, several
// times at once, into a short buffer, cancelled, and closed.
func TestCoded(t *testing.T, a store.Array, data []byte, work int64) {
	t.Helper()
	info := a.Info()
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		s, err := a.(storage.Coded).Session(make([]byte, work))
		noError(r, err)
		defer s.Close()
		for range 3 {
			region := DrawRegion(r, info.Shape)
			want := Pick(data, info.Shape, info.DType.Size(), region)
			got := make([]byte, len(want))
			if _, err := s.Read(t.Context(), got, region); err != nil || !bytes.Equal(got, want) {
				r.Fatalf("%v of %v: %v, want %v: %v", region, info.Shape, got, want, err)
			}
			clear(got)
			if err := a.Read(t.Context(), got, region); err != nil || !bytes.Equal(got, want) {
				r.Fatalf("%v of %v without a session: %v", region, info.Shape, err)
			}
		}
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got := make([]byte, len(data))
			if err := a.Read(t.Context(), got, All(info.Shape)); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: several at once: %v", info.Path, err)
			}
		})
	}
	wg.Wait()
	if err := a.Read(t.Context(), make([]byte, 3), All(info.Shape)); err == nil || !strings.Contains(err.Error(), "the buffer 3") {
		t.Errorf("a short buffer: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Read(ended, make([]byte, len(data)), All(info.Shape)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read: %v", err)
	}
	a.Close()
	if err := a.Read(t.Context(), make([]byte, len(data)), All(info.Shape)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a read after Close: %v", err)
	}
}

// DrawRegion draws any region of a shape, with steps of either sign.
func DrawRegion(r *rapid.T, shape []int) grid.Region {
	n := len(shape)
	region := grid.Region{Start: make([]int, n), Count: make([]int, n), Step: make([]int, n)}
	for d, length := range shape {
		region.Step[d] = rapid.IntRange(1, 4).Draw(r, "step")
		if length == 0 {
			continue
		}
		region.Start[d] = rapid.IntRange(0, length-1).Draw(r, "start")
		room := length - 1 - region.Start[d]
		if rapid.Bool().Draw(r, "backwards") {
			room = region.Start[d]
			region.Step[d] *= -1
		}
		region.Count[d] = rapid.IntRange(0, room/max(region.Step[d], -region.Step[d])+1).Draw(r, "count")
	}
	return region
}

// checkRead compares a read with the elements picked one by one.
func checkRead(t interface{ Errorf(string, ...any) }, a store.Array, data []byte, r grid.Region) {
	info := a.Info()
	want := Pick(data, info.Shape, info.DType.Size(), r)
	got := bytes.Repeat([]byte{0xa5}, len(want))
	if err := a.Read(context.Background(), got, r); err != nil {
		t.Errorf("read of %+v: %v", r, err)
	} else if !bytes.Equal(got, want) {
		t.Errorf("read of %+v of shape %v %s: got %x, want %x", r, info.Shape, info.DType, got, want)
	}
}

// Pick returns the definition of a region: an element for every index, the last axis
// fastest.
func Pick(data []byte, shape []int, size int, r grid.Region) []byte {
	out := []byte{}
	for i := range r.Size() {
		at, stride := 0, 1
		for d := len(shape) - 1; d >= 0; d-- {
			at += (r.Start[d] + i%r.Count[d]*r.Step[d]) * stride
			i /= r.Count[d]
			stride *= shape[d]
		}
		out = append(out, data[at*size:(at+1)*size]...)
	}
	return out
}

// Elements returns n elements of a type in their bytes, any two of them almost
// surely different.
func Elements(t dtype.Type, n int) []byte {
	b := make([]byte, n*t.Size())
	source := rand.New(rand.NewPCG(uint64(n), uint64(t)))
	for i := range b {
		b[i] = byte(source.Uint32())
		if t == dtype.Bool {
			b[i] &= 1
		}
	}
	return b
}

// All returns the region of a whole array.
func All(shape []int) grid.Region {
	return grid.Entire(shape).Region()
}
