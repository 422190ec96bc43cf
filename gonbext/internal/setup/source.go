package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Module is the path of the module that this binary is built from.
const Module = "github.com/gonbext/gonbext"

// Source returns the folder of this module's source, which cells import and GoNB is built
// by: the one that this binary was compiled from, if it is still there, else the one in
// Go's module cache. A folder that another user could have put there, or can write to, is
// an error: its code would run in every cell.
func Source() (string, error) {
	if dir := compiledFrom(); isModule(dir) {
		return dir, ownedSource(dir)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "", errors.New("the source that gonbext was built from is gone: build it again with go install ./gonbext/cmd/gonbext")
	}
	module := Module + "@" + info.Main.Version
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Dir = Elsewhere() // outside of any module
	out, err := cmd.Output()
	if dir := strings.TrimSpace(string(out)); err == nil && isModule(dir) {
		return dir, ownedSource(dir)
	}
	return "", fmt.Errorf("the source that gonbext was built from is gone: fetch it with go mod download %s", module)
}

// compiledFrom returns the folder that this binary was compiled from, "" where it does
// not know (-trimpath).
func compiledFrom() string {
	_, file, _, ok := runtime.Caller(0)
	if dir := filepath.Join(filepath.Dir(file), "..", "..", ".."); ok && filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// ownedSource returns an error where somebody other than this user and root can change
// what cells compile: the module's files, its packages and their folders.
func ownedSource(dir string) error {
	check := func(path string, st fs.FileInfo, err error) error {
		if err == nil && !ownedAlone(st) {
			err = fmt.Errorf("%s can be changed by another user: cells would run what he puts there. Take the right away (chmod -R go-w), or clone the source into a folder of your own", path)
		}
		return err
	}
	for _, name := range []string{".", "go.mod", "go.sum"} {
		path := filepath.Join(dir, name)
		st, err := os.Lstat(path)
		if err := check(path, st, err); err != nil {
			return err
		}
	}
	for _, name := range []string{"oocore", "cuda", "gonbext"} {
		err := filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			st, err := d.Info()
			return check(path, st, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isModule reports whether dir is the root of this module.
func isModule(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(data), "module "+Module+"\n")
}

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
