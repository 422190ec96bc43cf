package hdf5

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// file reads the structures of an HDF5 file (The HDF Group, HDF5 File Format Specification,
// version 3.0). Nothing that it reads is trusted: each structure lies within the file, has
// its signature and checksum, and at most as many bytes as its kind can have.
type file struct {
	r        io.ReaderAt
	size     int64
	base     int64 // what addresses count from
	root     uint64
	version  byte // of the superblock
	extended bool // it has an extension
	offsets  int  // bytes of an address
	lengths  int  // bytes of a length

	meter       meter.Meter                  // of what is held of the file
	listing     bool                         // all arrays are listed
	spent       int64                        // bytes that were read, and of texts that were made of them
	texts       bool                         // arrays of texts are read as bytes
	collections map[uint64]map[uint32][]byte // objects of global heaps, by their addresses
	directory   *directory
}

var directories storage.Headers[*directory]

// openNamed is open of a file that was opened before, too.
func openNamed(name string, r io.ReaderAt, size int64) (*file, error) {
	f, err := open(r, size)
	if err != nil {
		return nil, err
	}
	f.directory, err = directories.Read(name, r, func(take func(bytes int64) error) (*directory, error) {
		_ = take(directoryBytes) // what it may come to hold: names are counted when they are read
		return f.directory, nil
	})
	return f, err
}

const signature = "\x89HDF\r\n\x1a\n"

// maxBlock is the most bytes of one structure, but for the data of chunks.
const maxBlock = 64 << 20

var errCut = errors.New("the file is cut short or damaged")

// open reads the superblock, which a block of the user's may precede.
func open(r io.ReaderAt, size int64) (*file, error) {
	f := &file{r: r, size: size, collections: map[uint64]map[uint32][]byte{}, directory: &directory{groups: map[uint64]group{}, lengths: map[uint64]int{}}}
	for at := int64(0); ; at = max(512, at*2) {
		var start [9]byte
		if at > size-96 && at > 0 || size < 48 {
			return nil, notHDF5(r)
		}
		if _, err := r.ReadAt(start[:], at); err != nil && err != io.EOF {
			return nil, err
		}
		if string(start[:8]) != signature {
			continue
		}
		f.base = at
		if err := f.superblock(start[8]); err != nil {
			return nil, fmt.Errorf("superblock: %w", err)
		}
		return f, nil
	}
}

// notHDF5 says what a file without a superblock is: names that end like HDF5's are those of
// older formats, too.
func notHDF5(r io.ReaderAt) error {
	var start [10]byte
	if _, err := r.ReadAt(start[:], 0); err != nil && err != io.EOF {
		return err
	}
	switch text := string(start[:]); {
	case text == "MATLAB 5.0":
		return errors.New("it is a MAT file of version 5, which is not supported: save it in MATLAB with -v7.3")
	case strings.HasPrefix(text, "\x0e\x03\x13\x01"):
		return errors.New("it is an HDF4 file, which is not supported: convert it to HDF5 by h4toh5")
	case slices.Contains([]string{"CDF\x01", "CDF\x02", "CDF\x05"}, text[:4]):
		return errors.New("it is a NetCDF file of the classic format, which is only read: save to another file, or convert it by gonbext convert first")
	}
	return errors.New("not an HDF5 file: it has no superblock")
}

func (f *file) superblock(version byte) error {
	d, err := f.at(0, min(f.size-f.base, 128))
	if err != nil {
		return err
	}
	d.skip(9)
	f.version = version
	switch version {
	case 0, 1:
		d.skip(4)
		f.offsets, f.lengths = int(d.u8()), int(d.u8())
		d.skip(9)
		if version == 1 {
			f.extended = d.u16() != chunkNode
			d.skip(2)
		}
		if err := f.sizes(); err != nil {
			return err
		}
		base, _, end, driver := d.address(), d.address(), d.address(), d.address()
		d.skip(f.offsets) // of the root's name
		f.root = d.address()
		if driver != undefined {
			return errFamily
		}
		return cmp.Or(d.err, f.ends(base, end))
	case 2, 3:
		f.offsets, f.lengths = int(d.u8()), int(d.u8())
		flags := d.u8()
		if err := f.sizes(); err != nil {
			return err
		}
		base, extension, end := d.address(), d.address(), d.address()
		f.root = d.address()
		if err := d.checksum(d.at); err != nil {
			return err
		}
		if version == 3 && flags&5 == 1 {
			return errors.New("the file is open for writing, or was not closed by the program that wrote it: close it, or run h5clear -s on it")
		}
		if err := f.ends(base, end); err != nil || extension == undefined {
			return err
		}
		f.extended = true
		o, err := f.object(extension)
		if err != nil {
			return err
		}
		if _, family := o.find(msgDriver); family {
			return errFamily
		}
	default:
		return fmt.Errorf("version %d is not supported", version)
	}
	return d.err
}

var errFamily = errors.New("it is one of several files that hold its arrays together (of HDF5's family or multi driver), which is not supported: write them into one by h5repack")

// ends rejects a file that is shorter than its superblock says. Where a user's block was put
// before the file later, the end is not known.
func (f *file) ends(base, end uint64) error {
	if base == uint64(f.base) && end != undefined && end > uint64(f.size) {
		return fmt.Errorf("%d bytes of %d are there: %w", f.size, end, errCut)
	}
	return nil
}

func (f *file) sizes() error {
	for _, n := range []int{f.offsets, f.lengths} {
		if n != 2 && n != 4 && n != 8 {
			return fmt.Errorf("addresses of %d and lengths of %d bytes are not supported", f.offsets, f.lengths)
		}
	}
	return nil
}

// undefined is the address of what is not there.
const undefined = 1<<64 - 1

// spend counts bytes. Each structure lies in the file once, and is read a few times at most: one
// that is reached again and again is part of a circle, or of a file that is made to exhaust memory.
func (f *file) spend(n int64) error {
	if f.spent += n; f.spent > 1<<20+8*f.size {
		return errors.New("its structures have more bytes than the file: the file is damaged")
	}
	return nil
}

// at reads n bytes from an address on.
func (f *file) at(address uint64, n int64) (*decoder, error) {
	if n < 0 || n > maxBlock || address > uint64(f.size) || f.base+int64(address) > f.size-n {
		return nil, fmt.Errorf("%d bytes at %d: %w", n, address, errCut)
	}
	if err := f.spend(n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if got, err := f.r.ReadAt(b, f.base+int64(address)); int64(got) < n {
		if err == io.EOF {
			err = errCut
		}
		return nil, err
	}
	return &decoder{f: f, b: b}, nil
}

// bytes reads what a structure says is at an address.
func (f *file) bytes(address, n uint64) ([]byte, error) {
	d, err := f.at(address, int64(min(n, maxBlock+1)))
	if err != nil {
		return nil, err
	}
	return d.b, nil
}

// block reads n bytes that begin with a signature.
func (f *file) block(sign string, address uint64, n int64) (*decoder, error) {
	d, err := f.at(address, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sign, err)
	}
	if !bytes.Equal(d.take(len(sign)), []byte(sign)) {
		return nil, fmt.Errorf("there is no %s at %d: the file is damaged", sign, address)
	}
	return d, nil
}

// checked is block of a structure of version 0 whose last four bytes are its checksum.
func (f *file) checked(sign string, address uint64, n int64) (*decoder, error) {
	d, err := f.block(sign, address, n)
	if err != nil {
		return nil, err
	}
	if v := d.u8(); v != 0 {
		return nil, fmt.Errorf("a %s of version %d is not supported", sign, v)
	}
	return d, d.checksum(len(d.b) - 4)
}

// upTo is n bytes at an address, or as many as the file has there.
func (f *file) upTo(address uint64, n int64) int64 {
	return max(0, min(n, f.size-f.base-int64(min(address, uint64(f.size)))))
}

// decoder takes fields from bytes that were read. After the first that is not there all are
// zero, and err is set.
type decoder struct {
	f    *file
	b    []byte
	at   int
	err  error
	bits *codec.Bits // set where an element is an integer that has fewer bits than its bytes have; nil where that is an error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.b)-d.at {
		if d.err == nil {
			d.err = errCut
		}
		return make([]byte, max(0, min(n, 16)))
	}
	p := d.b[d.at : d.at+n]
	d.at += n
	return p
}

func (d *decoder) skip(n int)  { d.take(n) }
func (d *decoder) u8() byte    { return d.take(1)[0] }
func (d *decoder) u16() uint16 { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *decoder) u32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }

// uint takes a number of n ≤ 8 bytes.
func (d *decoder) uint(n int) (v uint64) {
	for i, b := range d.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// address takes an address; undefined where all its bits are set.
func (d *decoder) address() uint64 {
	v := d.uint(d.f.offsets)
	if v == 1<<(8*d.f.offsets)-1 {
		return undefined
	}
	return v
}

func (d *decoder) length() uint64 { return d.uint(d.f.lengths) }

// rest is what was not taken.
func (d *decoder) rest() []byte { return d.b[d.at:] }

// text takes what ends at a zero byte, which is taken too.
func (d *decoder) text() string {
	n := bytes.IndexByte(d.rest(), 0)
	if n < 0 {
		d.err = errCut
		return ""
	}
	return string(d.take(n + 1)[:n])
}

// sub is a decoder of bytes of this one.
func (d *decoder) sub(b []byte) *decoder { return &decoder{f: d.f, b: b, err: d.err} }

// checksum holds the four bytes at an offset to those before them.
func (d *decoder) checksum(at int) error {
	if d.err != nil || at < 0 || at > len(d.b)-4 {
		return errCut
	}
	if want, got := binary.LittleEndian.Uint32(d.b[at:]), lookup3(d.b[:at]); got != want {
		return fmt.Errorf("a checksum is %08x and should be %08x: the file is damaged", got, want)
	}
	return nil
}

// lookup3 is Bob Jenkins's hash of this name (burtleburtle.net/bob/c/lookup3.c, hashlittle),
// which HDF5 takes for its structures.
func lookup3(k []byte) uint32 {
	a := uint32(0xdeadbeef) + uint32(len(k))
	b, c := a, a
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(k[i:]) }
	for len(k) > 12 {
		a, b, c = a+word(0), b+word(4), c+word(8)
		a, b, c = mix(a, b, c)
		k = k[12:]
	}
	if len(k) == 0 {
		return c
	}
	var last [12]byte
	copy(last[:], k)
	k = last[:]
	a, b, c = a+word(0), b+word(4), c+word(8)
	r := bits.RotateLeft32
	c = (c ^ b) - r(b, 14)
	a = (a ^ c) - r(c, 11)
	b = (b ^ a) - r(a, 25)
	c = (c ^ b) - r(b, 16)
	a = (a ^ c) - r(c, 4)
	b = (b ^ a) - r(a, 14)
	return (c ^ b) - r(b, 24)
}

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	r := bits.RotateLeft32
	a = (a - c) ^ r(c, 4)
	c += b
	b = (b - a) ^ r(a, 6)
	a += c
	c = (c - b) ^ r(b, 8)
	b += a
	a = (a - c) ^ r(c, 16)
	c += b
	b = (b - a) ^ r(a, 19)
	a += c
	c = (c - b) ^ r(b, 4)
	b += a
	return a, b, c
}
