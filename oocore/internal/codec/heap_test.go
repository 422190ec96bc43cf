package codec

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// live is what is on the heap.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// allocated is what was ever put on the heap.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// TestHeap holds what libraries keep to what Work says, and what they make anew for
// each chunk to nearly nothing.
func TestHeap(t *testing.T) { engines(t, heap) }

func heap(t *testing.T) {
	for _, text := range []string{"zstd:1", "zstd:3", "zstd:7"} {
		t.Run(text, func(t *testing.T) { heapOf(t, text, 3<<20) })
	}
	for _, text := range []string{"none", "zstd:1", "zstd:3", "gzip:0", "gzip:1", "gzip:2", "gzip:3", "gzip:4", "gzip:5", "gzip:7", "gzip:8", "gzip:9",
		"blosc:lz4:5:shuffle", "blosc:lz4hc:1:shuffle", "blosc:zlib:1:shuffle", "blosc:zstd:2:bitshuffle"} {
		t.Run(text, func(t *testing.T) { heapOf(t, text, 200<<10) })
	}
}

func heapOf(t *testing.T, text string, n int) {
	ctx := context.Background()
	p, err := Parse(text, []int{n / 4}, dtype.Float32)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	chunk := field(p.raw, p.t)
	for i := range len(chunk) / 8 {
		chunk[8*i] = byte(r.IntN(256)) // as pictures have it: literals and matches
	}
	ew, dw := p.EncodeWork(), p.DecodeWork()
	mem := make([]byte, max(ew.Whole, ew.Stream, dw.Whole, dw.Stream))
	data := make(stored, 0, 2*p.MaxEncoded())
	out := make([]byte, n)
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	uses := []struct {
		name  string
		said  int64
		whole bool
		open  func() (each func(), close func())
	}{
		{"encoding", ew.Heap, true, func() (func(), func()) {
			e, err := p.Encoder(mem)
			fail(err)
			return func() {
				b, err := e.Whole(ctx, chunk)
				fail(err)
				data = append(data[:0], b...)
			}, e.Close
		}},
		{"encoding as a stream", ew.Heap, false, func() (func(), func()) {
			e, err := p.Encoder(mem)
			fail(err)
			return func() {
				data = data[:0]
				fail(e.Begin(ctx, &data))
				fail(e.Next(ctx, chunk))
				_, err := e.End(ctx)
				fail(err)
			}, e.Close
		}},
		{"decoding", dw.Heap, true, func() (func(), func()) {
			d, err := p.Decoder(mem)
			fail(err)
			return func() {
				_, err := d.Whole(ctx, out, &data)
				fail(err)
			}, d.Close
		}},
		{"decoding a stream", dw.Heap, false, func() (func(), func()) {
			d, err := p.Decoder(mem)
			fail(err)
			return func() {
				fail(d.Begin(ctx, &data))
				_, err := d.Next(ctx, out)
				fail(err)
			}, d.Close
		}},
	}
	for _, u := range uses {
		live()
		before := live()
		each, close := u.open()
		each()
		kept := live() - before
		const objects = 8 << 10 // ours, and the test's
		if kept > u.said+objects {
			t.Errorf("%d bytes: %s keeps %d bytes, Heap says %d", n, u.name, kept, u.said)
		}
		start := allocated()
		const chunks = 2
		for range chunks {
			each()
		}
		if made := (allocated() - start) / chunks; made > 16<<10 {
			t.Errorf("%d bytes: %s makes %d bytes for each chunk", n, u.name, made)
		}
		close()
	}
	runtime.KeepAlive(mem)
	if !bytes.Equal(out, chunk) {
		t.Error("other elements")
	}
}

// TestBomb is a small chunk that says, or is, much.
func TestBomb(t *testing.T) { engines(t, bomb) }

func bomb(t *testing.T) {
	for _, text := range []string{"zstd:1", "gzip:9", "blosc:lz4:9:shuffle", "blosc:zstd:5:shuffle"} {
		large, err := Parse(text, []int{16 << 20}, dtype.Uint8)
		if err != nil {
			t.Fatal(err)
		}
		data, err := encodeWhole(large, make([]byte, large.raw))
		if err != nil {
			t.Fatal(err)
		}
		small, err := Parse(text, []int{512 << 10}, dtype.Uint8)
		if err != nil {
			t.Fatal(err)
		}
		work := make([]byte, max(small.DecodeWork().Whole, small.DecodeWork().Stream))
		out := make([]byte, small.raw)
		d, err := small.Decoder(work)
		if err != nil {
			t.Fatal(err)
		}
		start := allocated()
		if _, err := d.Whole(context.Background(), out, &data); err == nil {
			t.Errorf("%s: 16 MiB are decoded as a chunk of 512 KiB", text)
		}
		err = d.Begin(context.Background(), &data)
		if err == nil {
			_, err = d.Next(context.Background(), out)
		}
		if err == nil {
			t.Errorf("%s: 16 MiB are decoded as a stream of 512 KiB", text)
		}
		if made := allocated() - start; made > small.DecodeWork().Heap+64<<10 {
			t.Errorf("%s: rejecting takes %d bytes of the heap", text, made)
		}
		d.Close()
	}
}
