package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/store"
)

// MemberAt returns the array of a name, whose path is that name after a prefix.
func MemberAt(prefix, name string) store.Member {
	path := prefix + name
	return store.Member{Name: path[len(prefix):], Path: path}
}

// MemberBytes returns about how many bytes of Go's heap a MemberAt takes.
func MemberBytes(prefix, name string) int64 { return int64(64 + len(prefix) + len(name)) }

// Collection is a Format of which one file or folder can hold several arrays.
type Collection interface {
	store.Format
	// Members lists the arrays in the order in which they are stored. path names no array.
	Members(ctx context.Context, path string) ([]store.Member, error)
}

// Groups returns the attributes of the groups of the collection at a path, by their paths in it: ""
// is the collection itself. Where the format has no groups there are none.
func Groups(ctx context.Context, path string) (map[string]store.Details, error) {
	all, err := reading(ctx, formatOf(path), path, func(f store.Format) (map[string]store.Details, error) {
		if of, ok := f.(grouped); ok {
			return of.Groups(ctx, path)
		}
		return nil, nil
	})
	if err != nil {
		return nil, PathError("open", path, err)
	}
	return all, nil
}

// grouped is a Format whose collections have groups.
type grouped interface {
	Groups(ctx context.Context, path string) (map[string]store.Details, error)
}

// HasGroups reports whether a path's format has groups, with attributes of their own.
func HasGroups(path string) bool {
	_, has := formatOf(path).(grouped)
	return has || strings.HasSuffix(path, ".zarr")
}

// Changes says what attributes become that the format of a path does not hold as they are, by their names.
func Changes(path string, d store.Details) map[string]string {
	if f, ok := formatOf(path).(interface {
		Changes(path string, d store.Details) map[string]string
	}); ok {
		file, _, _ := Split(path)
		return f.Changes(cmp.Or(file, path), d)
	}
	return nil
}

// NamedPath returns a path with the name of the array that is saved there, where a format gives it one.
func NamedPath(path string) string {
	if f, ok := formatOf(path).(interface{ NamedPath(path string) string }); ok {
		return f.NamedPath(path)
	}
	return path
}

// SharesFile reports whether two paths name arrays of one file, by its extension.
func SharesFile(a, b string) bool {
	f, is := formatOf(a).(interface {
		Cut(path string) (file, name string, ok bool)
	})
	if !is {
		return false
	}
	one, _, named := f.Cut(a)
	other, _, too := f.Cut(b)
	return named && too && one == other
}

// Extensions is embedded by a Format whose files have one of these extensions, in any case, and
// which hold arrays by name: x.npz#name.
type Extensions []string

// Cut takes a path apart: the file, and the name in it, which may hold anything.
func (x Extensions) Cut(path string) (file, name string, ok bool) {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '#' || !slices.ContainsFunc(x, func(e string) bool {
			return end >= len(e) && strings.EqualFold(path[end-len(e):end], e)
		}) {
			continue
		}
		name, _ = strings.CutPrefix(path[end:], "#")
		return path[:end], name, true
	}
	file, name, _ = strings.Cut(path, "#") // of a file that is known by its first bytes
	return file, name, false
}

// Owns reports whether a path has one of the extensions.
func (x Extensions) Owns(path string) bool {
	_, _, ok := x.Cut(path)
	return ok
}

// Place returns the path without the array's name.
func (x Extensions) Place(path string) string {
	file, _, _ := x.Cut(path)
	return file
}

// QuoteNames lists the names of a file's arrays, not all of them where there are many. kind is
// what the format calls an array.
func QuoteNames(kind string, names []string) string {
	if len(names) == 0 {
		return "no " + kind
	}
	const most = 12
	quoted := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, fmt.Sprintf("%.80q", name))
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// Members lists the arrays at a path: of a file or a group that holds several, of the files of
// a folder, or the array itself, by the file's name.
func Members(ctx context.Context, path string) ([]store.Member, error) {
	members, err := members(ctx, path)
	if err != nil {
		return nil, PathError("open", path, err)
	}
	return members, nil
}

func members(ctx context.Context, path string) ([]store.Member, error) {
	return reading(ctx, formatOf(path), path, func(f store.Format) ([]store.Member, error) { return membersOf(ctx, f, path) })
}

func membersOf(ctx context.Context, f store.Format, path string) ([]store.Member, error) {
	if c, ok := f.(Collection); ok {
		return c.Members(ctx, path)
	}
	if st, err := os.Stat(path); blob.PlaceOf(path).Files && err == nil && st.IsDir() {
		return folderMembers(ctx, path)
	}
	a, err := f.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(f.Place(path))
	return []store.Member{{Name: strings.TrimSuffix(name, filepath.Ext(name)), Path: path}}, a.Close()
}

// folderMembers lists the arrays of the files in a folder and in those below it, those of a file
// with several under its name. A file of another kind is none; what an index
// beside it lists, the index alone lists.
func folderMembers(ctx context.Context, folder string) ([]store.Member, error) {
	if file := Checkpoint(folder); file != "" {
		return members(ctx, file)
	}
	all, err := membersBelow(ctx, folder, "")
	if err == nil && len(all) == 0 {
		err = errors.New("the folder has no arrays")
	}
	return all, err
}

// Checkpoint returns the file that has the tensors, or names their files, of a folder as Hugging Face has models; "" of any other.
func Checkpoint(folder string) string {
	if !isFile(filepath.Join(folder, "config.json")) {
		return ""
	}
	for _, name := range []string{"model.safetensors.index.json", "model.safetensors", "pytorch_model.bin.index.json", "pytorch_model.bin"} {
		if file := filepath.Join(folder, name); isFile(file) {
			return file
		}
	}
	return ""
}

// NamesFolder reports whether a path names a folder, or what can be one, and no format.
func NamesFolder(path string) bool {
	return byName(formatOf(path)) && blob.PlaceOf(path).Files && !isFile(path)
}

// membersBelow lists the arrays in a folder. prefix is what their names begin with.
func membersBelow(ctx context.Context, folder, prefix string) (all []store.Member, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	indexed := map[string]string{} // names of arrays in files that an index names, by their paths
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		flat := byName(formatOf(path))
		switch {
		case strings.HasPrefix(e.Name(), "."):
			continue
		case flat && e.IsDir():
			found, err := membersBelow(ctx, path, prefix+e.Name()+"/")
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
			continue
		case flat && !strings.EqualFold(filepath.Ext(path), ".npy"), laterPart(ctx, path):
			continue
		}
		_, isParted := formatOf(path).(parted)
		found, err := members(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", prefix, e.Name(), Plain(err))
		}
		stem := prefix + strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		if at := partName.FindStringIndex(e.Name()); at != nil && len(found) > 0 && formatOf(path).Place(found[len(found)-1].Path) != path {
			stem = prefix + e.Name()[:at[0]]
		}
		for _, m := range found {
			if len(found) > 1 {
				m.Name = stem + "/" + m.Name
			} else {
				m.Name = stem
			}
			if file, _, ok := Split(m.Path); ok && file != path && !isParted {
				indexed[m.Path] = m.Name
			}
			all = append(all, m)
		}
	}
	return slices.DeleteFunc(all, func(m store.Member) bool {
		name, ok := indexed[m.Path]
		return ok && name != m.Name
	}), nil
}

// InFile lists the arrays of a file, of which names reads the names from its header: the one
// that is named, if any.
func InFile(ctx context.Context, file, name string, names func(r io.ReaderAt, size int64) ([]string, error)) ([]store.Member, error) {
	if name != "" {
		return []store.Member{{Name: name, Path: file + "#" + name}}, nil
	}
	o, id, first, p, err := openHead(ctx, file)
	if err != nil {
		return nil, err
	}
	if p != nil {
		err = p.measure(ctx)
		id.Size = p.stream.Size
	}
	var list []string
	if err == nil {
		list, err = names(first, id.Size)
	}
	if err = errors.Join(err, o.Close()); err != nil {
		return nil, err
	}
	m := meter.Meter{What: "the list of its arrays"}
	defer m.Done()
	for _, name := range list {
		err = m.Take(MemberBytes(file, name))
	}
	if err != nil {
		return nil, err
	}
	all := make([]store.Member, len(list))
	for i, name := range list {
		all[i] = MemberAt(file+"#", name)
	}
	return all, nil
}

// NamedArrays is embedded by a Format whose files list their arrays in a header.
type NamedArrays struct {
	Extensions
	// Names reads the names of a file's arrays.
	Names func(file string, r io.ReaderAt, size int64) ([]string, error)
}

// Members lists the arrays of a file.
func (x NamedArrays) Members(ctx context.Context, path string) ([]store.Member, error) {
	file, name, _ := x.Cut(path)
	return InFile(ctx, file, name, func(r io.ReaderAt, size int64) ([]string, error) { return x.Names(file, r, size) })
}

// Names finds the arrays of a file by their names.
type Names struct {
	kind   string
	len    int
	name   func(i int) string
	sorted []int32 // the numbers of the arrays, by name
}

// NewNames returns the names of n arrays, of a kind as the format calls them. Two of one name are an error.
func NewNames(kind string, n int, name func(i int) string) (Names, error) {
	sorted := make([]int32, max(n, 0))
	for i := range sorted {
		sorted[i] = int32(i)
	}
	slices.SortFunc(sorted, func(a, b int32) int { return strings.Compare(name(int(a)), name(int(b))) })
	for i := 1; i < n; i++ {
		if twice := name(int(sorted[i])); twice == name(int(sorted[i-1])) {
			return Names{}, fmt.Errorf("two %ss have the name %.80q", kind, twice)
		}
	}
	return Names{kind, len(sorted), name, sorted}, nil
}

// List returns all names.
func (n Names) List() []string {
	list := make([]string, n.len)
	for i := range list {
		list[i] = n.name(i)
	}
	return list
}

// Find returns the number of the array of a name, or of the only one.
func (n Names) Find(name string) (int, error) {
	if name == "" {
		switch n.len {
		case 0:
			return 0, fmt.Errorf("the file has no %s", n.kind)
		case 1:
			return 0, nil
		}
		return 0, fmt.Errorf("the file has %s: add #NAME to the path", QuoteNames(n.kind, n.List()))
	}
	at, found := slices.BinarySearchFunc(n.sorted, name, func(i int32, name string) int { return strings.Compare(n.name(int(i)), name) })
	if found {
		return int(n.sorted[at]), nil
	}
	return 0, fmt.Errorf("no %s %.80q: the file has %s", n.kind, name, QuoteNames(n.kind, n.List()))
}
