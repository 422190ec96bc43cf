package disk

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// What a bounded reader returns is the file's, from front to back and at random, and it
// never asks for more than a piece beyond what is being read.
func TestReaderWithinBounds(t *testing.T) {
	const pieceBytes = 256 << 10
	want := make([]byte, 5*pieceBytes+12345)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range want {
		want[i] = byte(random.Uint32())
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, want, 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := System().OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	r := &reader{Handle: h, flight: &flight{pieceBytes, make(chan struct{}, 1)}}
	at := 0
	for i := range 200 {
		if i%7 == 0 {
			at = random.IntN(len(want))
		}
		p := make([]byte, random.IntN(3*pieceBytes>>(i%20)))
		n, err := r.ReadAt(p, int64(at))
		whole := min(len(p), len(want)-at)
		if n != whole || (err != nil) != (whole < len(p)) || err != nil && err != io.EOF {
			t.Fatalf("%d of %d bytes at %d, and %v", n, len(p), at, err)
		}
		if !bytes.Equal(p[:n], want[at:at+n]) {
			t.Fatalf("other bytes at %d", at)
		}
		if from, to := r.ask(int64(at+n), 1, true); to-from > pieceBytes {
			t.Fatalf("asked for %d to %d", from, to)
		}
		at += n
	}
}

// What is on its way from the disk is a small part of any container, and several goroutines
// can read at once.
func TestSharesOfAContainer(t *testing.T) {
	for limit := int64(4 << 20); limit < roomyBytes; limit += limit / 7 {
		f := flightIn(limit)
		piece, slots := f.piece, cap(f.slots)
		if piece <= 0 || piece%Page != 0 || slots < 4 || int64(2*piece*slots) > limit/16 {
			t.Errorf("%d bytes: pieces of %d in %d slots", limit, piece, slots)
		}
	}
}
