package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// CollectionMeta describes a new collection.
type CollectionMeta struct {
	Path string `json:"path"`
	// Add keeps existing arrays that are not among the members. Without it the new
	// collection replaces an existing file, and arrays of a folder that have a member's name.
	Add       bool              `json:"add,omitempty"`
	ShardSize int64             `json:"shard_size,omitempty"` // of a checkpoint's files, in bytes; 0 lets the format choose
	Metadata  map[string]string `json:"metadata,omitempty"`   // of the file, where its format keeps texts
	// Root has the attributes of the group, where the format has groups.
	Root store.Details `json:"root,omitzero"`
	// Groups have the attributes of the groups in it, by their paths.
	Groups   map[string]store.Details `json:"groups,omitempty"`
	Files    []string                 `json:"files,omitempty"`    // that are copied to the collection's folder
	Template *Template                `json:"template,omitempty"` // whose metadata it has, where its format has more than texts
	// Members are the arrays, by their names in the collection.
	Members    []NewMember `json:"-"`
	StagingDir *StagingDir `json:"-"`
	Resume     bool        `json:"-"`
}

// CheckTree rejects members and groups of which one takes another's place among groups.
func (m *CollectionMeta) CheckTree() error {
	arrays := make(map[string]bool, len(m.Members))
	for _, of := range m.Members {
		if arrays[of.Name] {
			return fmt.Errorf("two arrays have the name %.80q", of.Name)
		}
		arrays[of.Name] = true
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(arrays)), slices.Collect(maps.Keys(m.Groups))) {
		for group := range Above(name) {
			if arrays[group] {
				return fmt.Errorf("%.80q is an array: there can be none in it, such as %.80q", group, name)
			}
		}
	}
	for name := range m.Groups {
		if arrays[name] {
			return fmt.Errorf("%.80q is an array and a group", name)
		}
	}
	return nil
}

// Template is a file of the format of a new collection, with what the format knows beyond arrays.
type Template struct {
	Path    string
	Version store.FileVersion
}

// Open opens the file, if it is still the one that it was.
func (t *Template) Open() (Source, error) {
	return openOld(t.Path, t.Version)
}

// NewMember is an array of a new collection.
type NewMember struct {
	Name string
	store.Meta
}

// CollectionWriter writes the arrays of a collection, which appear together. Members are begun by
// one goroutine at a time.
type CollectionWriter interface {
	// Member begins an array, by its number. Its Commit says that it is whole and gives back
	// what it has open; it is durable after Sync.
	Member(i int) (store.Writer, error)
	// ResumeMember resumes an array that an earlier writer may have begun: see Meta.Resume.
	ResumeMember(i int) (store.Writer, error)
	// Resumed reports whether the arrays of an earlier writer are resumed.
	Resumed() bool
	// Placed reports whether an earlier writer had all arrays, and had begun to put them in place.
	Placed() bool
	// Sync makes durable what was written before the call.
	Sync(ctx context.Context) error
	// Commit puts the collection in its place.
	Commit(ctx context.Context) error
	// Suspend and Abort do what those of a Writer do.
	Suspend() error
	Abort() error
}

// collectionCreator is a Format that writes collections as a whole.
type collectionCreator interface {
	Collection
	// CreateAll begins a collection in a staging folder.
	CreateAll(m CollectionMeta) (CollectionWriter, error)
	// MemberPath returns the path of an array of a collection, for Open and LayoutOf.
	MemberPath(path, name string) string
}

// creatorOf returns the format that writes a collection at a path: that of a folder of npy
// files where no other is named.
func creatorOf(path string) (collectionCreator, error) {
	switch f := formatOf(path).(type) {
	case collectionCreator:
		if x, ok := f.(interface {
			Cut(path string) (file, name string, ok bool)
		}); ok {
			if file, _, _ := x.Cut(path); file != path {
				return nil, fmt.Errorf("the path names one array: a collection is saved to %s", file)
			}
		}
		return f, nil
	default:
		st, err := os.Stat(path)
		if byName(f) && err == nil && st.IsDir() || f == store.Format(unnamed{}) && (strings.HasSuffix(path, "/") || filepath.Ext(path) == "") {
			return folderFormat{}, nil
		}
	}
	return nil, errors.New("a collection is saved to NAME.safetensors, NAME.safetensors.index.json, NAME.gguf, NAME.npz, NAME.nc, NAME.h5, NAME.zarr or a folder")
}

// Split takes a path apart that names an array of a file, or of a group that is not there yet:
// arrays of one collection are written together.
func Split(path string) (collection, member string, ok bool) {
	f, ok := formatOf(path).(interface {
		Split(path string) (collection, member string, ok bool)
	})
	if !ok {
		return "", "", false
	}
	return f.Split(path)
}

// OneFile reports whether two paths name arrays of one file.
func OneFile(a, b string) bool {
	file, _, ok := Split(a)
	other, _, too := Split(b)
	return ok && too && file == other
}

// VersionOfAll returns the version of a collection: of all its arrays.
func VersionOfAll(ctx context.Context, path string) (v Version, err error) {
	all, err := Members(ctx, path)
	if err != nil {
		return v, err
	}
	h := sha256.New()
	seen := map[string]bool{}
	for _, m := range all {
		place := formatOf(m.Path).Place(m.Path)
		if seen[place] {
			continue
		}
		seen[place] = true
		of, err := VersionOf(ctx, m.Path)
		if err != nil {
			return v, err
		}
		v.Unknown = v.Unknown || of.Unknown
		if err := json.NewEncoder(h).Encode(of); err != nil {
			return v, err
		}
	}
	v.Objects = hex.EncodeToString(h.Sum(nil)[:16])
	return v, nil
}

// MemberPath returns the path of an array of a collection that is to be written.
func MemberPath(path, name string) (string, error) {
	c, err := creatorOf(path)
	if err == nil && name == "" {
		err = errors.New("an array has no name, by which it could be read")
	}
	if err != nil {
		return "", PathError("create", path, err)
	}
	return c.MemberPath(path, name), nil
}

// ReplacesFolder reports whether a new collection takes the place of all that is in its folder, as
// a group does and a folder of npy files does not.
func ReplacesFolder(path string) bool {
	c, err := creatorOf(path)
	_, kept := c.(folderFormat)
	return err == nil && !kept
}

// CreateCollection begins a new collection.
func CreateCollection(m CollectionMeta) (CollectionWriter, error) {
	c, err := creatorOf(m.Path)
	if err != nil {
		return nil, PathError("create", m.Path, err)
	}
	w, err := c.CreateAll(m)
	if err != nil {
		return nil, PathError("create", m.Path, err)
	}
	return w, nil
}

// id returns a text that identifies what is written, for a writer that resumes it.
func (m *CollectionMeta) id() string {
	h := sha256.New()
	e := json.NewEncoder(h)
	_ = e.Encode(m)
	for _, of := range m.Members {
		_ = e.Encode([]any{of.Name, of.Shape, of.DType, of.Chunks, of.Shards, of.Codec, of.Details})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// NewFile is a file of a new collection, with arrays at places that are known before.
type NewFile struct {
	Path    string
	old     store.FileVersion // of the file whose other arrays stay; empty for none
	frame   Frame
	members []int // numbers in the collection
}

// fileCollection writes collections of which a file holds many arrays.
type fileCollection struct {
	meta    CollectionMeta
	files   []*flatWriter
	members map[int]fileMember
	finish  func() error // writes what stands beside the files
}

// fileMember fills an array of a file that has others.
type fileMember struct {
	*flatWriter
	path string
	part part
}

func (m fileMember) Write(ctx context.Context, src []byte, b types.Box) error {
	return m.writePart(ctx, m.path, m.part, src, b)
}

// Commit, Suspend and Abort are the collection's.
func (fileMember) Commit(context.Context) error { return nil }
func (fileMember) Suspend() error               { return nil }
func (fileMember) Abort() error                 { return nil }

// CreateFiles begins the files of a collection. finish is called when they are in their places.
func CreateFiles(m CollectionMeta, files []NewFile, finish func() error) (CollectionWriter, error) {
	c := &fileCollection{meta: m, members: map[int]fileMember{}, finish: finish}
	id := m.id()
	for i, f := range files {
		w := &flatWriter{path: m.Path, name: "out-" + strconv.Itoa(i), ws: m.StagingDir}
		w.finishBy(f.Path, f.old, f.frame.fill)
		c.files = append(c.files, w)
		if _, err := w.begin(f.Path, f.frame.Size, fmt.Sprintf("%s %d %s\n%v of %d", f.Path, i, id, f.frame.Offsets, f.frame.Size), store.Meta{Resume: m.Resume}); err != nil {
			return nil, errors.Join(err, c.end(m.Resume))
		}
		for k, n := range f.members {
			of := &m.Members[n]
			c.members[n] = fileMember{w, m.Path + "#" + of.Name, part{shape: of.Shape, itemsize: of.DType.Size(), offset: f.frame.Offsets[k]}}
		}
	}
	return c, nil
}

// end suspends the writing, or aborts it.
func (c *fileCollection) end(suspend bool) error {
	if suspend {
		return c.Suspend()
	}
	return c.Abort()
}

func (c *fileCollection) Member(i int) (store.Writer, error) { return c.members[i], nil }

func (c *fileCollection) ResumeMember(i int) (store.Writer, error) { return c.members[i], nil }

func (c *fileCollection) Resumed() bool {
	return !slices.ContainsFunc(c.files, func(w *flatWriter) bool { return !w.resumed })
}

func (c *fileCollection) Placed() bool {
	return slices.ContainsFunc(c.files, (*flatWriter).Placed)
}

// each calls a method of each file.
func (c *fileCollection) each(f func(w *flatWriter) error) error {
	var errs []error
	for _, w := range c.files {
		errs = append(errs, f(w))
	}
	return errors.Join(errs...)
}

func (c *fileCollection) Sync(ctx context.Context) error {
	return c.each(func(w *flatWriter) error { return w.Sync(ctx) })
}

func (c *fileCollection) Suspend() error { return c.each((*flatWriter).Suspend) }

func (c *fileCollection) Abort() error { return c.each((*flatWriter).Abort) }

func (c *fileCollection) Commit(ctx context.Context) error {
	for _, w := range c.files {
		if err := w.Commit(ctx); err != nil {
			return err
		}
		if len(c.files) == 1 {
			break
		}
		// The next file's rename changes the time by which Moved knows this one's.
		v, err := versionOfFile(w.target)
		if err == nil {
			err = w.ws.NoteMove(w.temp, w.target, v)
		}
		if err != nil {
			return PathError("commit", w.path, err)
		}
	}
	if c.finish != nil {
		if err := c.finish(); err != nil {
			return PathError("commit", c.meta.Path, err)
		}
	}
	return copyFiles(c.meta.Files, filepath.Dir(c.meta.Path))
}

// copyFiles copies files to a folder, where it has none of their names.
func copyFiles(files []string, folder string) error {
	for _, file := range files {
		to := filepath.Join(folder, filepath.Base(file))
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		text, err := disk.ReadFile(file)
		if err == nil {
			err = disk.WriteFile(to, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// NewFolder is a collection in a folder, of which each array is a file or folder.
type NewFolder struct {
	Extension string // of an array that grows, by which its format is known
	Suffix    string // of an array's name in the folder
	// Bytes are those that an array takes on the disk, 0 where only writing it tells.
	Bytes func(m store.Meta) (int64, error)
	// Replaces rejects a folder that is there and cannot be replaced. Where it is nil arrays are
	// put into what is there.
	Replaces func(folder string) error
	Finish   func(folder string) error // adds what stands beside the arrays
	// Pack makes the file of a folder which takes the collection's place; nil where the folder itself does.
	Pack func(ctx context.Context, folder, file string) error
}

// folderCollection grows in the staging folder, array by array.
type folderCollection struct {
	meta    CollectionMeta
	of      NewFolder
	target  string
	resumed bool
	ended   bool
}

const (
	folderID     = "collection.id" // what is being written
	folderMoving = "moving"        // all arrays are whole
	folderOut    = "out"           // where the folder is put together
	folderPacked = "packed"        // the file that is made of it
	folderInode  = "out.inode"     // of that folder or file, once it is whole
)

// checkFileName rejects the name of an array whose file would lie outside its folder, or which
// reading the folder passes over.
func checkFileName(name string) error {
	switch {
	case !fs.ValidPath(name) || name == "." || !filepath.IsLocal(filepath.FromSlash(name)):
		return errors.New("the name leads out of the folder, or is none")
	case strings.Contains(name, `\`):
		return errors.New("a name in a folder has no backslash")
	case strings.HasPrefix(name, ".") || strings.Contains(name, "/."):
		return errors.New("what begins with a dot is hidden in a folder, and not read")
	}
	return nil
}

// CreateFolder begins a collection in a folder of this machine.
func CreateFolder(m CollectionMeta, of NewFolder) (CollectionWriter, error) {
	target, err := followed(m.Path)
	switch {
	case err != nil:
		return nil, err
	}
	for _, of := range m.Members {
		if err := checkFileName(of.Name); err != nil {
			return nil, fmt.Errorf("array %.80q: %w", of.Name, err)
		}
	}
	for name := range m.Groups {
		if err := checkFileName(name); err != nil {
			return nil, fmt.Errorf("group %.80q: %w", name, err)
		}
	}
	c := &folderCollection{meta: m, of: of, target: target}
	if _, err := os.Lstat(target); err == nil && of.Replaces != nil {
		if err := of.Replaces(target); err != nil {
			return nil, err
		}
	}
	id := []byte(m.id())
	was, err := disk.ReadFile(m.StagingDir.Join(folderID))
	c.resumed = err == nil && string(was) == string(id) && (m.Resume || m.StagingDir.attached)
	if c.resumed || m.StagingDir.attached {
		return c, nil
	}
	var need int64
	for _, a := range m.Members {
		bytes, err := of.Bytes(a.Meta)
		if err != nil {
			return nil, fmt.Errorf("array %.80q: %w", a.Name, err)
		}
		need += bytes
	}
	if err := disk.Fits(filepath.Dir(target), need); err != nil {
		return nil, err
	}
	return c, disk.WriteFile(m.StagingDir.Join(folderID), id)
}

// staged returns the path at which an array grows.
func (c *folderCollection) staged(i int) string {
	return c.meta.StagingDir.Join(strconv.Itoa(i) + c.of.Extension)
}

func (c *folderCollection) Member(i int) (store.Writer, error) { return c.member(i, false) }

func (c *folderCollection) ResumeMember(i int) (store.Writer, error) { return c.member(i, true) }

func (c *folderCollection) member(i int, resume bool) (store.Writer, error) {
	m := c.meta.Members[i].Meta
	m.StagingDir, m.Resume = c.meta.StagingDir, resume
	return Create(c.staged(i), m)
}

func (c *folderCollection) Resumed() bool { return c.resumed }

func (c *folderCollection) Placed() bool {
	_, err := os.Lstat(c.meta.StagingDir.Join(folderMoving))
	return c.resumed && err == nil
}

// Sync has nothing to do: an array that is committed is durable.
func (c *folderCollection) Sync(context.Context) error { return nil }

func (c *folderCollection) Suspend() error { return nil }

func (c *folderCollection) Abort() error {
	ws := c.meta.StagingDir
	if c.ended || ws.attached {
		return nil
	}
	var errs []error
	listing := disk.List(ws.Path, func(e fs.DirEntry) bool {
		number, _, _ := strings.Cut(e.Name(), ".")
		if _, err := strconv.Atoi(number); err == nil || slices.Contains([]string{folderID, folderMoving, folderOut, folderPacked, folderInode}, e.Name()) {
			errs = append(errs, disk.RemoveAll(ws.Join(e.Name())))
		}
		return true
	})
	return errors.Join(append(errs, listing)...)
}

func (c *folderCollection) Commit(ctx context.Context) error {
	if err := c.commit(ctx); err != nil {
		return PathError("commit", c.meta.Path, err)
	}
	c.ended = true
	return nil
}

func (c *folderCollection) commit(ctx context.Context) error {
	ws := c.meta.StagingDir
	if err := disk.WriteFile(ws.Join(folderMoving), nil); err != nil {
		return err
	}
	missing := func(name string) bool {
		_, err := os.Lstat(name)
		return errors.Is(err, fs.ErrNotExist)
	}
	out := ws.Join(folderOut)
	if was, err := disk.ReadFile(ws.Join(folderInode)); err == nil {
		if st, err := os.Lstat(c.target); err == nil && string(was) == strconv.FormatUint(disk.Inode(st), 10) {
			return disk.SyncDir(filepath.Dir(c.target)) // it is in its place
		}
	}
	to := c.target
	if c.of.Replaces != nil || missing(c.target) || !missing(out) {
		to = out
	}
	left, err := ws.writers()
	if err != nil && !errors.As(err, new(*store.LockedError)) {
		return err
	}
	for i, m := range c.meta.Members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if missing(c.staged(i)) { // it is in its place
			continue
		}
		name := filepath.Join(to, filepath.FromSlash(m.Name)+c.of.Suffix)
		if err := disk.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if left {
			if err := ws.Fence(ctx, c.staged(i)); err != nil {
				return err
			}
		}
		if err := moveTo(c.staged(i), name); err != nil {
			return err
		}
	}
	if c.of.Finish != nil {
		if err := c.of.Finish(to); err != nil {
			return err
		}
	}
	if err := copyFiles(c.meta.Files, to); err != nil {
		return err
	}
	if err := disk.SyncDir(to); err != nil || to == c.target {
		return err
	}
	made := out
	if c.of.Pack != nil {
		made = ws.Join(folderPacked)
		if err := c.of.Pack(ctx, out, made); err != nil {
			return err
		}
	}
	st, err := os.Lstat(made)
	if err == nil {
		err = disk.WriteFile(ws.Join(folderInode), []byte(strconv.FormatUint(disk.Inode(st), 10)))
	}
	if err != nil {
		return err
	}
	if c.of.Pack != nil || missing(c.target) {
		if err := disk.Rename(made, c.target); err != nil {
			return err
		}
	} else if err := disk.Exchange(out, c.target); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(c.target))
}

// moveTo gives a file or folder a name, in place of what has it.
func moveTo(from, to string) error {
	if st, err := os.Lstat(to); err != nil || !st.IsDir() {
		return disk.Rename(from, to)
	}
	return errors.Join(disk.Exchange(from, to), disk.RemoveAll(from))
}

// FolderPlaced reports whether a folder was put in its place by a writer that was killed before it
// could note so. The next writer resumes it.
func FolderPlaced(folder string) bool {
	dir, target, err := stagingPath(blob.PlaceOf(folder))
	if err != nil {
		return false
	}
	was, err := disk.ReadFile(filepath.Join(dir, folderInode))
	if err != nil {
		return false
	}
	st, err := os.Lstat(target)
	return err == nil && string(was) == strconv.FormatUint(disk.Inode(st), 10)
}

// folderFormat is a folder of npy files.
type folderFormat struct{ unnamed }

func (folderFormat) Members(ctx context.Context, path string) ([]store.Member, error) {
	return folderMembers(ctx, path)
}

func (folderFormat) MemberPath(path, name string) string {
	return filepath.Join(path, filepath.FromSlash(name)) + ".npy"
}

func (f folderFormat) CreateAll(m CollectionMeta) (CollectionWriter, error) {
	for _, of := range m.Members {
		if path := f.MemberPath(m.Path, of.Name); !byName(formatOf(path)) {
			return nil, fmt.Errorf("array %.80q: the name is that of another format", of.Name)
		}
	}
	return CreateFolder(m, NewFolder{Extension: ".npy", Suffix: ".npy", Bytes: func(m store.Meta) (int64, error) {
		return int64(grid.Size(m.Shape)) * int64(m.DType.Size()), nil
	}})
}

// TemplateFor is the file of a path, where a new collection at another path takes more from it than
// texts; nil elsewhere.
func TemplateFor(collection, path string) (*Template, error) {
	for _, p := range []string{collection, path} {
		if _, takes := formatOf(p).(interface{ TakesTemplate() }); !takes {
			return nil, nil
		}
	}
	path = formatOf(path).Place(path)
	o, id, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return &Template{path, id}, o.Close()
}
