package blob_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Two writers of one key, as two processes are, never share a temporary file: what is
// there is whole, and that of the last.
func TestDirWritersShareNoTemporaryFile(t *testing.T) {
	storetest.NoLeaks(t)
	ctx := t.Context()
	root := t.TempDir()
	a, b := blob.Dir(root), blob.Dir(root)
	first, err := a.Create(ctx, "c/0")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Create(ctx, "c/0")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Write(ctx, []byte("first ")), second.Write(ctx, []byte("second")), first.Write(ctx, []byte("writer"))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(ctx), a.Sync(ctx)); err != nil {
		t.Fatal(err)
	}
	if got := get(t, b, "c/0"); got != "first writer" {
		t.Errorf("after the first it holds %q", got)
	}
	if err := errors.Join(second.Write(ctx, []byte(" writer")), second.Close(ctx), b.Sync(ctx)); err != nil {
		t.Fatal(err)
	}
	if got := get(t, a, "c/0"); got != "second writer" {
		t.Errorf("after the second it holds %q", got)
	}
	if left := files(t, root); !slices.Equal(left, []string{"c/0"}) {
		t.Errorf("there is %v", left)
	}
}

// What a killed process has left under a temporary name is replaced, and a link there
// is not followed.
func TestDirReplacesTemporaryFilesOfEndedWriters(t *testing.T) {
	root, other := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	testcases.WriteFile(t, other, []byte("precious"), 0o600)
	if err := errors.Join(os.WriteFile(filepath.Join(root, ".x.gonbext"), []byte("left over"), 0o600), os.Symlink(other, filepath.Join(root, ".y.gonbext"))); err != nil {
		t.Fatal(err)
	}
	b := blob.Dir(root)
	for _, key := range []string{"x", "y"} {
		if err := errors.Join(put(t.Context(), b, key, "new"), b.Sync(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := get(t, b, key); got != "new" {
			t.Errorf("%s holds %q", key, got)
		}
	}
	if left := files(t, root); !slices.Equal(left, []string{"x", "y"}) {
		t.Errorf("there is %v", left)
	}
	if text, err := os.ReadFile(other); string(text) != "precious" {
		t.Errorf("what the link led to holds %q, %v", text, err)
	}
}

// Uploads that wait for a Sync keep a bounded number of files open, and are seen under
// their names only afterwards.
func TestDirKeepsFewFilesOpen(t *testing.T) {
	storetest.NoLeaks(t)
	ctx := t.Context()
	root := t.TempDir()
	b := blob.Dir(root)
	const n = 1500
	for i := range n {
		if err := put(ctx, b, fmt.Sprintf("c/%d", i), fmt.Sprint("chunk ", i)); err != nil {
			t.Fatal(err)
		}
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err == nil && len(open) > 700 {
		t.Errorf("%d descriptors are open", len(open))
	}
	for _, name := range files(t, root) {
		if !strings.HasPrefix(filepath.Base(name), ".") {
			t.Fatalf("%s is seen before the Sync", name)
		}
	}
	if err := b.Delete(ctx, "c/7"); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		want := fmt.Sprint("chunk ", i)
		if i == 7 {
			want = "none"
		}
		if got := get(t, b, fmt.Sprintf("c/%d", i)); got != want {
			t.Fatalf("c/%d holds %q", i, got)
		}
	}
	if left := files(t, root); len(left) != n-1 {
		t.Errorf("%d files are there", len(left))
	}
}
