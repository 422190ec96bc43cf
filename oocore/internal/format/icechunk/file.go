package icechunk

import (
	"bufio"
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/unpack"
)

// Files of metadata begin with a header: the magic, the name of the program, and a byte each for the version of the specification, the kind of
// the file and how the rest is compressed (Icechunk specification, Binary File Format).
const (
	magic       = "ICE\U0001F9CACHUNK"
	headerBytes = 12 + 24 + 3

	snapshotFile, manifestFile, repoFile = 1, 2, 6
)

var errDamaged = errors.New("it is damaged: what it refers to lies outside of it")

// read reads a file of metadata, which holds size bytes of memory. Where there is no room for it, it only counts them.
func read(ctx context.Context, file string, kind byte, room *meter.Room) (root table, size int, err error) {
	o, id, err := storage.OpenObject(ctx, file)
	if err != nil {
		return table{}, 0, storage.Plain(err)
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	const ahead = 1 << 20
	r := bufio.NewReaderSize(io.NewSectionReader(storage.HeadOf(ctx, o, id.Size), 0, id.Size), int(min(id.Size, ahead)))
	b := make([]byte, headerBytes)
	switch _, err := io.ReadFull(r, b); {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return table{}, 0, errors.New("it is cut short")
	case err != nil:
		return table{}, 0, err
	case string(b[:len(magic)]) != magic:
		return table{}, 0, errors.New("it does not begin as files of Icechunk do")
	case b[36] != 1 && b[36] != 2:
		return table{}, 0, fmt.Errorf("version %d of Icechunk's format is not supported: 1 and 2 are", b[36])
	case b[37] != kind:
		return table{}, 0, fmt.Errorf("it is a file of kind %d, in place of kind %d", b[37], kind)
	}
	var payload []byte
	switch b[38] {
	case 0:
		payload, size, err = readAll(r, int(id.Size), room)
	case 1:
		first, _ := r.Peek(32) // of which the header takes at most 18
		size = 4*int(id.Size) + 512
		var h zstd.Header
		if h.Decode(first) == nil && h.HasFCS {
			size = int(min(h.FrameContentSize, 1<<40)) + 1
		}
		var d *zstd.Decoder
		if d, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(unpack.MaxWindow)); err == nil {
			payload, size, err = readAll(d, size, room)
			d.Close()
		}
	default:
		err = fmt.Errorf("it is compressed by method %d: none and zstd are supported", b[38])
	}
	if err != nil || room.Err != nil {
		return table{}, size, err
	}
	f := &flat{b: payload, left: 8*len(payload) + 64}
	return table{f, f.offset(0)}, size, f.err
}

// readAll reads a stream of about as many bytes as are guessed, to memory that it counts before it takes it.
func readAll(r io.Reader, guess int, room *meter.Room) (out []byte, held int, err error) {
	for err == nil {
		if len(out) == cap(out) {
			size := max(guess, 2*len(out))
			if !room.For(int64(size)) {
				rest, err := io.Copy(io.Discard, r)
				return nil, len(out) + int(rest), err
			}
			out = append(make([]byte, 0, size), out...)
			room.For(int64(-held))
			held = size
		}
		var n int
		n, err = r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
	}
	if err != io.EOF {
		return nil, held, fmt.Errorf("it is damaged or cut short: %w", err)
	}
	return out, held, nil
}

// flat is a FlatBuffer (flatbuffers.dev/internals) of which nothing is trusted. The first place outside of it is its error: what is read after that
// is zero. Vectors may have some times as many bytes as there are: tables that share them would take time without end.
type flat struct {
	b    []byte
	left int
	err  error
}

func (f *flat) at(pos, n int) []byte {
	if f.err == nil && pos >= 0 && n >= 0 && pos <= len(f.b)-n {
		return f.b[pos : pos+n : pos+n]
	}
	f.err = errDamaged
	return nil
}

func (f *flat) number(pos, bytes int) (v uint64) {
	for i, b := range f.at(pos, bytes) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// offset is the place that an offset leads to.
func (f *flat) offset(pos int) int { return pos + int(f.number(pos, 4)) }

// table is a table of one. Its fields are numbered in the order of the schema.
type table struct {
	*flat
	pos int
}

// field is where a field lies; 0 where it is left out.
func (t table) field(i int) int {
	v := t.pos - int(int32(t.number(t.pos, 4)))
	if at := 4 + 2*i; at+2 <= int(t.number(v, 2)) {
		if o := int(t.number(v+at, 2)); o > 0 {
			return t.pos + o
		}
	}
	return 0
}

func (t table) uint(i, bytes int) uint64 {
	if at := t.field(i); at > 0 {
		return t.number(at, bytes)
	}
	return 0
}

// fixed is a struct of so many bytes; nil where it is left out.
func (t table) fixed(i, bytes int) []byte {
	if at := t.field(i); at > 0 {
		return t.at(at, bytes)
	}
	return nil
}

func (t table) table(i int) table {
	if at := t.field(i); at > 0 {
		return table{t.flat, t.offset(at)}
	}
	t.err = errDamaged
	return t
}

// vector is where the elements of a vector lie, of so many bytes each, and their number.
func (t table) vector(i, bytes int) (pos, n int) {
	at := t.field(i)
	if at == 0 {
		return 0, 0
	}
	pos = t.offset(at)
	n = int(t.number(pos, 4))
	t.left -= bytes * n
	if t.at(pos+4, bytes*n); t.left < 0 {
		t.err = errDamaged
	}
	if t.err != nil {
		return 0, 0
	}
	return pos + 4, n
}

// bytes is a vector of bytes or a string; nil where it is left out.
func (t table) bytes(i int) []byte {
	if pos, n := t.vector(i, 1); pos > 0 {
		return t.at(pos, n)
	}
	return nil
}

// tables goes through a vector of tables, as far as it is whole.
func (t table) tables(i int) func(yield func(int, table) bool) {
	return func(yield func(int, table) bool) {
		pos, n := t.vector(i, 4)
		for j := range n {
			if at := t.offset(pos + 4*j); t.err != nil || !yield(j, table{t.flat, at}) {
				return
			}
		}
	}
}

// uints is a vector of numbers of four bytes, appended to a slice.
func (t table) uints(i int, to []int) []int {
	pos, n := t.vector(i, 4)
	to = slices.Grow(to, n)
	for ; n > 0; n-- {
		to, pos = append(to, int(binary.LittleEndian.Uint32(t.b[pos:]))), pos+4
	}
	return to
}

// An objectID names a file. In names it is Crockford's base 32.
type objectID [12]byte

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

func (id objectID) String() string { return crockford.EncodeToString(id[:]) }

func (t table) id(i int) (id objectID) {
	if b := t.fixed(i, len(id)); b != nil {
		return objectID(b)
	}
	t.err = errDamaged
	return id
}
