package hdf5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// encoded is how many bytes numbers up to a limit take.
func encoded(limit uint64) int { return (max(bits.Len64(limit), 1)-1)/8 + 1 }

// records goes through the records of a B-tree of version 2, in order.
func (f *file) records(address uint64, each func(*decoder) error) error {
	if address == undefined {
		return nil
	}
	d, err := f.block("BTHD", address, int64(22+f.offsets+f.lengths))
	if err != nil {
		return err
	}
	if err := d.checksum(len(d.b) - 4); err != nil {
		return err
	}
	d.skip(2)
	t := &tree{f: f, node: int64(d.u32()), record: int(d.u16())}
	depth := int(d.u16())
	d.skip(2)
	root, count := d.address(), uint64(d.u16())
	if d.err != nil || t.record == 0 || t.node > maxBlock || depth > 32 {
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
	f       *file
	node    int64 // bytes
	record  int   // bytes
	most    []uint64
	total   []uint64 // records below a node of each level, at most
	visited int
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
	if t.visited++; t.visited > maxNodes || count > t.most[level] {
		return errors.New("a B-tree has more than it can hold: the file is damaged")
	}
	sign, n := "BTLF", int64(count)*int64(t.record)
	if level > 0 {
		sign, n = "BTIN", n+int64(count+1)*int64(t.pointer(level))
	}
	d, err := t.f.block(sign, address, nodeHead+n)
	if err != nil {
		return err
	}
	if err := d.checksum(len(d.b) - 4); err != nil {
		return err
	}
	d.skip(2)
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
	f        *file
	address  uint64
	id       int // bytes of an identifier
	width    uint64
	start    uint64 // bytes of the first row's blocks
	direct   uint64 // most bytes of a block that holds objects
	root     uint64
	rows     int // of the root; 0 where it is the only block
	offset   int // bytes of an offset
	length   int // bytes of a length
	filtered bool
}

func (f *file) heap(address uint64) (*heap, error) {
	d, err := f.block("FRHP", address, int64(26+12*f.lengths+3*f.offsets))
	if err != nil {
		return nil, err
	}
	d.skip(1)
	h := &heap{f: f, address: address, id: int(d.u16())}
	h.filtered = d.u16() > 0
	d.skip(1)
	largest := uint64(d.u32())
	d.skip(f.lengths + f.offsets + f.lengths + f.offsets + 8*f.lengths)
	h.width, h.start, h.direct = uint64(d.u16()), d.length(), d.length()
	bitsOf := int(d.u16())
	d.skip(2)
	h.root, h.rows = d.address(), int(d.u16())
	h.offset = (bitsOf + 7) / 8
	h.length = min((bits.Len64(h.direct)-1+7)/8, encoded(largest))
	if d.err == nil && h.filtered {
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
	switch id[0] >> 4 & 3 {
	case 1:
		return nil, errors.New("huge objects of a heap are not supported")
	case 2:
		n := int(id[0]&15) + 1
		if n > len(id)-1 {
			return nil, errCut
		}
		return id[1 : 1+n], nil
	}
	d := &decoder{f: h.f, b: id, at: 1}
	at, n := d.uint(h.offset), d.uint(h.length)
	block, from, size, err := h.find(h.root, h.rows, 0, at)
	if err != nil {
		return nil, err
	}
	if at-from > size || n > size-(at-from) {
		return nil, errCut
	}
	b, err := h.f.at(block+(at-from), int64(n))
	if err != nil {
		return nil, err
	}
	return b.b, nil
}

// find is the block of objects with an offset, of those below one that begins at from.
func (h *heap) find(block uint64, rows int, from, at uint64) (address, begins, size uint64, err error) {
	for depth := 0; ; depth++ {
		if block == undefined || depth > 64 {
			return 0, 0, 0, errCut
		}
		if rows == 0 {
			return block, from, h.start, nil
		}
		row, size := 0, h.start
		for ; row < rows; row++ {
			if row > 1 {
				size *= 2
			}
			if size > 1<<62/h.width {
				return 0, 0, 0, errCut
			}
			if at-from < size*h.width {
				break
			}
			from += size * h.width
		}
		if row == rows {
			return 0, 0, 0, errCut
		}
		column := (at - from) / size
		from += column * size
		index := row*int(h.width) + int(column)
		b, err := h.f.block("FHIB", block, int64(5+h.f.offsets+h.offset+(index+1)*h.f.offsets))
		if err != nil {
			return 0, 0, 0, err
		}
		b.skip(len(b.b) - b.at - h.f.offsets)
		block = b.address()
		if size <= h.direct {
			return block, from, size, nil
		}
		rows = bits.Len64(size) - bits.Len64(h.start*h.width) + 1
	}
}

// global returns an object of a global heap: what a variable length or a reference of a
// dataset is stored in.
func (f *file) global(address uint64, index uint32) ([]byte, error) {
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
	d.skip(8 + f.lengths)
	for len(d.rest()) >= 8+f.lengths {
		at := binary.LittleEndian.Uint16(d.take(8))
		n := d.length()
		if at == 0 || n > uint64(len(d.rest())) {
			break
		}
		b := d.take(int(n))
		if uint32(at) == index {
			return b, d.err
		}
		d.skip(min(int(-n&7), len(d.rest())))
	}
	return nil, errCut
}
