package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/flock"
	"github.com/gonbext/gonbext/oocore/store"
)

// A process that is attached to a staging folder may be stopped, in the middle of a write too, while others do its
// tasks and the run ends, and continue later. Nothing that it writes then reaches what was published: it holds the staging
// folder open, so that no other folder of that name is its own, and it has a file there, which it keeps locked. Where that is
// locked at the end of the run, what is published is a copy, which that process has not opened.

// writerPrefix begins the name of an attached process's file.
const writerPrefix = "writer-"

// Register opens an attached staging folder and makes this process's file there, until Close: from then on the owner knows that this process
// may write. The error is ErrNotStaged where the folder is not there any more.
func (w *StagingDir) Register() (err error) {
	if w.folder, err = disk.Hold(w.Path); errors.Is(err, fs.ErrNotExist) {
		return ErrNotStaged
	} else if err != nil {
		return err
	}
	w.writer = w.Join(writerPrefix + rand.Text())
	if w.lock, err = disk.OpenFile(w.writer, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return errors.Join(err, w.folder.Release())
	}
	err = w.lock.Lock()
	if errors.Is(err, errors.ErrUnsupported) { // the file says whose it is
		err = nil
	}
	if err = errors.Join(err, w.writeLock()); err != nil {
		return errors.Join(err, w.unregister())
	}
	return nil
}

// unregister removes this process's file: it has closed all that it has opened.
func (w *StagingDir) unregister() error {
	err := errors.Join(disk.Remove(w.writer), w.lock.Close(), w.folder.Release())
	w.lock = nil
	return err
}

// Lost reports whether the run that this process is attached to has ended, or has begun anew. As long as it has not, files that this
// process opened before belong to that run.
func (w *StagingDir) Lost() bool {
	if !w.attached || w.writer == "" {
		return false
	}
	st, err := disk.Lstat(w.writer)
	return err != nil || w.lock == nil || !sameFile(w.lock, st)
}

// writers looks for processes that are, or were, attached to the staging folder and have not left it in order: left where there are any, and
// the error is a *LockedError where one of them may still write.
func (w *StagingDir) writers() (left bool, err error) {
	listing := disk.List(w.Path, func(e fs.DirEntry) bool {
		if !strings.HasPrefix(e.Name(), writerPrefix) || w.Join(e.Name()) == w.writer {
			return true
		}
		left = true
		err = w.writing(e.Name())
		return err == nil
	})
	return left, errors.Join(err, listing)
}

// writing returns a *LockedError where the process of a file may still write.
func (w *StagingDir) writing(name string) error {
	f, err := disk.OpenFile(w.Join(name), os.O_RDWR, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // it has left just now
			return nil
		}
		return err
	}
	defer f.Close()
	err = f.Lock()
	if err == nil {
		return nil
	}
	o := readOwner(f)
	if errors.Is(err, errors.ErrUnsupported) && o.ended() {
		return nil
	}
	if errors.Is(err, flock.ErrLocked) || errors.Is(err, errors.ErrUnsupported) {
		return &store.LockedError{Path: w.Path, PID: o.PID, Host: o.Host, File: w.Join(name)}
	}
	return err
}

// writersEnd is how long processes that are attached to a folder may take to end with the run that has begun them.
var writersEnd = 5 * time.Second

// awaitWriters waits until no attached process can write, and returns a *LockedError where one still can.
func (w *StagingDir) awaitWriters() error {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, err := w.writers()
		if !errors.As(err, new(*store.LockedError)) || time.Since(began) > writersEnd {
			return err
		}
	}
}

// Fence is called before what lies at a path, in the staging folder or in the place of a region, is published. Where an attached process
// may still write to it, a copy takes its place, to which that process has no way; where one was killed, what it has not finished is
// removed.
func (w *StagingDir) Fence(ctx context.Context, path string) error {
	left, err := w.writers()
	locked, live := errors.AsType[*store.LockedError](err)
	if !left || err != nil && !live {
		return err
	}
	if filepath.Dir(path) != w.Path {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	st, err := disk.Lstat(path)
	if err != nil {
		return err
	}
	if !live {
		if st.IsDir() {
			err = sweepUploads(path)
		}
		return err
	}
	fresh := w.Join("fenced")
	err = disk.RemoveAll(fresh)
	if err == nil {
		err = copyDurably(ctx, path, fresh, st)
	}
	if err == nil && st.IsDir() && filepath.Dir(path) == w.Path {
		err = errors.Join(disk.Rename(path, fresh+".old"), disk.Rename(fresh, path))
		fresh += ".old"
	} else if err == nil && st.IsDir() {
		err = disk.Exchange(fresh, path)
	} else if err == nil {
		err = disk.Rename(fresh, path)
	}
	err = errors.Join(err, disk.RemoveAll(fresh))
	if err != nil {
		err = fmt.Errorf("process %d of %s, which the run has given up, may still write: end it: %w", locked.PID, locked.Host, err)
	}
	return err
}

// unfinishedUpload reports whether a name is that of a file that was not written to its end.
func unfinishedUpload(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, stagingSuffix) && name != markName
}

// sweepUploads removes what killed processes have not finished below a folder.
func sweepUploads(dir string) (err error) {
	listing := disk.List(dir, func(e fs.DirEntry) bool {
		switch name := filepath.Join(dir, e.Name()); {
		case e.IsDir():
			err = sweepUploads(name)
		case unfinishedUpload(e.Name()):
			err = disk.Remove(name)
		}
		return err == nil
	})
	return errors.Join(err, listing)
}

// copyDurably copies a file, or a folder with all that is finished in it.
func copyDurably(ctx context.Context, from, to string, st fs.FileInfo) (err error) {
	switch {
	case st.IsDir():
		if err := disk.Mkdir(to, 0o700); err != nil {
			return err
		}
		listing := disk.List(from, func(e fs.DirEntry) bool {
			var entry fs.FileInfo
			if entry, err = e.Info(); err == nil && (e.IsDir() || !unfinishedUpload(e.Name())) {
				err = copyDurably(ctx, filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), entry)
			}
			return err == nil
		})
		err = errors.Join(err, listing, disk.SyncDir(to))
	case st.Mode().IsRegular():
		in, _, err := disk.Open(from)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := disk.Create(to, st.Size())
		if err != nil {
			return err
		}
		err = errors.Join(CopyRange(ctx, Settled{out}, 0, in, 0, st.Size()), out.Sync(), out.Close())
		if err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s is neither a file nor a folder", from)
	}
	if err != nil {
		return err
	}
	return disk.Chmod(to, st.Mode().Perm())
}
