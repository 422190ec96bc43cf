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
	file   *storage.Pooled[*opened]
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
	if err := o.file.Value.ReadAt(ctx, p, o.offset+at); err != nil {
		return fmt.Errorf("%s: %w", o.file.Name, err)
	}
	return nil
}

func (o *object) Close() (err error) {
	if o.file != nil {
		o.once.Do(func() { err = o.files.Release(o.file, maxOpen) })
	}
	return err
}

// Files are the open files of one array, so that not every chunk opens its own.
type Files struct{ storage.Pool[*opened] }

// maxOpen is how many files stay open that nobody reads.
const maxOpen = 16

// opened is an open file.
type opened struct {
	storage.Object
	version store.FileVersion
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
		o.entry.Size = file.Value.version.Size
	}
	if at > file.Value.version.Size-o.entry.Size {
		err = fmt.Errorf("%d bytes at %d are beyond its end, it has %d", o.entry.Size, at, file.Value.version.Size)
	}
	for _, check := range valid {
		err = cmp.Or(err, check(file.Value.version))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), o.Close())
	}
	return o, nil
}

// open opens a file, unless it is open.
func (f *Files) open(ctx context.Context, name string) (*storage.Pooled[*opened], error) {
	o, err := f.Pool.Open(name, func() (*opened, error) {
		o, version, err := storage.OpenObject(ctx, name)
		return &opened{o, version}, err
	})
	if errors.Is(err, fs.ErrNotExist) { // the chunk is not missing, which would make it fill values
		return nil, fmt.Errorf("%s: %v", name, storage.Plain(err))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, storage.Plain(err))
	}
	return o, nil
}
