package storage_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Elements 0, 1, … 5 of a 2 × 3 array, as they lie in files of either order.
func TestCreateWritesFortranOrderAndBigEndian(t *testing.T) {
	for _, c := range []struct {
		path, header string
		columns, big bool
	}{
		{"c.npy", "'<f4', 'fortran_order': False", false, false},
		{"f.npy?order=F", "'<f4', 'fortran_order': True", true, false},
		{"b.npy?dtype=>f4", "'>f4', 'fortran_order': False", false, true},
		{"fb.npy?order=F&dtype=>float32", "'>f4', 'fortran_order': True", true, true},
		{"f.bin?order=F", "", true, false},
		{"b.bin?dtype=>f4", "", false, true},
		{"fb.bin?order=F&dtype=>f4&shape=2,3", "", true, true},
	} {
		m := store.Meta{Shape: []int{2, 3}, DType: dtype.Float32}
		path := filepath.Join(t.TempDir(), c.path)
		w, err := storage.Create(path, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []grid.Box{{Start: []int{0, 1}, Shape: []int{2, 2}}, {Start: []int{0, 0}, Shape: []int{2, 1}}} {
			var src []float32
			for i := range b.Shape[0] {
				for j := range b.Shape[1] {
					src = append(src, float32(3*(b.Start[0]+i)+b.Start[1]+j))
				}
			}
			if err := w.Write(t.Context(), dtype.Bytes(src), b); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(path, "?")
		file := testcases.ReadFile(t, name)
		want := []float32{0, 1, 2, 3, 4, 5}
		if c.columns {
			want = []float32{0, 3, 1, 4, 2, 5}
		}
		var text []byte
		for _, v := range want {
			if c.big {
				text = binary.BigEndian.AppendUint32(text, math.Float32bits(v))
			} else {
				text = binary.LittleEndian.AppendUint32(text, math.Float32bits(v))
			}
		}
		if !bytes.HasSuffix(file, text) || !bytes.Contains(file, []byte(c.header)) {
			t.Errorf("%s: it ends with % x, want % x, after a header with %s", c.path, file[len(file)-24:], text, c.header)
		}
		a, err := storage.Open(storage.Stored(path, m))
		if err != nil {
			t.Fatal(err)
		}
		info := a.Info()
		got := make([]byte, 24)
		if err := a.Read(t.Context(), got, grid.Entire(info.Shape).Region()); err != nil {
			t.Fatal(err)
		}
		if info.Fortran != c.columns || !bytes.Equal(got, dtype.Bytes(want)) {
			t.Errorf("%s: it is read as %v of shape %v", c.path, got, info.Shape)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCreateRejectsOrdersThatThereAreNot(t *testing.T) {
	m := store.Meta{Shape: []int{2, 3}, DType: dtype.Float32}
	for query, says := range map[string]string{
		"order=G": "neither C nor F", "dtype=>f8": "dtype=float64 in the path, the array has float32", "dtype=><f4": "more than one byte order",
		"dtype=>q": "q", "order=F&order=C": "twice",
	} {
		for _, name := range []string{"x.npy?", "x.bin?"} {
			w, err := storage.Create(filepath.Join(t.TempDir(), name+query), m)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s%s: %v, want %q", name, query, err, says)
			}
			if err == nil {
				_ = w.Abort()
			}
		}
	}
}
