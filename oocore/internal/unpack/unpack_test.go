package unpack

import (
	"bytes"
	"compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// streams are the same bytes, of many blocks, as each kind packs them: gzip and Zstandard in several members and frames.
func streams(t testing.TB, n int) (elements []byte, all []*Stream) {
	t.Helper()
	source := testcases.Rand(t)
	elements = make([]byte, n)
	for i := range elements {
		elements[i] = byte(source.Uint32()) & (0x1f << (i >> 16 % 5)) // some of which are stored as they are
	}
	cut := source.IntN(n)
	for kind, parts := range map[Kind][][]byte{Deflate: {elements}, Gzip: {elements[:cut], nil, elements[cut:]}, Zstd: {elements[:cut], nil, elements[cut:]}} {
		var b bytes.Buffer
		for i, part := range parts {
			w, err := writer(kind, &b, 1+source.IntN(8), i)
			if err == nil {
				_, err = w.Write(part)
			}
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if kind == Gzip {
			b.Write(make([]byte, 512)) // padding
		}
		all = append(all, &Stream{Kind: kind, Name: "x", File: bytes.NewReader(b.Bytes()), Packed: int64(b.Len()), Size: int64(n), CRC32: crc32.ChecksumIEEE(elements)})
	}
	return elements, all
}

func writer(kind Kind, b io.Writer, level, i int) (io.WriteCloser, error) {
	switch kind {
	case Deflate:
		return flate.NewWriter(b, level)
	case Zstd:
		return zstd.NewWriter(b, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	}
	w, err := gzip.NewWriterLevel(b, level)
	w.Name, w.Comment, w.Extra = strings.Repeat("n", i), strings.Repeat("c", i), make([]byte, i)
	return w, err
}

// A session takes no more of the heap than is said.
func TestSessionHeap(t *testing.T) {
	_, all := streams(t, 4<<20)
	for _, s := range all {
		const n = 4
		var pools [n]*Pool
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range pools {
			p := NewPool(s)
			p.Grow(1)
			c := testcases.Must[*Cursor](t)(p.Take(t.Context(), 0, s.Size))
			if err := c.Seek(t.Context(), s.Size, make([]byte, WindowBytes)); err != nil {
				t.Fatal(err)
			}
			p.Put(c)
			pools[i] = p
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if each := int64(after.HeapAlloc-before.HeapAlloc) / n; each > s.Heap() || each < s.Heap()/3 { // between half and all of the places are in use
			t.Errorf("%s: a session takes %d bytes of the heap, it is said to take %d", s.Kind, each, s.Heap())
		}
		runtime.KeepAlive(pools)
	}
}

// From anywhere to anywhere the bytes are the stream's, and the checksum is that of the whole; and the way is short.
func TestSeek(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, which takes 30 s under the race detector")
	}
	elements, all := streams(t, 4<<20)
	for _, s := range all {
		t.Run(string(s.Kind), func(t *testing.T) { seek(t, elements, s, testcases.Rand(t)) })
	}
	defer func(load func() *libZlib) { loadZlib = load }(loadZlib)
	loadZlib = func() *libZlib { return nil }
	elements, all = streams(t, 4<<20) // which the tests before have damaged
	for _, s := range all {
		if s.Kind != Zstd {
			t.Run(string(s.Kind)+" by package flate", func(t *testing.T) { seek(t, elements, s, testcases.Rand(t)) })
		}
	}
}

// What zlib takes of damaged streams are the bytes that package flate gives, and it takes those that flate takes.
func TestDamagedStreamsAreRejectedByZlibAsByFlate(t *testing.T) {
	if loadZlib() == nil {
		t.Skip("left out: streams by zlib, which this machine has not")
	}
	random := testcases.Rand(t)
	for range 2000 {
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, random.IntN(10))
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, random.IntN(5000))
		for i := range data {
			data[i] = byte(random.IntN(1 + random.IntN(60)))
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b := packed.Bytes()
		switch random.IntN(3) {
		case 0:
			b = b[:random.IntN(len(b))]
		case 1:
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		}
		s := &Stream{Kind: Deflate, Name: "x", File: bytes.NewReader(b), Packed: int64(len(b)), Size: -1}
		got, failed := io.ReadAll(newCursor(s, NewPool(s)).inflate)
		want, err := io.ReadAll(flate.NewReader(bytes.NewReader(b)))
		if (failed == nil) != (err == nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v, where flate gives %d, %v", len(got), failed, len(want), err)
		}
	}
}

func seek(t *testing.T, elements []byte, s *Stream, source *rand.Rand) {
	if size, err := s.Measure(t.Context()); size != s.Size || err != nil {
		t.Fatalf("%d bytes, %v, want %d", size, err, s.Size)
	}
	p := NewPool(s)
	p.Grow(1)
	window := make([]byte, WindowBytes)
	c := newCursor(s, p)
	if err := c.Seek(t.Context(), s.Size, window); err != nil {
		t.Fatal(err)
	}
	if s.Kind != Zstd && (len(p.places) < sessionPlaces/2 || len(p.places) > sessionPlaces) {
		t.Errorf("%d places are kept", len(p.places))
	}
	before, head := c.Packed(), p.Head()
	const reads = 20
	for range reads {
		at := source.Int64N(s.Size)
		dst := make([]byte, min(source.Int64N(100_000), s.Size-at))
		other := bytes.Clone(dst)
		if err := c.Seek(t.Context(), at, window); err != nil {
			t.Fatal(err)
		}
		if err := c.Read(t.Context(), dst); err != nil {
			t.Fatal(err)
		}
		if _, err := head.ReadAt(other, at>>source.IntN(20)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst, elements[at:at+int64(len(dst))]) || !bytes.Contains(elements, other) {
			t.Fatalf("the %d bytes from %d on are wrong", len(dst), at)
		}
	}
	if each := (c.Packed() - before) / reads; each > s.Packed/4 && s.Kind != Zstd {
		t.Errorf("a read took %d packed bytes of %d", each, s.Packed)
	}
	packed := testcases.Must[[]byte](t)(io.ReadAll(io.NewSectionReader(s.File, 0, s.Packed)))
	if s.Kind == Deflate {
		s.CRC32++
	} else {
		end := len(bytes.TrimRight(packed, "\x00"))
		packed = append(packed[:end-8:end-8], bytes.Repeat([]byte{7}, 8)...)
		s.File, s.Packed = bytes.NewReader(packed), int64(len(packed))
	}
	c = newCursor(s, p) // and its places
	if err := c.Seek(t.Context(), s.Size, window); err == nil {
		t.Error("a wrong checksum is no error")
	}
	// Bytes that are torn, wrong or followed by others are an error, and never a crash.
	for range 6 {
		torn := bytes.Clone(packed[:1+source.IntN(len(packed))])
		if source.IntN(2) == 0 {
			torn[source.IntN(len(torn))] ^= 1 << source.IntN(8)
		}
		broken := *s
		broken.File, broken.Packed, broken.Size = bytes.NewReader(torn), int64(len(torn)), -1
		if size, err := broken.Measure(t.Context()); s.Kind != Deflate && err == nil && size == s.Size {
			t.Error("a damaged stream is read")
		}
	}
}
