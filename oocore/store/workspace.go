package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// Workspace is a hidden folder beside an output, where a run keeps what is
// unfinished. It is held by a lock, which goes with the process however that
// ends; where the file system has no locks nothing holds it.
type Workspace struct {
	Path string // of the folder
	lock disk.Handle
	// attached says that another process holds the workspace: nothing is removed.
	attached bool
}

// LockedError is returned where another process writes the same output.
type LockedError struct {
	Path string
	PID  int // 0 where it could not be read
}

func (e *LockedError) Error() string {
	switch e.PID {
	case 0:
		return e.Path + " is being written by another process: wait for it, or end it"
	case os.Getpid():
		return e.Path + " is being written by this process already: wait for it"
	}
	return fmt.Sprintf("%s is being written by process %d: wait for it, or end it", e.Path, e.PID)
}

// What a workspace has of its own.
const (
	lockName = "lock"
	// tornName is the file that says that a region of the output was begun to be
	// written in place. The output cannot be read while it is there, and nothing but
	// finishing the region, or replacing the output, takes it away.
	tornName = "region"
	// nameMax is the longest name that file systems have, in bytes.
	nameMax = 255
)

// NewWorkspace makes the workspace of an output, or takes over the one that an
// earlier run left, with what is in it. Where another process holds it the error
// is a *LockedError. For an output in an object store it is in the user's cache
// folder.
func NewWorkspace(output string) (*Workspace, error) {
	dir, err := workspaceDir(formatOf(output).Place(output))
	if err != nil {
		return nil, pathError("create", output, err)
	}
	w, err := take(dir, output)
	if err != nil {
		return nil, pathError("create", output, err)
	}
	return w, nil
}

// TempWorkspace makes a workspace for a run that writes no file, where the system
// keeps temporary files. It removes there what killed processes left of theirs.
func TempWorkspace() (*Workspace, error) {
	sweep(os.TempDir())
	for {
		dir, err := os.MkdirTemp("", tempPrefix)
		if err != nil {
			return nil, fmt.Errorf("a folder for temporary arrays: %w", err)
		}
		w, err := take(dir, dir)
		if _, swept := errors.AsType[*LockedError](err); !swept { // by another, just now
			return w, err
		}
	}
}

const tempPrefix = ".gonbext-"

// sweep removes the temporary workspaces that no process holds. What cannot be
// removed is another user's, or the system's to remove.
func sweep(parent string) {
	_ = disk.List(parent, func(e fs.DirEntry) bool {
		dir := filepath.Join(parent, e.Name())
		if _, err := os.Stat(filepath.Join(dir, lockName)); err == nil && strings.HasPrefix(e.Name(), tempPrefix) {
			if w, err := take(dir, dir); err == nil && w.lock != nil {
				_ = w.Remove()
			}
		}
		return true
	})
}

// workspaceDir is the folder that belongs to a place.
func workspaceDir(place string) (string, error) {
	if blob.Remote(place) {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		parent := filepath.Join(cache, "gonbext", "unfinished")
		return filepath.Join(parent, digest(place)), disk.MkdirAll(parent, 0o700)
	}
	target, err := followed(place)
	if err != nil {
		return "", err
	}
	return besides(target), nil
}

// besides is the workspace's folder of a file or folder of this machine.
func besides(target string) string {
	const suffix = ".gonbext"
	dir, base := filepath.Split(target)
	name := "." + base + suffix
	if len(name) > nameMax {
		cut := nameMax - len(suffix) - len(digest("")) - 2
		for cut > 0 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		name = "." + base[:cut] + "-" + digest(base) + suffix
	}
	return dir + name
}

// digest is a short name that belongs to a long one.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// followed is where links lead to. What is not there yet has to have a folder.
func followed(path string) (string, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, nil
	}
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the folder %s does not exist: make it first", dir)
	case err == nil && !st.IsDir():
		return "", fmt.Errorf("%s is not a folder", dir)
	}
	return path, err
}

// take makes a folder where there is none, and locks it.
func take(dir, output string) (*Workspace, error) {
	for range 100 {
		if err := disk.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		name := filepath.Join(dir, lockName)
		f, err := disk.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its last owner has removed the folder just now
		}
		if err != nil {
			_ = disk.Remove(dir) // where it is empty
			return nil, err
		}
		err = unix.Flock(int(f.OS().Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == unix.EWOULDBLOCK {
			return nil, errors.Join(&LockedError{output, holder(f)}, f.Close())
		}
		if err != nil { // this file system has no locks
			return &Workspace{Path: dir}, f.Close()
		}
		if !sameFile(f, name) { // locked, but removed by its last owner
			f.Close()
			continue
		}
		// On a full disk the number is missing, and with it only a word of a message.
		_ = f.Truncate(0)
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
		return &Workspace{Path: dir, lock: f}, nil
	}
	return nil, fmt.Errorf("%s cannot be made: something keeps removing it", dir)
}

// holder reads who has locked a file.
func holder(f disk.Handle) int {
	text := make([]byte, 20)
	n, _ := f.ReadAt(text, 0)
	pid, _ := strconv.Atoi(string(text[:n]))
	return pid
}

func sameFile(f disk.Handle, name string) bool {
	opened, err := f.Stat()
	named, errNamed := os.Stat(name)
	return err == nil && errNamed == nil && os.SameFile(opened, named)
}

// Join is the path of what has a name in the workspace.
func (w *Workspace) Join(name string) string { return filepath.Join(w.Path, name) }

// Clear removes what is in the workspace. What says that the output is torn stays.
func (w *Workspace) Clear() (err error) {
	if w.attached {
		return nil
	}
	listing := disk.List(w.Path, func(e fs.DirEntry) bool {
		if e.Name() != lockName && e.Name() != tornName {
			err = errors.Join(err, disk.RemoveAll(w.Join(e.Name())))
		}
		return true
	})
	return errors.Join(err, listing)
}

// sync makes durable what names the workspace has, and its own.
func (w *Workspace) sync() error {
	return errors.Join(disk.SyncDir(w.Path), disk.SyncDir(filepath.Dir(w.Path)))
}

// Remove removes the workspace and releases it. What says that the output is torn
// stays.
func (w *Workspace) Remove() error { return errors.Join(w.Clear(), w.Close()) }

// Close releases the workspace and keeps what is in it. An empty one is removed.
func (w *Workspace) Close() error {
	if w.attached {
		return nil
	}
	empty := true
	err := disk.List(w.Path, func(e fs.DirEntry) bool {
		empty = e.Name() == lockName
		return empty
	})
	if empty && err == nil {
		// The folder first loses its lock: who opens the folder's next lock in between
		// keeps the folder.
		err = disk.Remove(w.Join(lockName))
		if err == nil {
			if err = disk.Remove(w.Path); errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
				err = nil
			}
		}
	}
	if w.lock == nil {
		return err
	}
	lock := w.lock
	w.lock = nil
	return errors.Join(err, lock.Close())
}
