package npz

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
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
	files, err := readDirectory(file, file.size)
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

// blocks is a member of incompressible bytes of an array, in many deflated blocks.
func blocks(t *testing.T, n int) (elements []byte, file *bytes.Reader, m *member) {
	t.Helper()
	elements = make([]byte, n)
	source := rand.NewChaCha8([32]byte{})
	source.Read(elements)
	for i := range elements {
		elements[i] &= 0x1f
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a.npy")
	if err == nil {
		_, err = w.Write(elements)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	file = bytes.NewReader(b.Bytes())
	if m, err = find(file, file.Size(), "a"); err != nil {
		t.Fatal(err)
	}
	return elements, file, m
}

func TestSessionHeap(t *testing.T) {
	elements, file, m := blocks(t, 8<<20)
	const n = 20
	var pools [n]*pool
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range pools {
		p := newPool(m, file)
		p.grow(1)
		c, err := p.take(t.Context(), 0, m.size)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.seek(t.Context(), m.size, make([]byte, windowBytes)); err != nil {
			t.Fatal(err)
		}
		p.put(c)
		pools[i] = p
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := int64(after.HeapAlloc-before.HeapAlloc) / n
	if each > sessionHeap || each < sessionHeap/2 { // between half and all of the places are in use
		t.Errorf("a session takes %d bytes of the heap, it is said to take %d", each, sessionHeap)
	}
	runtime.KeepAlive(pools)
	runtime.KeepAlive(elements)
}

// From anywhere to anywhere the bytes are the member's, and the checksum is that of
// the whole member; and the way is short.
func TestSeek(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, which takes 30 s under the race detector")
	}
	elements, file, m := blocks(t, 8<<20)
	p := newPool(m, file)
	p.grow(1)
	window := make([]byte, windowBytes)
	c := newCursor(m, file, p)
	if err := c.seek(t.Context(), m.size, window); err != nil {
		t.Fatal(err)
	}
	if len(p.places) < sessionPlaces/2 || len(p.places) > sessionPlaces {
		t.Errorf("%d places are kept", len(p.places))
	}
	before := c.counted.n
	source := rand.New(rand.NewPCG(1, 2))
	const reads = 40
	for range reads {
		at := source.Int64N(m.size)
		n := min(source.Int64N(100_000), m.size-at)
		dst := make([]byte, n)
		if err := c.seek(t.Context(), at, window); err != nil {
			t.Fatal(err)
		}
		if err := c.read(t.Context(), dst); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst, elements[at:at+n]) {
			t.Fatalf("the %d bytes from %d on are wrong", n, at)
		}
	}
	if each := (c.counted.n - before) / reads; each > m.packed/4 {
		t.Errorf("a read took %d packed bytes of %d", each, m.packed)
	}
	c.m.CRC32++
	c.seek(t.Context(), 0, window)
	if err := c.seek(t.Context(), m.size, window); err == nil || !strings.Contains(err.Error(), "its checksum is") {
		t.Errorf("a wrong checksum behind a place: %v", err)
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
	files, err := readDirectory(r, int64(len(b)))
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
		c := newCursor(m, r, newPool(m, r))
		if m.Method == zip.Store {
			e, err = m.extent(io.NewSectionReader(r, m.at, m.packed), m.at)
		} else {
			e, err = m.extent(&front{cursor: c}, 0)
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
		window := make([]byte, windowBytes)
		at := min(e.Offset+e.Bytes(), 1<<20)
		if err := c.seek(context.Background(), at, window); err == nil && at == m.size {
			if c.resume(place{}); c.seek(context.Background(), at, window) != nil {
				t.Error("what was read once is not read again")
			}
		}
	}
	return names, nil
}

func TestReverse(t *testing.T) {
	shape := []int{2, 3, 5}
	b := make([]byte, 4*grid.Size(shape))
	for i := range grid.Size(shape) {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(i))
	}
	reverse(b, shape, 1, 4, make([]byte, 7)) // a scratch that fits nothing
	for i := range grid.Size(shape) {
		x, y, z := i/15, i/5%3, i%5
		if got, want := binary.LittleEndian.Uint32(b[4*i:]), uint32(x*15+(2-y)*5+z); got != want {
			t.Errorf("element %d is %d, want %d", i, got, want)
		}
	}
}

func TestChecksum(t *testing.T) {
	data := bytes.Repeat([]byte("elements"), 300_000) // of several windows
	got, err := checksum(context.Background(), []byte("head"), bytes.NewReader(data))
	if want := crc32.ChecksumIEEE(append([]byte("head"), data...)); err != nil || got != want {
		t.Errorf("%08x, %v, want %08x", got, err, want)
	}
}
