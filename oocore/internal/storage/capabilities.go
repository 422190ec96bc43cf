package storage

import (
	"context"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
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

// Forgetter is a session of an array in an object store that can drop what it has read of chunks.
type Forgetter interface{ Forget() }

// Listed is an array whose chunks are stored by themselves.
type Listed interface {
	store.Array
	// Chunks lists the chunks that are stored, by their index in the grid of
	// Info().Chunks, in no order. It reads shards' indexes and no elements.
	Chunks(ctx context.Context, each func(index []int, bytes int64) error) error
	// Digest identifies the version of every stored object. It lists them all.
	Digest(ctx context.Context) (string, error)
}

// Versioned is an array whose units, the objects that its chunks lie in, have versions of their own.
type Versioned interface {
	store.Array
	// Units is their grid.
	Units() grid.Grid
	// Versions tells the version of each unit that is stored, by its number in the grid, and that of
	// everything else that the array's elements depend on as number -1, in no order.
	Versions(ctx context.Context, each func(unit int, version uint64)) error
}

// Adoption is what a new array takes of a unit of the one that it replaces.
type Adoption uint8

// The kinds of adoption.
const (
	AdoptNothing Adoption = iota // it is written anew
	AdoptCopy                    // parts of which are written anew
	AdoptFile                    // the file itself, which nobody writes to any more
)

// Adopter is the writer of a new array that can begin with parts of the one that it replaces, where
// that has the same layout: they count as written, and are durable when Adopt returns.
type Adopter interface {
	store.Writer
	Adopt(ctx context.Context, part func(unit types.Box) Adoption) error
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

// InMemory reports what of a run lies in memory, as in a tmpfs, where the kernel takes nothing
// of it back: the array at a path, and what the run spills. "" is an array that is collected.
func InMemory(path string) (array, spilled bool) {
	if path == "" {
		_, spilled = tempParent()
		return false, spilled
	}
	staging, target, err := stagingPath(placeOf(path))
	if err != nil {
		return false, false
	}
	spilled = disk.InMemory(filepath.Dir(staging))
	return spilled && target != "", spilled
}
