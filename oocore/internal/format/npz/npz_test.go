package npz_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// types are those that npy has.
var types = slices.DeleteFunc(dtype.All(), func(t dtype.Type) bool { return t == dtype.BFloat16 })

func TestConformance(t *testing.T) {
	t.Run("stored", func(t *testing.T) {
		storetest.TestArray(t, types, func(t testing.TB, m store.Meta, data []byte) store.Array {
			path := filepath.Join(t.TempDir(), "a.npz")
			storetest.Save(t, path, m, data)
			return storetest.Open(t, path)
		})
	})
	t.Run("deflated", func(t *testing.T) {
		storetest.TestArray(t, types, func(t testing.TB, m store.Meta, data []byte) store.Array {
			path := filepath.Join(t.TempDir(), "a.npz")
			deflate(t, path, m, data)
			return storetest.Open(t, path)
		})
	})
	t.Run("writer", func(t *testing.T) { storetest.TestWriter(t, types, place) })
	t.Run("resume", func(t *testing.T) { storetest.TestResume(t, dtype.Float32, place) })
}

// place is an array beside another one.
func place(t testing.TB) storetest.Place {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npz#x")
	return storetest.Place{
		Create: func(m store.Meta) (store.Writer, error) { return store.Create(path, m) },
		Open:   func(m store.Meta) (store.Array, error) { return store.Open(path) },
		Left:   func() []string { return storetest.List(t, dir) },
	}
}

// deflate writes an archive with the standard library.
func deflate(t testing.TB, path string, m store.Meta, data []byte) {
	t.Helper()
	header, err := npy.Header(m.Shape, m.DType, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create("a.npy")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{header, data} {
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenReadsWhatNumPyWrote(t *testing.T) {
	storetest.NoLeaks(t)
	files, _ := filepath.Glob("../npy/testdata/npy/*.npy")
	if len(files) != 22 {
		t.Fatalf("%d fixtures found, want 22", len(files))
	}
	for archive, codec := range map[string]string{"stored": "", "deflated": "deflate"} {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".npy")
			if strings.HasPrefix(name, "header") { // of versions that savez does not write
				continue
			}
			same(t, "testdata/"+archive+".npz#"+name, file, codec)
		}
	}
	same(t, "testdata/described.npz#one", "../npy/testdata/npy/float32.npy", "deflate")
	same(t, "testdata/described.npz#fortran", "../npy/testdata/npy/fortran.npy", "deflate")
	same(t, "testdata/single.npz", "../npy/testdata/npy/float32.npy", "")
	same(t, "testdata/single.npz#only.npy", "../npy/testdata/npy/float32.npy", "")
}

// same wants a member to be the array of an npy file.
func same(t *testing.T, path, npy, codec string) {
	t.Helper()
	a, want := storetest.Open(t, path), storetest.Open(t, npy)
	defer a.Close()
	defer want.Close()
	i, w := a.Info(), want.Info()
	if i.Format != "npz" || i.Codec != codec || i.DType != w.DType || i.Fortran != w.Fortran || !slices.Equal(i.Shape, w.Shape) {
		t.Errorf("%s is %s %s of %v, want %s of %v", path, i.Codec, i.DType, i.Shape, w.DType, w.Shape)
		return
	}
	if got, want := storetest.ReadAll(t, a), storetest.ReadAll(t, want); got != want {
		t.Errorf("%s: %x, want %x", path, got, want)
	}
}

func TestBadArchivesAreRejected(t *testing.T) {
	storetest.NoLeaks(t)
	causes := map[string]string{
		"absolute": `member "/etc/a.npy": the name leads out of the archive`, "backslash": `member "..\\a.npy": the name leads out`,
		"beyond":    `member "a.npy" claims 2000000 bytes: the file of`,
		"bomb":      `member "a.npy": it claims 4000000000 bytes, more than its`,
		"bzip2":     `member "a.npy": it is compressed by bzip2: stored and deflated members can be read`,
		"checksum":  `its checksum is`,
		"corrupt":   `member "a.npy", byte 4128 of 4128: more bytes follow than it claims`,
		"drive":     `member "C:/a.npy": the name leads out`,
		"duplicate": `member "a.npy" is there twice`, "empty": "the directory of the zip archive", "encrypted": `member "a.npy": it is encrypted`,
		"link": `member "link.npy" is a symbolic link`, "long": `member "a.npy": 4 bytes follow the elements`,
		"lzma": "it is compressed by LZMA", "none": "the file has no array", "object": "object dtype",
		"short": `member "a.npy": the file is cut short: shape (5, 6) of float32 needs 248 bytes, it has 244`, "storedsize": "it is stored as it is, and claims 248 bytes for 4000000",
		"traversal": `member "../a.npy": the name leads out`, "truncated": "the directory of the zip archive is missing",
	}
	files, _ := filepath.Glob("testdata/bad/*.npz")
	if len(files) != len(causes) {
		t.Fatalf("%d bad files found, want %d", len(files), len(causes))
	}
	for _, file := range files {
		a, err := store.Open(file)
		if err == nil {
			err = a.Read(t.Context(), make([]byte, grid.Size(a.Info().Shape)*a.Info().DType.Size()), storetest.All(a.Info().Shape))
			a.Close()
		}
		storetest.CheckError(t, err, file, causes[strings.TrimSuffix(filepath.Base(file), ".npz")])
	}
}

func TestOpenNamesTheArrays(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/described.npz":   `the file has "one", "fortran": add #NAME to the path`,
		"testdata/described.npz#x": `no array "x": the file has "one", "fortran"`,
		"testdata/stored.npz":      `"int16", "int32" and 8 more: add #NAME to the path`,
		"s3://bucket/a.npz#x":      "not read over s3: copy it to a disk",
	} {
		_, err := store.Open(path)
		storetest.CheckError(t, err, path, want)
	}
}

func TestArraysAreAddedAndReplaced(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "a.npz")
	original := testcases.ReadFile(t, "testdata/described.npz")
	testcases.WriteFile(t, file, original, 0o640)
	want := map[string]string{}
	for _, name := range []string{"one", "fortran"} {
		a := storetest.Open(t, file+"#"+name)
		want[name] = storetest.ReadAll(t, a)
		a.Close()
	}
	add := func(name string, dt dtype.Type, shape ...int) {
		t.Helper()
		data := storetest.Elements(dt, grid.Size(shape))
		storetest.Save(t, file+"#"+name, store.Meta{Shape: shape, DType: dt}, data)
		want[strings.TrimSuffix(name, ".npy")] = string(data)
		z, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if len(z.File) != len(want) {
			t.Errorf("%d members, want %d", len(z.File), len(want))
		}
		for _, m := range z.File { // the standard library checks what it reads
			r, err := m.Open()
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := b.ReadFrom(r); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
			r.Close()
		}
		for name, elements := range want {
			a := storetest.Open(t, file+"#"+name)
			if got := storetest.ReadAll(t, a); got != elements {
				t.Errorf("%s: %x, want %x", name, got, elements)
			}
			a.Close()
		}
	}
	add("bytes", dtype.Uint8, 13)
	add("größe/im Ordner", dtype.Float64, 700, 300) // longer than a window
	add("one", dtype.Int16, 2, 2)
	add("empty.npy", dtype.Float32, 0, 4)
	add("scalar", dtype.Complex128)
	if left := storetest.List(t, dir); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode is %v", st.Mode())
	}
}

func TestCreateRefuses(t *testing.T) {
	storetest.NoLeaks(t)
	dir := t.TempDir()
	bad, two := filepath.Join(dir, "bad.npz"), filepath.Join(dir, "two.npz")
	testcases.WriteFile(t, bad, []byte("something else"), 0o666)
	for _, name := range []string{"a", "b"} {
		storetest.Save(t, two+"#"+name, store.Meta{Shape: []int{2}, DType: dtype.Int8}, []byte{1, 2})
	}
	before := storetest.List(t, dir)
	m := store.Meta{Shape: []int{4}, DType: dtype.Int8}
	bfloat, zstd, shards, region := m, m, m, m
	bfloat.DType, zstd.Codec, shards.Shards, region.Region = dtype.BFloat16, "zstd:3", []int{4}, &grid.Box{Start: []int{0}, Shape: []int{1}}
	for _, c := range []struct {
		path, want string
		m          store.Meta
	}{
		{filepath.Join(dir, "a.npz"), "the npy format has no bfloat16", bfloat},
		{filepath.Join(dir, "a.npz"), `no codec "zstd:3"`, zstd},
		{filepath.Join(dir, "a.npz"), "no shards", shards},
		{filepath.Join(dir, "a.npz#../x"), "the name leads out of the archive", m},
		{filepath.Join(dir, "a.npz#"+strings.Repeat("x", 70000)), "the format allows 65535", m},
		{filepath.Join(dir, "no/a.npz"), "the folder", m},
		{bad + "#x", "the file is there and cannot be added to: the directory of the zip archive", m},
		{two, `which array? the file has "a", "b"`, m},
		{two + "#a", "regions of npz files are not written", region},
		{"s3://bucket/a.npz", "over s3", m},
	} {
		_, err := store.Create(c.path, c.m)
		storetest.CheckError(t, err, c.path, c.want)
	}
	if after := storetest.List(t, dir); !slices.Equal(before, after) {
		t.Errorf("%v is left, there was %v", after, before)
	}
}

// Sessions that take turns, in any order, decode the array about once.
func TestSessionsShareTheStream(t *testing.T) {
	storetest.NoLeaks(t)
	const rows, columns, slabs = 4096, 256, 64
	m := store.Meta{Shape: []int{rows, columns}, DType: dtype.Float32}
	data := make([]byte, rows*columns*4)
	for i := range rows * columns {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(i*i))
	}
	path := filepath.Join(t.TempDir(), "a.npz")
	deflate(t, path, m, data)
	a := storetest.Open(t, path)
	defer a.Close()
	coded := a.(storage.Coded)
	work := a.Info().Work
	tasks := make(chan int)
	var stored sync.Map
	var wg sync.WaitGroup
	for worker := range 3 {
		wg.Go(func() {
			s, err := coded.Session(make([]byte, work.Stream))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			total := int64(0)
			dst := make([]byte, len(data)/slabs)
			for i := range tasks {
				n, err := s.Read(t.Context(), dst, grid.Region{Start: []int{i * rows / slabs, 0}, Count: []int{rows / slabs, columns}, Step: []int{1, 1}})
				if err != nil || !bytes.Equal(dst, data[i*len(dst):][:len(dst)]) {
					t.Errorf("slab %d is wrong: %v", i, err)
				}
				total += n
			}
			stored.Store(worker, total)
		})
	}
	for i := range slabs {
		tasks <- i
	}
	close(tasks)
	wg.Wait()
	total := int64(0)
	stored.Range(func(_, n any) bool { total += n.(int64); return true })
	// Three cursors may begin, and one that comes late goes back; for the rest one
	// does all the work.
	if most := 2 * a.Info().Bytes; total < a.Info().Bytes || total > most {
		t.Errorf("%d bytes were read of a member of %d", total, a.Info().Bytes)
	}
}

func TestACancelledReadEnds(t *testing.T) {
	a := storetest.Open(t, "testdata/deflated.npz#float32")
	defer a.Close()
	s, err := a.(storage.Coded).Session(make([]byte, a.Info().Work.Stream))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := a.(storage.Coded).Session(make([]byte, 10)); err == nil {
		t.Error("a session works with 10 bytes")
	}
	if _, err := s.Read(t.Context(), nil, storetest.All([]int{5, 6})); err == nil {
		t.Error("a session reads into no buffer")
	}
}

func TestAFileThatChangesIsAnError(t *testing.T) {
	for _, name := range []string{"stored", "deflated"} {
		path := filepath.Join(t.TempDir(), "a.npz")
		m := store.Meta{Shape: []int{4, 4}, DType: dtype.Int32}
		if name == "stored" {
			storetest.Save(t, path, m, storetest.Elements(m.DType, 16))
		} else {
			deflate(t, path, m, storetest.Elements(m.DType, 16))
		}
		a := storetest.Open(t, path)
		if err := os.Truncate(path, 100); err != nil {
			t.Fatal(err)
		}
		if err := a.Read(t.Context(), make([]byte, 64), storetest.All(m.Shape)); !errors.Is(err, store.ErrCutShort) {
			t.Errorf("%s: %v", name, err)
		}
		a.Close()
	}
}

func TestAPlaceThatMoved(t *testing.T) { storetest.TestMovedMember(t, ".npz") }

// TestSessionsCloseOnce closes one session twice: another still has its cursor.
func TestSessionsCloseOnce(t *testing.T) {
	storetest.NoLeaks(t)
	a := storetest.Open(t, "testdata/described.npz#one")
	defer a.Close()
	var sessions [2]store.Session
	for i := range sessions {
		s, err := a.(storage.Coded).Session(make([]byte, a.Info().Work.Whole))
		if err != nil {
			t.Fatal(err)
		}
		sessions[i] = s
	}
	if err := errors.Join(sessions[0].Close(), sessions[0].Close()); err != nil {
		t.Fatal(err)
	}
	i := a.Info()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // where it would wait for ever
	defer cancel()
	if _, err := sessions[1].Read(ctx, make([]byte, grid.Size(i.Shape)*i.DType.Size()), storetest.All(i.Shape)); err != nil {
		t.Error(err)
	}
	if err := sessions[1].Close(); err != nil {
		t.Error(err)
	}
}
