package chunked

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Source is where the bytes of an encoded chunk lie: an object, or a range of one.
type Source struct {
	Object storage.Object
	Serial int    // of the opening of the object, by which another opening is known
	Kind   string // what Key is, in messages: chunk, shard or file
	Key    string
	Base   int64  // of the first byte in the object
	Bytes  int64  // of the chunk
	Read   *int64 // counts the bytes that are read
	// Pipeline is how this chunk is encoded, where that is not as the array's others are; nil
	// elsewhere. Its chunks may be smaller, if they have all of the array that lies in this one.
	Pipeline *codec.Pipeline
}

// Size returns the encoded size of the chunk.
func (s *Source) Size() int64 { return s.Bytes }

// ReadAt fills p from a place in the chunk. That it is too short is io.ErrUnexpectedEOF.
func (s *Source) ReadAt(ctx context.Context, p []byte, at int64) error {
	if at < 0 || at > s.Bytes-int64(len(p)) {
		return io.ErrUnexpectedEOF
	}
	*s.Read += int64(len(p))
	return s.Object.ReadAt(ctx, p, s.Base+at)
}

// Fault names the object that an error is of.
func (s *Source) Fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s %s: %w", s.Kind, s.Key, storage.Plain(err))
}

// broken is Fault for what cannot be decoded.
func (s *Source) broken(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, codec.ErrShort) {
		err = fmt.Errorf("it is cut short: %w", storage.Plain(err))
	}
	return s.Fault(ctx, err)
}
