package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// put writes an object without a Sync.
func put(ctx context.Context, b blob.Bucket, key, text string) error {
	u, err := b.Create(ctx, key)
	if err != nil {
		return err
	}
	defer u.Abort()
	half := len(text) / 2
	if err := u.Write(ctx, []byte(text[:half])); err != nil {
		return err
	}
	if err := u.Write(ctx, []byte(text[half:])); err != nil {
		return err
	}
	return u.Close(ctx)
}

// get reads an object, or its error.
func get(t *testing.T, b blob.Bucket, key string) string {
	t.Helper()
	o, err := b.Open(t.Context(), key)
	if errors.Is(err, fs.ErrNotExist) {
		return "none"
	}
	if err != nil {
		return err.Error()
	}
	defer o.Close()
	p := make([]byte, o.Entry().Size)
	if err := o.ReadAt(t.Context(), p, 0); err != nil {
		return err.Error()
	}
	return string(p)
}

func keys(t *testing.T, b blob.Bucket, prefix string) (all []string) {
	t.Helper()
	for e, err := range b.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Key)
	}
	slices.Sort(all)
	return all
}

// files are all below a folder, also hidden ones.
func files(t *testing.T, root string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, err = filepath.Rel(root, name)
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

func TestDir(t *testing.T) {
	storetest.NoLeaks(t)
	ctx := t.Context()
	root := filepath.Join(t.TempDir(), "not", "there")
	b := blob.Dir(root)
	if got := keys(t, b, ""); len(got) != 0 {
		t.Errorf("a missing folder lists %v", got)
	}
	for _, key := range []string{"zarr.json", "c/0/0", "c/0/1", "c/1/0"} {
		if err := put(ctx, b, key, key); err != nil {
			t.Fatal(err)
		}
		if got := get(t, b, key); got != "none" {
			t.Errorf("before Sync %s is %q", key, got)
		}
	}
	if got := keys(t, b, ""); len(got) != 0 {
		t.Errorf("before Sync there is %v", got)
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string][]string{
		"":     {"c/0/0", "c/0/1", "c/1/0", "zarr.json"},
		"c/0/": {"c/0/0", "c/0/1"}, "c/0": {"c/0/0", "c/0/1"}, "c/1/0": {"c/1/0"}, "z": {"zarr.json"}, "c/2/": nil,
	} {
		if got := keys(t, b, prefix); !slices.Equal(got, want) {
			t.Errorf("List(%q) is %v, want %v", prefix, got, want)
		}
	}
	below := b.Join("c/").Join("0/")
	if got := keys(t, below, ""); !slices.Equal(got, []string{"0", "1"}) || get(t, below, "1") != "c/0/1" {
		t.Errorf("below c/0/ there is %v", got)
	}

	// The same key twice before a Sync, and a third given up: the last closed wins.
	if err := errors.Join(put(ctx, below, "1", "second"), put(ctx, below, "1", "third")); err != nil {
		t.Fatal(err)
	}
	u, err := below.Create(ctx, "1")
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(ctx, []byte("given up")); err != nil {
		t.Fatal(err)
	}
	u.Abort()
	if got := get(t, b, "c/0/1"); got != "c/0/1" {
		t.Errorf("before Sync it is %q", got)
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if got := get(t, b, "c/0/1"); got != "third" {
		t.Errorf("after Sync it is %q", got)
	}

	if err := errors.Join(b.Delete(ctx, "c/0/0"), b.Delete(ctx, "c/0/0"), b.Delete(ctx, "c/9/9")); err != nil {
		t.Error(err)
	}
	if err := put(ctx, b, "c/1/0", "never"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Delete(ctx, "c/1/0"), b.Sync(ctx)); err != nil {
		t.Error(err)
	}
	if got := files(t, root); !slices.Equal(got, []string{"c/0/1", "zarr.json"}) {
		t.Errorf("there is %v", got)
	}
}

func TestDirReadsAndWritesAtPlaces(t *testing.T) {
	storetest.NoLeaks(t)
	ctx := t.Context()
	b := blob.Dir(t.TempDir())
	want := make([]byte, 3<<20+77) // long enough to be written directly
	for i := range want {
		want[i] = byte(i ^ i>>8 ^ i>>16)
	}
	u, err := b.Create(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(ctx, want[:100]); err != nil {
		t.Fatal(err)
	}
	if err := u.Write(ctx, want[100:]); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for at := 0; at < 1000; at += 100 {
		copy(want[at:], fmt.Sprintf("place %d", at))
		wg.Go(func() {
			if err := u.WriteAt(ctx, want[at:at+100], int64(at)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(u.Close(ctx), b.Sync(ctx)); err != nil {
		t.Fatal(err)
	}
	if err := u.Write(ctx, want); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	o, err := b.Open(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	got := make([]byte, len(want))
	if err := o.ReadAt(ctx, got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("it holds something else: %v", err)
	}
	if err := o.ReadAt(ctx, got, 1); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "x") {
		t.Errorf("beyond the end: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if err := o.ReadAt(done, got, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled read: %v", err)
	}
}

func TestDirRefusesKeys(t *testing.T) {
	ctx := t.Context()
	outer := t.TempDir()
	root := filepath.Join(outer, "root")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "folder"), 0o755), os.WriteFile(filepath.Join(outer, "secret"), []byte("secret"), 0o644),
		os.Symlink(filepath.Join("..", "secret"), filepath.Join(root, "out")), os.Symlink(outer, filepath.Join(root, "up")),
		os.WriteFile(filepath.Join(root, "x"), []byte("inside"), 0o644), os.Symlink("x", filepath.Join(root, "in"))); err != nil {
		t.Fatal(err)
	}
	b := blob.Dir(root)
	for _, key := range []string{"", "/x", "../secret", "c/../../secret", "c//0", "./x", "c/", "c\\0", "c\x00", "out", "up/secret", "folder"} {
		if o, err := b.Open(ctx, key); err == nil {
			t.Errorf("%q was opened", key)
			o.Close()
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{"../new", "/new", "up/new", "up/deep/new"} {
		if u, err := b.Create(ctx, key); err == nil {
			t.Errorf("%q was created", key)
			u.Abort()
		}
		if err := b.Delete(ctx, key); err == nil {
			t.Errorf("%q was deleted", key)
		}
	}
	if got := get(t, b, "in"); got != "inside" {
		t.Errorf("a link within the folder: %q", got)
	}
	if got := files(t, outer); len(got) != 5 {
		t.Errorf("there is %v", got)
	}
	listed := 0
	for _, err := range b.List(ctx, "") {
		if listed++; err != nil {
			return // of the link that leads out
		}
	}
	t.Errorf("%d objects are listed, and no word of the link that leads out", listed)
}

// version are the objects of a group, before and after.
func version(n int) map[string]string {
	all := map[string]string{}
	for i := range 4 {
		all[fmt.Sprintf("c/%d/%d", i%2, i)] = strings.Repeat(fmt.Sprintf("version %d of %d.", n, i), 20)
	}
	return all
}

func write(ctx context.Context, b blob.Bucket, n int) error {
	for key, text := range version(n) {
		if err := put(ctx, b, key, text); err != nil {
			return err
		}
	}
	return b.Sync(ctx)
}

// TestDirFaults lets every operation of a group fail: each object is the old one
// or the new one.
func TestDirFaults(t *testing.T) {
	storetest.NoLeaks(t)
	errDisk := errors.New("the disk is on fire")
	for op := range disktest.Ops {
		for n, reached := int64(1), true; reached; n++ {
			for _, short := range []bool{false, true} {
				root := t.TempDir()
				if err := write(t.Context(), blob.Dir(root), 1); err != nil {
					t.Fatal(err)
				}
				f := &disktest.Fault{Op: op, N: n, Err: errDisk, Short: short}
				var err error
				t.Run("", func(t *testing.T) {
					disktest.Use(t, f.FS())
					b := blob.Dir(root)
					if err = write(t.Context(), b, 2); err != nil {
						gone, cancel := context.WithCancel(t.Context())
						cancel()
						b.Sync(gone) // gives up what waits
					}
				})
				reached = f.Hit()
				for key := range version(1) {
					got := get(t, blob.Dir(root), key)
					if got != version(2)[key] && (err == nil || got != version(1)[key]) {
						t.Errorf("%s %d: %s is %q, error %v", op, n, key, got, err)
					}
				}
				if err != nil && (!errors.Is(err, errDisk) || !strings.Contains(err.Error(), root)) {
					t.Errorf("%s %d: error %v", op, n, err)
				}
				if err := write(t.Context(), blob.Dir(root), 3); err != nil {
					t.Errorf("%s %d: afterwards: %v", op, n, err)
				}
				if left := files(t, root); len(left) != 4 {
					t.Errorf("%s %d: there is %v", op, n, left)
				}
			}
		}
	}
}

// TestDirFailureIsOfAll lets a Sync fail that took what another has closed: that
// other's Sync says so too.
func TestDirFailureIsOfAll(t *testing.T) {
	storetest.NoLeaks(t)
	errDisk := errors.New("the disk is on fire")
	for _, fault := range []*disktest.Fault{{Op: disktest.Sync, N: 1, Err: errDisk}, {Op: disktest.Sync, N: 3, Err: errDisk}, {Op: disktest.Rename, N: 1, Err: errDisk}} {
		t.Run(fmt.Sprint(fault.Op, fault.N), func(t *testing.T) {
			root := t.TempDir()
			b := blob.Dir(root)
			disktest.Use(t, fault.FS())
			if err := errors.Join(put(t.Context(), b, "mine", "text"), put(t.Context(), b, "another's", "text")); err != nil {
				t.Fatal(err)
			}
			for _, who := range []string{"mine", "another's"} {
				if err := b.Sync(t.Context()); !errors.Is(err, errDisk) {
					t.Errorf("%s Sync returns %v", who, err)
				}
			}
			if err := put(t.Context(), b, "later", "text"); err != nil {
				t.Fatal(err)
			}
			if err := b.Sync(t.Context()); !errors.Is(err, errDisk) || get(t, b, "later") != "none" {
				t.Errorf("a Sync of what came later returns %v", err)
			}
			for _, name := range files(t, root) {
				if strings.HasPrefix(name, ".") {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}

// TestDirCrash looks after every operation of a group at what a crash would leave.
func TestDirCrash(t *testing.T) {
	root := t.TempDir()
	if err := write(t.Context(), blob.Dir(root), 1); err != nil {
		t.Fatal(err)
	}
	crash := disktest.NewCrash(t, root)
	look := func(synced bool) {
		for name, state := range map[string]func(string){"lost": crash.Lost, "torn": crash.Torn} {
			to := t.TempDir()
			state(to)
			for key := range version(1) {
				got := get(t, blob.Dir(to), key)
				if got != version(2)[key] && (synced || got != version(1)[key]) {
					t.Errorf("%s: %s is %q", name, key, got)
				}
			}
			os.RemoveAll(to)
		}
	}
	crash.Each = func() { look(false) }
	disktest.Use(t, crash.FS())
	if err := write(t.Context(), blob.Dir(root), 2); err != nil {
		t.Fatal(err)
	}
	crash.Each = func() {}
	look(true)
	// A group in folders that are new.
	crash.Each = func() {}
	fresh := blob.Dir(filepath.Join(root, "new", "array"))
	if err := write(t.Context(), fresh, 2); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	crash.Lost(to)
	for key, want := range version(2) {
		if got := get(t, blob.Dir(filepath.Join(to, "new", "array")), key); got != want {
			t.Errorf("new/array/%s is %q", key, got)
		}
	}
}

func TestRemote(t *testing.T) {
	for path, want := range map[string]bool{
		"s3://bucket/x": true, "https://host/x": true, "x.npy": false, "/a://b": false, "a b://c": false, "://x": false, "C:\\x": false,
	} {
		if got := !blob.PlaceOf(path).Files; got != want {
			t.Errorf("%q lies in an object store: %t", path, got)
		}
	}
	if _, err := blob.At("nothing://x"); err == nil || !strings.Contains(err.Error(), "github.com/gonbext/gonbext/oocore/cloud") {
		t.Errorf("an unknown scheme: %v", err)
	}
}
