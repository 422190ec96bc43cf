package hdf5

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// virtual is where the elements of a virtual dataset lie: in parts of other arrays, its sources.
type virtual struct {
	address  uint64 // of the global heap that has the mappings, and their number there
	number   uint32
	mappings []mapping
}

// mapping is a selection of the virtual dataset whose elements are those of a selection of a source, both in C order.
type mapping struct {
	file, object string // of the source, as the mapping names it
	to, from     selection
}

// selection is the Cartesian product of the indices along each axis; nil where it is all of an array, and of no axis where it is nothing.
type selection []indices

// indices are those that a selection has along an axis: count blocks of some length, which begin stride apart, or blocks of any lengths.
type indices struct {
	start, stride, count, block int
	blocks                      [][3]int // where each begins, its length, and how many indices are before it; nil where they are regular
}

// What a mapping and a block of irregular indices take of Go's heap, texts apart.
const (
	mappingBytes = 256
	blockBytes   = 24
)

// endless is a count or a length that follows from what the sources have.
const endless = math.MaxInt

// regular are indices as a selection has them.
func regular(start, stride, count, block uint64) (x indices, err error) {
	for _, v := range []uint64{start, stride, count, block} {
		if v > math.MaxInt64 && v != undefined {
			return x, errCut
		}
	}
	x = indices{start: int(start), stride: int(stride), count: int(min(count, endless)), block: int(min(block, endless))}
	last := count - 1
	switch {
	case count == 0 || block == 0:
		return indices{stride: 1, block: 1}, nil
	case start == undefined || count > 1 && (stride == 0 || stride == undefined || count != undefined && block > stride):
		return x, errCut
	case count == undefined || block == undefined:
		if count == block || count != undefined && count != 1 {
			return x, errCut
		}
	case count > 1 && stride > math.MaxInt64/last || block > math.MaxInt64 || count > math.MaxInt64/block || start > math.MaxInt64-(block+stride*last):
		return x, errCut
	}
	if x.count == 1 || x.block == x.stride && x.count != endless { // one block
		if x.block != endless {
			x.block *= x.count
		}
		x.count, x.stride = 1, 1
	}
	return x, nil
}

// endless reports that where the indices end follows from sources.
func (x *indices) endless() bool { return x.count == endless || x.block == endless }

// len is how many indices there are.
func (x *indices) len() int {
	if n := len(x.blocks); n > 0 {
		return x.blocks[n-1][1] + x.blocks[n-1][2]
	}
	return x.count * x.block
}

// at is the i-th index, and how many follow it in its block with itself.
func (x *indices) at(i int) (index, left int) {
	if x.blocks != nil {
		n, ok := slices.BinarySearchFunc(x.blocks, i, func(b [3]int, i int) int { return cmp.Compare(b[2], i) })
		if !ok {
			n--
		}
		b := x.blocks[n]
		return b[0] + i - b[2], b[1] - (i - b[2])
	}
	if x.count == 1 {
		return x.start + i, x.block - i
	}
	return x.start + i/x.block*x.stride + i%x.block, x.block - i%x.block
}

// find is which of the indices an index is, and how many follow it in its block with itself; where it is none, next is the next one that is.
func (x *indices) find(index int) (i, left, next int) {
	if x.blocks != nil {
		n, ok := slices.BinarySearchFunc(x.blocks, index, func(b [3]int, index int) int { return cmp.Compare(b[0], index) })
		if !ok {
			if n--; n < 0 || index-x.blocks[n][0] >= x.blocks[n][1] {
				if n++; n == len(x.blocks) {
					return 0, 0, endless
				}
				return 0, 0, x.blocks[n][0]
			}
		}
		b := x.blocks[n]
		return b[2] + index - b[0], b[1] - (index - b[0]), 0
	}
	switch {
	case x.count == 0:
		return 0, 0, endless
	case index < x.start:
		return 0, 0, x.start
	}
	n := min((index-x.start)/x.stride, x.count-1)
	inside := index - x.start - n*x.stride
	switch {
	case inside < x.block:
		return n*x.block + inside, x.block - inside, 0
	case n == x.count-1:
		return 0, 0, endless
	}
	return 0, 0, x.start + (n+1)*x.stride
}

// before is how many endless indices are below an index.
func (x *indices) before(end int) int {
	switch {
	case end <= x.start:
		return 0
	case x.block == endless:
		return end - x.start
	}
	n := (end - 1 - x.start) / x.stride
	return n*x.block + min(end-x.start-n*x.stride, x.block)
}

// cutTo makes endless indices n.
func (x *indices) cutTo(n int) {
	switch {
	case n == 0:
		*x = indices{stride: 1, block: 1}
	case x.block == endless || x.block == x.stride:
		x.count, x.stride, x.block = 1, 1, n
	default:
		whole, rest := n/x.block, n%x.block
		if rest == 0 {
			x.count = whole
			return
		}
		for i := range whole {
			x.blocks = append(x.blocks, [3]int{x.start + i*x.stride, x.block, i * x.block})
		}
		x.blocks = append(x.blocks, [3]int{x.start + whole*x.stride, rest, whole * x.block})
	}
}

// end is the index behind the n-th, from 1.
func (x *indices) end(n int) int {
	if n == 0 {
		return 0
	}
	i, _ := x.at(n - 1)
	return i + 1
}

// shape are the lengths of a selection.
func (s selection) shape() []int {
	n := make([]int, len(s))
	for d := range s {
		n[d] = s[d].len()
	}
	return n
}

// endless is the axis along which the selection ends as its sources do; -1 for none.
func (s selection) endless() int {
	return slices.IndexFunc(s, func(x indices) bool { return x.endless() })
}

// whole is the selection of all of an array.
func whole(shape []int) selection {
	s := make(selection, len(shape))
	for d, n := range shape {
		s[d] = indices{stride: 1, count: min(n, 1), block: max(n, 1)}
	}
	return s
}

var errSelection = errors.New("it selects a union of blocks that is no product of ranges along each axis, which is not supported")

// selection takes a selection of a dataspace.
func (d *decoder) selection() (selection, error) {
	kind, version := d.u32(), d.u32()
	switch {
	case d.err != nil:
		return nil, d.err
	case kind == 3 || kind == 0: // all, none
		if d.skip(8); kind == 0 {
			return selection{}, d.err
		}
		return nil, d.err
	case kind != 2 || version < 1 || version > 3:
		return nil, fmt.Errorf("a selection of kind %d and version %d is not supported", kind, version)
	}
	flags, width := byte(0), 4
	if version == 1 {
		d.skip(8)
	} else {
		flags = d.u8()
		if width = 8; version == 2 {
			d.skip(4)
		} else {
			width = int(d.u8())
		}
	}
	rank := int(d.u32())
	if width != 2 && width != 4 && width != 8 || rank < 1 || rank > 32 {
		return nil, cmp.Or(d.err, errCut)
	}
	s := make(selection, rank)
	number := func() uint64 {
		v := d.uint(width)
		if v == 1<<(8*width)-1 {
			v = undefined
		}
		return v
	}
	if flags&1 != 0 {
		for i := range s {
			var err error
			start, stride, count, block := number(), number(), number(), number()
			if s[i], err = regular(start, stride, count, block); err != nil {
				return nil, cmp.Or(d.err, err)
			}
		}
		return s, d.err
	}
	n := number()
	if n == 0 || n > uint64(len(d.rest())/(2*width*rank)) {
		return nil, cmp.Or(d.err, errCut)
	}
	if err := d.f.meter.Take(int64(n) * int64(rank) * 3 * blockBytes); err != nil {
		return nil, err
	}
	for range n { // blocks, each by its first and its last index
		first := make([]uint64, 2*rank)
		for i := range first {
			first[i] = number()
		}
		for i := range s {
			from, to := first[i], first[rank+i]
			if to < from || to >= math.MaxInt64 {
				return nil, cmp.Or(d.err, errCut)
			}
			s[i].blocks = append(s[i].blocks, [3]int{int(from), int(to-from) + 1})
		}
	}
	product := uint64(1)
	for i := range s {
		slices.SortFunc(s[i].blocks, func(a, b [3]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		all := slices.Compact(s[i].blocks)
		s[i].blocks = all
		for j := 1; j < len(all); j++ {
			if all[j][2] = all[j-1][2] + all[j-1][1]; all[j][0] < all[j-1][0]+all[j-1][1] {
				return nil, errSelection
			}
		}
		if product *= uint64(len(all)); product > n {
			return nil, errSelection
		}
	}
	if product != n { // blocks are distinct
		return nil, errSelection
	}
	return s, d.err
}

// readMappings reads the mappings of a virtual dataset, a block of a global heap.
func (s *dataset) readMappings() error {
	v := s.virtual
	if v.address == undefined {
		return nil
	}
	b, err := s.f.global(v.address, v.number)
	if err != nil {
		return fmt.Errorf("its mappings: %w", err)
	}
	d := s.decode(b)
	if err := d.checksum(len(b) - 4); err != nil {
		return fmt.Errorf("its mappings: %w", err)
	}
	d.b = b[:len(b)-4]
	version, count := d.u8(), d.length()
	if version > 1 {
		return fmt.Errorf("mappings of version %d are not supported", version)
	}
	for i := range count {
		var m mapping
		flags := byte(0)
		if version == 1 {
			flags = d.u8()
		}
		// A name may be that of an earlier mapping.
		name := func(shared byte, of func(m *mapping) string) string {
			if flags&shared == 0 {
				return d.text()
			}
			if n := d.length(); n < i {
				return of(&v.mappings[n])
			}
			d.err = cmp.Or(d.err, errCut)
			return ""
		}
		if flags&4 != 0 {
			m.file = "."
		} else {
			m.file = name(1, func(m *mapping) string { return m.file })
		}
		m.object = name(2, func(m *mapping) string { return m.object })
		if err = d.err; err == nil && flags > 7 {
			err = errCut
		}
		if err == nil {
			err = s.f.meter.Take(mappingBytes + int64(len(m.file)+len(m.object)))
		}
		if err == nil {
			m.from, err = d.selection()
		}
		if err == nil {
			m.to, err = d.selection()
		}
		if err != nil {
			return fmt.Errorf("mapping %d: %w", i, err)
		}
		v.mappings = append(v.mappings, m)
	}
	return nil
}

// numbered reports a name that has a number for each block of an endless selection, as %b. Percent signs are written twice.
func numbered(name string) bool { return strings.Contains(strings.ReplaceAll(name, "%%", ""), "%b") }

// name is the name of a source of a block.
func numberedName(name string, block int) string {
	return strings.NewReplacer("%%", "%", "%b", strconv.Itoa(block)).Replace(name)
}

// resolve makes mappings that the sources which there are end: shape is that of the dataset, whose endless axes are as long as sources
// have elements for. look returns the shape of a source; nil for one that is absent. These are the rules of the library (H5Dvirtual.c) for the
// view H5D_VDS_LAST_AVAILABLE and gaps of no files, which are its defaults.
func (v *virtual) resolve(shape []int, look func(file, object string) ([]int, error), take func(int64) error) ([]int, []mapping, error) {
	shape = slices.Clone(shape)
	var all []mapping
	lengths := map[int]int{} // of endless axes
	for i, m := range v.mappings {
		fail := func(err error) ([]int, []mapping, error) { return nil, nil, fmt.Errorf("mapping %d: %w", i, err) }
		axis := m.to.endless()
		switch {
		case m.to != nil && len(m.to) == 0 || m.from != nil && len(m.from) == 0:
			continue // nothing
		case m.to != nil && len(m.to) != len(shape):
			return fail(errCut)
		case axis < 0:
			all = append(all, m)
			continue
		}
		x := &m.to[axis]
		if n := slices.IndexFunc(m.to[axis+1:], func(x indices) bool { return x.endless() }); n >= 0 {
			return fail(errCut)
		}
		if numbered(m.file) || numbered(m.object) {
			if x.block == endless || m.from.endless() >= 0 {
				return fail(errCut)
			}
			n := 0
			for ; ; n++ {
				one := mapping{numberedName(m.file, n), numberedName(m.object, n), slices.Clone(m.to), m.from}
				if n > (math.MaxInt-x.start-x.block)/max(x.stride, 1) {
					return fail(errCut)
				}
				one.to[axis] = indices{start: x.start + n*x.stride, stride: 1, count: 1, block: x.block}
				there, err := look(one.file, one.object)
				if err == nil && there != nil {
					err = take(mappingBytes + int64(len(one.file)+len(one.object)))
				}
				if err != nil {
					return nil, nil, err
				}
				if there == nil {
					break
				}
				all = append(all, one)
				lengths[axis] = max(lengths[axis], x.start+n*x.stride+x.block)
			}
			lengths[axis] = max(lengths[axis], 0)
			continue
		}
		there, err := look(m.file, m.object)
		if err != nil {
			return nil, nil, err
		}
		if lengths[axis] = max(lengths[axis], 0); there == nil {
			continue
		}
		along := m.from.endless()
		if along < 0 || len(there) != len(m.from) {
			return fail(errors.New("it has no end, and its source has one"))
		}
		m.to, m.from = slices.Clone(m.to), slices.Clone(m.from)
		from := &m.from[along]
		n := from.before(there[along])
		if err := take(int64(n/min(from.block, x.block)) * 4 * blockBytes); err != nil {
			return nil, nil, err
		}
		from.cutTo(n)
		if x = &m.to[axis]; n > 0 && x.block != endless && n/x.block > (math.MaxInt-x.start-x.block)/max(x.stride, 1) {
			return fail(errCut)
		}
		x.cutTo(n)
		lengths[axis] = max(lengths[axis], x.end(n))
		all = append(all, m)
	}
	for axis, n := range lengths {
		for _, m := range v.mappings { // an axis is as long as mappings that end need
			if d := m.to; len(d) == len(shape) && !d[axis].endless() {
				n = max(n, d[axis].end(d[axis].len()))
			}
		}
		shape[axis] = n
	}
	return shape, all, nil
}
