// Package blob reads and writes the objects that hold an array: files of a folder, or
// objects of an object store.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/requests"
)

// ErrRandom is returned by WriteAt where an object can only be written from
// front to back.
var ErrRandom = errors.New("this store writes objects from front to back only")

// Bucket holds objects by key: relative paths with slashes. A key that would lead
// out of the bucket is rejected. It is safe for concurrent use. Errors name the
// object, and are fs.ErrNotExist where it is missing.
type Bucket interface {
	// Open opens an object for reading.
	Open(ctx context.Context, key string) (Object, error)
	// Create begins an object. Nothing is seen under its key until it was closed and
	// Sync has returned; then it is there whole, instead of what was there before.
	Create(ctx context.Context, key string) (Upload, error)
	// Sync makes durable what was closed before the call, by anyone, and puts it under
	// its keys. After an error by which anything was lost every later Sync fails too.
	Sync(ctx context.Context) error
	// Delete removes an object; none is there afterwards, also if there was none.
	Delete(ctx context.Context, key string) error
	// List goes through all objects whose key begins with a prefix, in no order.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
	// Join is the bucket of the keys that begin with a prefix, without it.
	Join(prefix string) Bucket
	// Can returns what the store can do.
	Can() Capabilities
	// String is the bucket's place for people, without secrets.
	String() string
}

// Entry is what a listing tells of an object.
type Entry struct {
	Key     string
	Size    int64
	Version string    // another where the object was replaced
	Changed time.Time // of a file, as its file system says; zero for others
	// Age is how long ago it was stored, by the store's own clock and from Get only; 0
	// where that is not known.
	Age time.Duration
	// Settles is, from Open only, how long another change may still leave Version as it is;
	// negative where that is so for ever.
	Settles time.Duration
}

// Object is an object that is read. It is safe for concurrent use.
type Object interface {
	Entry() Entry
	// ReadAt fills p from a place. That the object is too short is
	// io.ErrUnexpectedEOF.
	ReadAt(ctx context.Context, p []byte, at int64) error
	Close() error
}

// UploadHeap is the most that an upload under way takes of Go's heap, where it cannot
// be written at any place.
const UploadHeap = requests.PartBytes

// Upload is an object that is written, by one goroutine at a time but for
// WriteAt.
type Upload interface {
	// Write appends.
	Write(ctx context.Context, p []byte) error
	// WriteAt writes at a place. Calls that do not overlap may run at once.
	WriteAt(ctx context.Context, p []byte, at int64) error
	// Close ends the object, which is whole.
	Close(ctx context.Context) error
	// Entry is what is stored, once it is closed; without a version where only Open tells it.
	Entry() Entry
	// Abort gives it up. After Close it does nothing.
	Abort()
}

// Capabilities are what a store can do besides reading any part of an object. A store declares them
// where it is registered, and its Bucket has the same.
type Capabilities struct {
	Files       bool // objects are files of this machine, which are mapped, locked and linked by their names
	Random      bool // objects, new and existing ones, are written at any offset
	Replace     bool // a folder takes the name of another in one step, with all that is in it
	List        bool // objects are listed
	Conditional bool // an object is stored only in place of the version that its writer has seen
	Network     bool // each access is a request, which takes long however few bytes it is for
}

// files is the store of this machine's files.
var files = Capabilities{Files: true, Random: true, Replace: true, List: true}

// store is what is registered.
type store struct {
	can  Capabilities
	open func(url string) (Bucket, error)
}

// stores are known by the scheme of their addresses.
var stores = map[string]store{}

// Register makes a kind of object stores known by the scheme of its addresses,
// such as s3.
func Register(scheme string, can Capabilities, open func(url string) (Bucket, error)) {
	stores[scheme] = store{can, open}
}

// Place is a path, with what the store can do that it leads to. A store that is not registered can do nothing.
type Place struct {
	Path string
	Capabilities
	Scheme string // of its address; "" for this machine
}

// PlaceOf takes a path apart: that of a file or folder of this machine, or an object store's address.
func PlaceOf(path string) Place {
	s, ok := scheme(path)
	if !ok {
		return Place{path, files, ""}
	}
	if of, known := stores[s]; known {
		return Place{path, of.can, s}
	}
	return Place{path, Capabilities{Network: true}, s}
}

func scheme(path string) (string, bool) {
	s, _, ok := strings.Cut(path, "://")
	if !ok || s == "" {
		return "", false
	}
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+') {
			return "", false
		}
	}
	return s, true
}

// At returns the bucket of a path: a folder of this machine, which need not be there
// yet, or what is below an object store's address.
func At(path string) (Bucket, error) { return PlaceOf(path).Bucket() }

// Server returns the place's bucket or server, such as s3://bucket; "" of a place on this machine.
func (p Place) Server() string {
	if p.Scheme == "" {
		return ""
	}
	server, _, _ := strings.Cut(strings.TrimPrefix(p.Path, p.Scheme+"://"), "/")
	return p.Scheme + "://" + server
}

// Bucket returns the bucket of the place, as At does.
func (p Place) Bucket() (Bucket, error) {
	if p.Scheme == "" {
		return Dir(p.Path), nil
	}
	of, known := stores[p.Scheme]
	if !known {
		return nil, fmt.Errorf("%s:// needs its package: import _ %q", p.Scheme, "github.com/gonbext/gonbext/oocore/cloud")
	}
	return of.open(p.Path)
}

// Shown returns a path for people. What an object store's address may hold of secrets
// is left out: a password before the server's name, and the part behind a
// question mark but for what describes an array, such as shape=10,20&dtype=int8.
func Shown(path string) string {
	s, ok := scheme(path)
	if !ok {
		return path
	}
	rest := path[len(s)+len("://"):]
	server, below, slash := strings.Cut(rest, "/")
	if slash {
		below = "/" + below
	}
	if i := strings.LastIndexByte(server, '@'); i >= 0 {
		server = server[i+1:]
	}
	if at := strings.IndexByte(server, '?'); at >= 0 {
		server, below = server[:at], server[at:]+below
	}
	if at := strings.IndexByte(below, '?'); at >= 0 && !describes(below[at+1:]) {
		below = below[:at] + "?…"
	}
	return s + "://" + server + below
}

// describes reports a query with nothing but what paths of raw arrays and of repositories have.
func describes(query string) bool {
	for part := range strings.SplitSeq(query, "&") {
		switch name, _, _ := strings.Cut(part, "="); name {
		case "shape", "dtype", "offset", "order", "branch", "tag", "snapshot":
		default:
			return false
		}
	}
	return true
}

// CheckKey rejects keys that would lead out of a bucket, or that mean something
// else on another system.
func CheckKey(key string) error {
	var why string
	switch {
	case key == "":
		why = "it is empty"
	case strings.ContainsAny(key, "\\\x00"):
		why = "it has a backslash or a zero byte"
	default:
		for part := range strings.SplitSeq(key, "/") {
			switch part {
			case "":
				why = "a part of it is empty"
			case ".", "..":
				why = "it leads out of its folder"
			}
		}
	}
	if why == "" {
		return nil
	}
	return &fs.PathError{Op: "open", Path: key, Err: errors.New("not the name of an object: " + why)}
}

// escapes says of a link that leads out of a folder what is to be done. Package os
// has no name for its error.
func escapes(root string, err error) error {
	e, ok := err.(*fs.PathError)
	if !ok || !strings.Contains(e.Err.Error(), "escapes") {
		return err
	}
	return &fs.PathError{Op: e.Op, Path: e.Path, Err: errors.New("the link leads out of " + root + ", or is absolute: only relative links within it are followed")}
}
