package storage_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

func regionOf(m store.Meta, from, to int) store.Meta {
	m.Region = &grid.Box{Start: []int{from, 0}, Shape: []int{to - from, m.Shape[1]}}
	return m
}

// interrupt writes half of a region, and ends as a killed process would.
func interrupt(t *testing.T, path string, m store.Meta) {
	t.Helper()
	w, err := storage.Create(path, m)
	try(t, err)
	half := grid.Box{Start: m.Region.Start, Shape: []int{1, m.Shape[1]}}
	try(t, w.Write(t.Context(), bytes.Repeat([]byte{9}, half.Size()*m.DType.Size()), half))
	try(t, w.Suspend())
}

// An array with an unfinished region is rejected under any name that it has, or gets,
// and its region can be finished there.
func TestOpenRejectsUnfinishedRegionUnderAnyName(t *testing.T) {
	m := store.Meta{Shape: []int{4, 3}, DType: dtype.Int32}
	old := bytes.Repeat([]byte{1}, 48)
	for _, form := range []string{".npy", ".bin?shape=4,3&dtype=int32"} {
		for name, move := range map[string]func(from, to string) error{
			"renamed": os.Rename,
			"linked":  os.Link,
			"copied": func(from, to string) error {
				text, err := os.ReadFile(from)
				return errors.Join(err, os.WriteFile(to, text, 0o666))
			},
			"linked before": nil,
		} {
			t.Run(name+form, func(t *testing.T) {
				storetest.NoLeaks(t)
				dir := t.TempDir()
				ext, query, _ := strings.Cut(form, "?")
				if query != "" {
					query = "?" + query
				}
				file := func(name string) string { return filepath.Join(dir, name+ext) }
				x, y := file("x")+query, file("y")+query
				storetest.Save(t, x, m, old)
				if move == nil {
					try(t, os.Link(file("x"), file("y")))
				}
				interrupt(t, x, regionOf(m, 1, 3))
				if move != nil {
					try(t, move(file("x"), file("y")))
				}
				const want = "the writing of its region [1:3, 0:3] was not finished"
				_, err := storage.Open(y)
				storetest.CheckError(t, err, y, want)
				_, err = storage.Create(y, regionOf(m, 0, 1))
				storetest.CheckError(t, err, y, want)
				w, err := storage.Create(y, regionOf(m, 1, 3))
				try(t, err)
				part := bytes.Repeat([]byte{2}, 24)
				try(t, errors.Join(w.Write(t.Context(), part, *regionOf(m, 1, 3).Region), w.Commit(t.Context())))
				a, err := storage.Open(y)
				try(t, err)
				got := make([]byte, 48)
				try(t, errors.Join(a.Read(t.Context(), got, storetest.All(m.Shape)), a.Close()))
				if want := slices.Concat(old[:12], part, old[:12]); !bytes.Equal(got, want) {
					t.Errorf("it holds %v, want %v", got, want)
				}
				st, err := os.Stat(file("y"))
				if whole := int64(48); ext == ".bin" && (err != nil || st.Size() != whole) {
					t.Errorf("the file has %d bytes, want %d", st.Size(), whole)
				}
			})
		}
	}
}

// What a file has behind its elements stays: NumPy saves several arrays into one.
func TestRegionKeepsWhatFollowsTheArray(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	storetest.Save(t, path, small, bytes.Repeat([]byte{1}, 24))
	whole, err := os.ReadFile(path)
	try(t, err)
	for _, tail := range [][]byte{[]byte("short"), bytes.Repeat([]byte{0}, 5000), whole} {
		try(t, os.WriteFile(path, slices.Concat(whole, tail), 0o666))
		interrupt(t, path, regionOf(small, 1, 2))
		_, err = storage.Open(path)
		storetest.CheckError(t, err, path, "was not finished")
		w, err := storage.Create(path, regionOf(small, 1, 2))
		try(t, err)
		try(t, errors.Join(w.Write(t.Context(), bytes.Repeat([]byte{2}, 12), *regionOf(small, 1, 2).Region), w.Commit(t.Context())))
		got, err := os.ReadFile(path)
		if err != nil || len(got) != len(whole)+len(tail) || !bytes.Equal(got[len(whole):], tail) {
			t.Errorf("%d bytes are there, want %d with what followed: %v", len(got), len(whole)+len(tail), err)
		}
	}
}

// What a crash left of a mark that was not durable is no unfinished region: nothing
// was written yet. Other bytes at the end of a raw file are still an error.
func TestOpenAfterALostMark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.bin")
	path := file + "?shape=2,3&dtype=int32"
	elements := bytes.Repeat([]byte{1}, 24)
	line := []byte("gonbext: a region of this array was begun to be written, and not finished.\n")
	for n := 0; n <= len(line); n += 5 {
		try(t, os.WriteFile(file, slices.Concat(elements, line[:n], make([]byte, 1024-n)), 0o666))
		a, err := storage.Open(path)
		if err != nil {
			t.Fatalf("with %d bytes of a mark: %v", n, err)
		}
		try(t, a.Close())
	}
	w, err := storage.Create(path, regionOf(store.Meta{Shape: []int{2, 3}, DType: dtype.Int32}, 0, 1))
	try(t, err)
	try(t, w.Abort())
	if got, err := os.ReadFile(file); !bytes.Equal(got, elements) {
		t.Errorf("%d bytes are there, %v", len(got), err)
	}
	try(t, os.WriteFile(file, slices.Concat(elements, bytes.Repeat([]byte{7}, 1024)), 0o666))
	_, err = storage.Open(path)
	storetest.CheckError(t, err, path, "the file has 1048")
}
