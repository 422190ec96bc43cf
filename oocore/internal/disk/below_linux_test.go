package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// What is opened in a folder that is prepared for many is what os.Root opens, and looks the same.
func TestManyOpensWhatRootOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "c", "0"), 0o777), os.WriteFile(filepath.Join(dir, "c", "0", "1"), []byte("elements"), 0o640),
		os.WriteFile(filepath.Join(dir, "..", "outside"), []byte("other"), 0o666), os.Symlink("0/1", filepath.Join(dir, "c", "inside")),
		os.Symlink("../../outside", filepath.Join(dir, "c", "out")), os.Symlink("/etc/passwd", filepath.Join(dir, "c", "absolute")))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	many, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer many.Close()
	if err := many.Many(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c/0/1", "c/inside", "c/out", "c/absolute", "c/missing", "missing/1", "c/0", "../outside"} {
		want, is, wantErr := OpenIn(plain.FS(), name)
		got, st, gotErr := OpenIn(many.FS(), name)
		if wantErr != nil || gotErr != nil {
			if wantErr == nil || gotErr == nil || wantErr.Error() != gotErr.Error() || errors.Is(gotErr, fs.ErrNotExist) != errors.Is(wantErr, fs.ErrNotExist) {
				t.Errorf("%s: %v, os.Root says %v", name, gotErr, wantErr)
			}
			continue
		}
		if st.Size() != is.Size() || st.Mode() != is.Mode() || !st.ModTime().Equal(is.ModTime()) || st.Name() != is.Name() || st.IsDir() != is.IsDir() || ID(st) != ID(is) {
			t.Errorf("%s: %v %v %v, os.Root says %v %v %v", name, st.Size(), st.Mode(), st.ModTime(), is.Size(), is.Mode(), is.ModTime())
		}
		if !st.IsDir() {
			b := make([]byte, 20)
			if n, err := got.ReadAt(b, 2); string(b[:n]) != "ements" || err != io.EOF {
				t.Errorf("%s: read %q, %v", name, b[:n], err)
			}
			if got.OS().Name() != want.OS().Name() {
				t.Errorf("%s is called %s, want %s", name, got.OS().Name(), want.OS().Name())
			}
		}
		if err := errors.Join(got.Close(), want.Close()); err != nil {
			t.Error(err)
		}
		if got.Close() == nil {
			t.Errorf("%s can be closed twice", name)
		}
	}
}

// What a listing of an open folder says of its entries is what os.Root says of each.
func TestListBelowLooksAsRootDoes(t *testing.T) {
	dir := t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(dir, "folder"), 0o750), os.Symlink("folder", filepath.Join(dir, "link")), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for i := range 2*listed + 1 { // three groups
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), make([]byte, i), 0o640))
	}
	root, opened := OpenRoot(dir)
	if err = errors.Join(err, opened); err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	seen := map[string]bool{}
	err = root.FS().List(".", func(e fs.DirEntry) bool {
		seen[e.Name()] = true
		want, wrong := root.Lstat(e.Name())
		got, err := e.Info()
		if err = errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		kind := want.Mode().Type()
		if kind == fs.ModeNamedPipe {
			kind = fs.ModeIrregular
		}
		if got.Size() != want.Size() || got.Mode() != want.Mode().Perm()|kind || e.Type() != kind || !got.ModTime().Equal(want.ModTime()) || ID(got) != ID(want) {
			t.Errorf("%s: %v %v, os.Root says %v %v", e.Name(), got.Mode(), ID(got), want.Mode(), ID(want))
		}
		return true
	})
	if err != nil || len(seen) != 2*listed+4 {
		t.Errorf("%d entries of %d: %v", len(seen), 2*listed+4, err)
	}
}
