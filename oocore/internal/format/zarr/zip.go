package zarr

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// A store in one file, x.zarr.zip, as zarr-python's ZipStore has it: objects are members of a zip archive. It is read as a bucket, and written as a
// folder in the staging folder, which is packed when it is whole.

const zipSuffix = suffix + ".zip"

// zipped reports the path of a store that is a zip archive, or of an array in one.
func zipped(path string) bool {
	root, _ := split(path)
	return strings.HasSuffix(root, zipSuffix)
}

// archive is the directory of a zip archive.
type archive struct {
	file    string
	entry   blob.Entry // whose version is the archive's
	members map[string]*zip.File
	keys    []string // sorted
	source  *reopened
}

// reopened reads a file that is open for a read at a time, but for the time in which its directory is read.
type reopened struct {
	file string
	id   store.FileVersion
	held io.ReaderAt
}

func (r *reopened) ReadAt(p []byte, at int64) (n int, err error) {
	if r.held != nil {
		return r.held.ReadAt(p, at)
	}
	o, id, err := storage.OpenObject(context.Background(), r.file)
	if err != nil {
		return 0, err
	}
	if !id.Equal(r.id) {
		return 0, errors.Join(store.ErrChanged, o.Close())
	}
	p = p[:max(min(int64(len(p)), id.Size-at), 0)]
	if err := errors.Join(o.ReadAt(context.Background(), p, at), o.Close()); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, io.EOF
	}
	return len(p), nil
}

var archives storage.Headers[*archive]

// openArchive reads the directory of an archive, of which no more is held.
func openArchive(ctx context.Context, file string) (*archive, error) {
	return storage.ReadHead(ctx, file, func(r io.ReaderAt, id store.FileVersion) (*archive, error) {
		return archives.Read(file, r, func(take func(bytes int64) error) (*archive, error) { return newArchive(file, r, id, take) })
	})
}

func newArchive(file string, r io.ReaderAt, id store.FileVersion, take func(bytes int64) error) (*archive, error) {
	const entryBytes = 9 // in memory, for each that the directory has in the file, at the most
	a := &archive{file: file, members: map[string]*zip.File{}, source: &reopened{file, id, r}}
	// Before the directory is read its size is known to be less than the file's.
	z, err := zip.NewReader(a.source, id.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("it is no zip archive, or is cut short: %w", err)
	}
	for _, f := range z.File {
		if fs.ValidPath(f.Name) { // others are folders, or lead elsewhere
			a.members[f.Name] = f // the last of a name, as in Python
		}
		if err := take(entryBytes * int64(46+len(f.Name)+len(f.Extra)+len(f.Comment))); err != nil {
			return nil, err
		}
	}
	a.keys = slices.Sorted(maps.Keys(a.members))
	a.source.held = nil
	a.entry = blob.Entry{Version: fmt.Sprintf("%x-%x-%x-%x", id.Size, id.ModTime.UnixNano(), id.ChangeTime.UnixNano(), id.Inode), Changed: id.ChangeTime}
	return a, nil
}

// zipBucket is the objects of an archive below a prefix. It is read only.
type zipBucket struct {
	*archive
	prefix string
}

var errZipped = errors.New("a zip archive is written as a whole: save to NAME.zarr.zip, or unpack it and write to NAME.zarr")

func (b zipBucket) String() string                                    { return b.file }
func (b zipBucket) Can() blob.Capabilities                            { return blob.Capabilities{List: true} }
func (b zipBucket) Join(p string) blob.Bucket                         { return zipBucket{b.archive, b.prefix + p} }
func (zipBucket) Create(context.Context, string) (blob.Upload, error) { return nil, errZipped }
func (zipBucket) Delete(context.Context, string) error                { return errZipped }
func (zipBucket) Sync(context.Context) error                          { return nil }

func (b zipBucket) entryOf(key string, f *zip.File) blob.Entry {
	e := b.entry
	e.Key, e.Size = key, int64(f.UncompressedSize64)
	return e
}

func (b zipBucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		from, _ := slices.BinarySearch(b.keys, b.prefix+prefix)
		for _, name := range b.keys[from:] {
			key, ok := strings.CutPrefix(name, b.prefix)
			if !ok || !strings.HasPrefix(key, prefix) || !yield(b.entryOf(key, b.members[name]), ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
	}
}

func (b zipBucket) Open(ctx context.Context, key string) (blob.Object, error) {
	if err := errors.Join(ctx.Err(), blob.CheckKey(key)); err != nil {
		return nil, err
	}
	f := b.members[b.prefix+key]
	if f == nil {
		return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	fail := func(err error) (blob.Object, error) {
		return nil, fmt.Errorf("member %.80q: %w", f.Name, err)
	}
	o := &zipObject{member: f, entry: b.entryOf(key, f)}
	switch at, err := f.DataOffset(); {
	case err != nil:
		return fail(err)
	case f.Flags&1 != 0:
		return fail(errors.New("it is encrypted"))
	case f.Method == zip.Store && f.UncompressedSize64 == f.CompressedSize64:
		o.stored = io.NewSectionReader(b.source, at, o.entry.Size)
	case f.Method != zip.Deflate:
		return fail(fmt.Errorf("it is compressed by method %d: stored and deflated members can be read", f.Method))
	}
	return o, nil
}

// zipObject is a member of an archive. One that is deflated is read from its beginning on for each read that goes back.
type zipObject struct {
	member *zip.File
	entry  blob.Entry
	stored *io.SectionReader // nil of one that is deflated

	mu sync.Mutex
	r  io.ReadCloser
	at int64
}

func (o *zipObject) Entry() blob.Entry { return o.entry }

func (o *zipObject) ReadAt(ctx context.Context, p []byte, at int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at > o.entry.Size-int64(len(p)) {
		return io.ErrUnexpectedEOF
	}
	if o.stored != nil {
		_, err := o.stored.ReadAt(p, at)
		if len(p) == 0 || err == io.EOF {
			err = nil
		}
		if err == nil && int64(len(p)) == o.entry.Size && crc32.ChecksumIEEE(p) != o.member.CRC32 {
			err = zip.ErrChecksum
		}
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.r == nil || at < o.at {
		err := o.close()
		if o.at = 0; err == nil {
			o.r, err = o.member.Open()
		}
		if err != nil {
			return err
		}
	}
	n, err := io.CopyN(io.Discard, o.r, at-o.at)
	if err == nil {
		var k int
		k, err = io.ReadFull(o.r, p)
		n += int64(k)
	}
	o.at += n
	if err == nil && o.at == o.entry.Size { // where the checksum is
		_, err = o.r.Read(make([]byte, 1))
	}
	if err == io.EOF && o.at == o.entry.Size {
		err = nil
	}
	return err
}

func (o *zipObject) close() (err error) {
	if o.r != nil {
		err = o.r.Close()
	}
	o.r = nil
	return err
}

func (o *zipObject) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.close()
}

// pack puts the files of a folder into a new archive, as they are.
func pack(ctx context.Context, folder, file string) (err error) {
	if err := disk.Remove(file); err != nil { // what a run that was killed has left
		return err
	}
	out, err := disk.CreatePart(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(io.NewOffsetWriter(storage.Settled{File: out}, 0))
	b := blob.Dir(folder)
	buffer := make([]byte, gatherBytes)
	var keys []string
	for e, err := range b.List(ctx, "") {
		if err != nil {
			return err
		}
		keys = append(keys, e.Key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := packOne(ctx, z, b, key, buffer); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Sync()
}

func packOne(ctx context.Context, z *zip.Writer, b blob.Bucket, key string, buffer []byte) error {
	o, err := b.Open(ctx, key)
	if err != nil {
		return err
	}
	defer o.Close()
	to, err := z.CreateHeader(&zip.FileHeader{Name: key, Method: zip.Store})
	for at, size := int64(0), o.Entry().Size; at < size && err == nil; {
		p := buffer[:min(int64(len(buffer)), size-at)]
		if err = o.ReadAt(ctx, p, at); err == nil {
			_, err = to.Write(p)
		}
		at += int64(len(p))
	}
	return err
}

// zipTarget puts an array, which grows as a folder in the staging folder, under its name as an archive.
type zipTarget struct {
	*localTarget
	file string
}

func newZipTarget(path string, n newArrayTarget) (*zipTarget, error) {
	if _, inner := split(path); inner != "" {
		return nil, errZipped
	}
	if !blob.PlaceOf(path).Replace {
		return nil, errors.New("archives are written on this machine only: save to NAME.zarr there")
	}
	local, err := newLocalTarget(n.ws.Join("packed.zarr"), n)
	return &zipTarget{local, path}, err
}

func (t *zipTarget) Commit(ctx context.Context) error {
	if err := t.localTarget.Commit(ctx); err != nil {
		return err
	}
	made := t.ws.Join("packed.zip")
	if err := pack(ctx, t.place, made); err != nil {
		return err
	}
	if err := t.ws.Fence(ctx, made); err != nil {
		return err
	}
	to := t.file
	if followed, err := filepath.EvalSymlinks(to); err == nil {
		to = followed
	}
	if err := disk.Rename(made, to); err != nil {
		return err
	}
	_ = disk.RemoveAll(t.place) // the archive is whole without
	return disk.SyncDir(filepath.Dir(to))
}

func (t *zipTarget) Abort() error {
	return errors.Join(t.localTarget.Abort(), disk.RemoveAll(t.place), disk.Remove(t.ws.Join("packed.zip")))
}
