package oocore_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/cloud" // for addresses of web servers
	"github.com/gonbext/gonbext/oocore/linalg"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Rows that arrive become a file; nothing is seen under its name until the last.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	w, err := oocore.Create[float32](context.Background(), filepath.Join(dir, "rows.npy"), []int{-1, 3})
	if err != nil {
		panic(err)
	}
	defer w.Abort()
	for i := range 1000 {
		if err := w.Append([]float32{float32(i), 1, 2}); err != nil {
			panic(err)
		}
	}
	x, err := w.Commit()
	if err != nil {
		panic(err)
	}
	fmt.Println(x)
	// Output: rows.npy: 1,000 × 3 float32, 11.7 KiB
}

// An iterator's rows, filtered, without holding them.
func ExampleFromSeq() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	x := oocore.Arange(0, 12, 1).Reshape(4, 3)
	even := func(yield func([]int64, error) bool) {
		for row, err := range oocore.RowsOf[int64](ctx, x) {
			if (err != nil || row[0]%2 == 0) && !yield(row, err) {
				return
			}
		}
	}
	kept, err := oocore.FromSeq(ctx, even, filepath.Join(dir, "even.npy"))
	if err != nil {
		panic(err)
	}
	fmt.Println(oocore.Collect[int64](ctx, kept))
	// Output: [0 1 2 6 7 8] <nil>
}

func ExampleChunksOf() {
	x := oocore.Arange(0, 24, 1).Reshape(4, 6)
	for chunk, err := range oocore.ChunksOf[int64](context.Background(), x, oocore.Chunks(2, 4)) {
		fmt.Println(chunk.At, chunk.Data, err)
	}
	// Output:
	// [0:2, 0:4] [0 1 2 3 6 7 8 9] <nil>
	// [0:2, 4:6] [4 5 10 11] <nil>
	// [2:4, 0:4] [12 13 14 15 18 19 20 21] <nil>
	// [2:4, 4:6] [16 17 22 23] <nil>
}

func ExampleFromFunc() {
	x := oocore.FromFunc(func(at []int) float64 { return float64(10*at[0] + at[1]) }, 2, 3)
	fmt.Println(x.Print(context.Background(), os.Stdout))
	// Output:
	// [[ 0.  1.  2.]
	//  [10. 11. 12.]]
	// <nil>
}

// A reduction of one's own, out of core: the logarithm of the sum of exponentials.
func ExampleReduceFunc() {
	type state struct{ most, sum float64 }
	add := func(s *state, most, sum float64) {
		m := max(s.most, most)
		*s = state{m, s.sum*math.Exp(s.most-m) + sum*math.Exp(most-m)}
	}
	x := oocore.FromSlice([]float64{1, 2, 3, 1000, 1000, 1000}, 2, 3)
	lse := oocore.ReduceFunc(
		func() state { return state{-math.MaxFloat64, 0} },
		func(s *state, v float64) { add(s, v, 1) },
		func(s, t *state) { add(s, t.most, t.sum) },
		func(s *state) float64 { return s.most + math.Log(s.sum) }, x, 1)
	all, err := oocore.CollectAll[float64](context.Background(), []*oocore.Array{lse, x.LogSumExp(1)})
	fmt.Printf("%.4f %v\n", all, err)
	// Output: [[3.4076 1001.0986] [3.4076 1001.0986]] <nil>
}

// Inference: rows of three become rows of two.
func ExampleMapOptions_row() {
	x := oocore.Arange(0, 12, 1).AsType(oocore.Float32).Reshape(4, 3)
	ends := oocore.MapChunks(func(dst, src []float32, at oocore.Block) error {
		for i := range at.Shape[0] {
			dst[2*i], dst[2*i+1] = src[3*i], src[3*i+2]
		}
		return nil
	}, x, oocore.MapOptions{Row: []int{2}})
	v, err := oocore.Collect[float32](context.Background(), ends)
	fmt.Println(ends.Shape(), v, err)
	// Output: [4 2] [0 2 3 5 6 8 9 11] <nil>
}

// A response's body becomes a file, in another format.
func ExampleFromReader() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = oocore.Arange(0, 6, 1).Reshape(2, 3).WriteTo(r.Context(), w, "npy")
	}))
	defer server.Close()
	response, err := http.Get(server.URL)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	x, err := oocore.FromReader(context.Background(), response.Body, "npy", filepath.Join(dir, "x.zarr"))
	fmt.Println(x, err)
	// Output: x.zarr: 2 × 3 int64, 48 bytes, in chunks of 2 × 3 <nil>
}

// Windows of a file on a web server: only their bytes are asked for.
func Example_windows() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	if _, err := oocore.Arange(0, 1_000_000, 1).Reshape(1000, 1000).Save(ctx, filepath.Join(dir, "x.npy")); err != nil {
		panic(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	x := oocore.Open(server.URL + "/x.npy")
	for row := 0; row < 1000; row += 500 {
		window := x.Index(oocore.Range{Start: row, Stop: row + 2}, oocore.Range{Start: 10, Stop: 13})
		fmt.Println(oocore.Collect[int64](ctx, window))
	}
	// Output:
	// [10 11 12 1010 1011 1012] <nil>
	// [500010 500011 500012 501010 501011 501012] <nil>
}

// The first two principal components of a matrix of any number of rows.
func Example_principalComponents() {
	ctx := context.Background()
	t := oocore.Linspace(-1, 1, 10_000)
	noise := oocore.RandomNormal(oocore.Float64, 1, 10_000, 3).Mul(0.001)
	x := oocore.Stack(1, t.Mul(3), t.Mul(4), oocore.Zeros(oocore.Float64, 10_000)).Add(noise)
	v, err := oocore.Collect[float64](ctx, linalg.PCA(x, 2).Scores.Std(0), oocore.Memory("64MiB"))
	fmt.Printf("%.2f %v\n", v, err)
	// Output: [2.89 0.00] <nil>
}

// The matrices of a checkpoint in half precision, as one run.
func Example_checkpoint() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	model := new(oocore.Collection).
		With("layer.weight", oocore.Random(oocore.Float32, 1, 64, 64)).
		With("layer.bias", oocore.Zeros(oocore.Float32, 64))
	if model, err = model.Save(ctx, filepath.Join(dir, "model.safetensors")); err != nil {
		panic(err)
	}
	half := model.Map(func(name string, x *oocore.Array) *oocore.Array {
		if x.Dims() < 2 {
			return x
		}
		return x.AsType(oocore.Float16)
	})
	half, err = half.Save(ctx, filepath.Join(dir, "half.safetensors"), oocore.Memory("256MiB"))
	for name, x := range half.All() {
		fmt.Println(name, x.DType(), x.Shape(), err)
	}
	// Output:
	// layer.bias float32 [64] <nil>
	// layer.weight float16 [64 64] <nil>
}

// Programs of users are short: no example of this file, and of the adapters, has more than 25 lines of its own.
func TestProgramsOfExamplesAreShort(t *testing.T) {
	const most = 25
	n := 0
	for _, pattern := range []string{"example_programs_test.go", "adapters/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			positions := token.NewFileSet()
			tree, err := parser.ParseFile(positions, file, nil, 0) // without comments
			if err != nil {
				t.Fatal(err)
			}
			text := testcases.ReadFile(t, file)
			all := strings.Split(string(text), "\n")
			for _, d := range tree.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
					continue
				}
				n++
				lines := 0
				for _, line := range all[positions.Position(f.Body.Lbrace).Line : positions.Position(f.Body.Rbrace).Line-1] {
					// A folder for the example's files and its removal are not the user's.
					if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") && !strings.Contains(line, "os.MkdirTemp") && !strings.Contains(line, "os.RemoveAll") {
						lines++
					}
				}
				if lines > most {
					t.Errorf("%s: %s has %d lines", file, f.Name.Name, lines)
				}
			}
		}
	}
	if n < 12 {
		t.Errorf("only %d examples were found", n)
	}
}
