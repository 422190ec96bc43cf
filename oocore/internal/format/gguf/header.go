package gguf

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

const (
	magic            = "GGUF"
	version          = 3
	defaultAlignment = 32
	// maxText bounds names and keys, and maxDepth arrays of arrays.
	maxText, maxDepth = 64 << 10, 4
	// shownText is the longest text among the attributes: a vocabulary or a template is none.
	shownText = 4 << 10
	// maxHeader bounds headers: vocabularies take some megabytes.
	maxHeader = 256 << 20
)

// Header is what stands before the elements.
type Header struct {
	Tensors []Tensor // in the order of their elements
	// Pairs are the bytes of the file that have the key-value pairs, and Keys how many there are.
	Pairs         [2]int64
	Keys          uint64
	Alignment     int64
	Attributes    json.RawMessage // the pairs that are numbers, bools and short texts
	Data          int64           // where the elements begin in the file
	storage.Names                 // of Tensors
	// Parts is how many files have the model, and Part which of them this one is, from 0 on; 0 for one file. All is how
	// many tensors they have, where that is said.
	Parts, Part, All int
	split            [][2]int64 // the pairs that say so
	fileType         int64      // where the number of general.file_type stands in the pairs; 0 for none
}

// Tensor is one array of a file.
type Tensor struct {
	Name   string
	Type   uint32
	Shape  []int // the last axis is the one whose elements follow each other
	Offset int64 // from Header.Data on
}

// types are the formats whose elements lie as they are, by their numbers in ggml.h.
var types = map[uint32]dtype.Type{
	0: dtype.Float32, 1: dtype.Float16, 24: dtype.Int8, 25: dtype.Int16, 26: dtype.Int32, 27: dtype.Int64, 28: dtype.Float64, 30: dtype.BFloat16,
}

// blocks are the formats in blocks, those included that cannot be read.
var blocks = map[uint32]string{
	2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K",
	16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0",
}

// number is that of a format in a table.
func number[T comparable](table map[uint32]T, of T) (uint32, bool) {
	for n, is := range table {
		if is == of {
			return n, true
		}
	}
	return 0, false
}

// bytes is the size of the elements; false of a format whose size is not known here.
func (t Tensor) bytes() (int64, bool) {
	n := int64(grid.Size(t.Shape))
	if dt, ok := types[t.Type]; ok {
		return n * int64(dt.Size()), true
	}
	floats, size, ok := codec.GGML(blocks[t.Type])
	if !ok {
		return 0, false
	}
	return n / int64(floats) * int64(size), true
}

// ReadHeader reads and checks the header of a file of the given size. take counts the memory that it holds:
// neither vocabularies nor what else is no attribute are among it.
func ReadHeader(r io.ReaderAt, size int64, take func(bytes int64) error) (Header, error) {
	most := min(size, maxHeader)
	d := &decoder{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10), left: most, size: most, room: meter.Room{Take: take}}
	h, err := d.header()
	if err == nil {
		err = d.err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the header is cut short, or claims more than the file has")
	}
	if err != nil {
		return Header{}, err
	}
	h.Data = (most - d.left + h.Alignment - 1) / h.Alignment * h.Alignment
	err = h.check(size)
	return h, err
}

func (d *decoder) header() (h Header, err error) {
	if m := d.bytes(4); d.err != nil || string(m) != magic {
		return h, errors.New("not a GGUF file: it does not begin with GGUF")
	}
	switch v := d.u32(); {
	case d.err != nil:
		return h, d.err
	case v != 2 && v != version && v&0xffff == 0:
		return h, errors.New("big-endian GGUF files are not supported")
	case v != 2 && v != version:
		return h, fmt.Errorf("GGUF version %d is not supported: 2 and %d are", v, version)
	}
	tensors, keys := d.u64(), d.u64()
	const leastTensor, leastKey = 8 + 4 + 4 + 8, 8 + 4 + 1
	if d.err != nil || tensors > uint64(d.left)/leastTensor || keys > uint64(d.left)/leastKey {
		return h, io.ErrUnexpectedEOF
	}
	h.Keys, h.Alignment = keys, defaultAlignment
	attributes := map[string]any{}
	seen := make(map[string]bool)
	h.Pairs[0] = d.at()
	for range keys {
		begin := d.at()
		key := d.text(maxText)
		if d.err != nil {
			return h, d.err
		}
		if seen[key] {
			return h, fmt.Errorf("key %.80q stands twice", key)
		}
		if d.room.For(int64(len(key)) + 64) {
			seen[key] = true
		}
		t := d.u32()
		if key == "general.file_type" && t == 4 {
			h.fileType = d.at() - h.Pairs[0]
		}
		value, err := d.value(t, 0)
		if err = cmp.Or(d.err, err); err != nil {
			return h, fmt.Errorf("key %.80q: %w", key, err)
		}
		if value != nil {
			text, _ := value.(string)
			if d.room.For(2*int64(len(key)+len(text)) + 64) { // as JSON too
				attributes[key] = value
			}
		}
		if strings.HasPrefix(key, "split.") {
			h.split = append(h.split, [2]int64{begin - h.Pairs[0], d.at() - h.Pairs[0]})
			n, err := strconv.Atoi(fmt.Sprint(value))
			if to := map[string]*int{"split.count": &h.Parts, "split.no": &h.Part, "split.tensors.count": &h.All}[key]; to != nil && (err != nil || n < 0) {
				return h, fmt.Errorf("%s is %v", key, value)
			} else if to != nil {
				*to = n
			}
		}
		if key == "general.alignment" {
			n, ok := value.(uint64)
			if !ok || n < 1 || n > 1<<20 || n&(n-1) != 0 {
				return h, fmt.Errorf("general.alignment is %v, which is no power of two up to a megabyte", value)
			}
			h.Alignment = int64(n)
		}
	}
	h.Pairs[1] = d.at()
	if len(attributes) > 0 {
		if h.Attributes, err = json.Marshal(attributes); err != nil {
			return h, err
		}
	}
	if d.room.For(int64(tensors) * tensorBytes) {
		h.Tensors = make([]Tensor, 0, tensors)
	}
	for range tensors {
		t, err := d.tensor()
		if err != nil {
			return h, err
		}
		if d.room.For(int64(len(t.Name))) {
			h.Tensors = append(h.Tensors, t)
		}
	}
	return h, d.room.Err
}

// tensorBytes is what a tensor takes in memory besides its name.
const tensorBytes = 64 + 32 + 16 + 4

func (d *decoder) tensor() (t Tensor, err error) {
	t.Name = d.text(maxText)
	dims := d.u32()
	if d.err == nil && dims > 4 {
		return t, fmt.Errorf("tensor %.80q: %d dimensions, GGUF has 4 at the most", t.Name, dims)
	}
	for range dims {
		n := d.u64()
		if n > math.MaxInt {
			return t, fmt.Errorf("tensor %.80q: a dimension of %d elements", t.Name, n)
		}
		t.Shape = append(t.Shape, int(n))
	}
	slices.Reverse(t.Shape)
	t.Type = d.u32()
	offset := d.u64()
	if d.err != nil {
		return t, d.err
	}
	if offset > math.MaxInt64/2 {
		return t, fmt.Errorf("tensor %.80q: offset %d", t.Name, offset)
	}
	t.Offset = int64(offset)
	if err := grid.Check(t.Shape, 16); err != nil {
		return t, fmt.Errorf("tensor %.80q: %w", t.Name, err)
	}
	if floats, _, ok := codec.GGML(blocks[t.Type]); ok && (len(t.Shape) == 0 || t.Shape[len(t.Shape)-1]%floats != 0) {
		return t, fmt.Errorf("tensor %.80q: shape %s is not made of blocks of %d, which %s has", t.Name, grid.Format(t.Shape), floats, blocks[t.Type])
	}
	return t, nil
}

// check holds the tensors to the file: each lies in it, aligned, and no two in one place.
func (h *Header) check(size int64) error {
	slices.SortStableFunc(h.Tensors, func(a, b Tensor) int { return cmp.Compare(a.Offset, b.Offset) })
	var err error
	if h.Names, err = storage.NewNames(kind, len(h.Tensors), func(i int) string { return h.Tensors[i].Name }); err != nil {
		return err
	}
	end, before := int64(0), ""
	for _, t := range h.Tensors {
		n, known := t.bytes()
		switch {
		case t.Offset%h.Alignment != 0:
			return fmt.Errorf("tensor %.80q: offset %d is no multiple of %d", t.Name, t.Offset, h.Alignment)
		case t.Offset < end:
			return fmt.Errorf("tensor %.80q: offset %d overlaps %.80q, which ends at %d", t.Name, t.Offset, before, end)
		case n > size-h.Data-t.Offset:
			return fmt.Errorf("tensor %.80q: the file is cut short, %d bytes from %d on are not there", t.Name, n, h.Data+t.Offset)
		}
		if known {
			end, before = t.Offset+n, t.Name
		}
	}
	return nil
}

// decoder reads a header from front to back. The first error stays.
type decoder struct {
	r    *bufio.Reader
	left int64 // bytes of the file
	size int64
	room meter.Room
	err  error
}

// at is where the decoder is in the file.
func (d *decoder) at() int64 { return d.size - d.left }

// skip reads past n bytes.
func (d *decoder) skip(n uint64) {
	if d.err == nil && n > uint64(d.left) {
		d.err = io.ErrUnexpectedEOF
	}
	for d.err == nil && n > 0 {
		part := int(min(n, 1<<30))
		_, d.err = d.r.Discard(part)
		n, d.left = n-uint64(part), d.left-int64(part)
	}
}

func (d *decoder) bytes(n int) []byte {
	if d.err == nil && int64(n) > d.left {
		d.err = io.ErrUnexpectedEOF
	}
	if d.err != nil {
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(d.r, b); err != nil {
		d.err = err
		return nil
	}
	d.left -= int64(n)
	return b
}

func (d *decoder) uint(n int) uint64 {
	var b [8]byte
	copy(b[:], d.bytes(n))
	return binary.LittleEndian.Uint64(b[:])
}

func (d *decoder) u32() uint32 { return uint32(d.uint(4)) }
func (d *decoder) u64() uint64 { return d.uint(8) }

// text reads a string of at most so many bytes.
func (d *decoder) text(most uint64) string {
	n := d.u64()
	if d.err == nil && n > most {
		d.err = fmt.Errorf("a name of %d bytes", n)
	}
	if d.err != nil {
		return ""
	}
	return string(d.bytes(int(n)))
}

// value reads the value of a key. It is nil for what is no attribute.
func (d *decoder) value(t uint32, depth int) (any, error) {
	switch t {
	case 0, 2, 4, 10: // uint8, 16, 32, 64
		return d.uint(map[uint32]int{0: 1, 2: 2, 4: 4, 10: 8}[t]), nil
	case 1:
		return int64(int8(d.uint(1))), nil
	case 3:
		return int64(int16(d.uint(2))), nil
	case 5:
		return int64(int32(d.uint(4))), nil
	case 11:
		return int64(d.uint(8)), nil
	case 6:
		return finite(float64(math.Float32frombits(d.u32())), 32), nil
	case 12:
		return finite(math.Float64frombits(d.u64()), 64), nil
	case 7:
		return d.uint(1) != 0, nil
	case 8:
		n := d.u64()
		if d.err != nil || n > uint64(d.left) {
			return nil, io.ErrUnexpectedEOF
		}
		if n > shownText || depth > 0 {
			d.skip(n)
			return nil, nil
		}
		return string(d.bytes(int(n))), nil
	case 9:
		of, n := d.u32(), d.u64()
		size := map[uint32]uint64{0: 1, 1: 1, 7: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 8: 8, 9: 12, 10: 8, 11: 8, 12: 8}[of] // at the least
		switch {
		case d.err != nil:
			return nil, d.err
		case size == 0:
			return nil, fmt.Errorf("an array of values of type %d", of)
		case depth == maxDepth:
			return nil, errors.New("arrays are nested too deep")
		case n > uint64(d.left)/size:
			return nil, io.ErrUnexpectedEOF
		case of != 8 && of != 9:
			d.skip(n * size)
			return nil, d.err
		}
		for range n {
			if _, err := d.value(of, depth+1); cmp.Or(d.err, err) != nil {
				return nil, cmp.Or(d.err, err)
			}
		}
		return nil, nil
	}
	return nil, fmt.Errorf("a value of type %d", t)
}

// finite is a number that JSON can have; nil of another.
func finite(f float64, bits int) any {
	if f-f != 0 {
		return nil
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, bits))
}
