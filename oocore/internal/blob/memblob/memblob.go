// Package memblob keeps objects in memory, for tests and for measuring what
// everything but storage costs. It satisfies the same contracts as folders do.
package memblob

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// Bucket is a bucket in memory.
type Bucket struct {
	*shared
	prefix string
}

// shared is what all joined buckets have in common.
type shared struct {
	mu       sync.Mutex
	objects  map[string]object
	closed   map[string]object // waiting for Sync
	versions int
}

type object struct {
	data    []byte
	version int
}

// New is an empty bucket.
func New() *Bucket {
	return &Bucket{shared: &shared{objects: map[string]object{}, closed: map[string]object{}}}
}

// Put stores an object at once.
func (b *Bucket) Put(key string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.versions++
	b.objects[b.prefix+key] = object{data, b.versions}
}

// Get is an object's bytes, which are not copied.
func (b *Bucket) Get(key string) (data []byte, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[b.prefix+key]
	return o.data, ok
}

// Open opens an object.
func (b *Bucket) Open(ctx context.Context, key string) (blob.Object, error) {
	if err := b.check(ctx, key); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[b.prefix+key]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	return &reader{key, o}, nil
}

// Create begins an object.
func (b *Bucket) Create(ctx context.Context, key string) (blob.Upload, error) {
	if err := b.check(ctx, key); err != nil {
		return nil, err
	}
	return &upload{bucket: b, key: b.prefix + key}, nil
}

// Sync puts what was closed under its keys.
func (b *Bucket) Sync(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.objects, b.closed)
	clear(b.closed)
	return ctx.Err()
}

// Delete removes an object.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := b.check(ctx, key); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, b.prefix+key)
	return nil
}

// List goes through the objects whose key begins with a prefix.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		b.mu.Lock()
		var entries []blob.Entry
		for key, o := range b.objects {
			if strings.HasPrefix(key, b.prefix+prefix) {
				entries = append(entries, o.entry(key[len(b.prefix):]))
			}
		}
		b.mu.Unlock()
		for _, e := range entries {
			if !yield(e, ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
	}
}

// Join is the bucket of the keys below a prefix.
func (b *Bucket) Join(prefix string) blob.Bucket {
	return &Bucket{b.shared, b.prefix + prefix}
}

// Can returns what such a bucket can do.
func (b *Bucket) Can() blob.Capabilities { return blob.Capabilities{Random: true, List: true} }

// String is "memory", with the prefix.
func (b *Bucket) String() string { return "memory/" + b.prefix }

// check rejects what every bucket has to.
func (b *Bucket) check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return blob.CheckKey(b.prefix + key)
}

func (o object) entry(key string) blob.Entry {
	return blob.Entry{Key: key, Size: int64(len(o.data)), Version: strconv.Itoa(o.version)}
}

type reader struct {
	key string
	object
}

func (r *reader) Entry() blob.Entry { return r.entry(r.key) }

func (r *reader) ReadAt(ctx context.Context, p []byte, at int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at < 0 || at > int64(len(r.data)) || copy(p, r.data[at:]) < len(p) {
		return fmt.Errorf("%s: %w", r.key, io.ErrUnexpectedEOF)
	}
	return nil
}

func (r *reader) Close() error { return nil }

type upload struct {
	bucket *Bucket
	key    string
	mu     sync.Mutex
	data   []byte
	done   bool
}

func (u *upload) Write(ctx context.Context, p []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.data = append(u.data, p...)
	return ctx.Err()
}

func (u *upload) WriteAt(ctx context.Context, p []byte, at int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if missing := int(at) + len(p) - len(u.data); missing > 0 {
		u.data = slices.Concat(u.data, make([]byte, missing))
	}
	copy(u.data[at:], p)
	return ctx.Err()
}

func (u *upload) Entry() blob.Entry { return blob.Entry{Key: u.key, Size: int64(len(u.data))} }

func (u *upload) Close(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b := u.bucket
	b.mu.Lock()
	defer b.mu.Unlock()
	if !u.done {
		b.versions++
		b.closed[u.key] = object{u.data, b.versions}
		u.done = true
	}
	return nil
}

func (u *upload) Abort() { u.done = true }
