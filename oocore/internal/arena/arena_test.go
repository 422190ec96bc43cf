package arena_test

import (
	"errors"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// The arena's count against a sum kept beside it.
func TestCountsWhatIsReserved(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		const limit = 1 << 24
		a := arena.New(limit)
		var live []*arena.Buffer
		var sum, peak int64
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(r, "free") {
				i := rapid.IntRange(0, len(live)-1).Draw(r, "which")
				sum -= live[i].Reserved()
				live[i].Free()
				live[i].Free()
				live = append(live[:i], live[i+1:]...)
				continue
			}
			n := rapid.Int64Range(0, limit/4).Draw(r, "bytes")
			b, err := a.Alloc(arena.Tag{Class: record.Scratch}, n)
			want := (max(n, 1) + 4095) / 4096 * 4096
			var full *arena.FullError
			if sum+want > limit {
				if !errors.As(err, &full) || full.Used != sum {
					t.Fatalf("%d of %d bytes are taken and %d more gave %v", sum, limit, want, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.Reserved() != want || int64(len(b.Data)) != n || int64(cap(b.Data)) < n {
				t.Fatalf("%d bytes reserved %d and gave %d", n, b.Reserved(), len(b.Data))
			}
			if n > 0 {
				if uintptr(unsafe.Pointer(&b.Data[0]))%arena.PageSize != 0 {
					t.Fatal("a buffer does not begin on a page")
				}
				b.Data[0], b.Data[n-1] = 1, 1
			}
			live = append(live, b)
			sum += want
			peak = max(peak, sum)
		}
		if got, _ := a.Peak(); got != peak {
			t.Fatalf("peak %d, want %d", got, peak)
		}
		if now := a.Now(); now[record.Scratch] != sum {
			t.Fatalf("%d are counted, want %d", now[record.Scratch], sum)
		}
		if err := a.Close(); (err != nil) != (len(live) > 0) || err != nil && !errors.Is(err, arena.ErrLeak) {
			t.Fatalf("closing with %d buffers gave %v", len(live), err)
		}
		if now := a.Now(); now.Host() != 0 {
			t.Fatalf("%d bytes are left after Close", now.Host())
		}
	})
}
