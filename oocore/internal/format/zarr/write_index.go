package zarr

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// order is the byte order of an index.
func (f shardIndexEncoding) order() binary.ByteOrder {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// clearIndex makes an index of which no part is stored.
func clearIndex(p []byte) {
	for i := range p {
		p[i] = 0xff
	}
}

// setPart says where a part lies.
func (f shardIndexEncoding) setPart(index []byte, entry int, at, n int64) {
	f.order().PutUint64(index[entry*entryBytes:], uint64(at))
	f.order().PutUint64(index[entry*entryBytes+8:], uint64(n))
}

// partAt is where a part lies; false where it is not stored.
func (f shardIndexEncoding) partAt(index []byte, entry int) (at, n int64, ok bool) {
	a, b := f.order().Uint64(index[entry*entryBytes:]), f.order().Uint64(index[entry*entryBytes+8:])
	return int64(a), int64(b), a != missing || b != missing
}

// sum is the checksum of an index.
func (f shardIndexEncoding) sum(entries []byte) uint32 { return crc32.Checksum(entries, castagnoli) }

// seal puts the checksum behind the entries.
func (f shardIndexEncoding) seal(index []byte) {
	if f.crc {
		n := len(index) - crcBytes
		binary.LittleEndian.PutUint32(index[n:], f.sum(index[:n]))
	}
}

// load fills p with the index of a stored shard that is to be changed, and rejects
// one that cannot be right.
func (l *shardLevel) load(ctx context.Context, shard blob.Object, p []byte) error {
	e := shard.Entry()
	at := e.Size - int64(len(p))
	if at < 0 {
		return fmt.Errorf("%s is cut short: it has %d bytes, its index alone %d", e.Key, e.Size, len(p))
	}
	if l.index.atStart {
		at = 0
	}
	if err := shard.ReadAt(ctx, p, at); err != nil {
		return err
	}
	x := shardIndex{level: l, count: l.parts()}
	if err := x.check(p, e.Size); err != nil {
		return fmt.Errorf("%s: the shard's index %w", e.Key, err)
	}
	return nil
}
