package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Kept is a file or folder that gonbext has put on this machine for this user.
type Kept struct {
	What, Path string
	Bytes      int64
}

// kinds say what is in gonbext's folder of the user's cache, by how names there begin.
var kinds = []struct{ prefix, what string }{
	{"bin", "the kernel"}, {"tools-", "GoNB and goimports"}, {"gopls-", "gopls"}, {"jupyter-", "JupyterLab"},
	{lessonsCopy, "lessons"}, {"runs", "records of runs"}, {"unfinished", "what runs that did not end have left"},
}

// Installed is the kernel's entry in Jupyter, settings of JupyterLab's, and all that is in
// gonbext's folder of the user's cache.
func Installed() (all []Kept, err error) {
	add := func(what, path string) {
		if n, there := BytesBelow(path); there {
			all = append(all, Kept{what, path, n})
		}
	}
	entry, err := kernelDir()
	if err != nil {
		return nil, err
	}
	add("the kernel's entry in Jupyter", entry)
	if lessons, err := extensionDir(); err == nil {
		add("the lessons in JupyterLab's launcher", lessons)
	}
	if path := ownCompleterSettings(); path != "" {
		add("a setting of JupyterLab", path)
	}
	cache, err := cacheDir()
	if err != nil {
		return all, err
	}
	entries, err := os.ReadDir(cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return all, err
	}
	for _, e := range entries {
		what := e.Name()
		for _, k := range kinds {
			if strings.HasPrefix(e.Name(), k.prefix) {
				what = k.what
			}
		}
		add(what, filepath.Join(cache, e.Name()))
	}
	return all, nil
}

// Uninstall removes what is Installed. The copy of the lessons stays where it was changed: kept
// is its folder then.
func Uninstall() (removed []Kept, kept string, err error) {
	all, err := Installed()
	failed := []error{err}
	for _, k := range all {
		if filepath.Base(k.Path) == lessonsCopy && lessonsChanged(k.Path) {
			kept = k.Path
			continue
		}
		if err := os.RemoveAll(k.Path); err != nil {
			failed = append(failed, err)
			continue
		}
		removed = append(removed, k)
	}
	if cache, err := cacheDir(); err == nil && kept == "" {
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
