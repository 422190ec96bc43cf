package setup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	source "github.com/gonbext/gonbext"
)

// Module is the path of the module that this binary is built from.
const Module = "github.com/gonbext/gonbext"

// Source is the folder of this module's source, which cells import and GoNB is
// built by. It is the folder that this binary was compiled from where that still
// has the same content, whose packages are then compiled already; else a copy of
// what the binary carries, in the user's cache folder.
func Source() (string, error) {
	if dir := compiledFrom(); holds(dir, source.Files) {
		return dir, nil
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	sum, err := digest(source.Files)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, fmt.Sprintf("source-%x", sum[:8]))
	err = once(context.Background(), dir, func() error { return os.CopyFS(dir, source.Files) })
	if err == nil && !holds(dir, source.Files) {
		err = fmt.Errorf("%s was changed: remove it, and gonbext makes it again", dir)
	}
	return dir, err
}

// compiledFrom is the folder that this binary was compiled from, "" where it does
// not know (-trimpath).
func compiledFrom() string {
	_, file, _, ok := runtime.Caller(0)
	if dir := filepath.Join(filepath.Dir(file), "..", "..", ".."); ok && filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// holds reports whether dir has all of files with the same content, and nobody
// but this user and root can change that.
func holds(dir string, files fs.FS) bool {
	if dir == "" || !filepath.IsAbs(dir) {
		return false
	}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		st, err := os.Lstat(path)
		switch {
		case err != nil:
			return err
		case !ownedAlone(st) || st.IsDir() != d.IsDir() || !d.IsDir() && !st.Mode().IsRegular():
			return fs.ErrPermission
		case d.IsDir():
			return nil
		}
		want, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		have, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(have, want) {
			err = fs.ErrInvalid
		}
		return err
	})
	return err == nil
}

// digest identifies the names and contents of files.
func digest(files fs.FS) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		fmt.Fprintf(h, "%d %s %d\n", len(name), name, len(data))
		h.Write(data)
		return err
	})
	return [sha256.Size]byte(h.Sum(nil)), err
}

// isModule reports whether dir is the root of this module.
func isModule(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(data), "module "+Module+"\n")
}
