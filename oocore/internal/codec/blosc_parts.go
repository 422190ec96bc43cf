package codec

import (
	"encoding/binary"
	"fmt"
	"io"
)

// inflate undoes the compression of parts of blocks, in whatever format they are. What
// it needs for a format exists from the first use on.
type inflate struct {
	work    []byte // of zstd
	planned bool   // work is what zstd asked for
	n       int64
	lz4     lz4Decompressor
	zstd    decoder
	zlib    *inflater
}

// part decodes a part, which fills dst.
func (d *inflate) part(format byte, dst, src []byte) (err error) {
	var n int
	switch format {
	case formatBloscLZ:
		n, err = bloscLZ(dst, src)
	case formatLZ4:
		return d.lz4(dst, src)
	case formatZlib:
		if d.zlib == nil {
			d.zlib = &inflater{frame: "zlib"}
		}
		n, err = d.zlib.decode(dst, src)
	case formatZstd:
		if d.zstd == nil {
			engine := zstdOf()
			if !d.planned { // by the metadata, so that there is no memory for it
				engine = zstdInGo{}
			}
			if d.zstd, err = engine.decoder(&zstd{}, d.n, d.work); err != nil {
				return err
			}
		}
		n, err = d.zstd.decode(dst, src)
	default:
		return fmt.Errorf("compressor %d is unknown, or not supported", format)
	}
	if err == nil && n != len(dst) {
		err = fmt.Errorf("a part of a block has %d bytes, not %d", n, len(dst))
	}
	return err
}

func (d *inflate) close() {
	if d.zstd != nil {
		d.zstd.close()
	}
	if d.zlib != nil {
		d.zlib.close()
	}
}

// inflateMemory is what decoding parts of up to n bytes takes.
func (b *blosc) inflateMemory(n int64) memory {
	switch b.cname {
	case "zstd":
		return (&zstd{}).decodeMemory(n)
	case "zlib":
		return memory{heap: inflateHeap}
	}
	return memory{}
}

// block decodes the parts of one block from the beginning of src.
func (d *inflate) block(f frame, dst, src []byte) error {
	splits := f.splits(len(dst))
	size := len(dst) / splits
	for i := range splits {
		if len(src) < partHeader {
			return ErrShort
		}
		n := int64(int32(binary.LittleEndian.Uint32(src)))
		if src = src[partHeader:]; n < 1 || n > int64(len(src)) {
			return errPart{n, len(src)}
		}
		part := dst[i*size : (i+1)*size]
		if n == int64(size) {
			copy(part, src)
		} else if err := d.part(f.format(), part, src[:n]); err != nil {
			return err
		}
		src = src[n:]
	}
	return nil
}

// errPart is returned where a part does not lie in its block.
type errPart struct {
	n    int64
	have int
}

func (e errPart) Error() string {
	return fmt.Sprintf("a part of a block has %d bytes where there are %d", e.n, e.have)
}

func (e errPart) Unwrap() error { return io.ErrUnexpectedEOF }

// compressor compresses parts of blocks.
type compressor interface {
	// compress returns the number of bytes that it wrote, or 0 where they would not be
	// fewer than src. dst has room for a little more than len(src).
	compress(dst, src []byte) (int, error)
}

func (b *blosc) compressMemory(n int64) memory {
	switch b.cname {
	case "zstd":
		return b.zstd().encodeMemory(n)
	case "zlib":
		return (&deflate{"zlib", b.level}).encodeMemory(n)
	}
	return blockOf().memory(b.cname == "lz4hc")
}

// zstd is the codec of a level, as Blosc's own library chooses it.
func (b *blosc) zstd() *zstd {
	if b.level == 9 {
		return &zstd{level: maxZstd}
	}
	return &zstd{level: max(2*b.level-1, 1)}
}

func (b *blosc) compressor(n int64, work []byte) (compressor, error) {
	switch b.cname {
	case "lz4":
		return lz4Parts(blockOf().compressor(false, 10-b.level, work)), nil
	case "lz4hc":
		return lz4Parts(blockOf().compressor(true, b.level, work)), nil
	case "zlib":
		e, err := (&deflate{"zlib", b.level}).encoder(n, work)
		return encodedParts{e}, err
	case "zstd":
		e, err := b.zstd().encoder(n, work)
		return encodedParts{e}, err
	}
	return nil, fmt.Errorf("%s is not written: use lz4", b.cname)
}

// lz4Parts are compressed with LZ4.
type lz4Parts lz4Compressor

func (p lz4Parts) compress(dst, src []byte) (int, error) {
	return lz4Compressor(p)(dst[:len(src)-1], src), nil
}

// encodedParts are compressed by an encoder of whole chunks.
type encodedParts struct{ encoder }

func (p encodedParts) compress(dst, src []byte) (int, error) {
	out, err := p.encode(dst, src)
	if len(out) >= len(src) {
		return 0, nil
	}
	return len(out), err
}
