package codec

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	lib "github.com/klauspost/compress/zstd"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestZstdLevels writes chunks of many sizes at many levels with each implementation
// in the memory that it asks for, and reads them with both, whole and as streams.
func TestZstdLevels(t *testing.T) {
	all := []zstdEngine{zstdInGo{}}
	if lib := loadZstd(); lib != nil {
		all = append(all, lib)
	}
	defer func(had func() zstdEngine) { zstdOf = had }(zstdOf)
	use := func(e zstdEngine) { zstdOf = func() zstdEngine { return e } }
	type level struct{ level, size int }
	var cases []level
	for _, l := range []int{-100, -1, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 15, 16, 18, 22} {
		for _, n := range []int{1, 9 << 10, 100 << 10, 200 << 10, 300 << 10, 1<<20 + 1} {
			cases = append(cases, level{l, n})
		}
	}
	strata := func(l level) []string { return []string{fmt.Sprint("level ", l.level), fmt.Sprint(l.size, " bytes")} }
	each := 1 // of a level, of a size
	if testcases.Full() {
		each = 2
	}
	for _, l := range testcases.Sample(t, cases, each, strata) {
		level, n := l.level, l.size
		p, err := Parse(fmt.Sprintf("zstd:%d:checksum", level), []int{n}, dtype.Uint8)
		if err != nil {
			t.Fatal(err)
		}
		chunk := field(p.raw, p.t)
		for w, writer := range all {
			if w == 0 && level > 10 {
				continue // the same to it
			}
			use(writer)
			whole, err := encodeWhole(p, chunk)
			if err != nil {
				t.Fatalf("level %d of %d bytes: %v", level, n, err)
			}
			stream, err := encodeStream(p, chunk, []int{n / 3, n - n/3})
			if err != nil {
				t.Fatalf("level %d of %d bytes as a stream: %v", level, n, err)
			}
			for _, reader := range all {
				use(reader)
				for _, data := range []stored{whole, stream} {
					got, err := decodeWhole(p, data)
					if err != nil || !bytes.Equal(got, chunk) {
						t.Fatalf("level %d of %d bytes: %v", level, n, err)
					}
					got, err = decodeStream(p, data, []int{n / 2, n - n/2})
					if err != nil || !bytes.Equal(got, chunk) {
						t.Fatalf("level %d of %d bytes decoded as a stream: %v", level, n, err)
					}
				}
			}
		}
	}
}

// TestZstdWindow decodes frames that look back further than a stream has memory for:
// whole they are as good as any.
func TestZstdWindow(t *testing.T) { engines(t, zstdWindow) }

func zstdWindow(t *testing.T) {
	p, err := Parse("zstd:1", []int{6 << 20}, dtype.Uint8)
	if err != nil {
		t.Fatal(err)
	}
	chunk := field(p.raw, p.t)
	var data bytes.Buffer
	w, err := lib.NewWriter(&data, lib.WithWindowSize(4<<20), lib.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, bytes.NewReader(chunk)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := decodeWhole(p, data.Bytes())
	if err != nil || !bytes.Equal(got, chunk) {
		t.Fatalf("whole: %v", err)
	}
	_, err = decodeStream(p, data.Bytes(), []int{int(p.raw)})
	if err == nil || !strings.Contains(err.Error(), "looks back further") {
		t.Fatalf("as a stream: %v", err)
	}
}
