package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// mounts are the file systems of the program whose files have addresses.
var mounts struct {
	sync.Mutex
	all []fs.FS
}

const mountScheme = "fs"

// mountCan is what a program's file system can do. Its files may be compressed: they are read as those of a network are,
// in few and long ranges.
var mountCan = Capabilities{List: true, Network: true}

func init() { Register(mountScheme, mountCan, mounted) }

// Mount returns the address of the files of a program's file system, which ends with a slash. It holds as long as
// the process, and is the same for the same file system.
func Mount(f fs.FS) string {
	if f == nil {
		f = noFiles{}
	}
	mounts.Lock()
	defer mounts.Unlock()
	i := 0
	for ; i < len(mounts.all); i++ {
		if same(f, mounts.all[i]) {
			break
		}
	}
	if i == len(mounts.all) {
		mounts.all = append(mounts.all, f)
	}
	return fmt.Sprintf("%s://%d/", mountScheme, i)
}

func same(f, g fs.FS) bool {
	t := reflect.TypeOf(f)
	switch {
	case t != reflect.TypeOf(g):
		return false
	case t.Kind() == reflect.Map: // as fstest.MapFS
		return reflect.ValueOf(f).Pointer() == reflect.ValueOf(g).Pointer()
	}
	return t.Comparable() && f == g
}

// InProcess reports an address that has a meaning in this process only.
func InProcess(path string) bool { return strings.HasPrefix(path, mountScheme+"://") }

func mounted(url string) (Bucket, error) {
	number, prefix, _ := strings.Cut(strings.TrimPrefix(url, mountScheme+"://"), "/")
	i, err := strconv.Atoi(number)
	mounts.Lock()
	defer mounts.Unlock()
	if err != nil || i < 0 || i >= len(mounts.all) {
		return nil, errors.New("the file system is another process's, or none")
	}
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return fsBucket{mounts.all[i], prefix}, nil
}

// fsBucket is the files of an fs.FS. It is read only.
type fsBucket struct {
	fsys   fs.FS
	prefix string
}

var errReadOnly = errors.New("a file system of the program is read only")

func (b fsBucket) String() string       { return mountScheme + "://" + b.prefix }
func (b fsBucket) Can() Capabilities    { return mountCan }
func (b fsBucket) Join(p string) Bucket { return fsBucket{b.fsys, b.prefix + p} }

func (b fsBucket) Create(_ context.Context, key string) (Upload, error) {
	return nil, &fs.PathError{Op: "create", Path: key, Err: errReadOnly}
}

func (b fsBucket) Delete(_ context.Context, key string) error {
	return &fs.PathError{Op: "remove", Path: key, Err: errReadOnly}
}

func (b fsBucket) Sync(context.Context) error { return nil }

func (b fsBucket) Open(ctx context.Context, key string) (Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	o := &fsObject{open: func() (fs.File, error) { return b.fsys.Open(b.prefix + key) }}
	f, err := o.open()
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: key, Err: errors.New("it is not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	o.file = f
	// What its times tell is not known: its version is a checksum.
	o.entry = Entry{Key: key, Size: st.Size(), Version: mountVersion(st), Settles: -1}
	return o, nil
}

// mountVersion is empty where a file has no time, as an embedded one.
func mountVersion(st fs.FileInfo) string {
	if st.ModTime().IsZero() {
		return ""
	}
	return fmt.Sprintf("%x-%x", st.ModTime().UnixNano(), st.Size())
}

func (b fsBucket) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	prefix = b.prefix + prefix
	return func(yield func(Entry, error) bool) {
		stopped := false
		err := fs.WalkDir(b.fsys, path.Dir(prefix), func(name string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil || d.IsDir() || !strings.HasPrefix(name, prefix) {
				return err
			}
			st, err := d.Info()
			if err != nil {
				return err
			}
			e := Entry{Key: name[len(b.prefix):], Size: st.Size(), Version: mountVersion(st)}
			if e.Version == "" {
				data, err := fs.ReadFile(b.fsys, name)
				if err != nil {
					return err
				}
				sum := sha256.Sum256(data)
				e.Version = hex.EncodeToString(sum[:16])
			}
			if stopped = !yield(e, nil); stopped {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil && !stopped && !errors.Is(err, fs.ErrNotExist) {
			yield(Entry{}, err)
		}
	}
}

// fsObject is an open file. One that is no io.ReaderAt, such as a compressed one of a zip file, is read from its beginning
// for each read that goes back.
type fsObject struct {
	open  func() (fs.File, error)
	entry Entry

	mu   sync.Mutex
	file fs.File // nil where it has to be opened again
	at   int64
	done bool
}

func (o *fsObject) Entry() Entry { return o.entry }

func (o *fsObject) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done || o.file == nil {
		o.done = true
		return nil
	}
	o.done = true
	return o.file.Close()
}

func (o *fsObject) ReadAt(ctx context.Context, p []byte, at int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.mu.Lock()
	r, ok := o.file.(io.ReaderAt)
	done := o.done
	if !ok || done {
		defer o.mu.Unlock()
		if done {
			return fs.ErrClosed
		}
		return o.readFrom(p, at)
	}
	o.mu.Unlock()
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	return ended(err)
}

func (o *fsObject) readFrom(p []byte, at int64) (err error) {
	if o.file != nil && at < o.at {
		err = o.file.Close()
		o.file, o.at = nil, 0
	}
	if o.file == nil && err == nil {
		o.file, err = o.open()
	}
	if err != nil {
		return err
	}
	n, err := io.CopyN(io.Discard, o.file, at-o.at)
	o.at += n
	if err == nil {
		var k int
		k, err = io.ReadFull(o.file, p)
		o.at += int64(k)
	}
	return ended(err)
}

// ended is what the end of a file is to one who reads objects.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// noFiles stands for an fs.FS that is nil.
type noFiles struct{}

func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("the fs.FS is nil")}
}
