package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
)

// Open is store.Open.
func Open(path string) (store.Array, error) { return OpenContext(context.Background(), path) }

// OpenContext is store.OpenContext.
func OpenContext(ctx context.Context, path string) (store.Array, error) {
	f := formatOf(path)
	if place := blob.PlaceOf(f.Place(path)); place.Files {
		if err := checkFolder(place.Path); err != nil {
			return nil, pathError("open", path, err)
		}
	}
	if _, ok := f.(flatFormat); ok {
		if _, err := locateStored(path); err != nil {
			return nil, pathError("open", path, err)
		}
	}
	a, err := f.Open(ctx, path)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	if file, ok := a.(*flat); ok && file.unfinished != nil {
		return nil, pathError("open", path, errors.Join(unfinishedError(*file.unfinished), file.Close()))
	}
	return a, nil
}

// Describe returns the Info of what Open opens, also of an array with an unfinished
// region, which has to be described to be finished.
func Describe(path string) (store.Info, error) {
	a, err := formatOf(path).Open(context.Background(), path)
	if err != nil {
		return store.Info{}, pathError("open", path, err)
	}
	return a.Info(), a.Close()
}

// regular rejects what is not a file with bytes of its own.
func regular(st fs.FileInfo) error {
	switch {
	case st.IsDir():
		return errors.New("it is a directory")
	case !st.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	return nil
}

// lastChange returns when a file last changed, as far as the system tells.
func lastChange(i store.FileVersion) time.Time {
	if i.ChangeTime.IsZero() {
		return i.ModTime
	}
	return i.ChangeTime
}

// sameContents is Equal but for what links and permissions change too.
func sameContents(i, j store.FileVersion) bool {
	i.ChangeTime = j.ChangeTime
	return i.Equal(j)
}

func fileVersion(st fs.FileInfo) store.FileVersion {
	id := disk.ID(st)
	return store.FileVersion{Size: st.Size(), ModTime: st.ModTime(), ChangeTime: id.ChangeTime, Device: id.Device, Inode: id.Inode}
}

// Places returns the file or folder of this machine that an array is read from, as Place does, and
// all files of a stack; nil for an array in memory or in an object store. For a stack of files of
// one folder it returns the folder, and the files by their numbers on the disk.
func Places(info *store.Info) (all []string, numbers iter.Seq2[uint64, uint64]) {
	numbers = func(func(device, inode uint64) bool) {}
	if info == nil {
		return nil, numbers
	}
	files := []string{info.Path}
	if s, _ := info.Keep.(*stack); s != nil && s.entry && s.alike != nil {
		files = []string{filepath.Dir(s.files[0])}
		numbers = func(yield func(device, inode uint64) bool) {
			for i := range s.states {
				if !yield(s.alike.info.ID.Device, s.states[i].inode) {
					return
				}
			}
		}
	} else if pattern, _, _, ok := cutStack(info.Path); ok {
		files, _ = filepath.Glob(pattern)
	}
	for _, file := range files {
		if file == "" || !placeOf(file).Files {
			continue
		}
		if place, err := Place(file); err == nil {
			all = append(all, place)
		}
	}
	return all, numbers
}

// Holds reports whether a file is one that an array, or one of a collection, is or would be stored
// in, or lies in its folder. Links are followed, also of what is not there yet.
func Holds(array, file string) bool {
	if pattern, query, _, ok := cutStack(array); ok {
		files, _ := filepath.Glob(pattern)
		return slices.ContainsFunc(files, func(name string) bool { return Holds(name+query, file) })
	}
	f := formatOf(array)
	at := blob.PlaceOf(f.Place(array))
	if !at.Files {
		return false
	}
	place := at.Path
	if c, ok := f.(Collection); ok {
		members, _ := c.Members(context.Background(), place)
		for _, m := range members {
			if of := formatOf(m.Path).Place(m.Path); of != place && Holds(of, file) {
				return true
			}
		}
	}
	place = resolved(place)
	there, missing := os.Stat(place)
	for at := resolved(file); ; at = filepath.Dir(at) {
		if at == place {
			return true
		}
		if st, err := os.Stat(at); err == nil && missing == nil && os.SameFile(st, there) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// resolved returns the absolute path of a file with links followed, also where the last link
// leads to no file.
func resolved(path string) string {
	for range 40 { // as many links as Linux follows
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
			break
		}
		link, err := os.Readlink(path)
		if err != nil {
			if dir := filepath.Dir(path); dir != path {
				path = filepath.Join(resolved(dir), filepath.Base(path))
			}
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Plain returns an error without its path, for an error that names another one.
func Plain(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err
	}
	return err
}

// accessError is pathError, but for an error that the end of ctx may have caused.
func accessError(ctx context.Context, op, path string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return pathError(op, path, err)
}

// pathError names the operation and the path as the user gave it, and takes off
// the name that the operating system's own error has. It is nil for none.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if locked, ok := errors.AsType[*store.LockedError](err); ok {
		return locked
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	} else if inner, ok := errors.AsType[*os.LinkError](err); ok {
		err = inner.Err
	}
	shown := blob.Shown(path)
	if len(shown) > longPath {
		shown = fmt.Sprintf("%.200s…", shown)
	}
	return &fs.PathError{Op: op, Path: shown, Err: err}
}

// longPath is the number of bytes from which a path is cut in messages. No file has a longer path, but an
// array's name may be longer.
const longPath = 4096
