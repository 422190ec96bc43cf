package chunked

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"strconv"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Digest identifies the version of every object of a bucket, which holds the array. It is the
// sum of their hashes, so that it needs neither an order nor memory. Files that have
// changed within a tick of the clock are looked at again after it.
func (a *Array) Digest(ctx context.Context, b blob.Bucket) (string, error) {
	if a.Closed() {
		return "", a.Fail(ctx, fs.ErrClosed)
	}
	if !b.Can().List { // a web server: only the metadata's version is known
		return "", nil
	}
	for again := false; ; again = true {
		digest, newest, err := a.digest(ctx, b)
		wait, reliable := disk.Unsettled(newest)
		if err != nil || wait == 0 || again && !reliable { // a clock that is ahead may be so by hours
			return digest, err
		}
		time.Sleep(wait)
	}
}

func (a *Array) digest(ctx context.Context, bucket blob.Bucket) (digest string, newest time.Time, err error) {
	var sum [sha256.Size / 8]uint64
	var text []byte
	for e, err := range bucket.List(ctx, "") {
		if err != nil {
			return "", newest, a.Fail(ctx, err)
		}
		if e.Changed.After(newest) {
			newest = e.Changed
		}
		text = appendEntry(text[:0], e)
		hash := sha256.Sum256(text)
		for i := range sum {
			sum[i] += binary.LittleEndian.Uint64(hash[8*i:])
		}
	}
	if err := ctx.Err(); err != nil {
		return "", newest, err
	}
	b := make([]byte, 0, sha256.Size)
	for _, s := range sum {
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	return hex.EncodeToString(b), newest, nil
}

// VersionOf is a number for an object's version, which another has with a probability of 2⁻⁶⁴.
func VersionOf(e blob.Entry) uint64 {
	hash := sha256.Sum256(appendEntry(nil, e))
	return binary.LittleEndian.Uint64(hash[:])
}

func appendEntry(b []byte, e blob.Entry) []byte {
	b = append(appendQuoted(b, e.Key), ' ')
	b = append(strconv.AppendInt(b, e.Size, 10), ' ')
	return appendQuoted(b, e.Version)
}

// appendQuoted is strconv.AppendQuote, which takes longer than the hash of what it writes.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
