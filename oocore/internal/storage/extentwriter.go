package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// Frame is a file around the elements of arrays.
type Frame struct {
	Offsets []int64 // of the first element of each
	Size    int64   // of the whole file
	Head    []byte  // its first bytes
	Kept    []Kept  // arrays of the file that was read, which must not have changed
	// Fill, where it is set, writes what else stands around the elements. Commit calls it when
	// these are all written.
	Fill func(ctx context.Context, w File) error
}

// Kept is bytes that a new file takes over from the old one.
type Kept struct {
	Name            string // in errors
	To, From, Bytes int64
}

// fill writes all but the elements of new arrays. old is nil where there was no file.
func (f *Frame) fill(ctx context.Context, w File, old Source) error {
	if _, err := w.WriteAt(f.Head, 0); err != nil {
		return err
	}
	for _, k := range f.Kept {
		if err := CopyRange(ctx, w, k.To, old, k.From, k.Bytes); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	if f.Fill == nil {
		return nil
	}
	return f.Fill(ctx, w)
}

// File is a file that is being written.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// Settled is the file that is written, of which what Fill writes does not stay in
// the page cache.
type Settled struct{ *disk.File }

func (f Settled) WriteAt(p []byte, at int64) (int, error) {
	if err := f.WriteAll(context.Background(), p, at); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CopyRange copies n bytes from one file to another, by windows.
func CopyRange(ctx context.Context, w io.WriterAt, to int64, r io.ReaderAt, from, n int64) error {
	window := make([]byte, min(max(n, 0), copyBytes))
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		window = window[:min(n, copyBytes)]
		if got, err := r.ReadAt(window, from); got < len(window) {
			if err == io.EOF {
				err = store.ErrCutShort
			}
			return err
		}
		if _, err := w.WriteAt(window, to); err != nil {
			return err
		}
		done := int64(len(window))
		to, from, n = to+done, from+done, n-done
	}
	return nil
}

// copyBytes is the length of the windows in which files are copied.
const copyBytes = 1 << 20

// MemberFormat is embedded by a Format whose files hold arrays by name, each in one run of bytes,
// and to which arrays are added.
type MemberFormat struct {
	NamedArrays
	Name  string
	Kind  string // what it calls an array
	First string // the name of a file's first array, where none is given
	// Supports rejects what the format alone does not store.
	Supports func(m store.Meta) error
	// Types are those that arrays have by a recipe that a codec names: of elements, or of blocks, as whose bytes they come;
	// "" is that of an array as it is. It is nil where there are none, and false of a codec that names none.
	Types func(codec string, arrays []NewMember) ([]string, bool)
	// Blocks reports a type of blocks, or of elements that are only copied.
	Blocks func(name string) bool
	// Encoded is where the bytes of an array are that is in such a type: "" of any other.
	Encoded func(ctx context.Context, file, name string) (at Encoded, err error)
	// Lay begins to lay out a file with texts of a collection.
	Lay func(m CollectionMeta) FileLayout
}

func (f MemberFormat) types(codec string, arrays []NewMember) ([]string, bool) {
	if f.Types == nil {
		return nil, false
	}
	return f.Types(codec, arrays)
}

// TypesOf returns the types that the arrays of a file at a path have by a recipe that a codec names: see MemberFormat.
func TypesOf(path, codec string, arrays []NewMember) ([]string, bool) {
	if f, is := formatOf(path).(interface {
		types(string, []NewMember) ([]string, bool)
	}); is {
		return f.types(codec, arrays)
	}
	return nil, false
}

// Encoded are the bytes of an array in a type of blocks, which are an array of uint8.
type Encoded struct {
	Type   string
	File   string
	Offset int64
	Shape  []int
}

func (f MemberFormat) encodedAt(ctx context.Context, path string) (Encoded, error) {
	if f.Encoded == nil {
		return Encoded{}, nil
	}
	file, name, _ := f.Cut(path)
	return f.Encoded(ctx, file, name)
}

// Copies reports a type of which arrays come as bytes.
func (f MemberFormat) Copies(name string) bool { return f.Blocks != nil && f.Blocks(name) }

// EncodedAt returns the path of the bytes, and the type, of an array that a new collection of the same format takes as they are;
// the type is "" where elements are what is copied.
func EncodedAt(ctx context.Context, collection, path string) (bytes, name string) {
	if path == "" { // most arrays
		return "", ""
	}
	from, is := formatOf(path).(interface {
		encodedAt(context.Context, string) (Encoded, error)
	})
	to, can := formatOf(collection).(interface{ Copies(string) bool })
	if !is || !can {
		return "", ""
	}
	at, err := from.encodedAt(ctx, path)
	if err != nil || at.Type == "" || !to.Copies(at.Type) {
		return "", ""
	}
	return fmt.Sprintf("%s?shape=%s&dtype=uint8&offset=%d", at.File, strings.ReplaceAll(strings.Trim(fmt.Sprint(at.Shape), "[]"), " ", "x"), at.Offset), at.Type
}

// FileLayout lays out a file.
type FileLayout interface {
	// Read takes in a file that is there, and is added to; it returns the names of its arrays.
	Read(r io.ReaderAt, size int64) ([]string, error)
	// Frame lays the file out with new arrays, which replace those that have their names.
	Frame(members []NewMember) (Frame, error)
}

// Layout rejects what such a file does not store.
func (f MemberFormat) Layout(path string, m store.Meta) (store.Layout, error) {
	l := store.Layout{Open: true}
	if f.Copies(m.Codec) {
		l.Codec = m.Codec
	}
	return l, f.check(f.Place(path), m)
}

func (f MemberFormat) check(file string, m store.Meta) error {
	if p := blob.PlaceOf(file); !p.Files {
		return fmt.Errorf("%s files are not written over %s: write NAME.zarr there", f.Name, p.Scheme)
	}
	if !f.Copies(m.Codec) {
		if err := noCodec(f.Name, m); err != nil {
			return err
		}
	}
	if m.DType == dtype.Invalid {
		return errors.New("no dtype is given")
	}
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return err
	}
	return f.Supports(m)
}

// read lets a layout take in a file, if it is there.
func (f MemberFormat) read(file string, l FileLayout) (names []string, old store.FileVersion, err error) {
	r, old, err := openFile(file)
	if err == nil {
		if names, err = l.Read(r, old.Size); err != nil {
			err = fmt.Errorf("the file is there and cannot be added to: %w", err)
		}
		err = errors.Join(err, r.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return names, old, err
}

// Create begins an array of a new file, or one that is added to a file. The others are copied at
// Commit, by windows. An empty name is that of the only array there is.
func (f MemberFormat) Create(path string, m store.Meta) (store.Writer, error) {
	file, name, _ := f.Cut(path)
	if err := f.check(file, m); err != nil {
		return nil, err
	}
	if m.Region != nil {
		return nil, fmt.Errorf("regions of %s files are not written: write the whole %s", f.Name, f.Kind)
	}
	l := f.Lay(CollectionMeta{})
	names, old, err := f.read(file, l)
	if err != nil {
		return nil, err
	}
	if name == "" {
		switch len(names) {
		case 0:
			name = f.First
		case 1:
			name = names[0]
		default:
			return nil, fmt.Errorf("which %s? the file has %s: add #NAME to the path", f.Kind, QuoteNames(f.Kind, names))
		}
	}
	around, err := l.Frame([]NewMember{{name, m}})
	if err != nil {
		return nil, err
	}
	w := newFlatWriter(path, m, around.Offsets[0])
	w.finishBy(file, old, around.fill)
	id := fmt.Sprintf("%s %v %s\nat %d of %d", path, m.Shape, m.DType, w.offset, around.Size)
	return w.begin(file, around.Size, id, m)
}

// finishBy lets Commit call finish, with the file that is replaced if old is its version.
func (w *flatWriter) finishBy(file string, old store.FileVersion, finish func(ctx context.Context, w File, old Source) error) {
	w.finish = func(ctx context.Context) error {
		if (old == store.FileVersion{}) {
			return finish(ctx, Settled{w.out}, nil)
		}
		r, err := openOld(file, old)
		if err != nil {
			return err
		}
		return errors.Join(finish(ctx, Settled{w.out}, r), r.Close())
	}
}

// Split takes a path with an array's name apart.
func (f MemberFormat) Split(path string) (file, name string, ok bool) {
	file, name, _ = f.Cut(path)
	return file, name, name != ""
}

// MemberPath returns the path of the file with the array's name.
func (MemberFormat) MemberPath(path, name string) string { return path + "#" + name }

// CreateAll begins the arrays of one file.
func (f MemberFormat) CreateAll(m CollectionMeta) (CollectionWriter, error) {
	file, err := f.NewFile(m.Path, m, grid.UpTo(len(m.Members)))
	if err != nil {
		return nil, err
	}
	return CreateFiles(m, []NewFile{file}, nil)
}

// NewFile lays out a file of a new collection with some of its arrays.
func (f MemberFormat) NewFile(path string, m CollectionMeta, numbers []int) (file NewFile, err error) {
	l := f.Lay(m)
	file = NewFile{Path: path, members: numbers}
	if m.Add {
		if _, file.old, err = f.read(path, l); err != nil {
			return file, err
		}
	}
	members, names := make([]NewMember, len(numbers)), make(map[string]bool, len(numbers))
	for k, i := range numbers {
		members[k] = m.Members[i]
		if names[members[k].Name] {
			return file, fmt.Errorf("%s %.80q is there twice", f.Kind, members[k].Name)
		}
		names[members[k].Name] = true
		if err := f.check(path, members[k].Meta); err != nil {
			return file, fmt.Errorf("%s %.80q: %w", f.Kind, members[k].Name, err)
		}
	}
	file.frame, err = l.Frame(members)
	return file, err
}

// openOld opens the file that is replaced, if it is still the one that it was.
func openOld(file string, was store.FileVersion) (Source, error) {
	old, now, err := openFile(file)
	switch {
	case err != nil:
		return nil, err
	case !now.Equal(was):
		old.Close()
		return nil, errors.New("the file was changed by another program since the writing began: run it again")
	}
	return old, nil
}
