package zarr

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// model is a Zarr array that a test puts together by hand, from the specification:
// it shares nothing with the code under test but the codecs of innermost chunks.
type model struct {
	shape     []int
	dtype     dtype.Type
	levels    []modelLevel // shards, outermost first; the last are the chunks
	codecs    []string     // of the chunks, JSON
	pipeline  *codec.Pipeline
	v2Keys    bool
	separator string
	fill      byte // of every byte of an element
	sparse    bool // some chunks are not stored
}

// modelLevel is a level of chunks, in the order of axes as transpositions before it
// left them.
type modelLevel struct {
	chunk             []int
	transpose         []int // in front of this level's shards; nil for none
	atStart, big, crc bool
}

func product(v []int) int {
	n := 1
	for _, x := range v {
		n *= x
	}
	return n
}

func permute(v, order []int) []int {
	if order == nil {
		return v
	}
	out := make([]int, len(v))
	for i, a := range order {
		out[i] = v[a]
	}
	return out
}

// drawModel draws an array with up to two levels of shards.
func drawModel(r *rapid.T) *model {
	m := &model{
		dtype:     rapid.SampledFrom(dtype.All()).Draw(r, "dtype"),
		shape:     rapid.SliceOfN(rapid.IntRange(0, 14), 0, 3).Draw(r, "shape"),
		v2Keys:    rapid.Bool().Draw(r, "v2 keys"),
		separator: rapid.SampledFrom([]string{"/", "."}).Draw(r, "separator"),
		sparse:    rapid.Bool().Draw(r, "sparse"),
	}
	dims := len(m.shape)
	chunk := make([]int, dims)
	for d := range chunk {
		chunk[d] = rapid.IntRange(1, 5).Draw(r, "chunk")
	}
	m.levels = []modelLevel{{chunk: chunk}}
	for range rapid.IntRange(0, 2).Draw(r, "levels of shards") {
		outer := modelLevel{
			chunk:   slices.Clone(m.levels[0].chunk),
			atStart: rapid.Bool().Draw(r, "index at start"), big: rapid.Bool().Draw(r, "big index"), crc: rapid.Bool().Draw(r, "crc"),
		}
		for d := range outer.chunk {
			outer.chunk[d] *= rapid.IntRange(1, 3).Draw(r, "parts")
		}
		if rapid.Bool().Draw(r, "transposed") { // the shape in front of the transposition
			outer.transpose = rapid.Permutation(grid.UpTo(dims)).Draw(r, "order")
			back := make([]int, dims)
			for i, a := range outer.transpose {
				back[a] = outer.chunk[i]
			}
			outer.chunk = back
		}
		m.levels = slices.Insert(m.levels, 0, outer)
	}
	if rapid.Bool().Draw(r, "transposed chunks") {
		order, _ := json.Marshal(rapid.Permutation(grid.UpTo(dims)).Draw(r, "order"))
		m.codecs = append(m.codecs, `{"name":"transpose","configuration":{"order":`+string(order)+`}}`)
	}
	endian := rapid.SampledFrom([]string{"little", "big"}).Draw(r, "endian")
	m.codecs = append(m.codecs, `{"name":"bytes","configuration":{"endian":"`+endian+`"}}`)
	m.codecs = append(m.codecs, rapid.SampledFrom([][]string{
		nil, {`{"name":"zstd","configuration":{"level":1,"checksum":true}}`}, {`{"name":"gzip","configuration":{"level":1}}`},
		{`{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4,"blocksize":0}}`},
		{`{"name":"crc32c"}`},
	}).Draw(r, "codecs")...)
	if m.dtype != dtype.Bool && rapid.Bool().Draw(r, "fill") {
		m.fill = 0x41
	}
	return m
}

// store puts the array into a bucket and returns its elements.
func (m *model) store(b *memblob.Bucket, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	item := m.dtype.Size()
	data := bytes.Repeat([]byte{m.fill}, product(m.shape)*item)
	innermost := m.levels[len(m.levels)-1].chunk
	var err error
	if m.pipeline, err = codec.FromV3(raws(m.codecs), innermost, m.dtype); err != nil {
		panic(err)
	}
	b.Put("zarr.json", []byte(m.json()))
	unit := m.levels[0].chunk
	for _, box := range (grid.Grid{Shape: m.shape, Chunks: unit}).All() {
		index := make([]int, len(unit))
		for d := range unit {
			index[d] = box.Start[d] / unit[d]
		}
		// get and set an element of the unit, by its index in the unit
		at := func(i []int) []byte {
			n := 0
			for d := range i {
				x := box.Start[d] + i[d]
				if x >= m.shape[d] {
					return nil
				}
				n = n*m.shape[d] + x
			}
			return data[n*item : (n+1)*item]
		}
		if encoded := m.encode(random, 0, make([]int, len(unit)), unit, grid.UpTo(len(unit)), at); encoded != nil {
			b.Put(m.key(index), encoded)
		}
	}
	return data
}

func raws(list []string) (all []json.RawMessage) {
	for _, s := range list {
		all = append(all, json.RawMessage(s))
	}
	return all
}

func (m *model) key(index []int) string {
	parts := []string{}
	if !m.v2Keys {
		parts = append(parts, "c")
	}
	for _, i := range index {
		parts = append(parts, fmt.Sprint(i))
	}
	if len(parts) == 0 {
		return "0"
	}
	return strings.Join(parts, m.separator)
}

// encode makes up the elements of a chunk of a level and encodes it; nil is one that
// is not stored. start is its first element and axes are the unit's axes, both in
// the level's order of axes.
func (m *model) encode(random *rand.Rand, depth int, start, shape, axes []int, at func([]int) []byte) []byte {
	if m.sparse && random.IntN(3) == 0 {
		return nil
	}
	if depth == len(m.levels)-1 {
		return m.encodeChunk(random, start, shape, axes, at)
	}
	l := m.levels[depth]
	start, shape, axes = permute(start, l.transpose), permute(shape, l.transpose), permute(axes, l.transpose)
	inner := m.levels[depth+1].chunk
	g := grid.Grid{Shape: shape, Chunks: inner}
	index := bytes.Repeat([]byte{0xff}, g.Len()*16)
	order := binary.ByteOrder(binary.LittleEndian)
	if l.big {
		order = binary.BigEndian
	}
	length := len(index)
	if l.crc {
		length += 4
	}
	var parts []byte
	for _, i := range random.Perm(g.Len()) {
		box := g.Box(i)
		for d := range start {
			box.Start[d] += start[d]
		}
		p := m.encode(random, depth+1, box.Start, inner, axes, at)
		if p == nil {
			continue
		}
		parts = append(parts, make([]byte, random.IntN(3))...) // gaps are allowed
		offset := len(parts)
		if l.atStart {
			offset += length
		}
		order.PutUint64(index[16*i:], uint64(offset))
		order.PutUint64(index[16*i+8:], uint64(len(p)))
		parts = append(parts, p...)
	}
	if l.crc {
		index = binary.LittleEndian.AppendUint32(index, crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli)))
	}
	if l.atStart {
		return append(index, parts...)
	}
	return append(parts, index...)
}

func (m *model) encodeChunk(random *rand.Rand, start, shape, axes []int, at func([]int) []byte) []byte {
	var dense []byte
	index := make([]int, len(axes))
	for i := range product(shape) {
		for d := len(shape) - 1; d >= 0; d-- {
			index[axes[d]] = start[d] + i%shape[d]
			i /= shape[d]
		}
		element := make([]byte, m.dtype.Size())
		for j := range element {
			element[j] = byte(random.IntN(2))
		}
		if there := at(index); there != nil {
			copy(there, element)
		}
		dense = append(dense, element...)
	}
	e, err := m.pipeline.Encoder(make([]byte, m.pipeline.EncodeWork().Whole))
	if err != nil {
		panic(err)
	}
	defer e.Close()
	encoded, err := e.Whole(context.Background(), dense)
	if err != nil {
		panic(err)
	}
	return slices.Clone(encoded)
}

func (m *model) json() string {
	codecs := strings.Join(m.codecs, ",")
	for depth := len(m.levels) - 2; depth >= 0; depth-- {
		l := m.levels[depth]
		index := `{"name":"bytes","configuration":{"endian":"little"}}`
		if l.big {
			index = strings.Replace(index, "little", "big", 1)
		}
		if l.crc {
			index += `,{"name":"crc32c"}`
		}
		location := map[bool]string{true: "start", false: "end"}[l.atStart]
		before := ""
		if l.transpose != nil {
			before = `{"name":"transpose","configuration":{"order":` + list(l.transpose) + `}},`
		}
		codecs = fmt.Sprintf(`%s{"name":"sharding_indexed","configuration":{"chunk_shape":%s,"codecs":[%s],"index_codecs":[%s],"index_location":"%s"}}`,
			before, list(m.levels[depth+1].chunk), codecs, index, location)
	}
	name := map[bool]string{true: "v2", false: "default"}[m.v2Keys]
	element := bytes.Repeat([]byte{m.fill}, m.dtype.Size())
	return fmt.Sprintf(`{"zarr_format":3,"node_type":"array","shape":%s,"data_type":"%s","chunk_grid":{"name":"regular","configuration":{"chunk_shape":%s}},
		"chunk_key_encoding":{"name":"%s","configuration":{"separator":"%s"}},"fill_value":%s,"codecs":[%s],"attributes":{}}`,
		list(m.shape), m.dtype, list(m.levels[0].chunk), name, m.separator, jsonElement(element, m.dtype), codecs)
}

// jsonElement writes an element of equal bytes as JSON.
func jsonElement(b []byte, t dtype.Type) string {
	slices.Reverse(b) // big-endian
	switch {
	case t == dtype.Bool:
		return "false"
	case t.Kind() == dtype.KindComplex:
		return fmt.Sprintf(`["0x%x","0x%x"]`, b[:len(b)/2], b[len(b)/2:])
	case t.Kind() == dtype.KindFloat:
		return fmt.Sprintf(`"0x%x"`, b)
	}
	n := uint64(0)
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return fmt.Sprint(n)
}

func list(v []int) string {
	b, _ := json.Marshal(append([]int{}, v...))
	return string(b)
}

// counted counts the objects that are opened and the reads of them. Where fail is
// set, the operation at which it says so fails.
type counted struct {
	blob.Bucket
	opens, closes, reads, bytes *int
	fail                        func() bool
}

func count(b blob.Bucket) counted {
	return counted{b, new(int), new(int), new(int), new(int), func() bool { return false }}
}

var errFault = errors.New("input/output error")

func (c counted) Open(ctx context.Context, key string) (blob.Object, error) {
	if c.fail() {
		return nil, errFault
	}
	o, err := c.Bucket.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	*c.opens++
	return countedObject{o, c}, nil
}

type countedObject struct {
	blob.Object
	c counted
}

func (o countedObject) Close() error {
	*o.c.closes++
	return o.Object.Close()
}

func (o countedObject) ReadAt(ctx context.Context, p []byte, at int64) error {
	if o.c.fail() {
		clear(p) // as a read that was cut short may leave it
		return errFault
	}
	*o.c.reads++
	*o.c.bytes += len(p)
	return o.Object.ReadAt(ctx, p, at)
}

// sessionBytes is the memory of a session that decodes whole chunks, or pieces of them.
func sessionBytes(a *array, whole bool) int64 {
	if w := a.Work(); whole {
		return w.Whole
	} else {
		return w.Stream
	}
}

// TestAnyArray reads regions of arrays of any layout, with sessions of any memory,
// and compares each with the elements picked one by one.
func TestAnyArray(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		m, b := drawModel(r), memblob.New()
		data := m.store(b, rapid.Uint64().Draw(r, "seed"))
		a, err := openIn(t.Context(), "memory.zarr", b)
		if err != nil {
			r.Fatalf("%v\n%s", err, m.json())
		}
		defer a.Close()
		whole := rapid.Bool().Draw(r, "whole")
		s, err := a.Session(make([]byte, sessionBytes(a, whole)))
		if err != nil {
			r.Fatalf("%v", err)
		}
		defer s.Close()
		for range rapid.IntRange(1, 6).Draw(r, "reads") {
			region := storetest.DrawRegion(r, m.shape)
			want := storetest.Pick(data, m.shape, m.dtype.Size(), region)
			got := bytes.Repeat([]byte{0xa5}, len(want))
			if _, err := s.Read(t.Context(), got, region); err != nil {
				r.Fatalf("%+v: %v\n%s", region, err, m.json())
			}
			if !bytes.Equal(got, want) {
				r.Fatalf("%+v: %x, not %x\n%s", region, got, want, m.json())
			}
		}
		checkListing(r, a, m, data)
	})
}

// TestAnyFault makes operations of the store fail: a read then says so, or is right,
// and so are those that follow. Nothing stays open.
func TestAnyFault(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		m, b := drawModel(r), memblob.New()
		data := m.store(b, rapid.Uint64().Draw(r, "seed"))
		c := count(b)
		a, err := openIn(t.Context(), "memory.zarr", c)
		if err != nil {
			r.Fatalf("%v", err)
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "faults"), 2))
		a.bucket = counted{c.Bucket, c.opens, c.closes, c.reads, c.bytes, func() bool { return random.IntN(4) == 0 }}
		whole := rapid.Bool().Draw(r, "whole")
		s, err := a.Session(make([]byte, sessionBytes(a, whole)))
		if err != nil {
			r.Fatalf("%v", err)
		}
		for range 12 {
			region := storetest.DrawRegion(r, m.shape)
			want := storetest.Pick(data, m.shape, m.dtype.Size(), region)
			got := bytes.Repeat([]byte{0xa5}, len(want))
			if _, err := s.Read(t.Context(), got, region); err != nil && !errors.Is(err, errFault) {
				r.Fatalf("%v", err)
			} else if err == nil && !bytes.Equal(got, want) {
				r.Fatalf("%+v: %x, not %x\n%s", region, got, want, m.json())
			}
		}
		if err := s.Close(); err != nil {
			r.Fatalf("%v", err)
		}
		if *c.opens != *c.closes {
			r.Fatalf("%d objects were opened, %d closed", *c.opens, *c.closes)
		}
	})
}

// checkListing wants the chunks that are listed to be those that hold elements which
// were made up, and perhaps others.
func checkListing(r *rapid.T, a *array, m *model, data []byte) {
	seen := map[string]bool{}
	chunks := a.Info().Chunks
	err := a.Chunks(context.Background(), func(index []int, n int64) error {
		if n <= 0 || seen[fmt.Sprint(index)] {
			r.Errorf("chunk %v of %d bytes, listed before: %v", index, n, seen[fmt.Sprint(index)])
		}
		seen[fmt.Sprint(index)] = true
		return nil
	})
	if err != nil {
		r.Fatalf("%v", err)
	}
	g := grid.Grid{Shape: m.shape, Chunks: chunks}
	if len(seen) > g.Len() {
		r.Errorf("%d chunks of %d are listed", len(seen), g.Len())
	}
	for _, box := range g.All() {
		index := make([]int, len(chunks))
		for d := range index {
			index[d] = box.Start[d] / chunks[d]
		}
		if !m.sparse && !seen[fmt.Sprint(index)] {
			r.Errorf("chunk %v is not listed", index)
		}
		steps := slices.Repeat([]int{1}, len(index))
		part := storetest.Pick(data, m.shape, m.dtype.Size(), grid.Region{Start: box.Start, Count: box.Shape, Step: steps})
		if !seen[fmt.Sprint(index)] && !bytes.Equal(part, bytes.Repeat([]byte{m.fill}, len(part))) {
			r.Errorf("chunk %v has elements and is not listed", index)
		}
	}
}

var _ store.Array = (*array)(nil)
