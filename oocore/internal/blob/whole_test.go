package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

func TestWhole(t *testing.T) {
	ctx := context.Background()
	b := blob.Dir(t.TempDir())
	if _, err := blob.Put(ctx, b, "a/x", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 6)
	if e, err := blob.Get(ctx, b, "a/x", p); err != nil || string(p[:e.Size]) != "hello" {
		t.Errorf("%q, %+v, %v", p, e, err)
	}
	if e, err := blob.Get(ctx, b, "a/x", p[:4]); err != blob.ErrLarge || e.Size != 5 {
		t.Error(e, err)
	}
	if _, err := blob.Get(ctx, b, "a/y", p); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := blob.Put(ctx, b, "../y", p); err == nil {
		t.Error("an object was put outside")
	}
}

func TestClear(t *testing.T) {
	ctx := context.Background()
	b := blob.Dir(t.TempDir())
	for i := range 100 {
		if _, err := blob.Put(ctx, b, fmt.Sprintf("%c/%d", 'a'+i%2, i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if err := blob.Clear(ctx, b, func(key string) bool { return strings.HasPrefix(key, "a/") }); err != nil {
		t.Fatal(err)
	}
	left := 0
	for e, err := range b.List(ctx, "") {
		if left++; err != nil || !strings.HasPrefix(e.Key, "b/") {
			t.Error(e, err)
		}
	}
	if left != 50 {
		t.Errorf("%d objects are left", left)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := blob.Clear(done, b, func(string) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := blob.Clear(ctx, rejecting{b}, func(string) bool { return true }); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// rejecting deletes nothing.
type rejecting struct{ blob.Bucket }

func (rejecting) Delete(context.Context, string) error { return fs.ErrPermission }
