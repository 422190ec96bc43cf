// Package blob reads and writes the objects that hold an array: files of a folder, or
// objects of an object store.
package blob

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
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
	// Random reports that uploads can be written at any place.
	Random() bool
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
const UploadHeap = 8 << 20

// Upload is an object that is written, by one goroutine at a time but for
// WriteAt.
type Upload interface {
	// Write appends.
	Write(ctx context.Context, p []byte) error
	// WriteAt writes at a place. Calls that do not overlap may run at once.
	WriteAt(ctx context.Context, p []byte, at int64) error
	// Close ends the object, which is whole.
	Close(ctx context.Context) error
	// Abort gives it up. After Close it does nothing.
	Abort()
}

// Register makes a kind of object stores known by the scheme of its addresses,
// such as s3.
func Register(scheme string, open func(url string) (Bucket, error)) { schemes[scheme] = open }

var schemes = map[string]func(url string) (Bucket, error){}

// Remote reports a path that is an object store's address.
func Remote(path string) bool {
	_, ok := scheme(path)
	return ok
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
func At(path string) (Bucket, error) {
	s, ok := scheme(path)
	if !ok {
		return Dir(path), nil
	}
	open, ok := schemes[s]
	if !ok {
		return nil, fmt.Errorf("%s:// needs its package: import _ %q", s, "github.com/gonbext/gonbext/oocore/cloud")
	}
	return open(path)
}
