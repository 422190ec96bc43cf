package storage

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
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
)

// StagingDir is a hidden folder beside an output, where a run keeps what is
// unfinished. It is this user's and nobody else can write to it; it is held open, so
// that no link and no other folder takes its place. A lock, which ends with the
// process, keeps all others out; where the file system has no locks a file names the
// process.
type StagingDir struct {
	Path   string // of the folder
	target string // the file or folder that it belongs to; "" where that is not on this machine
	folder *disk.Held
	lock   disk.Handle // nil once it is closed
	owned  bool        // by the file that names the process
	// attached says that another process holds the staging folder: nothing is removed.
	attached bool
	writer   string         // this process's file in an attached one
	running  sync.WaitGroup // what Go has begun
}

// What a staging folder has of its own.
const (
	stagingSuffix = ".gonbext" // of its name
	lockName      = "lock"
	// nameMax is the longest name that file systems have, in bytes.
	nameMax = 255
)

// NewStagingDir makes the staging folder of an output, or takes over the one that an
// earlier run left, with what is in it. Where another process holds it the error
// is a *LockedError. For an output in an object store it is in the user's cache
// folder.
func NewStagingDir(output string) (*StagingDir, error) {
	dir, target, err := stagingPath(placeOf(output))
	if err != nil {
		return nil, PathError("create", output, err)
	}
	inherit(dir, output)
	w, err := take(dir, output, target)
	if err != nil {
		return nil, PathError("create", output, err)
	}
	removeAbove(output)
	return w, nil
}

// ExistingStagingDir is NewStagingDir for a folder that an earlier run left. It returns nil
// where there is none, or another process holds it.
func ExistingStagingDir(output string) (*StagingDir, error) {
	dir, target, err := stagingPath(placeOf(output))
	if err != nil {
		return nil, PathError("open", output, err)
	}
	removeAbove(output)
	w, err := takeThere(dir, output, target, true)
	if errors.Is(err, fs.ErrNotExist) {
		removeEmpty(dir)
		return nil, nil
	}
	if _, locked := errors.AsType[*store.LockedError](err); locked {
		return nil, nil
	}
	return w, err
}

// above are the staging folders of the groups that hold an output. A run that brings a group
// into being has its folder there.
func above(output string) (all []string) {
	f, ok := formatOf(output).(nested)
	if !ok {
		return nil
	}
	for _, group := range f.Holders(output) {
		if target, err := followed(group); err == nil {
			all = append(all, besides(target))
		}
	}
	return all
}

// removeAbove removes the staging folders of the groups that hold an output, which runs that
// were killed have left.
func removeAbove(output string) {
	for _, dir := range above(output) {
		removeStale(dir)
	}
}

// inherit makes the staging folder of a group that holds an output the output's own, where
// that has none: it may be of a run that was killed once it had brought the group into being.
func inherit(dir, output string) {
	for _, group := range above(output) {
		if _, err := disk.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || !disk.RenamesOpen {
			return
		}
		w, err := takeThere(group, output, "", true)
		if err != nil { // there is none, or it is not to be taken
			continue
		}
		_ = errors.Join(w.disown(), disk.Rename(group, dir), w.lock.Close(), w.folder.Release())
	}
}

// TempStagingDir makes a staging folder for a run that writes no file, where the system
// keeps temporary files; where that is in memory, as in a tmpfs, in the user's cache. It removes there what killed processes of this user left of
// theirs.
func TempStagingDir() (*StagingDir, error) {
	parent, _ := tempParent()
	sweep(parent)
	for {
		dir, err := os.MkdirTemp(parent, tempPrefix)
		if err != nil {
			return nil, fmt.Errorf("no folder for temporary arrays can be made, set TMPDIR to one that can be written: %w", err)
		}
		w, err := take(dir, dir, "")
		if _, swept := errors.AsType[*store.LockedError](err); !swept { // by another, just now
			return w, err
		}
	}
}

const tempPrefix = ".gonbext-"

// sweep removes the temporary staging folders that no process holds: folders of this
// user that have a staging folder's lock. All others are not ours to remove.
func sweep(parent string) {
	_ = disk.List(parent, func(e fs.DirEntry) bool {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			return true
		}
		removeStale(filepath.Join(parent, e.Name()))
		return true
	})
}

// removeStale removes a staging folder of this user that no process holds, also where
// nothing is left of it but the folder.
func removeStale(dir string) {
	w, err := takeThere(dir, dir, "", true)
	if err == nil {
		_ = w.Remove()
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		removeEmpty(dir)
	}
}

// removeEmpty removes a folder of this user without a lock, of which a killed run had removed
// all else.
func removeEmpty(dir string) {
	if st, err := disk.Lstat(dir); err == nil && st.IsDir() && disk.Foreign(st) == "" {
		_ = disk.Remove(dir) // which fails unless it is empty
	}
}

// stagingPath is the folder that belongs to a place, and what it lies beside, with
// links followed: "" for an object store.
func stagingPath(place blob.Place) (dir, target string, err error) {
	if place.Files {
		if target, err = followed(place.Path); err != nil {
			return "", "", err
		}
		return besides(target), target, nil
	}
	parent := unfinishedParent()
	if err := disk.MkdirAll(parent, 0o700); err != nil {
		return "", "", err
	}
	held, err := disk.Hold(parent) // whoever can write to it could exchange what is in it
	if err != nil {
		return "", "", err
	}
	return filepath.Join(parent, digest(place.Path)), "", errors.Join(private(held, parent), held.Release())
}

// StagingPath returns the path of the staging folder of an output.
func StagingPath(output string) (string, error) {
	dir, _, err := stagingPath(placeOf(output))
	return dir, err
}

// unfinishedParent is the user's folder of staging folders that lie beside no output.
func unfinishedParent() string {
	if cache, err := os.UserCacheDir(); err == nil {
		return filepath.Join(cache, "gonbext", "unfinished")
	}
	return filepath.Join(os.TempDir(), "gonbext-"+strconv.Itoa(os.Getuid()))
}

// tempParent is the folder of temporary staging folders: the system's, or the user's cache
// where that lies in memory, and reports one that lies in memory too.
func tempParent() (dir string, inMemory bool) {
	dir = os.TempDir()
	if !disk.InMemory(dir) {
		return dir, false
	}
	if cache := unfinishedParent(); disk.MkdirAll(cache, 0o700) == nil && !disk.InMemory(cache) {
		return cache, false
	}
	return dir, true
}

// besides is the staging folder's folder of a file or folder of this machine.
func besides(target string) string {
	dir, base := filepath.Split(target)
	name := "." + base + stagingSuffix
	if len(name) > nameMax {
		cut := nameMax - len(stagingSuffix) - len(digest("")) - 2
		for cut > 0 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		name = "." + base[:cut] + "-" + digest(base) + stagingSuffix
	}
	return dir + name
}

// digest is a short name that belongs to a long one.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// missingFolder is the error of an output whose folder does not exist.
type missingFolder string

func (e missingFolder) Error() string {
	return fmt.Sprintf("the folder %s does not exist: make it first", string(e))
}

func (missingFolder) Is(target error) bool { return target == fs.ErrNotExist }

// followed is where links lead to. What is not there yet has to have a folder.
func followed(path string) (string, error) {
	if disk.Planted(path) {
		return "", fmt.Errorf("%s is a link that another user has made in a folder that all can write to: remove it, or save elsewhere", path)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, nil
	}
	path = filepath.Clean(path)
	dir := filepath.Dir(path)
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", missingFolder(dir)
	case err == nil && !st.IsDir():
		return "", fmt.Errorf("%s is not a folder", dir)
	}
	return path, err
}

// take makes a folder where there is none, and locks it.
func take(dir, output, target string) (*StagingDir, error) {
	for range 100 {
		if err := disk.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		w, err := takeThere(dir, output, target, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its last owner has removed the folder just now
		}
		return w, err
	}
	return nil, fmt.Errorf("%s cannot be made: something keeps removing it", dir)
}

// takeThere locks a folder that is there, with begun only where it has a lock's file.
// The error is fs.ErrNotExist where the folder, or the lock, has gone.
func takeThere(dir, output, target string, begun bool) (_ *StagingDir, err error) {
	w := &StagingDir{Path: dir, target: target}
	if w.folder, err = disk.Hold(dir); err != nil {
		return nil, err
	}
	if err := w.take(output, begun); err != nil {
		if w.lock != nil {
			err = errors.Join(err, w.lock.Close())
		}
		return nil, errors.Join(err, w.folder.Release())
	}
	return w, nil
}

func (w *StagingDir) take(output string, begun bool) (err error) {
	if st, err := w.folder.Stat(); err != nil || begun && disk.Foreign(st) != "" {
		return errors.Join(err, fs.ErrPermission)
	}
	if err := private(w.folder, w.Path); err != nil {
		return err
	}
	name := w.Join(lockName)
	st, err := disk.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && begun:
		return err
	case errors.Is(err, fs.ErrNotExist):
		// Somebody else's folder may have been given this name.
		if err := w.unused(); err != nil {
			return err
		}
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return notOurs(w.Path, "its lock is not a regular file")
	}
	if w.lock, err = disk.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := w.exclude(output); err != nil {
		return err
	}
	if named, err := disk.Lstat(name); err != nil || !sameFile(w.lock, named) { // locked, but removed by its last owner
		return errors.Join(w.disown(), fs.ErrNotExist)
	}
	return w.recover()
}

// unused rejects a folder that has something in it.
func (w *StagingDir) unused() (err error) {
	listing := disk.List(w.Path, func(e fs.DirEntry) bool {
		if e.Name() != lockName { // which another process makes just now
			err = notOurs(w.Path, "it has "+e.Name()+" and no lock")
		}
		return err == nil
	})
	return errors.Join(err, listing)
}

// notOurs rejects a folder that has a staging folder's name.
func notOurs(dir, why string) error {
	return fmt.Errorf("%s is not a folder of unfinished work by this user: %s. Remove it, or save elsewhere", dir, why)
}

// private rejects a folder that another user could have made, or can write to. What
// a folder of our own looks like, the file system tells where it has its own idea of
// users and modes.
func private(folder *disk.Held, dir string) error {
	st, err := folder.Stat()
	if err != nil {
		return err
	}
	why := disk.Foreign(st)
	if why == "" {
		return nil
	}
	probe, err := os.MkdirTemp(filepath.Dir(dir), tempPrefix+"probe-")
	if err != nil {
		return notOurs(dir, why)
	}
	own, err := os.Lstat(probe)
	if err := errors.Join(err, os.Remove(probe)); err != nil {
		return err
	}
	if disk.Owner(own) != disk.Owner(st) || own.Mode().Perm() != st.Mode().Perm() {
		return notOurs(dir, why)
	}
	return nil
}

func sameFile(f disk.Handle, named fs.FileInfo) bool {
	opened, err := f.Stat()
	return err == nil && os.SameFile(opened, named)
}

// recover puts back what an exchange in steps was about to replace when it ended.
func (w *StagingDir) recover() error {
	if w.target == "" {
		return nil
	}
	var aside string
	err := disk.List(w.Path, func(e fs.DirEntry) bool {
		if strings.HasSuffix(e.Name(), disk.Aside) {
			aside = e.Name()
		}
		return aside == ""
	})
	if err != nil || aside == "" {
		return err
	}
	if _, err := os.Lstat(w.target); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(disk.Rename(w.Join(aside), w.target), disk.SyncDir(filepath.Dir(w.target)), disk.SyncDir(w.Path))
}

// Join returns the path of what has a name in the staging folder.
func (w *StagingDir) Join(name string) string { return filepath.Join(w.Path, name) }

// Clear removes what is in the staging folder. Where a process of an earlier run may still write there, the error is a *LockedError.
func (w *StagingDir) Clear() error {
	if w.attached {
		return nil
	}
	if err := w.awaitWriters(); err != nil {
		return err
	}
	return w.clear()
}

func (w *StagingDir) clear() (err error) {
	if err := w.recover(); err != nil {
		return err
	}
	jobs, run := filepath.Split(filepath.FromSlash(ElsewhereFile))
	jobs = filepath.Clean(jobs)
	err = removeAllBut(w.Path, func(name string) bool { return ours(name) || name == jobs })
	if _, gone := disk.Lstat(w.Join(jobs)); gone == nil {
		err = errors.Join(err, removeAllBut(w.Join(jobs), func(name string) bool { return name == run }))
	}
	return errors.Join(err, disk.RemoveAll(w.Join(jobs)))
}

// removeAllBut removes what is in a folder.
func removeAllBut(dir string, kept func(name string) bool) (err error) {
	listing := disk.List(dir, func(e fs.DirEntry) bool {
		if !kept(e.Name()) {
			err = errors.Join(err, disk.RemoveAll(filepath.Join(dir, e.Name())))
		}
		return true
	})
	return errors.Join(err, listing)
}

// ElsewhereFile is the file in a staging folder that says that processes of a cluster write there. While it is
// there, only the run that it is of may go on. It is removed last: a process of the cluster that is started again sees
// that an earlier one was removing the folder.
const ElsewhereFile = "jobs/run.json"

// ours reports the name of what says who holds a staging folder.
func ours(name string) bool { return name == lockName || name == ownerName || name == staleName }

// sync makes durable what names the staging folder has, and its own.
func (w *StagingDir) sync() error {
	return errors.Join(disk.SyncDir(w.Path), disk.SyncDir(filepath.Dir(w.Path)))
}

// Go calls f, which is what is left to do of an output that is in its place. Remove and Close wait until it returns.
func (w *StagingDir) Go(f func()) {
	if f != nil {
		w.running.Go(f)
	}
}

// Remove removes the staging folder and releases it. An attached one it releases.
func (w *StagingDir) Remove() error {
	w.running.Wait()
	if w.attached {
		return w.Close()
	}
	return errors.Join(w.clear(), w.Close())
}

// Close releases the staging folder and keeps what is in it. An empty one is removed.
func (w *StagingDir) Close() error {
	w.running.Wait()
	if w.lock == nil {
		return nil
	}
	if w.attached {
		return w.unregister()
	}
	empty, stale := true, false
	err := disk.List(w.Path, func(e fs.DirEntry) bool {
		empty = ours(e.Name())
		stale = stale || e.Name() == staleName
		return empty
	})
	_ = w.lock.Truncate(0) // the process that it names continues, and does not hold the staging folder any more
	err = errors.Join(err, w.disown())
	if stale {
		err = errors.Join(err, disk.Remove(w.Join(staleName)))
	}
	lock := w.lock
	w.lock = nil
	if !disk.RenamesOpen { // nor removes them
		err = errors.Join(err, lock.Close())
	}
	if empty = empty && err == nil; empty {
		// The folder first loses its lock: who opens the folder's next lock in between
		// keeps the folder.
		err = disk.Remove(w.Join(lockName))
	}
	err = errors.Join(err, w.folder.Release())
	if empty && err == nil {
		if err = disk.Remove(w.Path); errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if !disk.RenamesOpen {
		return err
	}
	return errors.Join(err, lock.Close())
}
