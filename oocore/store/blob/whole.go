package blob

import (
	"context"
	"errors"
)

// ErrLarge is returned by Get for an object that the buffer does not take.
var ErrLarge = errors.New("the object is larger than the buffer")

// Getter is a Bucket that opens and reads an object by one request.
type Getter interface {
	Get(ctx context.Context, key string, p []byte) (Entry, error)
}

// Putter is a Bucket that stores an object from its caller's memory, without a
// buffer of its own.
type Putter interface {
	Put(ctx context.Context, key string, p []byte) error
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

// Put stores a whole object, as Create, Write and Close do.
func Put(ctx context.Context, b Bucket, key string, p []byte) error {
	if w, ok := b.(Putter); ok {
		return w.Put(ctx, key, p)
	}
	u, err := b.Create(ctx, key)
	if err != nil {
		return err
	}
	defer u.Abort()
	if err := u.Write(ctx, p); err != nil {
		return err
	}
	return u.Close(ctx)
}
