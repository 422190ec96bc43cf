package zarr

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// heldBucket puts chunks only after it was let.
type heldBucket struct {
	*memoryBucket
	hold <-chan error
}

var holds = map[string]<-chan error{} // by the host of their address

func init() {
	blob.Register("held", memoryCan, func(url string) (blob.Bucket, error) {
		inner, err := blob.At("memory" + strings.TrimPrefix(url, "held"))
		if err != nil {
			return nil, err
		}
		host, _, _ := strings.Cut(strings.TrimPrefix(url, "held://"), "/")
		return &heldBucket{inner.(*memoryBucket), holds[host]}, nil
	})
}

func (b *heldBucket) Join(p string) blob.Bucket {
	return &heldBucket{b.memoryBucket.Join(p).(*memoryBucket), b.hold}
}

func (b *heldBucket) Put(_ context.Context, key string, p []byte) (blob.Entry, error) {
	if strings.HasPrefix(key, "c") {
		if err := <-b.hold; err != nil {
			return blob.Entry{}, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(b.prefix+key, p)
	return b.entry(key), nil
}

// flying begins an array in a store that holds its puts, and writes the first of its
// two chunks.
func flying(t *testing.T) (m *memory, hold chan error, w store.Writer, s store.WriteSession) {
	m, path := newMemory(t)
	hold = make(chan error)
	path = "held" + strings.TrimPrefix(path, "memory")
	host, _, _ := strings.Cut(strings.TrimPrefix(path, "held://"), "/")
	holds[host] = hold
	w, err := store.Create(path, store.Meta{Shape: []int{2, 4}, DType: dtype.Uint8, Chunks: []int{1, 4}, Codec: "zstd:1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Abort() })
	if s, err = w.(storage.CodedWriter).Session(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	// It would wait for ever if it waited for the put.
	if _, err := s.Write(t.Context(), []byte{1, 2, 3, 4}, grid.Box{Start: []int{0, 0}, Shape: []int{1, 4}}); err != nil {
		t.Fatal(err)
	}
	return m, hold, w, s
}

// letLater lets puts end, so late that what does not wait for them is seen.
func letLater(hold chan error, err error) {
	go func() {
		time.Sleep(20 * time.Millisecond)
		hold <- err
		close(hold)
	}()
}

func TestFlight(t *testing.T) {
	t.Run("awaited by Sync", func(t *testing.T) {
		m, hold, w, _ := flying(t)
		letLater(hold, nil)
		if err := w.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := m.keys(); !slices.Equal(got, []string{"a.zarr/" + ownerKey, "a.zarr/c/0/0"}) {
			t.Errorf("there is %v", got)
		}
	})
	t.Run("awaited by Commit", func(t *testing.T) {
		m, hold, w, s := flying(t)
		letLater(hold, nil)
		if _, err := s.Write(t.Context(), []byte{5, 6, 7, 8}, grid.Box{Start: []int{1, 0}, Shape: []int{1, 4}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := m.keys(); !slices.Equal(got, []string{"a.zarr/c/0/0", "a.zarr/c/1/0", "a.zarr/zarr.json"}) {
			t.Errorf("there is %v", got)
		}
		a, err := store.Open("memory://" + strings.ReplaceAll(t.Name(), "/", "-") + "/a.zarr")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		got := make([]byte, 8)
		if err := a.Read(t.Context(), got, grid.Entire([]int{2, 4}).Region()); err != nil || !slices.Equal(got, []byte{1, 2, 3, 4, 5, 6, 7, 8}) {
			t.Errorf("read %v, %v", got, err)
		}
	})
	t.Run("awaited by Abort", func(t *testing.T) {
		m, hold, w, _ := flying(t)
		letLater(hold, nil)
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		if got := m.keys(); len(got) > 0 {
			t.Errorf("there is %v", got)
		}
	})
	t.Run("fails", func(t *testing.T) {
		m, hold, w, s := flying(t)
		full := errors.New("the bucket is full")
		letLater(hold, full)
		box := grid.Box{Start: []int{1, 0}, Shape: []int{1, 4}}
		if _, err := s.Write(t.Context(), make([]byte, 4), box); !errors.Is(err, full) {
			t.Errorf("the next Write: %v", err)
		}
		for name, f := range map[string]func() error{
			"Close":  s.Close,
			"Sync":   func() error { return w.Sync(t.Context()) },
			"Commit": func() error { return w.Commit(t.Context()) },
		} {
			if err := f(); !errors.Is(err, full) || !strings.Contains(err.Error(), "a.zarr") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		if got := m.keys(); len(got) > 0 {
			t.Errorf("there is %v", got)
		}
	})
}
