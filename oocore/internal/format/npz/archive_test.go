package npz

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/unpack"
	"github.com/gonbext/gonbext/oocore/store"
)

// sparseFile is a file that has zeros where nothing was written.
type sparseFile struct {
	parts map[int64][]byte
	size  int64
}

func (s *sparseFile) WriteAt(p []byte, at int64) (int, error) {
	s.parts[at] = bytes.Clone(p)
	s.size = max(s.size, at+int64(len(p)))
	return len(p), nil
}

func (s *sparseFile) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	for start, part := range s.parts {
		for i := range p {
			if j := at + int64(i) - start; j >= 0 && j < int64(len(part)) {
				p[i] = part[j]
			}
		}
	}
	if room := s.size - at; room < int64(len(p)) {
		return int(max(room, 0)), io.EOF
	}
	return len(p), nil
}

// What does not fit into 32 bits is read by the standard library, and by this
// package.
func TestLargeArchives(t *testing.T) {
	const huge = 5 << 30
	m := store.Meta{Shape: []int{huge}, DType: dtype.Int8}
	small := store.Meta{Shape: []int{3}, DType: dtype.Int16}
	first, err := newArchive(nil, []storage.NewMember{{Name: "huge", Meta: m}})
	if err != nil {
		t.Fatal(err)
	}
	// A small member behind a huge one, whose place does not fit.
	both, err := newArchive([]*entry{first.entries[0]}, []storage.NewMember{{Name: "small", Meta: small}})
	if err != nil {
		t.Fatal(err)
	}
	file := &sparseFile{parts: map[int64][]byte{}}
	for _, e := range both.entries {
		file.WriteAt(e.local(), e.at)
	}
	a, b := first.added[0], both.added[0]
	file.WriteAt(a.npy, a.elements-int64(len(a.npy)))
	file.WriteAt(b.npy, b.elements-int64(len(b.npy)))
	file.WriteAt(directory(both.entries, both.end), both.end)
	if file.size != both.end+both.directory {
		t.Errorf("the archive has %d bytes, %d were foreseen", file.size, both.end+both.directory)
	}
	z, err := zip.NewReader(file, file.size)
	if err != nil {
		t.Fatal(err)
	}
	for i, elements := range []int64{a.elements, b.elements} {
		at, err := z.File[i].DataOffset()
		npy := int64(len([][]byte{a.npy, b.npy}[i]))
		if want := elements - npy; err != nil || at != want {
			t.Errorf("%s is at %d, %v, want %d", z.File[i].Name, at, err, want)
		}
		if elements%4096 != 0 {
			t.Errorf("the elements of %s are at %d", z.File[i].Name, elements)
		}
	}
	for name, want := range map[string]store.Meta{"huge": m, "small": small} {
		f, err := find(file, file.size, name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.extent(io.NewSectionReader(file, f.at, f.packed), f.at)
		if err != nil || fmt.Sprint(e.Shape) != fmt.Sprint(want.Shape) || e.DType != want.DType {
			t.Errorf("%s is %v, %v", name, e, err)
		}
	}
}

// More members than 16 bits count need the wide form of the directory's end.
func TestManyMembers(t *testing.T) {
	var entries []*entry
	file := &sparseFile{parts: map[int64][]byte{}}
	var all []byte
	for i := range 70_000 {
		e := &entry{FileHeader: zip.FileHeader{Name: fmt.Sprintf("a%d.npy", i)}, at: int64(len(all))}
		all = append(all, e.local()...)
		entries = append(entries, e)
	}
	file.WriteAt(append(all, directory(entries, int64(len(all)))...), 0)
	files, err := Directory(file, file.size)
	if err != nil || len(files) != len(entries) || files[69_999].Name != "a69999.npy" {
		t.Fatalf("%d members, %v", len(files), err)
	}
}

// A member that was written with the sizes behind it, and fields of its own, keeps
// what is about it and loses what is about its old place.
func TestMembersAreKept(t *testing.T) {
	extra := append(append16(nil, zip64, 8), make([]byte, 8)...)
	mine := append(append16(nil, 0x7777, 5), 1, 2, 3, 4, 5)
	old := &entry{FileHeader: zip.FileHeader{
		Name: "ä.npy", Comment: "made by hand", Flags: 8 | utf8Names, Method: zip.Deflate, CreatorVersion: 3<<8 | 63, ExternalAttrs: 0o100640 << 16,
		ModifiedDate: 0x5a21, ModifiedTime: 0x1234, CRC32: 7, CompressedSize64: 2, UncompressedSize64: 9, Extra: append(extra, mine...),
	}}
	n, err := newArchive([]*entry{old}, []storage.NewMember{{Name: "b", Meta: store.Meta{Shape: []int{1}, DType: dtype.Int8}}})
	if err != nil {
		t.Fatal(err)
	}
	file := &sparseFile{parts: map[int64][]byte{}}
	file.WriteAt([]byte("X"), n.added[0].elements)
	if err := n.fill(context.Background(), file); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(file, file.size)
	if err != nil {
		t.Fatal(err)
	}
	got := z.File[0].FileHeader
	want := old.FileHeader
	if got.Name != want.Name || got.Comment != want.Comment || got.Flags != utf8Names || got.Method != want.Method || got.ExternalAttrs != want.ExternalAttrs ||
		!got.Modified.Equal(time.Date(2025, 1, 1, 2, 17, 40, 0, time.UTC)) || got.CRC32 != 7 || got.CompressedSize64 != 2 || got.UncompressedSize64 != 9 {
		t.Errorf("kept %+v, want %+v", got, want)
	}
	if !bytes.Equal(got.Extra, mine) {
		t.Errorf("extra fields %x, want %x", got.Extra, mine)
	}
	r, err := z.File[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || b[len(b)-1] != 'X' {
		t.Errorf("the new member: %v", err)
	}
}

func FuzzArchive(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.npz")
	bad, _ := filepath.Glob("testdata/bad/*.npz")
	for _, name := range append(files, bad...) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		names, err := readAll(t, b)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; len(b) < 1<<16 && taken > 16<<20*uint64(1+len(names)) {
			t.Errorf("%d bytes were allocated for a file of %d", taken, len(b))
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
	})
}

// readAll reads the first elements of every array of an archive.
func readAll(t *testing.T, b []byte) (names []string, err error) {
	r := bytes.NewReader(b)
	files, err := Directory(r, int64(len(b)))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		m, err := check(f, int64(len(b)))
		if err != nil {
			continue
		}
		names = append(names, f.Name)
		var e store.Extent
		packed := m.stream(r)
		cursors := unpack.NewPool(packed)
		cursors.Grow(1)
		if m.Method == zip.Store {
			e, err = m.extent(io.NewSectionReader(r, m.at, m.packed), m.at)
		} else {
			e, err = m.extent(cursors.Head(), 0)
		}
		if err != nil {
			continue
		}
		if m.Method == zip.Store {
			if e.Offset+e.Bytes() > int64(len(b)) {
				t.Errorf("%+v reaches beyond the file's %d bytes", e, len(b))
			}
			continue
		}
		window := make([]byte, unpack.WindowBytes)
		at := min(e.Offset+e.Bytes(), 1<<20)
		c, err := cursors.Take(context.Background(), 0, at)
		if err != nil {
			return names, err
		}
		if err := c.Seek(context.Background(), at, window); err == nil && at == m.size {
			if err := errors.Join(c.Seek(context.Background(), 0, window), c.Seek(context.Background(), at, window)); err != nil {
				t.Errorf("what was read once is not read again: %v", err)
			}
		}
	}
	return names, nil
}

func TestChecksum(t *testing.T) {
	data := bytes.Repeat([]byte("elements"), 300_000) // of several windows
	got, err := checksum(context.Background(), []byte("head"), bytes.NewReader(data))
	if want := crc32.ChecksumIEEE(append([]byte("head"), data...)); err != nil || got != want {
		t.Errorf("%08x, %v, want %08x", got, err, want)
	}
}
