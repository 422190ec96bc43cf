package interchange

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// daily is how many cases of each way of storing, and of each dtype, run at least
// where they are sampled.
const daily = 3

// TestWhatOthersWrite reads each array in two ways: by a run, and through a session
// with the least memory.
func TestWhatOthersWrite(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	all := testcases.Sample(t, theirCases(), daily, theirs.strata)
	put(t, filepath.Join(dir, "theirs.json"), all)
	run(t, python, "libraries.py", "write", dir)
	count := map[string]int{}
	for i, c := range all {
		count[c.Library]++
		t.Run(fmt.Sprintf("%s/%s/%s", c.Library, c.Name, c.DType), func(t *testing.T) {
			want := testcases.ReadFile(t, filepath.Join(dir, fmt.Sprintf("%d.want", i)))
			path := filepath.Join(dir, c.Path)
			a := oocore.Open(path)
			if a.Err() != nil {
				t.Fatal(a.Err())
			}
			if a.DType() != c.DType || !slices.Equal(a.Shape(), c.Shape) {
				t.Fatalf("it is %s of %v", a.DType(), a.Shape())
			}
			got, err := collect[c.DType](a)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("a run reads other elements: %.200x, want %.200x", got, want)
			}
			least(t, path, c, want)
		})
	}
	if !t.Failed() {
		t.Logf("%d arrays of others are read with equal bytes: %v", len(all), count)
	}
}

// collect runs an array and has its elements.
var collect = map[dtype.Type]func(a *oocore.Array) ([]byte, error){
	dtype.Bool: of[bool], dtype.Int8: of[int8], dtype.Int16: of[int16], dtype.Int32: of[int32], dtype.Int64: of[int64],
	dtype.Uint8: of[uint8], dtype.Uint16: of[uint16], dtype.Uint32: of[uint32], dtype.Uint64: of[uint64],
	dtype.Float16: of[dtype.Float16Bits], dtype.BFloat16: of[dtype.BFloat16Bits], dtype.Float32: of[float32], dtype.Float64: of[float64],
	dtype.Complex64: of[complex64], dtype.Complex128: of[complex128],
	dtype.Float8E4M3FN: of[dtype.Float8E4M3FNBits], dtype.Float8E5M2: of[dtype.Float8E5M2Bits],
}

func of[T dtype.Element](a *oocore.Array) ([]byte, error) {
	v, err := oocore.Collect[T](context.Background(), a, oocore.Memory("256MiB"))
	return dtype.Bytes(v), err
}

// least reads an array with the least memory, in slabs of two rows.
func least(t *testing.T, path string, c theirs, want []byte) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	info := a.Info()
	read := func(dst []byte, r grid.Region) error { return a.Read(t.Context(), dst, r) }
	if coded, ok := a.(storage.Coded); ok {
		s, err := coded.Session(make([]byte, info.Work.Stream))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		read = func(dst []byte, r grid.Region) error {
			_, err := s.Read(t.Context(), dst, r)
			return err
		}
	}
	size := info.DType.Size()
	got := make([]byte, 0, len(want))
	if len(info.Shape) == 0 {
		got = got[:size]
		err = read(got, storetest.All(nil))
	} else {
		row := size * grid.Size(info.Shape[1:])
		for at := 0; at < info.Shape[0] && err == nil; at += 2 {
			r := storetest.All(slices.Clone(info.Shape))
			r.Start[0], r.Count[0] = at, min(2, info.Shape[0]-at)
			got = got[:len(got)+r.Count[0]*row]
			err = read(got[at*row:], r)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if info.Fortran {
		got = transposed(got, info.Shape, size)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("a session reads other elements: %.200x, want %.200x", got, want)
	}
}

// transposed has the axes of a dense array in the opposite order.
func transposed(b []byte, shape []int, size int) []byte {
	out := make([]byte, 0, len(b))
	strides := grid.Strides(shape)
	last := make([]int, len(shape))
	for n := range grid.Size(shape) {
		at := 0
		for d := range shape { // the first axis is the fastest
			last[d] = n % shape[d]
			n /= shape[d]
			at += last[d] * strides[d]
		}
		out = append(out, b[at*size:][:size]...)
	}
	return out
}

// TestWhatOthersRead writes each array by a run.
func TestWhatOthersRead(t *testing.T) {
	python := full(t)
	dir := t.TempDir()
	all := testcases.Sample(t, ourCases(), daily, ours.strata)
	put(t, filepath.Join(dir, "ours.json"), all)
	count := map[string]int{}
	for i, c := range all {
		want := elements(c.DType, grid.Size(c.Shape))
		raw := filepath.Join(dir, fmt.Sprintf("%d.want", i))
		testcases.WriteFile(t, raw, want, 0o666)
		shape := strings.Trim(strings.ReplaceAll(grid.Format(c.Shape), " ", ""), "(,)")
		if shape == "" {
			shape = "()"
		}
		how := []oocore.Option{oocore.Memory("256MiB")}
		if c.Chunks != nil {
			how = append(how, oocore.Chunks(c.Chunks...))
		}
		if c.Shards != nil {
			how = append(how, oocore.Shards(c.Shards...))
		}
		if c.Codec != "" {
			how = append(how, oocore.Codec(c.Codec))
		}
		a := oocore.Open(raw + "?shape=" + shape + "&dtype=" + c.DType.String())
		if _, err := a.Save(context.Background(), filepath.Join(dir, c.Path), how...); err != nil {
			t.Fatalf("%s of %s: %v", c.Name, c.DType, err)
		}
		for _, library := range c.Libraries {
			count[library]++
		}
	}
	var wrong [][3]any
	if err := json.Unmarshal(run(t, python, "libraries.py", "read", dir), &wrong); err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		c := all[int(w[0].(float64))]
		t.Errorf("%s of %s, read by %s: %s", c.Name, c.DType, w[1], w[2])
	}
	total := 0
	for _, n := range count {
		total += n
	}
	if !t.Failed() {
		t.Logf("%d arrays from here are read by others, %d times in all, with equal elements: %v", len(all), total, count)
	}
}

// elements are such that most codecs compress them and any two neighbours differ.
func elements(t dtype.Type, n int) []byte {
	b := storetest.Elements(t, n)
	if t != dtype.Bool {
		for i := range b {
			if i%t.Size() > 0 && i/t.Size()%5 > 0 {
				b[i] = byte(i / 64)
			}
		}
	}
	return b
}

// full finds a Python with the libraries.
func full(t *testing.T) (python string) {
	t.Helper()
	if !testcases.Full() {
		t.Skip("left out: the matrix of formats against zarr-python, TensorStore, NumPy and safetensors, for which GONBEXT_TEST=full makes these")
	}
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	return testcases.Venv(t, "zarr-3.1.6", "numpy==2.4.6", "ml_dtypes==0.5.4", "zarr==3.1.6", "numcodecs==0.16.6", "tensorstore==0.1.86", "safetensors==0.8.0")
}

// run is what a command prints.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, problems.Bytes())
	}
	return out
}

func put(t *testing.T, path string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
