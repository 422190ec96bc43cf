package setup

import (
	"fmt"
	"os"
	"path/filepath"
)

// Lessons is the folder of the notebooks that come with this module: where its
// source is or, if that cannot be written to as in Go's module cache, a copy.
func Lessons() (string, error) {
	source, err := Source()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(source, "notebooks")
	probe, err := os.CreateTemp(dir, ".writable-*")
	if err == nil {
		probe.Close()
		return dir, os.Remove(probe.Name())
	}
	if os.IsNotExist(err) {
		return "", fmt.Errorf("the lessons are not in %s: name a folder, as in gonbext lab DIR", dir)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	own := filepath.Join(cache, "notebooks")
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	return own, os.CopyFS(own, os.DirFS(dir))
}
