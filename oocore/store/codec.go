package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage/door"
)

// Codec encodes the chunks of Zarr arrays, bytes to bytes, as compressors and checksums do. It is immutable and safe for concurrent use.
// What it takes of memory it declares, so that a budget holds. Chunks are encoded and decoded as a whole.
type Codec interface {
	// Name returns the codec's name in the metadata of Zarr v3. What numcodecs has is numcodecs.NAME, and NAME in Zarr v2.
	Name() string
	// Configure returns the codec with a configuration of metadata, a JSON object or nil, for elements of a type. A setting that it does not
	// know is an error.
	Configure(configuration json.RawMessage, t dtype.Type) (Codec, error)
	// Configuration returns what Configure takes, in full; nil where there is nothing to set.
	Configuration() json.RawMessage
	// Bound returns the most bytes that n bytes become.
	Bound(n int64) int64
	// Work returns what encoding and decoding up to n bytes, decoded, take besides src and dst: Whole of scratch, and Heap of Go's heap.
	Work(n int64) (encode, decode Work)
	// Encode returns the beginning of dst, which has Bound(len(src)) bytes or more.
	Encode(dst, src, scratch []byte) ([]byte, error)
	// Decode fills dst from its beginning, and returns how much. src is not to be trusted: more than dst has room for is an error.
	Decode(dst, src, scratch []byte) (int, error)
}

// builtin are the names of codecs that every program has; those of numcodecs have its prefix too.
var builtin = []string{"none", "bytes", "transpose", "sharding_indexed", "zstd", "gzip", "blosc", "crc32c", "zlib", "lz4", "shuffle", "fletcher32"}

// RegisterCodec makes a codec known, before any array is opened: packages call it as they are loaded. New arrays have it by oocore.Codec(NAME), or
// NAME:CONFIGURATION. The error is of a name that is none, or that another codec has.
func RegisterCodec(c Codec) error {
	if c == nil {
		return errors.New("there is no codec")
	}
	name := c.Name()
	switch {
	case name == "" || strings.ContainsAny(name, "+{}\"") || strings.TrimSpace(name) != name:
		return fmt.Errorf("%q is no name of a codec", name)
	case slices.Contains(builtin, strings.TrimPrefix(name, "numcodecs.")) || door.Codecs[name] != nil:
		return fmt.Errorf("another codec has the name %q", name)
	}
	door.Codecs[name] = c
	return nil
}
