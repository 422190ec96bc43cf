package hdf5

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// indexKind says how the places of chunks are stored.
type indexKind int

const (
	single indexKind = iota + 1
	implicit
	fixedArray
	extensibleArray
	treeV2
	treeV1
)

// index is where the chunks of an array lie.
type index struct {
	kind     indexKind
	address  uint64
	chunk    []int
	filtered uint64 // bytes of the only chunk
	mask     uint32 // filters that were left out for it
	edges    bool   // chunks that the array's end cuts are stored without filters
}

// chunkIndex takes the layout of chunks, of version 3 to 5.
func (s *dataset) chunkIndex(d *decoder, version byte) *index {
	x := &index{kind: treeV1}
	if version == 3 {
		rank := int(d.u8())
		x.address = d.address()
		for range rank {
			x.chunk = append(x.chunk, int(d.u32()))
		}
		return x
	}
	flags, rank, width := d.u8(), int(d.u8()), int(d.u8())
	if width < 1 || width > 8 {
		d.err = errCut
	}
	for range rank {
		x.chunk = append(x.chunk, int(min(d.uint(width), math.MaxInt64)))
	}
	x.edges = flags&1 != 0 && len(s.filters) > 0
	switch x.kind = indexKind(d.u8()); x.kind {
	case single:
		if flags&2 != 0 {
			x.filtered, x.mask = d.length(), d.u32()
		}
	case implicit:
	case fixedArray:
		d.skip(1)
	case extensibleArray:
		d.skip(5)
	case treeV2:
		d.skip(6)
	default:
		d.err = fmt.Errorf("an index of chunks of kind %d is not supported", x.kind)
	}
	x.address = d.address()
	return x
}

// check rejects what cannot be. The last length of a chunk is that of an element, in bytes.
func (x *index) check(s *dataset) error {
	last := len(x.chunk) - 1
	if last != len(s.shape) {
		return fmt.Errorf("chunks of %d axes in an array of %d: the file is damaged", last, len(s.shape))
	}
	if x.chunk[last] != s.record {
		return fmt.Errorf("chunks have elements of %d bytes and the array of %d: the file is damaged", x.chunk[last], s.record)
	}
	x.chunk = x.chunk[:last]
	for _, n := range x.chunk {
		if n < 1 {
			return fmt.Errorf("chunks of shape %s: the file is damaged", grid.Format(x.chunk))
		}
	}
	return grid.Check(x.chunk, s.record)
}

// place is where a chunk lies.
type place struct {
	chunk  uint64 // its number in the grid, in C order
	offset int64  // in the file
	size   int64
	mask   uint32 // filters that were left out
}

// index reads where all chunks lie that are stored, by number.
func (s *dataset) index() (all []place, err error) {
	x, g := s.chunks, grid.Grid{Shape: s.shape, Chunks: s.chunks.chunk}
	whole := int64(grid.Size(x.chunk)) * int64(s.record)
	add := func(chunk, address uint64, size int64, mask uint32) error {
		switch {
		case address == undefined:
			return nil
		case address > uint64(s.f.size) || size < 0 || s.f.base+int64(address) > s.f.size-size:
			return fmt.Errorf("chunk %d lies at %d with %d bytes, outside of the file", chunk, address, size)
		case len(all) == g.Len():
			return errors.New("it has more places than there are chunks: the file is damaged")
		case x.edges && s.cut(chunk):
			mask = math.MaxUint32
		}
		if len(s.filters) == 0 && size != whole {
			return fmt.Errorf("chunk %d has %d bytes, and without filters %d: the file is damaged", chunk, size, whole)
		}
		all = append(all, place{chunk, s.f.base + int64(address), size, mask})
		return nil
	}
	if x.address == undefined {
		return nil, nil
	}
	switch x.kind {
	case single:
		size := whole
		if x.filtered > 0 {
			size = int64(x.filtered)
		}
		err = add(0, x.address, size, x.mask)
	case implicit:
		grown := newGrowth(s)
		if len(s.filters) > 0 || slices.Contains(grown.counts, math.MaxUint64) {
			return nil, fmt.Errorf("its index of chunks: %w", errCut)
		}
		for n := range uint64(g.Len()) {
			if err = add(n, x.address+grown.place(n)*uint64(whole), whole, 0); err != nil {
				break
			}
		}
	case treeV1:
		err = s.placesV1(add)
	case treeV2:
		err = s.placesV2(whole, add)
	case fixedArray, extensibleArray:
		a := &array{dataset: s, growth: newGrowth(s), whole: whole, add: add}
		err = a.read(x.address, x.kind == extensibleArray)
	}
	if err != nil {
		return nil, fmt.Errorf("its index of chunks: %w", err)
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.chunk, b.chunk) })
	for i := 1; i < len(all); i++ {
		if all[i].chunk == all[i-1].chunk {
			return nil, fmt.Errorf("its index of chunks: chunk %d is there twice", all[i].chunk)
		}
	}
	return all, nil
}

// number is the number of the chunk with an index in the grid; ok is false beyond the array.
func (s *dataset) number(at []uint64) (n uint64, ok bool) {
	for d, i := range at {
		count := uint64((s.shape[d] + s.chunks.chunk[d] - 1) / s.chunks.chunk[d])
		if i >= count {
			return 0, false
		}
		n = n*count + i
	}
	return n, true
}

// cut reports a chunk that the array's end cuts.
func (s *dataset) cut(chunk uint64) bool {
	for d, n := range slices.Backward(s.chunks.chunk) {
		count := uint64((s.shape[d] + n - 1) / n)
		if chunk%count == count-1 && s.shape[d]%n != 0 {
			return true
		}
		chunk /= count
	}
	return false
}

func (s *dataset) placesV1(add func(chunk, address uint64, size int64, mask uint32) error) error {
	at := make([]uint64, len(s.shape))
	for e, err := range s.f.leaves(s.chunks.address, 1, 8+8*(len(at)+1)) {
		if err != nil {
			return err
		}
		size, mask := int64(e.u32()), e.u32()
		for d := range at {
			offset := e.uint(8)
			if offset%uint64(s.chunks.chunk[d]) != 0 {
				return errCut
			}
			at[d] = offset / uint64(s.chunks.chunk[d])
		}
		last := e.uint(8) // of the element's bytes
		address := e.address()
		if e.err != nil || last != 0 {
			return errCut
		}
		if n, ok := s.number(at); ok {
			if err := add(n, address, size, mask); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *dataset) placesV2(whole int64, add func(chunk, address uint64, size int64, mask uint32) error) error {
	at := make([]uint64, len(s.shape))
	kind := byte(recordChunks)
	if len(s.filters) > 0 {
		kind = recordFiltered
	}
	return s.f.records(s.chunks.address, kind, func(d *decoder) error {
		address, size, mask := d.address(), whole, uint32(0)
		if len(s.filters) > 0 {
			width := len(d.b) - s.f.offsets - 4 - 8*len(at)
			if width < 1 || width > 8 {
				return errCut
			}
			size, mask = int64(d.uint(width)), d.u32()
		}
		for i := range at {
			at[i] = d.uint(8)
		}
		if d.err != nil {
			return d.err
		}
		if n, ok := s.number(at); ok {
			return add(n, address, size, mask)
		}
		return nil
	})
}

// array is an index of chunks that is an array of places by number: of a length that is
// fixed, or extensible along one axis.
type array struct {
	*dataset
	growth *growth
	whole  int64
	add    func(chunk, address uint64, size int64, mask uint32) error
	header uint64
	entry  int // bytes
	next   uint64
	count  uint64 // entries
}

// entries takes the places of n chunks.
func (a *array) entries(d *decoder, n uint64) error {
	for range n {
		if a.next == a.count {
			return nil
		}
		address, size, mask := d.address(), a.whole, uint32(0)
		if len(a.filters) > 0 {
			size, mask = int64(d.uint(a.entry-a.f.offsets-4)), d.u32()
		}
		if d.err != nil {
			return d.err
		}
		if at, ok := a.growth.number(a.next); ok {
			if err := a.add(at, address, size, mask); err != nil {
				return err
			}
		}
		a.next++
	}
	return nil
}

func (a *array) read(address uint64, extensible bool) error {
	a.header = address
	if extensible {
		return a.readExtensible()
	}
	d, err := a.block("FAHD", address, int64(12+a.f.lengths+a.f.offsets))
	if err != nil {
		return err
	}
	a.entry = int(d.u8())
	page := uint64(1) << (d.u8() & 31)
	a.count = d.length()
	data := d.address()
	if err := a.checkEntry(); err != nil || data == undefined {
		return err
	}
	return a.dataBlock("FADB", data, 0, a.count, page, nil)
}

// block reads one of the index's blocks, each of which says whether chunks have filters, and but for
// the header itself where the header lies.
func (a *array) block(sign string, address uint64, n int64) (*decoder, error) {
	d, err := a.f.checked(sign, address, n)
	if err != nil {
		return nil, err
	}
	if filtered := d.u8() == 1; filtered != (len(a.filters) > 0) || address != a.header && d.address() != a.header || d.err != nil {
		return nil, fmt.Errorf("%s at %d: %w", sign, address, errCut)
	}
	return d, nil
}

func (a *array) checkEntry() error {
	want := a.f.offsets
	if len(a.filters) > 0 {
		want = a.entry
		if n := a.entry - a.f.offsets - 4; n < 1 || n > 8 {
			return errCut
		}
	}
	if a.entry != want || a.count > uint64(a.f.size) {
		return errCut
	}
	return nil
}

// dataBlock takes a block of n places, which has pages where it has more than one holds.
// extra are the bytes of its head that an extensible array has. Pages that were never written
// are left out: exists says which are there, nil where the block says it itself.
func (a *array) dataBlock(sign string, address uint64, extra int, n, page uint64, exists []byte) error {
	if address == undefined {
		a.next = min(a.next+n, a.count)
		return nil
	}
	head := 6 + a.f.offsets + extra
	if n <= page {
		d, err := a.block(sign, address, int64(head)+int64(n)*int64(a.entry)+4)
		if err != nil {
			return err
		}
		d.skip(extra)
		return a.entries(d, n)
	}
	pages := (n + page - 1) / page
	if exists == nil {
		d, err := a.block(sign, address, int64(head)+int64(pages+7)/8+4)
		if err != nil {
			return err
		}
		d.skip(extra)
		exists = d.take(int(pages+7) / 8)
		head += len(exists)
	}
	at := address + uint64(head) + 4
	for i := range pages {
		size := min(page, n-i*page)
		bytes := int64(size)*int64(a.entry) + 4
		if len(exists) <= int(i/8) {
			return errCut
		}
		if exists[i/8]>>(7-i%8)&1 == 0 {
			a.next = min(a.next+size, a.count)
		} else {
			d, err := a.f.at(at, bytes)
			if err != nil {
				return err
			}
			if err := d.checksum(len(d.b) - 4); err != nil {
				return err
			}
			if err := a.entries(d, size); err != nil {
				return err
			}
		}
		at += uint64(bytes)
	}
	return nil
}

// readExtensible reads an extensible array: an index block with the first places, the
// addresses of the first data blocks, and those of secondary blocks, whose data blocks double
// in number and in size by turns.
func (a *array) readExtensible() error {
	f := a.f
	d, err := a.block("EAHD", a.header, int64(16+6*f.lengths+f.offsets))
	if err != nil {
		return err
	}
	a.entry = int(d.u8())
	maxBits, inIndex, least, pointers, pageBits := int(d.u8()), uint64(d.u8()), uint64(d.u8()), int(d.u8()), d.u8()&31
	d.skip(4 * f.lengths)
	a.count = d.length()
	d.skip(f.lengths)
	at := d.address()
	if err := a.checkEntry(); err != nil || at == undefined || a.count == 0 {
		return err
	}
	if d.err != nil || maxBits > 64 || least == 0 || least&(least-1) != 0 || pointers < 2 || pointers&(pointers-1) != 0 {
		return errCut
	}
	offset := (maxBits + 7) / 8
	page := uint64(1) << pageBits
	first := 2 * (bits.Len(uint(pointers)) - 1) // superblocks whose data blocks the index block names
	supers := 1 + maxBits - (bits.Len64(least) - 1)
	blocks := 2 * (pointers - 1)
	secondary := max(supers-first, 0)
	b, err := a.block("EAIB", at, int64(6+f.offsets)+int64(inIndex)*int64(a.entry)+int64((blocks+secondary)*f.offsets)+4)
	if err != nil {
		return err
	}
	if err := a.entries(b.sub(b.take(int(inIndex)*a.entry)), inIndex); err != nil {
		return err
	}
	for u := 0; u < supers && a.next < a.count; u++ {
		number, size := 1<<(u/2), least<<((u+1)/2)
		if u < first {
			for range number {
				if err := a.dataBlock("EADB", b.address(), offset, size, page, nil); err != nil {
					return err
				}
			}
			continue
		}
		if err := a.secondary(b.address(), offset, number, size, page); err != nil {
			return err
		}
	}
	return b.err
}

// secondary takes the data blocks that a secondary block names.
func (a *array) secondary(address uint64, offset, number int, size, page uint64) error {
	if address == undefined {
		a.next = min(a.next+uint64(number)*size, a.count)
		return nil
	}
	each := 0
	if size > page {
		each = int((size/page + 7) / 8)
	}
	if number > 1<<24 {
		return errCut
	}
	d, err := a.block("EASB", address, int64(6+a.f.offsets+offset)+int64(number)*int64(each+a.f.offsets)+4)
	if err != nil {
		return err
	}
	d.skip(offset)
	exist := d.take(number * each)
	for i := range number {
		var mine []byte
		if each > 0 {
			mine = exist[i*each : (i+1)*each]
		}
		if err := a.dataBlock("EADB", d.address(), offset, size, page, mine); err != nil {
			return err
		}
		if a.next == a.count {
			break
		}
	}
	return d.err
}

// growth is how arrays of places number chunks: in C order of the largest shape that the array
// can grow to, in which an axis without a largest length comes first.
type growth struct {
	*dataset
	order  []int
	counts []uint64 // of chunks along each axis, at most
	at     []uint64
}

func newGrowth(s *dataset) *growth {
	n := len(s.shape)
	g := &growth{dataset: s, counts: make([]uint64, n), at: make([]uint64, n)}
	b, _ := s.find(msgDataspace)
	d := s.decode(b)
	version, _, flags := d.u8(), d.u8(), d.u8()
	d.skip(map[byte]int{1: 5, 2: 1}[version])
	d.skip(n * s.f.lengths)
	for axis, length := range s.shape {
		most := uint64(length)
		if flags&1 != 0 {
			most = d.length()
		}
		if chunk := uint64(s.chunks.chunk[axis]); most == 1<<(8*s.f.lengths)-1 { // no largest length
			g.counts[axis] = math.MaxUint64
			g.order = slices.Insert(g.order, 0, axis)
		} else {
			g.counts[axis] = max(1, most/chunk+min(1, most%chunk))
			g.order = append(g.order, axis)
		}
	}
	return g
}

// number is the number of the i-th chunk in the grid of the array as it is; ok is false beyond.
func (g *growth) number(i uint64) (n uint64, ok bool) {
	for _, d := range slices.Backward(g.order) {
		g.at[d] = i % g.counts[d]
		i /= g.counts[d]
	}
	return g.dataset.number(g.at)
}

// place is the inverse of number.
func (g *growth) place(n uint64) (i uint64) {
	for d, chunk := range slices.Backward(g.chunks.chunk) {
		count := uint64((g.shape[d] + chunk - 1) / chunk)
		g.at[d], n = n%count, n/count
	}
	for _, d := range g.order {
		i = i*g.counts[d] + g.at[d]
	}
	return i
}
