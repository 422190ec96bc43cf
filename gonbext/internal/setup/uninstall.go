package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Removed is a file or folder that Uninstall has removed.
type Removed struct {
	Path  string
	Bytes int64
}

// Uninstall removes what gonbext has put on this machine for this user: the kernel's entry
// in Jupyter, and all that is in gonbext's folder of the user's cache. The copy of the
// lessons stays where it was changed: kept is its folder then.
func Uninstall() (removed []Removed, kept string, err error) {
	var failed []error
	remove := func(path string) {
		n, there := BytesBelow(path)
		if !there {
			return
		}
		if err := os.RemoveAll(path); err != nil {
			failed = append(failed, err)
			return
		}
		removed = append(removed, Removed{path, n})
	}
	entry, err := kernelDir()
	if err != nil {
		return nil, "", err
	}
	remove(entry)
	if path := ownCompleterSettings(); path != "" {
		remove(path)
	}
	cache, err := cacheDir()
	if err != nil {
		return removed, "", err
	}
	entries, err := os.ReadDir(cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return removed, "", err
	}
	for _, e := range entries {
		path := filepath.Join(cache, e.Name())
		if e.Name() == lessonsCopy && lessonsChanged(path) {
			kept = path
			continue
		}
		remove(path)
	}
	if kept == "" {
		if err := os.Remove(cache); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return removed, kept, errors.Join(failed...)
}

// BytesBelow adds up the files below path, which may not be there. What cannot be read
// counts nothing.
func BytesBelow(path string) (n int64, there bool) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		there = true
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
		return nil
	})
	return n, there
}

// lessonsChanged reports whether a copy of the lessons has what the lessons have not.
func lessonsChanged(dir string) bool {
	from := compiledFrom()
	if from == "" {
		return true // nothing tells
	}
	original := filepath.Join(from, "notebooks")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(original, name))
		if err == nil && !bytes.Equal(have, want) {
			return fs.ErrExist
		}
		return err
	})
	return err != nil
}
