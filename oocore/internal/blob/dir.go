package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Dir returns the bucket of a folder of this machine. It is made with the first
// object. Objects are written under a hidden name beside their own, which no other
// process shares; what was created and not synced is left there, and replaced when
// it is written again. Links are followed within the folder only.
func Dir(root string) Bucket { return dir{&group{root: filepath.Clean(root)}, ""} }

type dir struct {
	*group
	prefix string
}

func (d dir) String() string       { return filepath.Join(d.root, filepath.FromSlash(d.prefix)) }
func (d dir) Can() Capabilities    { return files }
func (d dir) Join(p string) Bucket { return dir{d.group, d.prefix + p} }

// name is the file of a key, in the folder.
func (d dir) name(key string) (string, error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	key = d.prefix + key
	return filepath.FromSlash(key), CheckKey(key)
}

func (d dir) Open(ctx context.Context, key string) (Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, err := d.name(key)
	if err != nil {
		return nil, err
	}
	var o Object
	err = d.in(func(root *disk.Root) (err error) {
		o, err = d.open(root, key, name)
		return err
	})
	return o, err
}

func (d dir) open(root *disk.Root, key, name string) (Object, error) {
	f, st, err := disk.OpenIn(root.FS(), name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: d.path(name), Err: errors.New("it is not a regular file")}
		return nil, errors.Join(err, f.Close())
	}
	return object{f, entry(key, st)}, nil
}

// Folder is the Bucket of a folder of this machine.
type Folder interface {
	Bucket
	// OpenFolder opens the folder once for many objects.
	OpenFolder() (*OpenFolder, error)
}

func (d dir) OpenFolder() (*OpenFolder, error) {
	root, err := disk.OpenRoot(d.root)
	if err != nil {
		return nil, err
	}
	is, err := root.Stat(".")
	if err == nil {
		err = root.Many()
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &OpenFolder{d, root, is}, nil
}

// OpenFolder is a folder of this machine that is open.
type OpenFolder struct {
	dir  dir
	root *disk.Root
	is   fs.FileInfo
}

// Moved reports whether the folder's name may lead to another by now.
func (f *OpenFolder) Moved() bool {
	now, err := os.Stat(f.dir.root)
	return err != nil || !os.SameFile(now, f.is)
}

// Open opens an object for reading.
func (f *OpenFolder) Open(key string) (Object, error) {
	name, err := f.dir.name(key)
	if err != nil {
		return nil, err
	}
	o, err := f.dir.open(f.root, key, name)
	return o, escapes(f.dir.root, err)
}

// Stat returns the entry of an object.
func (f *OpenFolder) Stat(key string) (Entry, error) {
	name, err := f.dir.name(key)
	if err != nil {
		return Entry{}, err
	}
	st, err := f.root.Stat(name)
	if err != nil {
		return Entry{}, escapes(f.dir.root, err)
	}
	return entry(key, st), nil
}

// Close closes the folder, and none of its objects.
func (f *OpenFolder) Close() error { return f.root.Close() }

func entry(key string, st fs.FileInfo) Entry {
	id := disk.ID(st)
	version := strconv.AppendInt(make([]byte, 0, 48), st.ModTime().UnixNano(), 16)
	version = strconv.AppendInt(append(version, '-'), id.ChangeTime.UnixNano(), 16)
	version = strconv.AppendUint(append(version, '-'), id.Inode, 16)
	return Entry{Key: key, Size: st.Size(), Version: string(version), Changed: disk.LastChange(st)}
}

type object struct {
	disk.Handle
	entry Entry
}

func (o object) Entry() Entry { return o.entry }

func (o object) ReadAt(ctx context.Context, p []byte, at int64) error {
	err := disk.ReadAll(ctx, o.Handle, p, at)
	if err == io.ErrUnexpectedEOF {
		return &fs.PathError{Op: "read", Path: o.OS().Name(), Err: err}
	}
	return err
}

func (d dir) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name, err := d.name(key)
	if err != nil {
		return err
	}
	return d.delete(name)
}

func (d dir) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	prefix = d.prefix + prefix
	return func(yield func(Entry, error) bool) {
		below := prefix[:strings.LastIndexByte(prefix, '/')+1]
		err := d.in(func(root *disk.Root) error {
			return d.walk(ctx, root, below, prefix, func(e Entry) bool {
				e.Key = e.Key[len(d.prefix):]
				return yield(e, nil)
			})
		})
		if errors.Is(err, fs.ErrNotExist) { // the folder itself
			err = nil
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Entry{}, err)
		}
	}
}

// errStop ends a walk whose caller has seen enough.
var errStop = errors.New("stop")

// walk goes through the objects below a folder's key, which ends with a slash,
// that begin with a prefix.
func (d dir) walk(ctx context.Context, root *disk.Root, below, prefix string, yield func(Entry) bool) error {
	if below != "" {
		if err := CheckKey(strings.TrimSuffix(below, "/")); err != nil {
			return err
		}
	}
	folder := filepath.Clean(filepath.FromSlash(below)) // "." is the root
	var err error
	listing := root.FS().List(folder, func(e fs.DirEntry) bool {
		key := below + e.Name()
		if err = ctx.Err(); err != nil {
			return false
		}
		var st fs.FileInfo
		switch {
		case temporary(e.Name()):
			return true
		case e.IsDir():
			if strings.HasPrefix(key+"/", prefix) || strings.HasPrefix(prefix, key+"/") {
				err = d.walk(ctx, root, key+"/", prefix, yield)
			}
			return err == nil
		case !strings.HasPrefix(key, prefix):
			return true
		case e.Type()&fs.ModeSymlink != 0:
			st, err = root.Stat(filepath.Join(folder, e.Name()))
		default:
			st, err = e.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			err = nil
			return true
		}
		if err == nil && st.Mode().IsRegular() && !yield(entry(key, st)) {
			err = errStop
		}
		return err == nil
	})
	if errors.Is(listing, fs.ErrNotExist) {
		listing = nil
	}
	return errors.Join(err, listing)
}
