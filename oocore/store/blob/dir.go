package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
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
func (d dir) Random() bool         { return true }
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
	var f disk.Handle
	err = d.in(func(root *disk.Root) (err error) {
		f, err = disk.OpenIn(root.FS(), name)
		return err
	})
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: d.path(name), Err: errors.New("it is not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return object{f, entry(key, st)}, nil
}

func entry(key string, st fs.FileInfo) Entry {
	id := disk.ID(st)
	return Entry{Key: key, Size: st.Size(), Version: fmt.Sprintf("%x-%x-%x", st.ModTime().UnixNano(), id.ChangeTime.UnixNano(), id.Inode), Changed: disk.LastChange(st)}
}

type object struct {
	disk.Handle
	entry Entry
}

func (o object) Entry() Entry { return o.entry }

// pieceBytes bounds one system call, so that a cancelled read ends soon.
const pieceBytes = 8 << 20

func (o object) ReadAt(ctx context.Context, p []byte, at int64) error {
	for len(p) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := o.Handle.ReadAt(p[:min(len(p), pieceBytes)], at)
		if err == io.EOF {
			return &fs.PathError{Op: "read", Path: o.OS().Name(), Err: io.ErrUnexpectedEOF}
		}
		if err != nil {
			return err
		}
		p, at = p[n:], at+int64(n)
	}
	return nil
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
