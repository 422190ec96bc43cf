// Package stack reads many files of one shape and dtype as one array, along a new axis in the
// order of their names: frames/*.npy?axis=0, or ?axis=time for a first axis of that name. It finds the
// files that are joined along an axis that they have, of any lengths: months/*.nc?concat=time.
package stack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"weak"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() { storage.RegisterFirst(format{"a stack of files is read, not written: name one file"}) }

type format struct{ store.ReadOnly }

// Path returns the path of the stack of the files that a pattern matches.
func Path(pattern string, axis int) string {
	mark := "?"
	if _, _, ok := storage.CutQuery(pattern); ok {
		mark = "&"
	}
	return pattern + mark + "axis=" + strconv.Itoa(axis)
}

// cutStack takes the path of a stack apart: the pattern of its files' paths, what stands
// behind each of them, and the axis: a new one, or one that they are joined along.
func cutStack(path string) (pattern, query, axis string, joined, ok bool) {
	i := strings.LastIndexByte(path, '?')
	if i < 0 {
		return "", "", "", false, false
	}
	mark := "?"
	fields, name, named := strings.Cut(path[i+1:], "#")
	for _, field := range strings.Split(fields, "&") {
		if value, found := strings.CutPrefix(field, "axis="); found {
			axis, ok = value, true
			continue
		}
		if value, found := strings.CutPrefix(field, "concat="); found {
			axis, joined, ok = value, true, true
			continue
		}
		query, mark = query+mark+field, "&"
	}
	if pattern = path[:i]; named {
		pattern += "#" + name
	}
	if m := strings.IndexAny(pattern, `*?[`); m >= 0 { // an array of each file: e*.nc#t
		if at := strings.IndexByte(pattern[m:], '#'); at >= 0 {
			pattern, query = pattern[:m+at], pattern[m+at:]+query
		}
	}
	return pattern, query, axis, joined, ok
}

func (format) Owns(path string) bool {
	_, _, _, _, ok := cutStack(path)
	return ok
}

// Place is the folder of the files.
func (format) Place(path string) string {
	pattern, _, _, _, _ := cutStack(path)
	if i := strings.IndexAny(pattern, `*?[`); i >= 0 {
		pattern = pattern[:i]
	}
	if dir := filepath.Dir(pattern + "x"); blob.PlaceOf(path).Files {
		return dir
	}
	return pattern
}

// stack is the files as one array. Sessions open one file at a time, so that any number of
// files takes no more descriptors than there are sessions.
type stack struct {
	info   store.Info
	files  []string    // paths
	states []fileState // of the files
	entry  bool        // the files are entries of one folder, and none is a link
	axis   int         // of the stored shape
	work   store.Work  // of reading one file
	// alike is how the elements of every file lie in it, where all lie alike and each one's
	// state tells what it holds: then no header is read again while the states are the same.
	alike    *storage.Flat
	bytes    int64  // of each file then, where it begins like the first one
	versions string // a digest of their Versions, which are their states then
}

// fileState is a digest of a file's version, which nobody can foresee, its number on the disk, and a digest that other processes
// have too.
type fileState struct{ version, inode, lasting uint64 }

// stateSeed makes digests that nobody can foresee.
var stateSeed = maphash.MakeSeed()

func stateOf(id *store.FileVersion) fileState {
	var b [64]byte
	for i, v := range [...]uint64{uint64(id.Size), uint64(id.ModTime.Unix()), uint64(id.ModTime.Nanosecond()),
		uint64(id.ChangeTime.Unix()), uint64(id.ChangeTime.Nanosecond()), id.Device, id.Inode, xxh3.HashString(id.Version)} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return fileState{maphash.Bytes(stateSeed, b[:]), id.Inode, xxh3.Hash(b[:])}
}

// stacks are those that this process has opened and still uses, by their absolute paths.
var stacks struct {
	sync.Mutex
	opened map[string]weak.Pointer[stack]
}

// openedStack returns a stack of the same files in the same states that the process has open.
func openedStack(key, path string, files []string) *stack {
	stacks.Lock()
	s := stacks.opened[key].Value()
	stacks.Unlock()
	if s == nil || s.info.Path != path || !slices.Equal(s.files, files) {
		return nil
	}
	changed := errors.New("changed")
	if forFiles(len(files), func(from, to int) error {
		for i := from; i < to; i++ {
			id, err := storage.StatFile(s.alike.Place(files[i]))
			if err != nil {
				return err
			}
			if stateOf(&id) != s.states[i] {
				return changed
			}
		}
		return nil
	}) != nil {
		return nil
	}
	return s
}

// Opened returns a stack that the process has open, without a look at its files: whoever reads one of them looks at it.
func (format) Opened(path string) store.Array {
	key, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	stacks.Lock()
	defer stacks.Unlock()
	if s := stacks.opened[key].Value(); s != nil && s.info.Path == path {
		return s
	}
	return nil
}

// Files returns the paths that match the pattern.
func (format) Files(path string) []string {
	pattern, query, _, _, _ := cutStack(path)
	files, _ := filepath.Glob(pattern)
	for i := range files {
		files[i] += query
	}
	return files
}

// Parts returns the paths of a stack's files, and its axis.
func (format) Parts(info *store.Info) ([]string, int) {
	if s, _ := info.Keep.(*stack); s != nil {
		return s.files, s.axis
	}
	return nil, 0
}

// Entries returns the folder of the files, and these by their numbers on the disk.
func (format) Entries(info *store.Info) (folder string, numbers iter.Seq2[uint64, uint64]) {
	s, _ := info.Keep.(*stack)
	if s == nil || !s.entry || s.alike == nil {
		return "", nil
	}
	device := s.alike.Info().ID.Device
	return filepath.Dir(s.files[0]), func(yield func(device, inode uint64) bool) {
		for i := range s.states {
			if !yield(device, s.states[i].inode) {
				return
			}
		}
	}
}

// forFiles calls a function for the parts of a range of files, several at a time, and returns an
// error of one of them.
func forFiles(n int, part func(from, to int) error) error {
	workers := min(machine.Cores(), 8, (n+63)/64) // few have descriptors to spare
	var all errgroup.Group
	for w := range workers {
		all.Go(func() error { return part(w*n/workers, (w+1)*n/workers) })
	}
	return all.Wait()
}

// matching returns the paths that a pattern matches. entry reports that they are entries of one
// folder, and none is a link.
func matching(pattern string) (files []string, entry bool, err error) {
	dir, base := filepath.Split(pattern)
	if hasMeta(dir) || !hasMeta(base) {
		files, err = filepath.Glob(pattern)
		return files, false, err
	}
	if _, err := filepath.Match(base, ""); err != nil {
		return nil, false, err
	}
	entry = true
	prefix := strings.TrimSuffix(filepath.Join(dir, "x"), "x")
	m := meter.Meter{What: "the list of its files"}
	defer m.Done()
	room := meter.Room{Take: m.Take}
	err = disk.List(filepath.Clean(dir), func(e fs.DirEntry) bool {
		if ok, _ := filepath.Match(base, e.Name()); ok {
			if !room.For(2 * int64(len(prefix)+len(e.Name())+fileBytes)) {
				return true // it is counted to the end
			}
			files = append(files, prefix+e.Name())
			entry = entry && e.Type().IsRegular()
		}
		return true
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = nil // no file matches
	}
	slices.Sort(files)
	return files, entry, cmp.Or(room.Err, err)
}

// hasMeta reports a path that filepath.Match sees as a pattern.
func hasMeta(path string) bool {
	return strings.ContainsAny(path, `*?[`) || filepath.Separator != '\\' && strings.ContainsRune(path, '\\')
}

// keep lets the next Open find the stack, for as long as something holds its Info: in place of one
// of other files or states, also where its own states do not tell what the files hold.
func (s *stack) keep(key string) {
	stacks.Lock()
	defer stacks.Unlock()
	maps.DeleteFunc(stacks.opened, func(_ string, w weak.Pointer[stack]) bool { return w.Value() == nil })
	if stacks.opened == nil {
		stacks.opened = map[string]weak.Pointer[stack]{}
	}
	if delete(stacks.opened, key); s.alike != nil {
		stacks.opened[key] = weak.Make(s)
	}
}

// Open reads the headers of all files.
func (format) Open(ctx context.Context, path string) (store.Array, error) {
	pattern, query, axis, joined, _ := cutStack(path)
	if !blob.PlaceOf(path).Files {
		return nil, errors.New("patterns match files of this machine, not those of a server")
	}
	files, entry, err := matching(pattern)
	if errors.Is(err, filepath.ErrBadPattern) {
		return nil, fmt.Errorf("the pattern is malformed: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no file matches")
	}
	if query != "" {
		for i := range files {
			files[i] += query
		}
	}
	at, name, err := parseAxis(axis)
	if err != nil {
		return nil, err
	}
	if joined {
		return nil, &Several{files, at, name, true, errors.New("files that are joined along an axis which they have are an expression, and no stored array: programs and gonbext compute open them")}
	}
	key, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if s := openedStack(key, path, files); s != nil {
		return s, nil
	}
	s := &stack{files: files, entry: entry}
	if err := s.open(ctx, path, at, name); err != nil {
		return nil, err
	}
	s.keep(key)
	return s, nil
}

// Several is the error of files that are not one stored array: they are joined along an axis that they have, or their numbers are to be
// decoded, each in its own way, before they are stacked. What opens them as an expression takes it for the list of them.
type Several struct {
	Files  []string
	Axis   int
	Dim    string // the name of the axis; "": it is Axis
	Joined bool   // the files have the axis; else it is new
	err    error
}

func (e *Several) Error() string { return e.err.Error() }

// parseAxis returns the axis, or 0 and its name.
func parseAxis(axis string) (at int, name string, err error) {
	if axis == "" {
		return 0, "", errors.New("axis= is empty: give the index of the axis, or its name")
	}
	if at, err = strconv.Atoi(axis); err == nil {
		return at, "", nil
	}
	if _, err := strconv.ParseFloat(axis, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && strings.ContainsRune("+-.0123456789", rune(axis[0])) {
		return 0, "", fmt.Errorf("axis=%s: the index of an axis is an integer, at most the files' number of dimensions: give one, or a name that is no number", axis)
	}
	return 0, axis, nil
}

// described is what opening a file tells.
type described struct {
	info    store.Info    // of a file that begins like the first one only the version
	lies    *storage.Flat // how its elements lie, where its state tells what it holds
	like    bool          // it begins like the first file
	version []byte
	sum     [sha256.Size]byte
	err     error
}

// filesAtOnce is how many files are opened before what they tell is put together.
const filesAtOnce = 256

// open reads the headers of the files, for a new axis of a name.
func (s *stack) open(ctx context.Context, path string, axis int, name string) error {
	all, states := sha256.New(), sha256.New()
	var first store.Info
	var start []byte // of the first file, up to its elements
	s.states = make([]fileState, 0, len(s.files))
	batch := make([]described, min(len(s.files), filesAtOnce))
	for at := 0; at < len(s.files); {
		n := min(len(s.files)-at, len(batch))
		if at == 0 {
			n = 1
		}
		if s.alike == nil {
			start = nil
		}
		_ = forFiles(n, func(from, to int) error { // whose errors lie in batch
			var settler disk.Settler
			buffer := make([]byte, len(start))
			for i := from; i < to; i++ {
				batch[i] = s.describe(ctx, s.files[at+i], &settler, start, buffer)
			}
			return nil
		})
		for i := range n {
			d, file := &batch[i], s.files[at+i]
			switch {
			case d.err != nil && at+i == 0:
				return cmp.Or(which(ctx, path, file), fmt.Errorf("%s: %w", file, cause(d.err)))
			case d.err != nil:
				return fmt.Errorf("%s: %w", file, cause(d.err))
			case at+i == 0:
				first, s.alike = d.info, d.lies
				s.work, s.info.Details = d.info.Work, d.info.Details
				if start, d.err = s.start(); d.err != nil {
					return fmt.Errorf("%s: %w", file, cause(d.err))
				}
			case !d.like:
				if err := alike(&first, &d.info); err != nil {
					return fmt.Errorf("the files of a stack have one shape and dtype: %s %w of %s", filepath.Base(file), err, filepath.Base(s.files[0]))
				}
				if s.alike != nil && (d.lies == nil || !d.lies.LiesAs(s.alike)) {
					s.alike = nil
				}
				if attribute := differ(s.info.Details, d.info.Details); attribute != "" {
					return &Several{s.files, axis, name, false, fmt.Errorf("the files of a stack hold numbers of one meaning: %s has another %s than %s: open each, apply decode_cf, and stack or concatenate them", filepath.Base(file), attribute, filepath.Base(s.files[0]))}
				}
				s.info.Details = storage.Common(s.info.Details, d.info.Details)
				s.work.Whole, s.work.Stream = max(s.work.Whole, d.info.Work.Whole), max(s.work.Stream, d.info.Work.Stream)
				s.work.Heap, s.work.StreamHeap = max(s.work.Heap, d.info.Work.Heap), max(s.work.StreamHeap, d.info.Work.StreamHeap)
			}
			s.states = append(s.states, stateOf(&d.info.ID))
			s.entry = s.entry && d.info.ID.Device == first.ID.Device && d.info.ID.Inode != 0
			all.Write(d.sum[:])
			fmt.Fprintf(states, `{"file":%s}%s`, d.version, file) // as of a Version
			s.info.ID.Size += d.info.ID.Size
			s.info.Bytes += max(d.info.Bytes, 0)
			s.info.IndexBytes += d.info.IndexBytes
		}
		at += n
	}
	dims := len(first.Shape) + 1
	at, err := grid.Axis(axis, dims)
	if err != nil {
		return err
	}
	s.axis = at
	if first.Fortran {
		s.axis = dims - 1 - at
	}
	if err := s.nameAxis(name, dims); err != nil {
		return err
	}
	chunks := first.Chunks
	if chunks == nil {
		chunks = grid.Auto(first.Shape, first.DType.Size(), stackChunk)
	}
	s.info.Path, s.info.Format, s.info.DType, s.info.Fortran, s.info.Codec = path, "stack", first.DType, first.Fortran, first.Codec
	s.info.Shape, s.info.Chunks = slices.Insert(slices.Clone(first.Shape), s.axis, len(s.files)), slices.Insert(slices.Clone(chunks), s.axis, 1)
	s.info.ID.Version = hex.EncodeToString(all.Sum(nil)[:16])
	s.versions = hex.EncodeToString(states.Sum(nil)[:16])
	s.info.Work = s.work
	s.info.Work.Encoded = 0
	for _, file := range s.files {
		s.info.Work.Open += 2 * int64(len(file)+fileBytes) // as much again is garbage at times
	}
	if s.scatters() {
		s.info.Work.Whole, s.info.Work.Stream = s.work.Whole+scatterBytes, s.work.Stream+scatterBytes
	}
	return nil
}

// which returns an error that says how to name an array of each file of a stack, where a file has several.
func which(ctx context.Context, path, file string) error {
	all, err := storage.Members(ctx, file)
	if err != nil || len(all) < 2 {
		return nil
	}
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	pattern, query, axis, _, _ := cutStack(path)
	suffix, ok := strings.CutPrefix(all[0].Path, file)
	if !ok || query != "" {
		return nil
	}
	return fmt.Errorf("each file has %s: name one of them behind the pattern, as in %s%s?axis=%s", storage.QuoteNames("array", names), pattern, suffix, axis)
}

// differ is the name of an attribute that says what numbers stand for, and that two arrays have not
// alike; "" where there is none. Of units those of dates count.
func differ(a, b store.Details) string {
	if bytes.Equal(a.Attributes, b.Attributes) {
		return ""
	}
	x, y := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	_, _ = json.Unmarshal(a.Attributes, &x), json.Unmarshal(b.Attributes, &y)
	for _, name := range []string{"scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned", "units", "calendar"} {
		if !bytes.Equal(x[name], y[name]) && (name != "units" || bytes.Contains(x[name], []byte(" since ")) || bytes.Contains(y[name], []byte(" since "))) {
			return name
		}
	}
	return ""
}

// nameAxis gives the new axis a name, "" for none, among those of the files' dimensions.
func (s *stack) nameAxis(name string, dims int) error {
	names := s.info.Details.Dims
	if name != "" && slices.Contains(names, name) {
		return fmt.Errorf("axis=%s: the files have a dimension of that name, and are stacked along a new one: concatenate joins along one that is there", name)
	}
	if names == nil && name != "" {
		names = make([]string, dims-1)
	}
	if names != nil {
		s.info.Details.Dims = slices.Insert(slices.Clone(names), s.axis, name)
	}
	return nil
}

const (
	stackChunk   = 4 << 20   // bytes of a file that has no chunks, which are read at once
	fileBytes    = 48        // of a file's name in Go's heap, beside its text, and of its state
	scatterBytes = 256 << 10 // of the buffer through which elements of a file go that lie apart in the stack
)

// scatters reports that the elements of a file do not follow each other in the stack.
func (s *stack) scatters() bool { return s.axis > 0 }

// describe opens a file, of which no more is read than whether it begins like the first one.
func (s *stack) describe(ctx context.Context, file string, settler *disk.Settler, start, buffer []byte) (d described) {
	if d.err = ctx.Err(); d.err != nil {
		return d
	}
	if start != nil {
		d.info.ID, d.like = s.begins(file, settler, start, buffer)
		d.info.Bytes = d.info.ID.Size
	}
	if !d.like {
		d.info, d.lies, d.err = describe(ctx, file, settler)
	}
	d.version, d.sum = identify(file, &d.info.ID)
	return d
}

// start returns what the first file begins with, where a file that begins so and has as many
// bytes holds an array of the same shape and type: with a header, and nothing after the elements.
func (s *stack) start() ([]byte, error) {
	const most = 4096
	a := s.alike
	if !s.entry || a == nil {
		return nil, nil
	}
	info := a.Info()
	if s.bytes = info.ID.Size; info.Format != "npy" || a.Offset() > most || a.Offset()+int64(grid.Size(info.Shape)*info.DType.Size()) != s.bytes {
		return nil, nil
	}
	f, id, err := storage.ReopenFile(s.files[0])
	if err != nil {
		return nil, err
	}
	start := make([]byte, a.Offset())
	_, err = f.ReadAt(start, 0)
	if err == nil && !id.Equal(info.ID) {
		err = store.ErrChanged
	}
	return start, errors.Join(err, f.Close())
}

// begins reports that a file begins like the first one, has as many bytes, and a state that tells
// what it holds.
func (s *stack) begins(file string, settler *disk.Settler, start, buffer []byte) (id store.FileVersion, ok bool) {
	f, id, err := storage.ReopenFile(file)
	if err != nil {
		return id, false
	}
	defer f.Close()
	if id.Size != s.bytes || !settler.Settled(f, id.Device, storage.LastChange(id)) {
		return id, false
	}
	n, _ := f.ReadAt(buffer, 0)
	return id, n == len(start) && bytes.Equal(buffer, start)
}

// describe opens a file. lies is how its elements lie, where its state tells what it holds.
func describe(ctx context.Context, file string, settler *disk.Settler) (info store.Info, lies *storage.Flat, err error) {
	settled := false
	if of := storage.OpenFlat(ctx, file, func(f disk.Handle, id store.FileVersion) {
		settled = settler.Settled(f, id.Device, storage.LastChange(id))
	}); of != nil {
		if settled {
			lies = of
		}
		return of.Info(), lies, of.Close()
	}
	a, err := storage.OpenContext(ctx, file)
	if err != nil {
		return store.Info{}, nil, err
	}
	return a.Info(), nil, a.Close()
}

// cause is an error without the path that stands before it already.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// alike returns an error for an array that cannot lie in a stack beside the first.
func alike(first, other *store.Info) error {
	of := func(i *store.Info) []int {
		shape := slices.Clone(i.Shape)
		if i.Fortran {
			slices.Reverse(shape)
		}
		return shape
	}
	switch before, now := of(first), of(other); {
	case !slices.Equal(before, now) || first.DType != other.DType:
		return fmt.Errorf("has shape %s of %s, unlike %s of %s", grid.Format(now), other.DType, grid.Format(before), first.DType)
	case first.Fortran != other.Fortran:
		return errors.New("is stored in another order than that")
	case !slices.Equal(first.Chunks, other.Chunks):
		return fmt.Errorf("has chunks of %s, unlike the %s", grid.Format(other.Chunks), grid.Format(first.Chunks))
	}
	return nil
}

// identify returns a file's version as text, and the digest of that. Results are kept by them, so
// they stay as they are from release to release.
func identify(file string, id *store.FileVersion) (text []byte, sum [sha256.Size]byte) {
	text, _ = json.Marshal(id) // which has plain values only
	return text, sha256.Sum256(slices.Concat(text, []byte(file)))
}

func (s *stack) Info() store.Info {
	info := s.info
	info.Shape, info.Chunks = slices.Clone(info.Shape), slices.Clone(info.Chunks)
	info.Keep = s
	return info
}

// Close has nothing to close: sessions close what they open.
func (s *stack) Close() error { return nil }

// Units are the files.
func (s *stack) Units() grid.Grid {
	g := grid.Whole(s.info.Shape)
	g.Chunks[s.axis] = 1
	return g
}

// Versions tells that of each file: its state, where that tells what it holds.
func (s *stack) Versions(ctx context.Context, each func(unit int, version uint64)) error {
	for i, file := range s.files {
		if s.alike != nil {
			each(i, s.states[i].lasting)
			continue
		}
		v, err := storage.VersionOf(ctx, file)
		if err != nil {
			return err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		each(i, xxh3.Hash(append(text, file...)))
	}
	return ctx.Err()
}

// HasVersion reports that the files of a stack that tell what they hold have not changed.
func (format) HasVersion(ctx context.Context, path string, v storage.Version) (bool, error) {
	a, err := storage.Reopen(ctx, path)
	if err != nil {
		return false, err
	}
	s := a.(*stack)
	return s.alike != nil && s.versions == v.Objects, nil
}

// OpenVersion returns the stack and its version.
func (format) OpenVersion(ctx context.Context, path string) (_ store.Array, v storage.Version, err error) {
	a, err := storage.OpenContext(ctx, path)
	if err != nil {
		return nil, v, err
	}
	s := a.(*stack)
	v = storage.Version{File: a.Info().ID, Objects: s.versions}
	if s.alike != nil {
		return a, v, nil
	}
	h := sha256.New()
	for _, file := range s.files {
		one, err := storage.VersionOf(ctx, file)
		if err != nil {
			return nil, v, errors.Join(err, a.Close())
		}
		text, err := json.Marshal(one)
		if err != nil {
			return nil, v, errors.Join(err, a.Close())
		}
		h.Write(append(text, file...))
	}
	v.Objects = hex.EncodeToString(h.Sum(nil)[:16])
	return a, v, nil
}
