package codec

import (
	"encoding/json"
	"errors"
	"fmt"
)

// zstd compresses with Zstandard.
type zstd struct {
	level    int
	checksum bool
}

// The levels that the format's own library has.
const (
	minZstd     = -131072
	maxZstd     = 22
	defaultZstd = 1
)

// newZstd checks the level. 0 is 3, as it is for the format's own library.
func newZstd(level int, checksum bool) (filter, error) {
	if level < minZstd || level > maxZstd {
		return nil, fmt.Errorf("level %d is not one of %d to %d", level, minZstd, maxZstd)
	}
	return &zstd{level, checksum}, nil
}

func (z *zstd) text() string {
	if z.checksum {
		return fmt.Sprintf("zstd:%d:checksum", z.level)
	}
	return fmt.Sprintf("zstd:%d", z.level)
}

func (z *zstd) v3() json.RawMessage {
	return configured("zstd", zstdConfig{&z.level, z.checksum})
}

type zstdConfig struct {
	Level    *int `json:"level"`
	Checksum bool `json:"checksum"`
}

// bound is a little above that of the format's own library, for encoders with
// smaller blocks.
func (z *zstd) bound(n int64) int64 { return n + n/256 + 1024 }

// window is the most that encoders of a level look back, however large the chunk is;
// of low levels a little more, which other encoders take.
func (z *zstd) window() int64 {
	switch {
	case z.level <= 8:
		return 2 << 20
	case z.level <= 16:
		return 4 << 20
	case z.level <= 19:
		return 8 << 20
	}
	return 32 << 20 << (z.level - 20)
}

func (z *zstd) alone() bool { return false }

func (z *zstd) decodeMemory(n int64) memory { return goZstd.decodeMemory(z, n) }
func (z *zstd) encodeMemory(n int64) memory { return goZstd.encodeMemory(z, n) }
func (z *zstd) readMemory(n int64) memory   { return goZstd.readMemory(z, n) }
func (z *zstd) writeMemory(n int64) memory  { return goZstd.writeMemory(z, n) }

func (z *zstd) decoder(n int64, work []byte) (decoder, error) { return goZstd.decoder(z, n, work) }
func (z *zstd) encoder(n int64, work []byte) (encoder, error) { return goZstd.encoder(z, n, work) }
func (z *zstd) reader(n int64, work []byte) (reader, error)   { return goZstd.reader(z, n, work) }
func (z *zstd) writer(n int64, work []byte) (writer, error)   { return goZstd.writer(z, n, work) }

// errWindow says why a frame cannot be decoded as a stream.
func (z *zstd) errWindow() error {
	return fmt.Errorf("the frame looks back further than the %d bytes that level %d does: with more memory its chunk is decoded as a whole", z.window(), z.level)
}

// errLarge is returned where data decode to more than they may.
var errLarge = errors.New("it decodes to more bytes than a chunk has")
