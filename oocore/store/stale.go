package store

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// What a run writes under a temporary name it locks. The lock goes with its
// process, however that ends, so what is not locked is left over from a process
// that was killed, and the next run to the same place removes it.

// hold locks a file for as long as it is open.
func hold(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// claim locks a file that was just made. It reports false where a sweep took it
// in the moment between; where the file system has no locks there is none.
func claim(f *os.File) bool {
	if hold(f) == unix.EWOULDBLOCK {
		return false
	}
	_, err := os.Stat(f.Name())
	return err == nil
}

// leftOver reports a file that no process holds. File systems without locks
// never say so, and keep what is left over.
func leftOver(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return hold(f) == nil
}

// sweep removes what killed processes left of earlier outputs under a name.
func sweep(target string) {
	names, _ := filepath.Glob(quoteGlob(filepath.Join(filepath.Dir(target), "."+filepath.Base(target))) + ".gonbext-*.tmp")
	for _, name := range names {
		if leftOver(name) {
			os.Remove(name)
		}
	}
}

// quoteGlob makes a path match itself alone.
func quoteGlob(path string) string {
	var quoted []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			quoted = append(quoted, '\\')
		}
		quoted = append(quoted, path[i])
	}
	return string(quoted)
}

// ScratchDir is a folder for the temporary arrays of one run.
type ScratchDir struct {
	Path string
	lock *os.File
}

// NewScratchDir makes a hidden folder in another, and removes there what killed
// processes left of theirs.
func NewScratchDir(parent string) (*ScratchDir, error) {
	old, _ := filepath.Glob(filepath.Join(quoteGlob(parent), ".gonbext-*", "lock"))
	for _, lock := range old {
		if leftOver(lock) {
			os.RemoveAll(filepath.Dir(lock))
		}
	}
	dir, err := os.MkdirTemp(parent, ".gonbext-")
	if err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if !claim(lock) {
		lock.Close()
		os.RemoveAll(dir)
		return NewScratchDir(parent)
	}
	return &ScratchDir{dir, lock}, nil
}

// Remove deletes the folder and all that is in it.
func (s *ScratchDir) Remove() error {
	return errors.Join(os.RemoveAll(s.Path), s.lock.Close())
}
