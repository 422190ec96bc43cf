package blob

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"golang.org/x/sync/errgroup"
)

// ErrLarge is returned by Get for an object that the buffer does not take.
var ErrLarge = errors.New("the object is larger than the buffer")

// Getter is a Bucket that opens and reads an object by one request.
type Getter interface {
	Get(ctx context.Context, key string, p []byte) (Entry, error)
}

// RangeOpener is a Bucket that opens an object and reads a range of it by one request, of its
// last bytes where at is negative.
type RangeOpener interface {
	OpenAt(ctx context.Context, key string, p []byte, at int64) (Object, error)
}

// OpenAt opens an object and fills p from a place in it, as far as the object goes. Where at is
// negative it is the last bytes that p takes, and of an object with fewer none.
func OpenAt(ctx context.Context, b Bucket, key string, p []byte, at int64) (Object, error) {
	if r, ok := b.(RangeOpener); ok && len(p) > 0 {
		return r.OpenAt(ctx, key, p, at)
	}
	o, err := b.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	if p, at = There(p, at, o.Entry().Size); len(p) == 0 {
		return o, nil
	}
	if err := o.ReadAt(ctx, p, at); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// There is what of p an object has from a place on, and the place counted from its beginning.
func There(p []byte, at, size int64) ([]byte, int64) {
	if at >= 0 {
		return p[:min(int64(len(p)), max(size-at, 0))], at
	}
	if size < int64(len(p)) {
		return nil, 0
	}
	return p, size - int64(len(p))
}

// Putter is a Bucket that stores an object from its caller's memory, without a
// buffer of its own.
type Putter interface {
	Put(ctx context.Context, key string, p []byte) (Entry, error)
}

// ErrReplaced is returned by PutIf where another version of the object is there.
var ErrReplaced = errors.New("another writer has replaced it")

// Conditional is a Bucket that stores an object only in place of a version that its
// caller has seen.
type Conditional interface {
	// PutIf stores a small object in place of the one with a version, or where the
	// version is "", where there is none. Else the error is ErrReplaced. A server that
	// knows no conditions stores it in any case.
	PutIf(ctx context.Context, key string, p []byte, version string) (Entry, error)
}

// PutIf stores a small object where the version that is there is the one that is
// given; in a Bucket that knows no conditions, in any case. It is durable then.
func PutIf(ctx context.Context, b Bucket, key string, p []byte, version string) (e Entry, err error) {
	if b.Can().Conditional {
		e, err = b.(Conditional).PutIf(ctx, key, p, version)
	} else {
		e, err = Put(ctx, b, key, p)
	}
	if err == nil {
		err = b.Sync(ctx)
	}
	return e, err
}

// Get reads a whole object to the beginning of p; its size is Entry.Size. Where
// that is more than len(p) it returns the entry and ErrLarge. In an object store
// it takes half the time of Open and ReadAt.
func Get(ctx context.Context, b Bucket, key string, p []byte) (Entry, error) {
	if g, ok := b.(Getter); ok {
		return g.Get(ctx, key, p)
	}
	o, err := b.Open(ctx, key)
	if err != nil {
		return Entry{}, err
	}
	defer o.Close()
	e := o.Entry()
	if e.Size > int64(len(p)) {
		return e, ErrLarge
	}
	return e, o.ReadAt(ctx, p[:e.Size], 0)
}

// Put stores a whole object, as Create, Write and Close do. The entry has no version
// where the bucket does not tell one.
func Put(ctx context.Context, b Bucket, key string, p []byte) (Entry, error) {
	if w, ok := b.(Putter); ok {
		return w.Put(ctx, key, p)
	}
	u, err := b.Create(ctx, key)
	if err != nil {
		return Entry{}, err
	}
	defer u.Abort()
	if err := u.Write(ctx, p); err != nil {
		return Entry{}, err
	}
	if err := u.Close(ctx); err != nil {
		return Entry{}, err
	}
	e := u.Entry()
	e.Key, e.Size = key, int64(len(p))
	return e, nil
}

const (
	// clearing is how many requests of Clear are under way at once.
	clearing = 16
	// MaxDelete is how many objects DeleteAll takes.
	MaxDelete = 1000
)

// Deleter is a Bucket that deletes up to MaxDelete objects by one request. None of
// them is there after it returned nil.
type Deleter interface {
	DeleteAll(ctx context.Context, keys []string) error
}

// Clear deletes the objects of a bucket whose key is of a kind, some at once. It
// returns the first error, after which others may have been deleted.
func Clear(ctx context.Context, b Bucket, kind func(key string) bool) error {
	var listing error
	err := DeleteKeys(ctx, b, func(yield func(string) bool) {
		for e, err := range b.List(ctx, "") {
			if listing = err; err != nil || e.Key != "" && kind(e.Key) && !yield(e.Key) {
				return
			}
		}
	})
	if listing != nil {
		return listing
	}
	return err
}

// DeleteKeys deletes objects, some at once. It returns the first error, after which
// others may have been deleted.
func DeleteKeys(ctx context.Context, b Bucket, all iter.Seq[string]) error {
	most, remove := 1, func(ctx context.Context, keys []string) error { return b.Delete(ctx, keys[0]) }
	if d, ok := b.(Deleter); ok {
		most, remove = MaxDelete, d.DeleteAll
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(clearing)
	var keys []string
	send := func() {
		batch := keys
		keys = nil
		group.Go(func() error { return remove(running, batch) })
	}
	for key := range all {
		if running.Err() != nil {
			break
		}
		if keys = append(keys, key); len(keys) == most {
			send()
		}
	}
	if len(keys) > 0 && running.Err() == nil {
		send()
	}
	err := group.Wait()
	return cmp.Or(context.Cause(ctx), err)
}
