package storetest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// margin is how many bytes behind what a codec is given have to stay as they are.
const margin = 16

// guarded returns n bytes whose capacity ends there, and a function that reports whether what follows them is as it was.
func guarded(n int64) (b []byte, whole func() bool) {
	all := bytes.Repeat([]byte{0xa5}, int(n)+margin)
	return all[:n:n], func() bool { return bytes.Equal(all[n:], bytes.Repeat([]byte{0xa5}, margin)) }
}

// encoded encodes data in the memory that a codec declares.
func encoded(t rapid.TB, c store.Codec, data []byte) []byte {
	t.Helper()
	work, _ := c.Work(int64(len(data)))
	dst, whole := guarded(c.Bound(int64(len(data))))
	scratch, within := guarded(work.Whole)
	src := slices.Clone(data)
	out, err := c.Encode(dst, src, scratch)
	switch {
	case err != nil:
		t.Fatalf("encoding %d bytes: %v", len(data), err)
	case len(out) > len(dst):
		t.Fatalf("%d bytes become %d, and Bound says %d", len(data), len(out), len(dst))
	case len(out) > 0 && &out[0] != &dst[0]:
		t.Fatal("Encode does not return the beginning of dst")
	case !whole() || !within():
		t.Fatal("Encode writes beyond what it is given")
	case !bytes.Equal(src, data):
		t.Fatal("Encode changes src")
	}
	return slices.Clone(out)
}

// decoded decodes to a place of n bytes.
func decoded(t rapid.TB, c store.Codec, src []byte, n int64) ([]byte, error) {
	t.Helper()
	_, work := c.Work(n)
	dst, whole := guarded(n)
	scratch, within := guarded(work.Whole)
	got, err := c.Decode(dst, src, scratch)
	if !whole() || !within() {
		t.Fatal("Decode writes beyond what it is given")
	}
	if err == nil && (got < 0 || int64(got) > n) {
		t.Fatalf("Decode says that it filled %d of %d bytes", got, n)
	}
	return dst[:max(min(int64(got), n), 0)], err
}

// TestCodec holds a codec that is registered to its contract: what it encodes it decodes, within the memory that it declares, damage is no panic, a
// setting that it does not know is an error, and arrays of Zarr have it, which the test imports oocore for. Configurations are some that it takes; without one it is nil.
func TestCodec(t *testing.T, c store.Codec, configurations ...string) {
	if len(configurations) == 0 {
		configurations = []string{""}
	}
	for _, text := range configurations {
		t.Run(c.Name()+":"+text, func(t *testing.T) {
			for _, dt := range []dtype.Type{dtype.Uint8, dtype.Int16, dtype.Float32, dtype.Complex128} {
				of, err := c.Configure(json.RawMessage(text), dt)
				if err != nil {
					t.Fatalf("%s: %v", dt, err)
				}
				t.Run(dt.String(), func(t *testing.T) { testConfigured(t, of, dt) })
			}
		})
	}
	if _, err := c.Configure(json.RawMessage(`{"no such setting":1}`), dtype.Uint8); err == nil {
		t.Error("a setting that the codec does not know is taken")
	}
	if _, err := c.Configure(json.RawMessage(`[`), dtype.Uint8); err == nil {
		t.Error("a configuration that is no JSON is taken")
	}
	if err := store.RegisterCodec(c); err == nil {
		t.Errorf("%s is registered by this test: a program that imports the package has to", c.Name())
	}
}

func testConfigured(t *testing.T, c store.Codec, dt dtype.Type) {
	again, err := c.Configure(c.Configuration(), dt)
	if err != nil {
		t.Fatalf("its own configuration %s: %v", c.Configuration(), err)
	}
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "data")
		data = bytes.Repeat(data, rapid.SampledFrom([]int{1, 1, 7, 300}).Draw(t, "times"))
		data = data[:len(data)/dt.Size()*dt.Size()]
		src := encoded(t, c, data)
		if !bytes.Equal(src, encoded(t, again, data)) {
			t.Fatalf("configured by %s it encodes otherwise", c.Configuration())
		}
		got, err := decoded(t, c, src, int64(len(data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes are decoded to %d others: %v", len(data), len(got), err)
		}
		if len(data) > 0 {
			if got, err := decoded(t, c, src, int64(len(data)-1)); err == nil {
				t.Fatalf("%d bytes are decoded to %d", len(data), len(got))
			}
		}
		damaged := slices.Clone(src[:rapid.IntRange(0, len(src)).Draw(t, "cut")])
		if len(damaged) > 0 {
			damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		_, _ = decoded(t, c, damaged, int64(len(data))) // is an error or other bytes, and no panic
	})
	m := store.Meta{Shape: []int{30, 20}, DType: dt, Chunks: []int{8, 20}, Codec: c.Name()}
	if configuration := c.Configuration(); configuration != nil {
		m.Codec += ":" + string(configuration)
	}
	data := make([]byte, grid.Size(m.Shape)*dt.Size())
	for i := range data {
		data[i] = byte(i * i >> 5)
	}
	path := filepath.Join(t.TempDir(), "x.zarr")
	Save(t, path, m, data)
	a := Open(t, path)
	if info := a.Info(); info.Codec != m.Codec {
		t.Errorf("the codec of what is stored is %q, not %q", info.Codec, m.Codec)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			got := make([]byte, len(data))
			if err := a.Read(t.Context(), got, grid.Entire(m.Shape).Region()); err != nil || !bytes.Equal(got, data) {
				t.Errorf("the array that was stored reads otherwise: %v", err)
			}
		})
	}
	readers.Wait()
}
