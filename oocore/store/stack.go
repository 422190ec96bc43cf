package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// stackFormat is many files of one shape and dtype as one array, along a new axis in the
// order of their names: frames/*.npy?axis=0, or ?axis=time for a first axis of that name. It
// is read only.
type stackFormat struct{}

const formatStack = "stack"

// StackPath returns the path of the stack of the files that a pattern matches.
func StackPath(pattern string, axis int) string {
	mark := "?"
	if _, _, ok := cutQuery(pattern); ok {
		mark = "&"
	}
	return pattern + mark + "axis=" + strconv.Itoa(axis)
}

// cutStack takes the path of a stack apart: the pattern of its files' paths, what stands
// behind each of them, and the axis.
func cutStack(path string) (pattern, query, axis string, ok bool) {
	i := strings.LastIndexByte(path, '?')
	if i < 0 {
		return "", "", "", false
	}
	mark := "?"
	for _, field := range strings.Split(path[i+1:], "&") {
		if value, found := strings.CutPrefix(field, "axis="); found {
			axis, ok = value, true
			continue
		}
		query, mark = query+mark+field, "&"
	}
	return path[:i], query, axis, ok
}

func (stackFormat) Owns(path string) bool {
	_, _, _, ok := cutStack(path)
	return ok
}

// Place is the folder of the files.
func (stackFormat) Place(path string) string {
	pattern, _, _, _ := cutStack(path)
	if i := strings.IndexAny(pattern, `*?[`); i >= 0 {
		pattern = pattern[:i]
	}
	if dir := filepath.Dir(pattern + "x"); !blob.Remote(path) {
		return dir
	}
	return pattern
}

var errReadOnly = errors.New("a stack of files is read, not written: name one file")

func (stackFormat) Layout(string, Meta) (Layout, error) { return Layout{}, errReadOnly }

func (stackFormat) Create(string, Meta) (Writer, error) { return nil, errReadOnly }

// stack is the files as one array. Sessions open one file at a time, so that any number of
// files takes no more descriptors than there are sessions.
type stack struct {
	info  Info
	files []string  // paths
	ids   [][8]byte // digests of their versions
	axis  int       // of the stored shape
	work  Work      // of reading one file
}

// Open reads the headers of all files.
func (stackFormat) Open(ctx context.Context, path string) (Array, error) {
	pattern, query, axis, _ := cutStack(path)
	if blob.Remote(path) {
		return nil, errors.New("patterns match files of this machine, not those of a server")
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern is malformed: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("no file matches")
	}
	at, name, err := parseAxis(axis)
	if err != nil {
		return nil, err
	}
	s := &stack{files: files}
	if query != "" {
		for i := range files {
			files[i] += query
		}
	}
	return s, s.open(ctx, path, at, name)
}

// parseAxis returns the new axis, or 0 and the name for it.
func parseAxis(axis string) (at int, name string, err error) {
	if axis == "" {
		return 0, "", errors.New("axis= is empty: give the index of the new axis, or a name for it")
	}
	if at, err = strconv.Atoi(axis); err == nil {
		return at, "", nil
	}
	if _, err := strconv.ParseFloat(axis, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && strings.ContainsRune("+-.0123456789", rune(axis[0])) {
		return 0, "", fmt.Errorf("axis=%s: the index of an axis is an integer, at most the files' number of dimensions: give one, or a name that is no number", axis)
	}
	return 0, axis, nil
}

// open reads the headers of the files, for a new axis of a name.
func (s *stack) open(ctx context.Context, path string, axis int, name string) error {
	all := sha256.New()
	var first Info
	for i, file := range s.files {
		info, err := describe(ctx, file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, cause(err))
		}
		if i == 0 {
			first = info
			s.work = info.Work
			s.info.Details = info.Details
		} else if err := alike(&first, &info); err != nil {
			return fmt.Errorf("the files of a stack have one shape and dtype: %s %w of %s", filepath.Base(file), err, filepath.Base(s.files[0]))
		}
		s.info.Details = common(s.info.Details, info.Details)
		s.work.Whole, s.work.Stream = max(s.work.Whole, info.Work.Whole), max(s.work.Stream, info.Work.Stream)
		s.work.Heap, s.work.StreamHeap = max(s.work.Heap, info.Work.Heap), max(s.work.StreamHeap, info.Work.StreamHeap)
		id := identify(all, file, &info.ID)
		s.ids = append(s.ids, id)
		s.info.ID.Size += info.ID.Size
		s.info.Bytes += max(info.Bytes, 0)
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
	s.info.Path, s.info.Format, s.info.DType, s.info.Fortran, s.info.Codec = path, formatStack, first.DType, first.Fortran, first.Codec
	s.info.Shape, s.info.Chunks = slices.Insert(slices.Clone(first.Shape), s.axis, len(s.files)), slices.Insert(slices.Clone(chunks), s.axis, 1)
	s.info.ID.Version = hex.EncodeToString(all.Sum(nil)[:16])
	s.info.Work = s.work
	for _, file := range s.files {
		s.info.Work.Open += 2 * int64(len(file)+fileBytes) // as much again is garbage at times
	}
	if s.scatters() {
		s.info.Work.Whole, s.info.Work.Stream = s.work.Whole+scatterBytes, s.work.Stream+scatterBytes
	}
	return nil
}

// common is what two files' details have in common.
func common(a, b Details) Details {
	if !slices.Equal(a.Dims, b.Dims) {
		a.Dims, a.ChosenDims = nil, false
	}
	if a.Fill != b.Fill || a.Marks != b.Marks {
		a.Fill, a.Marks = "", false
	}
	if !bytes.Equal(a.Attributes, b.Attributes) {
		a.Attributes = nil
	}
	return a
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
	fileBytes    = 48        // of a file's name in Go's heap, beside its text, and of its version
	scatterBytes = 256 << 10 // of the buffer through which elements of a file go that lie apart in the stack
)

// scatters reports that the elements of a file do not follow each other in the stack.
func (s *stack) scatters() bool { return s.axis > 0 }

func describe(ctx context.Context, file string) (Info, error) {
	a, err := OpenContext(ctx, file)
	if err != nil {
		return Info{}, err
	}
	return a.Info(), a.Close()
}

// cause is an error without the path that stands before it already.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// alike returns an error for an array that cannot lie in a stack beside the first.
func alike(first, other *Info) error {
	of := func(i *Info) []int {
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

// identify adds a file's version to a digest, and returns that of the version.
func identify(all hash.Hash, file string, id *FileVersion) (one [8]byte) {
	text, _ := json.Marshal(id) // which has plain values only
	sum := sha256.Sum256(append(text, file...))
	all.Write(sum[:])
	return [8]byte(sum[:8])
}

func (s *stack) Info() Info {
	info := s.info
	info.Shape, info.Chunks = slices.Clone(info.Shape), slices.Clone(info.Chunks)
	return info
}

// Close has nothing to close: sessions close what they open.
func (s *stack) Close() error { return nil }

func (s *stack) Read(ctx context.Context, dst []byte, r grid.Region) error {
	session, err := s.Session(make([]byte, s.info.Work.Stream))
	if err != nil {
		return err
	}
	_, err = session.Read(ctx, dst, r)
	return errors.Join(err, session.Close())
}

// stackVersion is VersionOf a stack.
func stackVersion(ctx context.Context, path string) (v Version, err error) {
	a, err := OpenContext(ctx, path)
	if err != nil {
		return v, err
	}
	h := sha256.New()
	for _, file := range a.(*stack).files {
		one, err := VersionOf(ctx, file)
		if err != nil {
			return v, err
		}
		text, err := json.Marshal(one)
		if err != nil {
			return v, err
		}
		h.Write(append(text, file...))
	}
	return Version{File: a.Info().ID, Objects: hex.EncodeToString(h.Sum(nil)[:16])}, a.Close()
}

// stackSession reads one file after the other.
type stackSession struct {
	*stack
	scatter []byte
	work    []byte // of the file's session

	file    int // that is open
	array   Array
	session Session // nil where the file is not encoded
}

func (s *stack) Session(work []byte) (Session, error) {
	if int64(len(work)) < s.info.Work.Stream {
		return nil, pathError("read", s.info.Path, fmt.Errorf("a session needs %d bytes, it is given %d", s.info.Work.Stream, len(work)))
	}
	session := &stackSession{stack: s, work: work}
	if s.scatters() {
		session.scatter, session.work = work[:scatterBytes], work[scatterBytes:]
	}
	return session, nil
}

func (s *stackSession) Close() (err error) {
	if s.session != nil {
		err = s.session.Close()
		s.session = nil
	}
	if s.array != nil {
		err = errors.Join(err, s.array.Close())
		s.array = nil
	}
	return err
}

// open opens a file, if it is still what it was.
func (s *stackSession) open(ctx context.Context, file int) error {
	if s.array != nil && s.file == file {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	a, err := OpenContext(ctx, s.files[file])
	if err != nil {
		return err
	}
	info := a.Info()
	if id := identify(sha256.New(), s.files[file], &info.ID); id != s.ids[file] {
		return errors.Join(pathError("read", s.files[file], ErrChanged), a.Close())
	}
	s.array, s.file = a, file
	if coded, ok := a.(Coded); ok {
		s.session, err = coded.Session(s.work)
	}
	return err
}

func (s *stackSession) Read(ctx context.Context, dst []byte, r grid.Region) (stored int64, err error) {
	if len(r.Count) != len(s.info.Shape) {
		return 0, pathError("read", s.info.Path, fmt.Errorf("the region has %d dimensions, the array %d", len(r.Count), len(s.info.Shape)))
	}
	if want := grid.Size(r.Count) * s.info.DType.Size(); len(dst) != want {
		return 0, pathError("read", s.info.Path, fmt.Errorf("the region has %d bytes, the buffer %d", want, len(dst)))
	}
	of := grid.Region{Start: without(r.Start, s.axis), Count: without(r.Count, s.axis), Step: without(r.Step, s.axis)}
	strides := grid.Strides(r.Count)
	for i := range r.Count[s.axis] {
		file := r.Start[s.axis] + i*r.Step[s.axis]
		if file < 0 || file >= len(s.files) {
			return stored, pathError("read", s.info.Path, fmt.Errorf("there is no file %d of %d", file, len(s.files)))
		}
		if len(dst) == 0 {
			return stored, nil
		}
		if err := s.open(ctx, file); err != nil {
			return stored, err
		}
		n, err := s.one(ctx, dst, i*strides[s.axis], without(strides, s.axis), of, grid.Size(r.Count[:s.axis]) == 1)
		stored += n
		if err != nil {
			return stored, err
		}
	}
	return stored, nil
}

// one reads a region of the open file to a place in dst.
func (s *stackSession) one(ctx context.Context, dst []byte, at int, strides []int, r grid.Region, dense bool) (stored int64, err error) {
	size := s.info.DType.Size()
	if dense {
		return s.fill(ctx, dst[at*size:(at+grid.Size(r.Count))*size], r)
	}
	for part := range grid.Entire(r.Count).Split(grid.Auto(r.Count, size, scatterBytes)) {
		of := grid.Region{Start: slices.Clone(r.Start), Count: part.Shape, Step: r.Step}
		to := at
		for d, start := range part.Start {
			of.Start[d] += start * r.Step[d]
			to += start * strides[d]
		}
		buffer := s.scatter[:part.Size()*size]
		n, err := s.fill(ctx, buffer, of)
		stored += n
		if err != nil {
			return stored, err
		}
		kernel.Copy(size, part.Shape, dst, to, strides, buffer, 0, grid.Strides(part.Shape))
	}
	return stored, nil
}

func (s *stackSession) fill(ctx context.Context, dst []byte, r grid.Region) (int64, error) {
	if s.session != nil {
		return s.session.Read(ctx, dst, r)
	}
	return int64(len(dst)), s.array.Read(ctx, dst, r)
}

// without is a list without one of its elements.
func without(list []int, i int) []int { return slices.Delete(slices.Clone(list), i, i+1) }
