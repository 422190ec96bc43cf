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
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/requests"
	"github.com/gonbext/gonbext/oocore/internal/storage/door"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Open is store.Open.
func Open(path string) (store.Array, error) { return OpenContext(context.Background(), path) }

// OpenContext is store.OpenContext.
func OpenContext(ctx context.Context, path string) (store.Array, error) {
	f := formatOf(path)
	if place := blob.PlaceOf(f.Place(path)); place.Files {
		if err := checkFolder(place.Path); err != nil {
			return nil, PathError("open", path, err)
		}
	}
	ctx, asked := requests.Counting(ctx)
	a, err := reading(ctx, f, path, func(f store.Format) (store.Array, error) { return f.Open(ctx, path) })
	if err != nil {
		return nil, PathError("open", path, err)
	}
	if sum := asked.Sum(); sum != nil {
		openings.Store(path, sum)
	}
	return a, nil
}

// openings are what opening each path of an object store has asked for last.
var openings sync.Map // of []record.Traffic

// Opening returns what opening a path asks object stores and servers for, if this process has opened it.
func Opening(path string) []record.Traffic {
	t, _ := openings.Load(path)
	sum, _ := t.([]record.Traffic)
	return sum
}

// Foretells is a Format that says what making a new array in an object store asks for besides storing its chunks: until it is in
// its place, and when its version is read then. unsure says what else it may ask for; "" for nothing.
type Foretells interface {
	Foretell(path string, m store.Meta) (t record.Traffic, unsure string, err error)
}

// Foretell is that of the format of a path.
func Foretell(path string, m store.Meta) (t record.Traffic, unsure string, err error) {
	if f, ok := formatOf(path).(Foretells); ok {
		return f.Foretell(path, m)
	}
	return t, "what its format asks for is not known", nil
}

// ListedPages is how many requests list the objects of a stored array that has so many chunks or shards; 0 where none is needed
// to tell its version.
func ListedPages(path string, objects int) int64 {
	f := formatOf(path)
	if _, ok := f.(digester); !ok || !blob.PlaceOf(f.Place(path)).List {
		return 0
	}
	return Pages(objects + 1)
}

// Pages is how many requests list so many objects.
func Pages(objects int) int64 {
	return int64(max((objects+requests.Keys-1)/requests.Keys, 1))
}

// Describe returns the Info of what Open opens, also of an array with an unfinished
// region, which has to be described to be finished.
func Describe(path string) (info store.Info, err error) {
	f := formatOf(path)
	var a store.Array
	if of, ok := flatOf(f); ok {
		var l FlatFile
		if l, err = of.cut(path); err == nil {
			a, err = of.open(context.Background(), path, l, nil)
		}
	} else {
		ctx := context.Background()
		a, err = reading(ctx, f, path, func(f store.Format) (store.Array, error) { return f.Open(ctx, path) })
	}
	if err != nil {
		return info, PathError("open", path, err)
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

// LastChange returns when a file last changed, as far as the system tells.
func LastChange(i store.FileVersion) time.Time {
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

// StatFile returns which version of a file there is.
func StatFile(file string) (store.FileVersion, error) {
	st, err := os.Stat(file)
	if err != nil {
		return store.FileVersion{}, err
	}
	return fileVersion(st), nil
}

func fileVersion(st fs.FileInfo) store.FileVersion {
	id := disk.ID(st)
	return store.FileVersion{Size: st.Size(), ModTime: st.ModTime(), ChangeTime: id.ChangeTime, Device: id.Device, Inode: id.Inode}
}

// Several is a Format of arrays that each lie in several files: stacks. It is asked before all others.
type Several interface {
	store.Format
	// Files returns the paths of the arrays that a path stands for.
	Files(path string) []string
	// Entries returns the folder of an array's files, and these by their numbers on the disk, where they are entries of one folder
	// and none is a link; else "".
	Entries(info *store.Info) (folder string, numbers iter.Seq2[uint64, uint64])
	// Parts returns the paths of an open array's files, and the axis along which they lie one after another.
	Parts(info *store.Info) (files []string, axis int)
	// Opened returns the array of a path that this process has open, or nil.
	Opened(path string) store.Array
	// OpenVersion is that of this package.
	OpenVersion(ctx context.Context, path string) (store.Array, Version, error)
	// HasVersion reports that the array is of a version, as far as this process knows.
	HasVersion(ctx context.Context, path string, v Version) (bool, error)
}

// severalOf returns the format of a path of several files, or nil.
func severalOf(path string) Several {
	for _, f := range door.First {
		if s, ok := f.(Several); ok && s.Owns(path) {
			return s
		}
	}
	return nil
}

// Parts returns the paths of the files of a stack, and the axis along which they lie one after another; nil for other arrays.
func Parts(info *store.Info) (files []string, axis int) {
	if s := severalOf(info.Path); s != nil {
		return s.Parts(info)
	}
	return nil, 0
}

// Reopen returns OpenContext, without a look at the files of a stack that this process has open:
// whoever reads one of them looks at it.
func Reopen(ctx context.Context, path string) (store.Array, error) {
	if s := severalOf(path); s != nil {
		if a := s.Opened(path); a != nil {
			return a, nil
		}
	}
	return OpenContext(ctx, path)
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
	if s := severalOf(info.Path); s != nil {
		if folder, entries := s.Entries(info); folder != "" {
			files, numbers = []string{folder}, entries
		} else {
			files = s.Files(info.Path)
		}
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
	if s := severalOf(array); s != nil {
		return slices.ContainsFunc(s.Files(array), func(path string) bool { return Holds(path, file) })
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

// AccessError is PathError, but for an error that the end of ctx may have caused.
func AccessError(ctx context.Context, op, path string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return PathError(op, path, err)
}

// PathError names the operation and the path as the user gave it, and takes off
// the name that the operating system's own error has. It is nil for none.
func PathError(op, path string, err error) error {
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
