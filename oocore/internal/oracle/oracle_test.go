package oracle

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/cmplx"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/decomp" // for expressions
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestReference runs the committed cases, which were made by
//
//	python reference.py testdata/reference.zip --cases 300
func TestReference(t *testing.T) {
	z, err := zip.OpenReader("testdata/reference.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	check(t, read(t, dir))
}

// TestLargeArrays asks the NumPy of this machine about arrays that take several
// chunks of their own accord.
func TestLargeArrays(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: new cases beside the committed ones, for which GONBEXT_TEST=full makes NumPy")
	}
	dir := t.TempDir()
	run(t, numpy(t), "reference.py", dir, "--seed", "3", "--cases", "40", "--large")
	check(t, read(t, dir))
}

// numpy finds a Python with NumPy.
func numpy(t *testing.T) string {
	return testcases.Venv(t, "numpy-2.4.6", "numpy==2.4.6", "ml_dtypes==0.5.4", "scipy==1.17.1", "zarr==3.1.6", "tensorly==0.10.0")
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// sample is one case: what it computes, from which files, to what.
type sample struct {
	dir        string // of its files
	number     int    // that they are called by
	Family     string
	Expression string
	Inputs     map[string]string // path to open, by name
	Rejected   string            // NumPy's words where it computes nothing
	DType      dtype.Type
	Shape      []int
	Chunks     []int
}

// read lists the cases that reference.py wrote to a folder.
func read(t *testing.T, dir string) []sample {
	t.Helper()
	text := testcases.ReadFile(t, filepath.Join(dir, "cases.json"))
	var all []sample
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].dir, all[i].number = dir, i
	}
	return all
}

// check computes each case.
func check(t *testing.T, all []sample) {
	for _, c := range all {
		dir, i := c.dir, c.number
		t.Run(fmt.Sprintf("%s/%d", c.Family, i), func(t *testing.T) {
			// A run log of its own: every run looks through the records of those before it.
			t.Setenv("GONBEXT_RUNS", filepath.Join(dir, "runs", strconv.Itoa(i)))
			names := make(oocore.Names)
			for name, path := range c.Inputs {
				names[name] = oocore.Open(filepath.Join(dir, path))
			}
			a := oocore.Eval(c.Expression, names)
			if c.Rejected != "" {
				if a.Err() != nil {
					return
				}
				// What follows from values, such as an index out of range, is found in the run.
				if _, err := save(t, a, filepath.Join(dir, fmt.Sprintf("%d-out.npy", i)), c, oocore.Memory("512MiB")); err == nil {
					t.Fatalf("%s gives %s, where NumPy says: %s", c.Expression, a, c.Rejected)
				}
				return
			}
			if a.Err() != nil {
				t.Fatalf("%s: %v", c.Expression, a.Err())
			}
			if a.DType() != c.DType || !slices.Equal(a.Shape(), c.Shape) {
				t.Fatalf("%s is %s of %v, want %s of %v", c.Expression, a.DType(), a.Shape(), c.DType, c.Shape)
			}
			want := testcases.ReadFile(t, filepath.Join(dir, fmt.Sprintf("%d.want", i)))
			allowed, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.error", i)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			// The same in the least memory on one core, in plenty on all, and on a device.
			out := filepath.Join(dir, fmt.Sprintf("%d-out.npy", i))
			least := leastMemory(t, a, out, c)
			plenty, err := save(t, a, out, c, oocore.Memory("512MiB"))
			if err != nil {
				t.Fatalf("%s: %v", c.Expression, err)
			}
			if !bytes.Equal(least, plenty) {
				t.Errorf("%s: the result depends on the budget or on the workers", c.Expression)
			}
			device, err := save(t, a, out, c, oocore.Memory("512MiB"), oocore.On(cuda.Model("8MiB")))
			if err != nil {
				t.Fatalf("%s on a modelled device: %v", c.Expression, err)
			}
			if !bytes.Equal(device, plenty) {
				t.Errorf("%s: the result depends on the device", c.Expression)
			}
			compare(t, c, plenty, want, allowed)
			if decomposes(c.Expression) { // before it is saved: also in the least memory
				again, err := save(t, leastEval(t, c, names), out, c, oocore.Memory("512MiB"))
				if err != nil {
					t.Fatalf("%s: %v", c.Expression, err)
				}
				compare(t, c, again, want, allowed)
			}
		})
	}
}

// leastMemory computes a case in the smallest budget, which the error of a
// smaller one names. The budget covers what this process holds already, to which
// earlier cases may still be adding: so it may take more than one attempt.
func leastMemory(t *testing.T, a *oocore.Array, out string, c sample) []byte {
	t.Helper()
	budget := int64(1 << 10)
	for range 5 {
		elements, err := save(t, a, out, c, oocore.Memory(strconv.FormatInt(budget, 10)), oocore.Workers(1))
		var small *oocore.MemoryError
		switch {
		case err == nil && budget > 1<<10:
			return elements
		case !errors.As(err, &small) || small.Need <= budget:
			t.Fatalf("%s in %d bytes: %v, want a MemoryError that needs more", c.Expression, budget, err)
		}
		budget = small.Need
	}
	t.Fatalf("%s: the budget that is said to do, %d bytes, is rejected again and again", c.Expression, budget)
	return nil
}

// decomposes reports an expression that runs algorithms while it is read.
func decomposes(expression string) bool {
	names := called(expression)
	return names["cp"] || names["tucker"] || names["hosvd"]
}

// leastEval reads an expression in the smallest budget that its runs say they need.
func leastEval(t *testing.T, c sample, names oocore.Names) *oocore.Array {
	t.Helper()
	budget := int64(1 << 10)
	for range 20 {
		a := oocore.EvalContext(context.Background(), c.Expression, names, oocore.Memory(strconv.FormatInt(budget, 10)), oocore.Workers(1))
		var small *oocore.MemoryError
		switch {
		case a.Err() == nil && budget > 1<<10:
			return a
		case !errors.As(a.Err(), &small) || small.Need <= budget:
			t.Fatalf("%s in %d bytes: %v, want a MemoryError that needs more", c.Expression, budget, a.Err())
		}
		budget = small.Need
	}
	t.Fatalf("%s: the budget that is said to do, %d bytes, is rejected again and again", c.Expression, budget)
	return nil
}

// save computes a case and returns the elements of the file, whose header must
// say what they are. Where it fails there is no file.
func save(t *testing.T, a *oocore.Array, out string, c sample, how ...oocore.Option) ([]byte, error) {
	t.Helper()
	if c.DType == dtype.BFloat16 { // npy has none
		out = out[:len(out)-len("npy")] + "bin"
	}
	if len(c.Chunks) > 0 {
		how = append(how, oocore.Chunks(c.Chunks...))
	}
	_, failed := a.Save(context.Background(), out, append(how, oocore.Fresh())...)
	file, err := os.ReadFile(out)
	if failed != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s failed (%v), and %s exists", c.Expression, failed, out)
		}
		return nil, failed
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if c.DType == dtype.BFloat16 {
		return file, nil
	}
	at := 10 + int(binary.LittleEndian.Uint16(file[8:]))
	descr := "<" + map[dtype.Kind]string{dtype.KindBool: "b", dtype.KindInt: "i", dtype.KindUint: "u", dtype.KindFloat: "f",
		dtype.KindComplex: "c"}[c.DType.Kind()] + strconv.Itoa(c.DType.Size())
	if c.DType.Size() == 1 {
		descr = "|" + descr[1:]
	}
	for _, said := range []string{"'descr': '" + descr + "'", "'fortran_order': False", "'shape': " + grid.Format(c.Shape)} {
		if !bytes.Contains(file[:at], []byte(said)) {
			t.Fatalf("%s: the file's header %q does not say %s", c.Expression, file[10:at], said)
		}
	}
	return file[at:], nil
}

// compare holds each element to NumPy's, within the error allowed for it.
func compare(t *testing.T, c sample, got, want, allowed []byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d bytes, want %d", c.Expression, len(got), len(want))
	}
	size := c.DType.Size()
	for i := 0; i < len(want)/size; i++ {
		g, w := got[i*size:(i+1)*size], want[i*size:(i+1)*size]
		if bytes.Equal(g, w) {
			continue
		}
		if c.DType.Kind() == dtype.KindFloat || c.DType.Kind() == dtype.KindComplex {
			tolerance := 0.0
			if allowed != nil {
				tolerance = math.Float64frombits(binary.LittleEndian.Uint64(allowed[i*8:]))
			}
			if near(element(g, c.DType), element(w, c.DType), tolerance) {
				continue
			}
		}
		t.Fatalf("%s: element %d of %s %v is %s, want %s", c.Expression, i, c.DType, c.Shape, show(g, c.DType), show(w, c.DType))
	}
}

func near(got, want complex128, tolerance float64) bool {
	return near1(real(got), real(want), tolerance) && near1(imag(got), imag(want), tolerance) || cmplx.Abs(got-want) <= tolerance
}

func near1(got, want, tolerance float64) bool {
	return got == want || math.Abs(got-want) <= tolerance || math.IsNaN(got) && math.IsNaN(want)
}

func element(b []byte, t dtype.Type) complex128 {
	var bits [16]byte
	copy(bits[:], b)
	v := dtype.Value{Type: t, Lo: binary.LittleEndian.Uint64(bits[:8]), Hi: binary.LittleEndian.Uint64(bits[8:])}
	switch t {
	case dtype.Complex64:
		return complex(v.Float(), float64(math.Float32frombits(uint32(v.Lo>>32))))
	case dtype.Complex128:
		return complex(v.Float(), math.Float64frombits(v.Hi))
	}
	return complex(v.Float(), 0)
}

func show(b []byte, t dtype.Type) string {
	switch t.Kind() {
	case dtype.KindComplex:
		return fmt.Sprint(element(b, t))
	case dtype.KindFloat:
		return fmt.Sprint(real(element(b, t)))
	}
	return fmt.Sprintf("%x", b)
}
