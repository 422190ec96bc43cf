package setup

import (
	"fmt"
	"os"
	"path/filepath"
)

// lessonsCopy is the folder of their copy in gonbext's cache.
const lessonsCopy = "notebooks"

// Lessons is the folder of the notebooks that come with this module: where it was
// compiled or, if that cannot be written to as in Go's module cache, a copy.
func Lessons() (string, error) {
	dir := filepath.Join(compiledFrom(), "notebooks")
	if st, err := os.Lstat(dir); err != nil || !isModule(filepath.Dir(dir)) || !ownedAlone(st) {
		return "", fmt.Errorf("the lessons are not in %s, or others can write there: name a folder, as in gonbext lab DIR", dir)
	}
	probe, err := os.CreateTemp(dir, ".writable-*")
	if err == nil {
		probe.Close()
		return dir, os.Remove(probe.Name())
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	own := filepath.Join(cache, lessonsCopy)
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	return own, os.CopyFS(own, os.DirFS(dir))
}
