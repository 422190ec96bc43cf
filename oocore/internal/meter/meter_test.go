package meter

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/types"
)

// count takes bytes in parts, as a parser does, and returns the last error.
func count(bytes int64) (err error) {
	var m Meter
	defer m.Done()
	for at := int64(0); at < bytes; at += 64 << 10 {
		err = m.Take(64 << 10)
	}
	return err
}

func TestTakeNamesALimitThatWorks(t *testing.T) {
	p, err := machine.WithoutCache()
	if err != nil {
		t.Skip(err)
	}
	defer SetLimit(0)
	SetLimit(p.Anonymous + 16<<20)
	var small *types.MemoryError
	if err := count(64 << 20); !errors.As(err, &small) {
		t.Fatalf("64 MiB within 16: %v", err)
	}
	if small.Limit != p.Anonymous+16<<20 || small.Need < p.Anonymous+64<<20 || small.Need > p.Anonymous+96<<20 {
		t.Errorf("%+v, beside %d bytes that the process holds", small, p.Anonymous)
	}
	SetLimit(small.Need)
	if err := count(64 << 20); err != nil {
		t.Errorf("within what was named: %v", err)
	}
	SetLimit(1)
	if err := count(512 << 10); err != nil {
		t.Errorf("a small header: %v", err)
	}
}

func TestTakeAtOnceIsTakeInParts(t *testing.T) {
	p, err := machine.WithoutCache()
	if err != nil {
		t.Skip(err)
	}
	defer SetLimit(0)
	SetLimit(p.Anonymous + 32<<20)
	var m Meter
	defer m.Done()
	if err := m.Take(8 << 20); err != nil {
		t.Errorf("8 MiB within 32: %v", err)
	}
	if err := m.Take(64 << 20); err == nil {
		t.Error("72 MiB within 32")
	}
}

// TestDecoderFillsItsBuffer decodes white space that comes byte by byte: with each piece the decoder looks at all of it again.
func TestDecoderFillsItsBuffer(t *testing.T) {
	d := NewDecoder(iotest.OneByteReader(strings.NewReader(strings.Repeat(" ", 1<<20)+"[1]")), func(int64) error { return nil })
	var list []int
	if err := d.Decode(&list); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	r := &source{Reader: iotest.OneByteReader(strings.NewReader(strings.Repeat(" ", 100))), decoder: d, held: small}
	for i, want := range []int{64, 36} {
		if n, _ := r.Read(make([]byte, 64)); n != want {
			t.Errorf("piece %d has %d bytes, want %d", i, n, want)
		}
	}
}
