package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// encoded is how many bytes numbers up to a limit take.
func encoded(limit uint64) int { return (max(bits.Len64(limit), 1)-1)/8 + 1 }

// The kinds of records of B-trees of version 2 that are read.
const (
	recordHuge       = 1
	recordLinks      = 5
	recordAttributes = 8
	recordChunks     = 10
	recordFiltered   = 11 // chunks
)

// records goes through the records of a kind of a B-tree of version 2, in order.
func (f *file) records(address uint64, kind byte, each func(*decoder) error) error {
	if address == undefined {
		return nil
	}
	d, err := f.checked("BTHD", address, int64(22+f.offsets+f.lengths))
	if err != nil {
		return err
	}
	is := d.u8()
	t := &tree{f: f, kind: kind, node: int64(d.u32()), record: int(d.u16())}
	depth := int(d.u16())
	d.skip(2) // when nodes are split and merged
	root, count := d.address(), uint64(d.u16())
	if d.err != nil || is != kind || t.record == 0 || t.node > maxBlock || depth > 32 {
		return fmt.Errorf("the B-tree at %d: %w", address, errCut)
	}
	if err := t.levels(depth); err != nil {
		return err
	}
	if root == undefined {
		return nil
	}
	return t.walk(root, count, depth, each)
}

// tree is the form of a B-tree of version 2.
type tree struct {
	f      *file
	kind   byte
	node   int64 // bytes
	record int   // bytes
	most   []uint64
	total  []uint64 // records below a node of each level, at most
}

const nodeHead = 10 // signature, version, kind and checksum

func (t *tree) levels(depth int) error {
	n := uint64(max(t.node-nodeHead, 0)) / uint64(t.record)
	t.most, t.total = []uint64{n}, []uint64{n}
	for l := 1; l <= depth; l++ {
		pointer := uint64(t.pointer(l))
		n := uint64(max(t.node-nodeHead-int64(pointer), 0)) / (uint64(t.record) + pointer)
		high, total := bits.Mul64(n+1, t.total[l-1])
		if high != 0 || total+n < total {
			return errors.New("a B-tree is deeper than can be: the file is damaged")
		}
		t.most, t.total = append(t.most, n), append(t.total, total+n)
	}
	return nil
}

// pointer is the size of a node's pointer to one of the level below.
func (t *tree) pointer(level int) int {
	n := t.f.offsets + encoded(t.most[0])
	if level > 1 {
		n += encoded(t.total[level-1])
	}
	return n
}

func (t *tree) walk(address, count uint64, level int, each func(*decoder) error) error {
	if count > t.most[level] {
		return errors.New("a B-tree has more than it can hold: the file is damaged")
	}
	sign, n := "BTLF", int64(count)*int64(t.record)
	if level > 0 {
		sign, n = "BTIN", n+int64(count+1)*int64(t.pointer(level))
	}
	d, err := t.f.checked(sign, address, nodeHead+n)
	if err != nil {
		return err
	}
	if d.u8() != t.kind {
		return errCut
	}
	records := d.sub(d.take(int(count) * t.record))
	for i := uint64(0); i <= count; i++ {
		if level > 0 {
			child, below := d.address(), d.uint(encoded(t.most[0]))
			if level > 1 {
				d.skip(encoded(t.total[level-1]))
			}
			if d.err != nil {
				return d.err
			}
			if err := t.walk(child, below, level-1, each); err != nil {
				return err
			}
		}
		if i < count {
			if err := each(d.sub(records.take(t.record))); err != nil {
				return err
			}
		}
	}
	return d.err
}

// heap is a fractal heap: a table of blocks, whose rows double in size.
type heap struct {
	f       *file
	address uint64
	id      int // bytes of an identifier
	width   uint64
	start   uint64 // bytes of the first row's blocks
	direct  uint64 // most bytes of a block that holds objects
	root    uint64
	rows    int               // of the root; 0 where it is the only block
	offset  int               // bytes of an offset
	length  int               // bytes of a length
	summed  bool              // blocks that hold objects have checksums
	huge    uint64            // the B-tree of objects that lie outside of blocks
	blocks  map[uint64][]byte // that were read
}

func (f *file) heap(address uint64) (*heap, error) {
	d, err := f.checked("FRHP", address, int64(26+12*f.lengths+3*f.offsets))
	if err != nil {
		return nil, err
	}
	h := &heap{f: f, address: address, id: int(d.u16()), blocks: map[uint64][]byte{}}
	filtered := d.u16() > 0
	h.summed = d.u8()&2 != 0
	largest := uint64(d.u32())
	d.skip(f.lengths)
	h.huge = d.address()
	d.skip(f.lengths + f.offsets + 8*f.lengths)
	h.width, h.start, h.direct = uint64(d.u16()), d.length(), d.length()
	bitsOf := int(d.u16())
	d.skip(2)
	h.root, h.rows = d.address(), int(d.u16())
	h.offset = (bitsOf + 7) / 8
	h.length = min((bits.Len64(h.direct)-1+7)/8, encoded(largest))
	if d.err == nil && filtered {
		d.err = errors.New("heaps with filters are not supported")
	}
	if d.err == nil && (h.id < 1+h.offset+h.length || h.id > 64 || h.width == 0 || h.start == 0 || h.direct < h.start || h.direct > maxBlock || h.offset > 8 || h.rows > 64) {
		d.err = errCut
	}
	if d.err != nil {
		return nil, fmt.Errorf("the heap at %d: %w", address, d.err)
	}
	return h, nil
}

// object returns what an identifier stands for.
func (h *heap) object(id []byte) ([]byte, error) {
	if len(id) < 1+h.offset+h.length {
		return nil, errCut
	}
	d := &decoder{f: h.f, b: id, at: 1}
	switch id[0] >> 4 {
	case 0:
		at, n := d.uint(h.offset), d.uint(h.length)
		block, from, err := h.find(at)
		if err != nil {
			return nil, err
		}
		if at-from > uint64(len(block)) || n > uint64(len(block))-(at-from) {
			return nil, errCut
		}
		return block[at-from:][:n], nil
	case 1:
		return h.hugeObject(d)
	case 2:
		return d.take(int(id[0]&15) + 1), d.err
	}
	return nil, errCut
}

// hugeObject returns an object that lies outside of the heap's blocks: an identifier has its place
// where it is long enough, and else its number in a B-tree.
func (h *heap) hugeObject(id *decoder) (b []byte, err error) {
	if h.id > h.f.offsets+h.f.lengths {
		return h.f.bytes(id.address(), id.length())
	}
	number := id.uint(min(h.id-1, 8))
	err = h.f.records(h.huge, recordHuge, func(d *decoder) (err error) {
		if at, n := d.address(), d.length(); d.length() == number && d.err == nil {
			b, err = h.f.bytes(at, n)
		}
		return err
	})
	if err == nil && b == nil {
		err = errCut
	}
	return b, err
}

// find is the block that holds the objects with an offset, and the offset at which it begins.
func (h *heap) find(at uint64) (b []byte, from uint64, err error) {
	block, size, rows := h.root, h.start, h.rows
	for rows > 0 {
		begins, row := from, 0
		for size = h.start; ; row++ {
			if row > 1 {
				size *= 2
			}
			if row == rows || size > 1<<62/h.width {
				return nil, 0, errCut
			}
			if at-from < size*h.width {
				break
			}
			from += size * h.width
		}
		column := (at - from) / size
		from += column * size
		d, err := h.block("FHIB", block, begins, rows*int(h.width)*h.f.offsets)
		if err != nil {
			return nil, 0, err
		}
		d.skip((row*int(h.width) + int(column)) * h.f.offsets)
		block, rows = d.address(), 0
		if size > h.direct {
			if rows = bits.Len64(size) - bits.Len64(h.start*h.width) + 1; rows < 1 {
				return nil, 0, errCut
			}
		}
	}
	d, err := h.block("FHDB", block, from, int(size))
	if err != nil {
		return nil, 0, err
	}
	return d.b, from, nil
}

// block returns a block that begins at an offset of the heap: of n bytes, or one that has the
// addresses of others in n bytes.
func (h *heap) block(sign string, address, begins uint64, n int) (*decoder, error) {
	head := 5 + h.f.offsets + h.offset
	if sign == "FHIB" {
		n += head + 4
	}
	b, ok := h.blocks[address]
	if !ok {
		d, err := h.f.block(sign, address, int64(n))
		if err != nil {
			return nil, err
		}
		b = d.b
		switch {
		case sign == "FHIB":
			err = d.checksum(n - 4)
		case h.summed && n < head+4:
			err = errCut
		case h.summed: // computed with zeros in its place
			sum := binary.LittleEndian.Uint32(b[head:])
			if copy(b[head:], "\x00\x00\x00\x00"); sum != lookup3(b) {
				err = fmt.Errorf("the checksum of the block at %d does not fit: the file is damaged", address)
			}
		}
		if err != nil {
			return nil, err
		}
		h.blocks[address] = b
	}
	d := &decoder{f: h.f, b: b}
	if string(d.take(4)) != sign || d.u8() != 0 || d.address() != h.address || d.uint(h.offset) != begins || len(b) != n || d.err != nil {
		return nil, fmt.Errorf("the block at %d of a heap: %w", address, errCut)
	}
	return d, nil
}

// global returns an object of a global heap: what a variable length or a reference of a
// dataset is stored in.
func (f *file) global(address uint64, index uint32) ([]byte, error) {
	all, ok := f.collections[address]
	if !ok {
		d, err := f.block("GCOL", address, int64(8+f.lengths))
		if err != nil {
			return nil, err
		}
		d.skip(4)
		size := d.length()
		if d.err != nil || size > maxBlock {
			return nil, errCut
		}
		if d, err = f.at(address, int64(size)); err != nil {
			return nil, err
		}
		all = map[uint32][]byte{}
		d.skip(8 + f.lengths)
		for len(d.rest()) >= 8+f.lengths {
			at := binary.LittleEndian.Uint16(d.take(8))
			n := d.length()
			if at == 0 || n > uint64(len(d.rest())) {
				break
			}
			all[uint32(at)] = d.take(int(n))
			d.skip(min(int(-n&7), len(d.rest())))
		}
		f.collections[address] = all
	}
	if b, ok := all[index]; ok {
		return b, nil
	}
	return nil, errCut
}
