package storage

import (
	"context"

	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Reshaper is an array whose elements lie in C order in one run, so that it can
// be read in any other shape of the same size.
type Reshaper interface {
	store.Array
	Reshape(shape []int) (store.Array, error)
}

// Ahead is an array that can begin with what is read soon.
type Ahead interface {
	// WillRead is a hint that a region is read soon. It does not wait.
	WillRead(r types.Region)
}

// Coded is an array that has to decode what it reads, in memory that the caller
// provides.
type Coded interface {
	store.Array
	// Session prepares to read with a buffer of at least Info().Work.Whole or, with
	// less, Stream bytes. One goroutine at a time uses it.
	Session(work []byte) (store.Session, error)
}

// Prefetcher is a Coded array whose encoded chunks can be read before there is memory to
// decode them.
type Prefetcher interface {
	Coded
	// Prefetch reads the encoded chunk that a region lies in to p, which has at least
	// Info().Work.Encoded bytes. What it returns is Read of that region in a session of the array,
	// which takes the chunk from p.
	Prefetch(ctx context.Context, p []byte, r types.Region) (func(ctx context.Context, s store.Session, dst []byte) (stored int64, err error), error)
}

// Listed is an array whose chunks are stored by themselves.
type Listed interface {
	store.Array
	// Chunks lists the chunks that are stored, by their index in the grid of
	// Info().Chunks, in no order. It reads shards' indexes and no elements.
	Chunks(ctx context.Context, each func(index []int, bytes int64) error) error
	// Digest identifies the version of every stored object. It lists them all.
	Digest(ctx context.Context) (string, error)
}

// CodedWriter is a writer that encodes, in memory that the caller provides.
type CodedWriter interface {
	store.Writer
	// Session prepares to write with a buffer of at least Layout.Work.Whole or, with
	// less, Stream bytes. One goroutine at a time uses it.
	Session(work []byte) (store.WriteSession, error)
}

// Encoder is a session that can leave it to its caller when a unit is stored.
type Encoder interface {
	store.WriteSession
	// Encode is Write of a whole unit, which it encodes to p, of at least Layout.Work.Encoded bytes.
	// put stores it from there, at the same time as the session encodes others; nil where there is nothing to store.
	Encode(ctx context.Context, p, src []byte, b types.Box) (put func(context.Context) error, stored int64, err error)
}
