package codec

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// What libdeflate takes for whole streams, of one or several and damaged ones, are the bytes that
// the library in Go gives, and it takes each that is undamaged.
func TestNativeInflaterAgreesWithGo(t *testing.T) {
	native := newNativeInflater()
	if native == nil {
		t.Skip("left out: decoding by libdeflate, which this machine has not")
	}
	defer native.close()
	random := rand.New(rand.NewPCG(1, 2))
	encode := func(frame string, data []byte) []byte {
		var b bytes.Buffer
		var w interface {
			Write([]byte) (int, error)
			Close() error
		} = zlib.NewWriter(&b)
		if frame == "gzip" {
			w = gzip.NewWriter(&b)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for i := range 3000 {
		frame := []string{"gzip", "zlib"}[i%2]
		data := make([]byte, random.IntN(5000))
		for j := range data {
			data[j] = byte(random.IntN(1 + random.IntN(60)))
		}
		src := encode(frame, data)
		room := len(data)
		switch damage := i / 2 % 5; {
		case damage == 1:
			src = src[:random.IntN(len(src))]
		case damage == 2:
			src[random.IntN(len(src))] ^= 1 << random.IntN(8)
		case damage == 3:
			src = slices.Concat(src, encode(frame, data))
			room *= 2
		case damage == 4:
			room = random.IntN(room + 1)
		}
		got, want := make([]byte, room), make([]byte, room)
		n, ok := native.decode(got, src, frame)
		m, err := (&inflater{frame: frame}).decode(want, src)
		if ok && (err != nil || n != m || !bytes.Equal(got[:n], want[:m])) {
			t.Fatalf("case %d, %s: %d bytes, Go's library %d and %v", i, frame, n, m, err)
		}
		if !ok && err == nil {
			t.Fatalf("case %d, %s: only Go's library decodes it", i, frame)
		}
	}
}
