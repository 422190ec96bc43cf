package exec_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// Products come out with the same bits in any budget and by any number of workers,
// whether super-tiles are one tile or the whole result, and take what was predicted.
// Elements are small whole numbers, so that the truth is arithmetic of int64.
func TestProductsInAnyBudget(t *testing.T) {
	const m, n = 700, 650
	k, least := 1100, 3 // super-tiles that are tried
	if testing.Short() || !testcases.Full() {
		k, least = 300, 2
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	numbers := func(n int) []int64 {
		v := make([]int64, n)
		for i := range v {
			v[i] = int64(random.IntN(16)) - 8
		}
		return v
	}
	x, y := numbers(m*k), numbers(k*n)
	want := make([]int64, m*n)
	for i := range m {
		for p := range k {
			v, row := x[i*k+p], y[p*n:][:n]
			for j, w := range row {
				want[i*n+j] += v * w
			}
		}
	}
	for _, c := range []struct{ in, out dtype.Type }{
		{dtype.Float32, dtype.Float32}, {dtype.Float64, dtype.Float64}, {dtype.Float16, dtype.Float16},
		{dtype.Int8, dtype.Int8}, {dtype.Int8, dtype.Int32}, {dtype.Float16, dtype.Float32}, {dtype.Int32, dtype.Int32},
	} {
		matrix := func(name string, v []int64, rows, cols int) *graph.Node {
			path := filepath.Join(dir, name+".npy")
			file := must[*os.File](t)(os.Create(path))
			if err := errors.Join(writeNPY(file, []int{rows, cols}, c.in, elements(c.in, v)), file.Close()); err != nil {
				t.Fatal(err)
			}
			return open(t, path)
		}
		a, b := matrix("a", x, m, k), matrix("b", y, k, n)
		node := must[*graph.Node](t)(graph.ProductAs(site, a, b, c.out))
		out := filepath.Join(dir, "out.npy")
		_, err := sized(node, compile.Target{Path: out}, size.Options{Budget: 1, Workers: 3})
		short := new(types.MemoryError)
		if !errors.As(err, &short) {
			t.Fatal(err)
		}
		var first []byte
		supers := map[[3]int]bool{}
		for _, o := range []size.Options{
			{Budget: 1 << 30, Workers: 2}, {Budget: short.Need, Workers: 3}, {Budget: short.Need + 1<<20, Workers: 1},
			{Budget: short.Need + 2<<20, Workers: 3}, {Budget: short.Need + 3<<20, Workers: 2}, {Budget: 1 << 30, Workers: 5},
		} {
			p := must[*size.Plan](t)(sized(node, compile.Target{Path: out}, o))
			s := p.Stages[0].Super
			supers[[3]int{s.SuperM, s.SuperN, s.Depth}] = true
			end, err := exec.Run(context.Background(), p, exec.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if end.Peak != p.Peak.Host() {
				t.Errorf("%v with %+v: the peak is %d bytes, predicted %d", c, o, end.Peak, p.Peak.Host())
			}
			got := must[[]byte](t)(os.ReadFile(out))
			got = got[len(got)-m*n*c.out.Size():]
			if first == nil {
				first = got
				if !bytes.Equal(got, elements(c.out, want)) {
					t.Errorf("%v: another product than by its definition", c)
				}
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%v: another result with %+v", c, o)
			}
		}
		if len(supers) < least {
			t.Errorf("%v: only super-tiles of %v were tried", c, supers)
		}
	}
}

// elements are whole numbers as a type has them.
func elements(t dtype.Type, v []int64) []byte {
	switch t {
	case dtype.Float32:
		return dtype.Bytes(converted[float32](v))
	case dtype.Float64:
		return dtype.Bytes(converted[float64](v))
	case dtype.Int8:
		return dtype.Bytes(converted[int8](v))
	case dtype.Int32:
		return dtype.Bytes(converted[int32](v))
	}
	out := make([]dtype.Float16Bits, len(v))
	for i, x := range v {
		out[i] = dtype.ToFloat16(float32(x))
	}
	return dtype.Bytes(out)
}

func converted[T int8 | int32 | float32 | float64](v []int64) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}

// Small matrices that are multiplied many at once are products by arithmetic, in order and
// backwards, also by a run that goes on after another that failed, and take what was predicted.
func TestSmallProductsManyAtOnce(t *testing.T) {
	const batch, m, n, k = 37, 300, 110, 90 // of two tiles
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(5, 6))
	numbers := func(name string, rows, cols int) ([]int64, *graph.Node) {
		v := make([]int64, batch*rows*cols)
		for i := range v {
			v[i] = int64(random.IntN(16)) - 8
		}
		path := filepath.Join(dir, name)
		file := must[*os.File](t)(os.Create(path))
		if err := errors.Join(writeNPY(file, []int{batch, rows, cols}, dtype.Float32, elements(dtype.Float32, v)), file.Close()); err != nil {
			t.Fatal(err)
		}
		return v, open(t, path)
	}
	x, a := numbers("a.npy", m, k)
	y, b := numbers("b.npy", k, n)
	want := make([]int64, batch*m*n)
	for i := range batch * m {
		for p := range k {
			v, row := x[i*k+p], y[(i/m*k+p)*n:][:n]
			for j, w := range row {
				want[i*n+j] += v * w
			}
		}
	}
	node := must[*graph.Node](t)(graph.Product(site, a, b))
	out := filepath.Join(dir, "out.npy")
	for _, workers := range []int{1, 2, 3, 8} {
		for _, by := range []exec.Executor{exec.Slots{}, oneByOne(exec.Slots{})} {
			p := must[*size.Plan](t)(sized(node, compile.Target{Path: out}, size.Options{Budget: 1 << 30, Workers: workers}))
			if p.Stages[0].Super.Beside < 2 {
				t.Fatalf("%d workers: %d at once", workers, p.Stages[0].Super.Beside)
			}
			once := func(fails int64) error {
				keep := must[*checkpoint.Checkpoint](t)(checkpoint.New(p.Plan, p.Fingerprint("", nil), false))
				fault := &storeFault{Op: readOp, N: fails, Err: errDisk}
				end, err := exec.Run(context.Background(), p, exec.Env{Checkpoint: keep, Executor: by, Open: func(path string) (store.Array, error) {
					a, err := store.Open(path)
					if err != nil {
						return nil, err
					}
					return fault.Array(a), nil
				}})
				if err == nil && end.Peak != p.Peak.Host() {
					t.Errorf("%d workers: the peak is %d bytes, predicted %d", workers, end.Peak, p.Peak.Host())
				}
				return err
			}
			if err := once(40); !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			if err := once(0); err != nil {
				t.Fatal(err)
			}
			got := must[[]byte](t)(os.ReadFile(out))
			if !bytes.Equal(got[len(got)-4*len(want):], elements(dtype.Float32, want)) {
				t.Errorf("%T, %d workers: another product than by its definition", by, workers)
			}
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
		}
	}
}
