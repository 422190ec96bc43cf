package codec

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/adler32"
	"hash/crc32"
	"io"
)

// checksum puts a checksum of four bytes behind its input, or before it.
type checksum struct {
	stateless
	name     string // in numcodecs
	settings any    // as it has them
	sum      func(b []byte) uint32
	first    bool
}

// zlibSums are the checksums that numcodecs stores at the start of a chunk, unless its location says the end.
var zlibSums = map[string]func(b []byte) uint32{"crc32": crc32.ChecksumIEEE, "adler32": adler32.Checksum}

func newZlibSum(name, location string) (*checksum, error) {
	location = cmp.Or(location, "start")
	if location != "start" && location != "end" {
		return nil, fmt.Errorf("location %q is neither start nor end", location)
	}
	return &checksum{name: name, settings: map[string]string{"location": location}, sum: zlibSums[name], first: location == "start"}, nil
}

const checksumSize = 4

func (c *checksum) text() string                           { return c.name }
func (c *checksum) v3() json.RawMessage                    { return configured("numcodecs."+c.name, c.settings) }
func (*checksum) bound(n int64) int64                      { return n + checksumSize }
func (c *checksum) decoder(int64, []byte) (decoder, error) { return c, nil }
func (c *checksum) encoder(int64, []byte) (encoder, error) { return c, nil }

// crc32c is the checksum that Zarr v3 has, also of streams.
type crc32c struct{ checksum }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newCRC32C() *crc32c {
	return &crc32c{checksum{name: "crc32c", sum: func(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }}}
}

func (*crc32c) v3() json.RawMessage                  { return configured("crc32c", nil) }
func (*crc32c) reader(int64, []byte) (reader, error) { return &crcReader{}, nil }
func (*crc32c) writer(int64, []byte) (writer, error) { return &crcWriter{}, nil }

// trim verifies the checksum and takes it off.
func (c *checksum) trim(src []byte) ([]byte, error) {
	if len(src) < checksumSize {
		return nil, ErrShort
	}
	data, sum := src[:len(src)-checksumSize], src[len(src)-checksumSize:]
	if c.first {
		sum, data = src[:checksumSize], src[checksumSize:]
	}
	return data, verify(c.sum(data), sum)
}

func verify(got uint32, sum []byte) error {
	if want := binary.LittleEndian.Uint32(sum); got != want {
		return fmt.Errorf("the checksum is %08x, and that of the data %08x", want, got)
	}
	return nil
}

// decode is trim for those that want a copy.
func (c *checksum) decode(dst, src []byte) (int, error) {
	data, err := c.trim(src)
	if err == nil && len(data) > len(dst) {
		err = errMore
	}
	return copy(dst, data), err
}

// encode leaves what is in dst already where it is.
func (c *checksum) encode(dst, src []byte) ([]byte, error) {
	if c.first {
		sum := c.sum(src)
		dst = dst[:len(src)+checksumSize]
		copy(dst[checksumSize:], src)
		binary.LittleEndian.PutUint32(dst, sum)
		return dst, nil
	}
	if !same(dst, src) {
		copy(dst, src)
	}
	return binary.LittleEndian.AppendUint32(dst[:len(src)], c.sum(src)), nil
}

// crcReader keeps the last four bytes that it has seen back.
type crcReader struct {
	stateless
	r    input
	sum  uint32
	tail [checksumSize]byte
	end  error // after the last byte
}

func (c *crcReader) reset(r input, _ int64) error {
	*c = crcReader{r: r}
	_, err := io.ReadFull(r, c.tail[:])
	return ended(err)
}

// ended turns a premature end of a stream below into the error that it is.
func ended(err error) error {
	if err == io.EOF {
		return ErrShort
	}
	return err
}

func (c *crcReader) Read(p []byte) (int, error) {
	if c.end != nil || len(p) == 0 {
		return 0, c.end
	}
	n, err := c.r.Read(p)
	if n == 0 && err == nil {
		return 0, nil
	}
	// Of tail and p[:n], the first n bytes go out and the last four stay.
	var tail [checksumSize]byte
	if n >= checksumSize {
		copy(tail[:], p[n-checksumSize:n])
		copy(p[checksumSize:n], p[:n-checksumSize])
		copy(p, c.tail[:])
	} else {
		var both [2 * checksumSize]byte
		copy(both[:], c.tail[:])
		copy(both[checksumSize:], p[:n])
		copy(p, both[:n])
		copy(tail[:], both[n:])
	}
	c.tail = tail
	c.sum = crc32.Update(c.sum, castagnoli, p[:n])
	switch {
	case err == io.EOF:
		if c.end = verify(c.sum, c.tail[:]); c.end == nil {
			c.end = io.EOF
		}
	default:
		c.end = err
	}
	return n, c.end
}

// ReadByte is Read of one byte.
func (c *crcReader) ReadByte() (byte, error) { return oneByte(c) }

// oneByte is ReadByte for readers that are hardly ever asked for it.
func oneByte(r io.Reader) (byte, error) {
	var one [1]byte
	for range 100 {
		if n, err := r.Read(one[:]); n > 0 {
			return one[0], nil
		} else if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// crcWriter passes on what is written, and in the end its checksum.
type crcWriter struct {
	stateless
	w   io.Writer
	sum uint32
}

func (c *crcWriter) reset(w io.Writer, _ int64) error {
	*c = crcWriter{w: w}
	return nil
}

func (c *crcWriter) Write(p []byte) (int, error) {
	c.sum = crc32.Update(c.sum, castagnoli, p)
	return c.w.Write(p)
}

func (c *crcWriter) end() error {
	_, err := c.w.Write(binary.LittleEndian.AppendUint32(nil, c.sum))
	return err
}
