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
	wide     bool // what it gets are elements of four bytes or more
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
	return &zstd{level: level, checksum: checksum}, nil
}

func (z *zstd) text() string {
	if z.checksum {
		return fmt.Sprintf("zstd:%d:checksum", z.level)
	}
	return fmt.Sprintf("zstd:%d", z.level)
}

func (z *zstd) v3() json.RawMessage {
	return configured("zstd", zstdConfig{z.level, z.checksum})
}

type zstdConfig struct {
	Level    int  `json:"level"`
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

// minMatch is the shortest run of bytes that level 3 looks for among n, 0 for the
// library's own choice of 4 or 5: one element and a part of the next, which is hardly
// worth the reference to it. Measured on seven kinds of elements in chunks of 4 MiB
// and 256 KiB, pictures in steps, labels, sorted numbers, noise in steps: sizes from
// 5 % smaller to 0.3 % larger, cycles from 11 % fewer to 7 % more. Shorter chunks and
// shorter elements lose by it.
func (z *zstd) minMatch(n int64) int64 {
	if z.wide && n > 128<<10 && (z.level == 3 || z.level == 0) {
		return 6
	}
	return 0
}

func (z *zstd) alone() bool { return false }

// zstdEngine is one of the two implementations.
type zstdEngine interface {
	decodeMemory(z *zstd, n int64) memory
	encodeMemory(z *zstd, n int64) memory
	readMemory(z *zstd, n int64) memory
	writeMemory(z *zstd, n int64) memory
	decoder(z *zstd, n int64, work []byte) (decoder, error)
	encoder(z *zstd, n int64, work []byte) (encoder, error)
	reader(z *zstd, n int64, work []byte) (reader, error)
	writer(z *zstd, n int64, work []byte) (writer, error)
}

// zstdOf is the implementation that this machine has; tests change it.
var zstdOf = func() zstdEngine {
	if lib := loadZstd(); lib != nil {
		return lib
	}
	return zstdInGo{}
}

func (z *zstd) decodeMemory(n int64) memory { return zstdOf().decodeMemory(z, n) }
func (z *zstd) encodeMemory(n int64) memory { return zstdOf().encodeMemory(z, n) }
func (z *zstd) readMemory(n int64) memory   { return zstdOf().readMemory(z, n) }
func (z *zstd) writeMemory(n int64) memory  { return zstdOf().writeMemory(z, n) }

func (z *zstd) decoder(n int64, work []byte) (decoder, error) { return zstdOf().decoder(z, n, work) }
func (z *zstd) encoder(n int64, work []byte) (encoder, error) { return zstdOf().encoder(z, n, work) }
func (z *zstd) reader(n int64, work []byte) (reader, error)   { return zstdOf().reader(z, n, work) }
func (z *zstd) writer(n int64, work []byte) (writer, error)   { return zstdOf().writer(z, n, work) }

// errWindow says why a frame cannot be decoded as a stream.
func (z *zstd) errWindow() error {
	return fmt.Errorf("the frame looks back further than the %d bytes that level %d does: with more memory its chunk is decoded as a whole", z.window(), z.level)
}

// What is wrong with a frame, in the same words by both implementations.
var (
	errFrame      = errors.New("the frame is damaged")
	errChecksum   = errors.New("the decoded bytes do not match the frame's checksum: it is damaged")
	errMagic      = errors.New("it is not a frame of Zstandard")
	errDictionary = errors.New("the frame needs a dictionary, which is not supported")
)

// maxZstdWindow is the furthest that the format's own library looks back where it has the
// whole output.
const maxZstdWindow = 15 << 28

// errLarge is returned where data decode to more than they may.
var errLarge = errors.New("it decodes to more bytes than a chunk has")
