package sparse_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/hdf5"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	"github.com/gonbext/gonbext/oocore/internal/format/sparse"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestSparseInterchange reads what h5py and SciPy write, as SciPy makes it dense.
func TestSparseInterchange(t *testing.T) {
	storetest.Foreign(t, "sparse matrices of SciPy and AnnData", "testdata/make.py", 100)
}

// compressed stores a dense matrix of int32 as csr or csc in a file, and returns where it is.
func compressed(t testing.TB, file, kind string, shape []int, dense []int32) sparse.Matrix {
	t.Helper()
	major, minor := shape[0], shape[1]
	at := func(i, j int) int32 { return dense[i*shape[1]+j] }
	if kind == "csc" {
		major, minor = minor, major
		at = func(i, j int) int32 { return dense[j*shape[1]+i] }
	}
	var data, indices []int32
	pointers := []int32{0}
	for i := range major {
		for j := range minor {
			if v := at(i, j); v != 0 {
				data, indices = append(data, v), append(indices, int32(j))
			}
		}
		pointers = append(pointers, int32(len(data)))
	}
	save := func(name string, v []int32) string {
		storetest.Save(t, file+"#"+name, store.Meta{Shape: []int{len(v)}, DType: dtype.Int32}, dtype.Bytes(v))
		return file + "#" + name
	}
	return sparse.Matrix{Path: file, Kind: kind, Shape: shape, Data: save("data", data), Indices: save("indices", indices), Pointer: save("indptr", pointers)}
}

func TestSparseRegions(t *testing.T) {
	storetest.NoLeaks(t)
	random := rand.New(rand.NewPCG(testcases.Seed(t), 1))
	for _, kind := range []string{"csr", "csc"} {
		for _, shape := range [][]int{{37, 23}, {1, 40}, {40000, 1}, {3, 30000}} {
			dense := make([]int32, shape[0]*shape[1])
			for i := range dense {
				if random.IntN(3) == 0 {
					dense[i] = random.Int32() - 1<<30
				}
			}
			m := compressed(t, filepath.Join(t.TempDir(), "a.h5"), kind, shape, dense)
			a, err := sparse.Open(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			s, err := a.(storage.Coded).Session(make([]byte, a.Info().Work.Whole))
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(testcases.Seeded(t), func(rt *rapid.T) {
				r := storetest.DrawRegion(rt, shape)
				got := make([]byte, r.Size()*4)
				_, err := s.Read(t.Context(), got, r)
				if err != nil || !bytes.Equal(got, storetest.Pick(dtype.Bytes(dense), shape, 4, r)) {
					rt.Fatalf("%s of shape %v: other elements of %v: %v", kind, shape, r, err)
				}
			})
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			a.Close()
		}
	}
}

func TestSparseRejectsDamage(t *testing.T) {
	shape := []int{3, 4}
	dense := []int32{1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 4}
	for name, c := range map[string]struct {
		part string
		v    []int32
		want string
	}{
		"bounds that fall":        {"indptr", []int32{0, 3, 2, 4}, "the file is damaged"},
		"bounds beyond the end":   {"indptr", []int32{0, 2, 2, 5}, "the file is damaged"},
		"bounds below 0":          {"indptr", []int32{-1, 2, 2, 4}, "the file is damaged"},
		"too few bounds":          {"indptr", []int32{0, 2, 4}, "there should be 4"},
		"a place behind the row":  {"indices", []int32{0, 4, 0, 3}, "lies out of the shape"},
		"a place before the row":  {"indices", []int32{0, -1, 0, 3}, "lies out of the shape"},
		"too few places":          {"indices", []int32{0, 2}, "the file is damaged"},
		"two values of one place": {"indices", []int32{2, 2, 0, 3}, "sum_duplicates"},
	} {
		file := filepath.Join(t.TempDir(), "a.npz")
		m := compressed(t, file, "csr", shape, dense)
		b := make([]byte, 0, 16)
		for _, v := range c.v {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		storetest.Save(t, file+"#"+c.part, store.Meta{Shape: []int{len(c.v)}, DType: dtype.Int32}, b)
		a, err := sparse.Open(t.Context(), m)
		if err == nil {
			err = a.Read(t.Context(), make([]byte, 48), storetest.All(shape))
			a.Close()
		}
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}
