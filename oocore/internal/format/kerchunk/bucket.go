package kerchunk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// bucket has the objects that references are, below a prefix. It is read only.
type bucket struct {
	*references
	files  *Files
	prefix string
}

var errReadOnly = errors.New("references are read only")

func (b *bucket) Create(context.Context, string) (blob.Upload, error) { return nil, errReadOnly }
func (b *bucket) Delete(context.Context, string) error                { return errReadOnly }
func (b *bucket) Sync(context.Context) error                          { return nil }
func (b *bucket) Can() blob.Capabilities                              { return blob.Capabilities{List: true} }
func (b *bucket) String() string                                      { return "references" }

func (b *bucket) Join(prefix string) blob.Bucket {
	return &bucket{b.references, b.files, b.prefix + prefix}
}

// Open opens the text or the part of a file that a key refers to.
func (b *bucket) Open(ctx context.Context, key string) (blob.Object, error) {
	ref, ok := b.find(b.prefix + key)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	if ref.text != nil {
		return &object{entry: blob.Entry{Key: key, Size: int64(len(ref.text)), Version: b.version}, text: ref.text}, nil
	}
	return b.files.Open(ctx, b.references.files[ref.file], blob.Entry{Key: key, Size: ref.size}, ref.offset)
}

// List goes through the objects, whose versions are those of the references and of the files.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		entries := map[int]blob.Entry{}
		for _, ref := range b.below(b.prefix + prefix) {
			e := blob.Entry{Key: strings.TrimPrefix(ref.key, b.prefix), Size: int64(len(ref.text)), Version: b.version}
			if ref.text == nil {
				of, ok := entries[ref.file]
				if !ok {
					var err error
					if of, err = Version(ctx, b.references.files[ref.file]); err != nil {
						yield(blob.Entry{}, err)
						return
					}
					entries[ref.file] = of
				}
				e.Version, e.Changed = e.Version+of.Version, of.Changed
				if e.Size = ref.size; e.Size < 0 {
					e.Size = of.Size
				}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Version is that of a file, as an entry.
func Version(ctx context.Context, file string) (blob.Entry, error) {
	o, id, err := storage.OpenObject(ctx, file)
	if err != nil {
		return blob.Entry{}, fmt.Errorf("%s: %w", file, storage.Plain(err))
	}
	changed := id.ChangeTime
	if id.ModTime.After(changed) {
		changed = id.ModTime
	}
	text := fmt.Sprint(id.Size, id.ModTime.UnixNano(), id.ChangeTime.UnixNano(), id.Device, id.Inode, id.Version)
	return blob.Entry{Size: id.Size, Version: text, Changed: changed}, o.Close()
}

// object is an open object.
type object struct {
	entry  blob.Entry
	text   []byte
	files  *Files
	file   *opened
	offset int64
	once   sync.Once
}

func (o *object) Entry() blob.Entry { return o.entry }

func (o *object) ReadAt(ctx context.Context, p []byte, at int64) error {
	if at < 0 || at > o.entry.Size-int64(len(p)) {
		return io.ErrUnexpectedEOF
	}
	if o.file == nil {
		copy(p, o.text[at:])
		return ctx.Err()
	}
	if err := o.file.object.ReadAt(ctx, p, o.offset+at); err != nil {
		return fmt.Errorf("%s: %w", o.file.name, err)
	}
	return nil
}

func (o *object) Close() (err error) {
	if o.file != nil {
		o.once.Do(func() { err = o.files.release(o.file) })
	}
	return err
}

// Files are the open files of one array, so that not every chunk opens its own.
type Files struct {
	mu     sync.Mutex
	held   map[string]*opened
	closed bool // what is released is closed
}

// maxOpen is how many files stay open that nobody reads.
const maxOpen = 16

// opened is an open file.
type opened struct {
	name    string
	ready   sync.Once
	object  storage.Object
	version store.FileVersion
	err     error
	users   int
	last    time.Time // when it was released
}

// Open opens the bytes of a file from a place on as an object, whose size is -1 where it is the whole file. What is
// not valid of the file's version is the error.
func (f *Files) Open(ctx context.Context, name string, e blob.Entry, at int64, valid ...func(store.FileVersion) error) (blob.Object, error) {
	file, err := f.open(ctx, name)
	if err != nil {
		return nil, err
	}
	o := &object{entry: e, files: f, file: file, offset: at}
	if e.Size < 0 {
		o.entry.Size = file.version.Size
	}
	if at > file.version.Size-o.entry.Size {
		err = fmt.Errorf("%d bytes at %d are beyond its end, it has %d", o.entry.Size, at, file.version.Size)
	}
	for _, check := range valid {
		err = cmp.Or(err, check(file.version))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), o.Close())
	}
	return o, nil
}

// open opens a file, unless it is open.
func (f *Files) open(ctx context.Context, name string) (*opened, error) {
	f.mu.Lock()
	o := f.held[name]
	if o == nil {
		o = &opened{name: name}
		if f.held == nil {
			f.held = map[string]*opened{}
		}
		f.held[name] = o
	}
	o.users++
	f.mu.Unlock()
	o.ready.Do(func() { o.object, o.version, o.err = storage.OpenObject(ctx, name) })
	if o.err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.held[name] == o {
			delete(f.held, name)
		}
		if errors.Is(o.err, fs.ErrNotExist) { // the chunk is not missing, which would make it fill values
			return nil, fmt.Errorf("%s: %v", name, storage.Plain(o.err))
		}
		return nil, fmt.Errorf("%s: %w", name, storage.Plain(o.err))
	}
	return o, nil
}

// release ends a use of a file.
func (f *Files) release(o *opened) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	o.users--
	o.last = time.Now()
	if f.closed {
		return f.closeIdle(0)
	}
	return f.closeIdle(maxOpen)
}

// closeIdle closes files that nobody uses, until so many are open.
func (f *Files) closeIdle(most int) error {
	var errs []error
	for len(f.held) > most {
		var oldest *opened
		for _, o := range f.held {
			if o.users == 0 && (oldest == nil || o.last.Before(oldest.last)) {
				oldest = o
			}
		}
		if oldest == nil {
			break
		}
		delete(f.held, oldest.name)
		errs = append(errs, oldest.object.Close())
	}
	return errors.Join(errs...)
}

// Close closes all files.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.closeIdle(0)
}
