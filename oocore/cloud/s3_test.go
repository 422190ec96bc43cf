package cloud

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// checkBucket tests what every bucket that can be written has to do.
func checkBucket(t *testing.T, b blob.Bucket) {
	ctx := context.Background()
	t.Run("sizes", func(t *testing.T) {
		for _, n := range []int{0, 1, 4096, partBytes - 1, partBytes, partBytes + 1, 2*partBytes + 12345} {
			data := noise(n)
			put(t, b, "sizes/x", data)
			o, err := b.Open(ctx, "sizes/x")
			if err != nil {
				t.Fatal(n, err)
			}
			if e := o.Entry(); e.Size != int64(n) || e.Key != "sizes/x" || e.Version == "" {
				t.Errorf("an object of %d bytes is %+v", n, e)
			}
			got := make([]byte, n)
			if err := o.ReadAt(ctx, got, 0); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes come back otherwise: %v", n, err)
			}
			if n > 100 {
				if err := o.ReadAt(ctx, got[:50], int64(n-50)); err != nil || !bytes.Equal(got[:50], data[n-50:]) {
					t.Errorf("the end of %d bytes comes back otherwise: %v", n, err)
				}
			}
			if err := o.ReadAt(ctx, make([]byte, 2), int64(n-1)); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("reading behind %d bytes: %v", n, err)
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("opened by a range", func(t *testing.T) {
		data := noise(pieceBytes + 12345)
		put(t, b, "range/x", data)
		put(t, b, "range/empty", nil)
		put(t, b, "range/short", data[:100])
		for _, c := range []struct{ at, n int }{{0, 1}, {100, 5000}, {len(data) - 7, 7}, {0, len(data)}, {len(data) - 7, 8}, {len(data) + 5, 3}, {-1000, 1000}} {
			got := bytes.Repeat([]byte{0x55}, c.n)
			want := slices.Clone(got) // of what is not there
			if from := c.at; from < 0 {
				copy(want, data[len(data)+from:])
			} else {
				copy(want, data[min(from, len(data)):])
			}
			o, err := blob.OpenAt(ctx, b, "range/x", got, int64(c.at))
			if err != nil {
				t.Fatal(c, err)
			}
			if !bytes.Equal(got, want) || o.Entry().Size != int64(len(data)) || o.Entry().Version == "" {
				t.Errorf("%d bytes from %d on come back otherwise, of %+v", c.n, c.at, o.Entry())
			}
			if err := errors.Join(o.ReadAt(ctx, got[:1], 9), o.Close()); err != nil || got[0] != data[9] {
				t.Errorf("what is opened by %+v cannot be read: %v", c, err)
			}
		}
		for key, size := range map[string]int64{"range/empty": 0, "range/short": 100} {
			for _, at := range []int64{0, -200} {
				o, err := blob.OpenAt(ctx, b, key, make([]byte, 200), at)
				if err != nil || o.Entry().Size != size {
					t.Errorf("a range of %s at %d: %v", key, at, err)
				}
			}
		}
		if _, err := blob.OpenAt(ctx, b, "range/none", make([]byte, 3), 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing object: %v", err)
		}
	})
	t.Run("in small writes", func(t *testing.T) {
		data := noise(2*partBytes + 7)
		u, err := b.Create(ctx, "small")
		if err != nil {
			t.Fatal(err)
		}
		for rest, n := data, 1; len(rest) > 0; n = n*3 + 1 {
			n = min(n, len(rest))
			if err := u.Write(ctx, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			if held := cap(u.(*upload).buffer); held > partBytes {
				t.Fatalf("the upload holds %d bytes", held)
			}
		}
		if _, err := b.Open(ctx, "small"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the object is seen before Close: %v", err)
		}
		if err := u.Close(ctx); err != nil {
			t.Fatal(err)
		}
		u.Abort() // does nothing
		got := make([]byte, len(data))
		o, err := b.Open(ctx, "small")
		if err == nil {
			err = o.ReadAt(ctx, got, 0)
		}
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("what was written in pieces comes back otherwise: %v", err)
		}
	})
	t.Run("replaced", func(t *testing.T) {
		put(t, b, "r", []byte("first"))
		o, err := b.Open(ctx, "r")
		if err != nil {
			t.Fatal(err)
		}
		put(t, b, "r", []byte("other"))
		if err := o.ReadAt(ctx, make([]byte, 5), 0); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("reading what was replaced: %v", err)
		}
	})
	t.Run("aborted", func(t *testing.T) {
		put(t, b, "a", []byte("old"))
		for _, n := range []int{3, partBytes + 3, 3 * partBytes} {
			u, err := b.Create(ctx, "a")
			if err != nil {
				t.Fatal(err)
			}
			if err := u.Write(ctx, noise(n)); err != nil {
				t.Fatal(err)
			}
			u.Abort()
			if err := u.Close(ctx); err == nil {
				t.Error("an aborted upload was closed")
			}
		}
		o, err := b.Open(ctx, "a")
		if err != nil || o.Entry().Size != 3 {
			t.Errorf("an aborted upload left %v, %v", o, err)
		}
	})
	t.Run("names", func(t *testing.T) {
		names := []string{"n/plain", "n/with space", "n/plus+and&=?#", "n/ünï/ö", "n/%41", "n/c/0/1", "n/'()*!~;:@$,"}
		for _, name := range names {
			put(t, b, name, []byte(name))
		}
		found := map[string]bool{}
		for e, err := range b.Join("n/").List(ctx, "") {
			if err != nil {
				t.Fatal(err)
			}
			found["n/"+e.Key] = true
		}
		for _, name := range names {
			if !found[name] {
				t.Errorf("%q is not listed in %v", name, found)
			}
			o, err := b.Join("n/").Open(ctx, strings.TrimPrefix(name, "n/"))
			if err != nil {
				t.Error(err)
				continue
			}
			got := make([]byte, o.Entry().Size)
			if err := o.ReadAt(ctx, got, 0); err != nil || string(got) != name {
				t.Errorf("%q holds %q: %v", name, got, err)
			}
		}
		for _, name := range []string{"", "..", "../x", "a/../b", "/x", "a//b", "a/./b", "a\nb", "a/"} {
			_, err := b.Open(ctx, name)
			_, err2 := b.Create(ctx, name)
			if err == nil || err2 == nil || b.Delete(ctx, name) == nil {
				t.Errorf("the key %q is taken", name)
			}
		}
	})
	t.Run("deleted", func(t *testing.T) {
		put(t, b, "d", []byte("x"))
		for range 2 {
			if err := b.Delete(ctx, "d"); err != nil {
				t.Error(err)
			}
			if _, err := b.Open(ctx, "d"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after Delete: %v", err)
			}
		}
	})
	t.Run("listed by pages", func(t *testing.T) {
		const n = 1203
		for i := range n {
			put(t, b, "many/"+strings.Repeat("k", i%7)+string(rune('a'+i%26))+"/"+strings.Repeat("0", i/26+1), nil)
		}
		count := 0
		for _, err := range b.List(ctx, "many/") {
			if err != nil {
				t.Fatal(err)
			}
			count++
		}
		if count != n {
			t.Errorf("%d of %d objects are listed", count, n)
		}
		for range b.List(ctx, "many/") {
			break
		}
	})
	t.Run("cleared", func(t *testing.T) { checkClear(t, b) })
	t.Run("written from front to back only", func(t *testing.T) {
		u, err := b.Create(ctx, "w")
		if err != nil {
			t.Fatal(err)
		}
		defer u.Abort()
		if err := u.WriteAt(ctx, nil, 0); b.Can().Random || !errors.Is(err, blob.ErrRandom) {
			t.Error(err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		put(t, b, "c", noise(100))
		done, cancel := context.WithCancel(ctx)
		o, err := b.Open(done, "c")
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := o.ReadAt(done, make([]byte, 100), 0); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := b.Open(done, "c"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestBucket(t *testing.T) {
	noLeaks(t)
	fakeS3(t)
	checkBucket(t, at(t, "s3://data"))
	t.Run("below a prefix", func(t *testing.T) { checkBucket(t, at(t, "s3://data/some/folder/")) })
	if got := at(t, "s3://data/some/folder/").String(); got != "s3://data/some/folder" {
		t.Error(got)
	}
}
