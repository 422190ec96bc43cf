package zarr

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestArrayConformance runs the suite of stores over arrays put together by hand.
func TestArrayConformance(t *testing.T) {
	for name, codecs := range map[string]string{
		"plain":    `{"name":"bytes","configuration":{"endian":"little"}}`,
		"big zstd": `{"name":"bytes","configuration":{"endian":"big"}},{"name":"zstd","configuration":{"level":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			storetest.TestArray(t, dtype.All(), func(t testing.TB, m store.Meta, data []byte) store.Array {
				b := memblob.New()
				putArray(t, b, m.Shape, slices.Repeat([]int{3}, len(m.Shape)), m.DType, codecs, data)
				a, err := openIn(t.Context(), "memory.zarr", b)
				if err != nil {
					t.Fatal(err)
				}
				return a
			})
		})
	}
}

// metadata is the zarr.json of an array without shards.
func metadata(shape, chunks []int, t dtype.Type, codecs string) string {
	fill := "0"
	switch t.Kind() {
	case dtype.KindBool:
		fill = "false"
	case dtype.KindComplex:
		fill = "[0, 0]"
	}
	return fmt.Sprintf(`{"zarr_format": 3, "node_type": "array", "shape": %s, "data_type": %q,
		"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": %s}}, "chunk_key_encoding": {"name": "default"},
		"fill_value": %s, "codecs": [%s], "attributes": {}}`, list(shape), t, list(chunks), fill, codecs)
}

// putArray stores elements chunk by chunk.
func putArray(t testing.TB, b *memblob.Bucket, shape, chunks []int, dt dtype.Type, codecs string, data []byte) {
	b.Put("zarr.json", []byte(metadata(shape, chunks, dt, codecs)))
	m, _, err := loadMeta(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.pipeline.Encoder(make([]byte, m.pipeline.EncodeWork().Whole))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	item := dt.Size()
	for _, box := range m.objects().All() {
		chunk := make([]byte, grid.Size(chunks)*item)
		index := make([]int, len(chunks))
		for d := range index {
			index[d] = box.Start[d] / chunks[d]
		}
		for i := range box.Size() {
			from, to, n := 0, 0, i
			for d, stride, inner := len(chunks)-1, 1, 1; d >= 0; d-- {
				x := n % box.Shape[d]
				from, to, n = from+(box.Start[d]+x)*stride, to+x*inner, n/box.Shape[d]
				stride, inner = stride*shape[d], inner*chunks[d]
			}
			copy(chunk[to*item:(to+1)*item], data[from*item:])
		}
		encoded, err := e.Whole(t.Context(), chunk)
		if err != nil {
			t.Fatal(err)
		}
		b.Put(m.key(index), bytes.Clone(encoded))
	}
}

const plainCodec = `{"name":"bytes","configuration":{"endian":"little"}}`

// sharded is the zarr.json of 10,000 bytes in one shard of parts of one byte.
var sharded = metadata([]int{10000}, []int{10000}, dtype.Uint8, `{"name":"sharding_indexed","configuration":{"chunk_shape":[1],
	"codecs":[{"name":"bytes"}],"index_codecs":[`+plainCodec+`,{"name":"crc32c"}],"index_location":"end"}}`)

// shardOf has part i at byte i, or where change says.
func shardOf(parts int, change func(index []byte)) []byte {
	shard := make([]byte, parts)
	for i := range shard {
		shard[i] = byte(i)
	}
	index := make([]byte, parts*entryBytes)
	for i := range parts {
		binary.LittleEndian.PutUint64(index[16*i:], uint64(i))
		binary.LittleEndian.PutUint64(index[16*i+8:], 1)
	}
	if change != nil {
		change(index)
	}
	shard = append(shard, index...)
	return binary.LittleEndian.AppendUint32(shard, crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli)))
}

// openCounted opens an array of a bucket in memory whose requests are counted.
func openCounted(t *testing.T, b *memblob.Bucket) (a *array, c counted) {
	t.Helper()
	c = count(b)
	a, err := openIn(t.Context(), "memory.zarr", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, c
}

func readOne(t *testing.T, s store.Session, index ...int) (byte, int64) {
	t.Helper()
	var p [1]byte
	n, err := s.Read(t.Context(), p[:], grid.Region{Start: index, Count: slices.Repeat([]int{1}, len(index)), Step: slices.Repeat([]int{1}, len(index))})
	if err != nil {
		t.Fatal(err)
	}
	return p[0], n
}

func sessionOf(t *testing.T, a *array, work int64) store.Session {
	t.Helper()
	s, err := a.Session(make([]byte, work))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestRequests counts what a read asks of the store.
func TestRequests(t *testing.T) {
	b := memblob.New()
	b.Put("zarr.json", []byte(sharded))
	b.Put("c/0", shardOf(10000, nil))
	a, c := openCounted(t, b)
	if *c.opens != 1 || *c.reads != 1 {
		t.Errorf("opening took %d objects and %d reads", *c.opens, *c.reads)
	}
	*c.opens, *c.reads = 0, 0
	s := sessionOf(t, a, a.Info().Work.Whole)
	got, stored := readOne(t, s, 7001)
	if got != 7001&0xff || *c.opens != 1 || *c.reads != 2 || stored != 16*10000+4+1 {
		t.Errorf("a part of a shard is %d, in %d objects and %d reads of %d bytes", got, *c.opens, *c.reads, stored)
	}
	if got, stored := readOne(t, s, 123); got != 123 || *c.opens != 1 || *c.reads != 3 || stored != 1 {
		t.Errorf("another is %d, in %d objects and %d reads, the last of %d bytes", got, *c.opens, *c.reads, stored)
	}
}

// single counts whole objects that are read by one request.
type single struct {
	counted
	gets *int
}

func (b single) Get(ctx context.Context, key string, p []byte) (blob.Entry, error) {
	*b.gets++
	return blob.Get(ctx, b.Bucket, key, p)
}

// ranged counts objects that are opened by the request that reads the first of them.
type ranged struct {
	counted
	begun *int
}

func (b ranged) OpenAt(ctx context.Context, key string, p []byte, at int64) (blob.Object, error) {
	*b.begun++
	o, err := blob.OpenAt(ctx, b.Bucket, key, p, at)
	if err != nil {
		return nil, err
	}
	return countedObject{o, b.counted}, nil
}

// TestPartsOfChunksAreOneRequestEach reads rows of plain chunks of an object store: that a chunk is
// there, and its size, its first row tells.
func TestPartsOfChunksAreOneRequestEach(t *testing.T) {
	b := memblob.New()
	want := storetest.Elements(dtype.Float32, 64)
	putArray(t, b, []int{8, 8}, []int{4, 8}, dtype.Float32, plainCodec, want)
	objects := ranged{count(b), new(int)}
	a, err := openIn(t.Context(), "memory.zarr", objects)
	if err != nil {
		t.Fatal(err)
	}
	s := sessionOf(t, a, a.Info().Work.Whole)
	read := func(row int) ([]byte, error) {
		got := make([]byte, 2*32)
		_, err := s.Read(t.Context(), got, grid.Region{Start: []int{row, 0}, Count: []int{2, 8}, Step: []int{1, 1}})
		return got, err
	}
	*objects.opens, *objects.reads, *objects.begun = 0, 0, 0
	for row := 0; row < 8; row += 2 {
		if got, err := read(row); err != nil || !bytes.Equal(got, want[32*row:32*row+64]) {
			t.Errorf("rows from %d on: %v, %v", row, got, err)
		}
	}
	if *objects.begun != 2 || *objects.opens != 0 || *objects.reads != 2 {
		t.Errorf("two chunks took %d first ranges, %d openings and %d reads", *objects.begun, *objects.opens, *objects.reads)
	}
	chunk, _ := b.Get("c/0/0")
	b.Put("c/0/0", chunk[:100])
	if _, err := read(0); err == nil || !strings.Contains(err.Error(), "chunk c/0/0: it has 100 bytes, its elements have 128") {
		t.Errorf("a short chunk: %v", err)
	}
	if err := b.Delete(t.Context(), "c/1/0"); err != nil {
		t.Fatal(err)
	}
	if got, err := read(4); err != nil || !bytes.Equal(got, make([]byte, 64)) {
		t.Errorf("a missing chunk: %v, %v", got, err)
	}
}

// TestShardIsOpenedByItsIndex reads parts of a shard of an object store: the request that opens it brings its index, and
// tells where that is damaged.
func TestShardIsOpenedByItsIndex(t *testing.T) {
	b := memblob.New()
	b.Put("zarr.json", []byte(sharded))
	whole := shardOf(10000, nil)
	b.Put("c/0", whole)
	objects := ranged{count(b), new(int)}
	a, err := openIn(t.Context(), "memory.zarr", objects)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s := sessionOf(t, a, a.Info().Work.Whole)
	*objects.opens, *objects.reads, *objects.begun = 0, 0, 0
	for i, at := range []int{7001, 123} {
		got, stored := readOne(t, s, at)
		if want := int64(1 + (1-i)*(16*10000+4)); got != byte(at) || stored != want {
			t.Errorf("part %d is %d, of %d bytes that are read, want %d", at, got, stored, want)
		}
	}
	if *objects.begun != 1 || *objects.opens != 0 || *objects.reads != 2 {
		t.Errorf("two parts took %d indexes, %d openings and %d reads", *objects.begun, *objects.opens, *objects.reads)
	}
	for _, damaged := range [][]byte{whole[:len(whole)-1], whole[:50], {}} {
		b.Put("c/0", damaged)
		_, err := sessionOf(t, a, a.Info().Work.Whole).Read(t.Context(), make([]byte, 1), grid.Region{Start: []int{5}, Count: []int{1}, Step: []int{1}})
		if err == nil || !strings.Contains(err.Error(), "index") {
			t.Errorf("a shard of %d bytes: %v", len(damaged), err)
		}
	}
}

// TestChunkIsOneRequest reads chunks that are objects of a store.
func TestChunkIsOneRequest(t *testing.T) {
	for name, c := range map[string]struct {
		codecs string
		opens  int // of chunks of which a part is needed
	}{
		"zstd":  {plainCodec + `,{"name":"zstd","configuration":{"level":1}}`, 0},
		"plain": {plainCodec, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := memblob.New()
			want := storetest.Elements(dtype.Float32, 11)
			putArray(t, b, []int{11}, []int{3}, dtype.Float32, c.codecs, want)
			objects := single{count(b), new(int)}
			a, err := openIn(t.Context(), "memory.zarr", objects)
			if err != nil {
				t.Fatal(err)
			}
			read := func() ([]byte, int64, error) {
				s := sessionOf(t, a, a.Info().Work.Whole)
				*objects.gets, *objects.opens = 0, 0
				got := bytes.Repeat([]byte{0x55}, len(want))
				n, err := s.Read(t.Context(), got, storetest.All([]int{11}))
				return got, n, err
			}
			stored := int64(0)
			for i := range 4 {
				data, _ := b.Get(fmt.Sprintf("c/%d", i))
				stored += int64(len(data))
			}
			if c.opens > 0 {
				stored -= 4 // of the last chunk, which lies beyond the edge
			}
			got, n, err := read()
			if err != nil || !bytes.Equal(got, want) || n != stored {
				t.Errorf("read %v from %d bytes of %d, %v", got, n, stored, err)
			}
			if *objects.gets != 4-c.opens || *objects.opens != c.opens {
				t.Errorf("four chunks took %d requests, and %d objects were opened", *objects.gets, *objects.opens)
			}

			chunk, _ := b.Get("c/1")
			if err := b.Delete(t.Context(), "c/1"); err != nil {
				t.Fatal(err)
			}
			if got, _, err = read(); err != nil || !bytes.Equal(got[12:24], make([]byte, 12)) || !bytes.Equal(got[24:], want[24:]) {
				t.Errorf("with a missing chunk: %v, %v", got, err)
			}
			for says, data := range map[string][]byte{"": chunk[:len(chunk)-1], "65536": make([]byte, 65536)} {
				b.Put("c/1", data)
				_, _, err := read()
				checkMessage(t, err, "memory.zarr", "chunk c/1: ", says)
			}
			b.Put("c/1", chunk)
			b.Put("zarr.json", []byte(metadata([]int{11}, []int{3}, dtype.Float32, c.codecs)))
			if err := b.Delete(t.Context(), "c/1"); err != nil {
				t.Fatal(err)
			}
			if _, _, err := read(); !errors.Is(err, store.ErrChanged) {
				t.Errorf("a chunk that is missing from another array: %v", err)
			}
		})
	}
}

// TestLargeIndex reads parts of a shard whose index is larger than what is kept.
func TestLargeIndex(t *testing.T) {
	const parts = maxIndexBytes/entryBytes + 1000
	b := memblob.New()
	b.Put("zarr.json", []byte(strings.ReplaceAll(sharded, "10000", fmt.Sprint(parts))))
	b.Put("c/0", shardOf(parts, nil))
	a, c := openCounted(t, b)
	if w := a.Info().Work; w.Whole > maxIndexBytes+1<<10 {
		t.Errorf("it takes %d bytes", w.Whole)
	}
	s := sessionOf(t, a, a.Info().Work.Whole)
	for _, i := range []int{0, parts - 1, parts - 2, 70, 65535, 65536} {
		if got, _ := readOne(t, s, i); got != byte(i) {
			t.Errorf("part %d is %d", i, got)
		}
	}
	if *c.bytes > 4*maxIndexBytes {
		t.Errorf("%d bytes were read", *c.bytes)
	}

	// Parts that lie in another order than the index has them, as writers in parallel
	// leave them.
	b.Put("c/0", shardOf(parts, func(index []byte) {
		for i := range 1000 {
			binary.LittleEndian.PutUint64(index[16*i:], uint64(999-i))
		}
	}))
	s = sessionOf(t, a, a.Info().Work.Whole)
	for _, i := range []int{0, 1, 999, 1000, 65535} {
		at := i
		if i < 1000 {
			at = 999 - i
		}
		if got, _ := readOne(t, s, i); got != byte(at) {
			t.Errorf("part %d at %d is %d", i, at, got)
		}
	}
}

// TestShardIndexRejected wants every impossible index rejected by the shard's name.
func TestShardIndexRejected(t *testing.T) {
	put := binary.LittleEndian.PutUint64
	for name, c := range map[string]struct {
		change func(index []byte)
		says   string
	}{
		"outside":         {func(x []byte) { put(x[16*5:], 10000) }, "part 5 lies at 10000"},
		"far outside":     {func(x []byte) { put(x[16*5:], 1<<63+7) }, "part 5 lies"},
		"too long":        {func(x []byte) { put(x[16*5+8:], 1<<62) }, "part 5 lies"},
		"negative length": {func(x []byte) { put(x[16*5+8:], 1<<63) }, "part 5 lies"},
		"sum overflows":   {func(x []byte) { put(x[16*5:], 1<<62); put(x[16*5+8:], 1<<62) }, "part 5 lies"},
		"overlap":         {func(x []byte) { put(x[16*5+8:], 2) }, "parts 5 and 6 overlap"},
		"same":            {func(x []byte) { put(x[16*5:], 9); put(x[16*9:], 9) }, "overlap"},
		"half missing":    {func(x []byte) { put(x[16*5:], missing) }, "part 5 lies"},
	} {
		b := memblob.New()
		b.Put("zarr.json", []byte(sharded))
		b.Put("c/0", shardOf(10000, c.change))
		a, _ := openCounted(t, b)
		err := a.Read(t.Context(), make([]byte, 1), grid.Region{Start: []int{3}, Count: []int{1}, Step: []int{1}})
		t.Run(name, func(t *testing.T) { checkMessage(t, err, "memory.zarr", "shard c/0: its index", c.says) })
	}
	for name, c := range map[string]struct {
		shard []byte
		says  string
	}{
		"empty": {nil, "it has 0 bytes, its index alone has 160004"},
		"short": {shardOf(10000, nil)[5000:], "outside of the bytes 0 to 5000"},
		"crc":   {append(shardOf(10000, nil)[:170000], 0, 0, 0, 0), "crc32c"},
	} {
		b := memblob.New()
		b.Put("zarr.json", []byte(sharded))
		b.Put("c/0", c.shard)
		a, _ := openCounted(t, b)
		err := a.Read(t.Context(), make([]byte, 1), grid.Region{Start: []int{9999}, Count: []int{1}, Step: []int{1}})
		t.Run(name, func(t *testing.T) { checkMessage(t, err, "memory.zarr", "shard c/0: ", c.says) })
	}
}

// TestStreamGoesOn reads a large chunk by slabs with little memory, each byte once.
func TestStreamGoesOn(t *testing.T) {
	const rows, columns = 2000, 500
	data := storetest.Elements(dtype.Float32, rows*columns)
	for name, codecs := range map[string]string{
		"gzip":      plainCodec + `,{"name":"gzip","configuration":{"level":1}}`,
		"zstd":      plainCodec + `,{"name":"zstd","configuration":{"level":1}}`,
		"blosc":     plainCodec + `,{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":4,"blocksize":0}}`,
		"crc32c":    plainCodec + `,{"name":"crc32c"}`,
		"plain":     plainCodec,
		"bigendian": strings.Replace(plainCodec, "little", "big", 1),
	} {
		t.Run(name, func(t *testing.T) {
			b := memblob.New()
			putArray(t, b, []int{rows, columns}, []int{rows, columns}, dtype.Float32, codecs, data)
			a, _ := openCounted(t, b)
			w := a.Info().Work
			if w.Stream >= w.Whole && w.Whole > 128<<10 {
				t.Errorf("streaming takes %d bytes of %d", w.Stream, w.Whole)
			}
			encoded, _ := b.Get("c/0/0")
			s := sessionOf(t, a, w.Stream)
			total, got := int64(0), make([]byte, len(data))
			for row := 0; row < rows; row += 130 {
				n := min(130, rows-row)
				stored, err := s.Read(t.Context(), got[row*columns*4:(row+n)*columns*4],
					grid.Region{Start: []int{row, 0}, Count: []int{n, columns}, Step: []int{1, 1}})
				if err != nil {
					t.Fatal(err)
				}
				total += stored
			}
			if !bytes.Equal(got, data) {
				t.Error("other elements")
			}
			if total != int64(len(encoded)) {
				t.Errorf("%d bytes were read, the chunk has %d", total, len(encoded))
			}
			back := grid.Region{Start: []int{1900, 490}, Count: []int{17, 20}, Step: []int{-110, -24}}
			p := make([]byte, 4*back.Size())
			if _, err := s.Read(t.Context(), p, back); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(p, storetest.Pick(data, []int{rows, columns}, 4, back)) {
				t.Error("other elements in steps backwards")
			}
		})
	}
}

// TestWholeIsKept reads parts of a chunk and decodes it once.
func TestWholeIsKept(t *testing.T) {
	b := memblob.New()
	data := storetest.Elements(dtype.Uint8, 64)
	putArray(t, b, []int{8, 8}, []int{8, 8}, dtype.Uint8, plainCodec+`,{"name":"gzip"}`, data)
	a, c := openCounted(t, b)
	s := sessionOf(t, a, a.Info().Work.Whole)
	for i := range data {
		if got, _ := readOne(t, s, i/8, i%8); got != data[i] {
			t.Errorf("element %d is %d, not %d", i, got, data[i])
		}
	}
	if encoded, _ := b.Get("c/0/0"); *c.bytes > len(encoded)+len(metadata(nil, nil, dtype.Uint8, ""))+200 {
		t.Errorf("%d bytes were read", *c.bytes)
	}
}

func TestSessionOfTooLittle(t *testing.T) {
	a, _ := openCounted(t, func() *memblob.Bucket {
		b := memblob.New()
		putArray(t, b, []int{8}, []int{8}, dtype.Uint8, plainCodec+`,{"name":"gzip"}`, make([]byte, 8))
		return b
	}())
	_, err := a.Session(make([]byte, a.Info().Work.Stream-1))
	checkMessage(t, err, "memory.zarr", "at least")
}

// TestHugeChunks opens an array whose one chunk has terabytes: it is planned with,
// and not decoded.
func TestHugeChunks(t *testing.T) {
	b := memblob.New()
	huge := []int{1 << 30, 1 << 12}
	b.Put("zarr.json", []byte(metadata(huge, huge, dtype.Uint8, plainCodec+`,{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"noshuffle","blocksize":0}}`)))
	_, err := openIn(t.Context(), "memory.zarr", b)
	if err == nil || !strings.Contains(err.Error(), "blosc") { // it has 2 GiB at most
		t.Errorf("%v", err)
	}
	b.Put("zarr.json", []byte(metadata(huge, huge, dtype.Uint8, plainCodec+`,{"name":"zstd","configuration":{"level":1}}`)))
	b.Put("c/0/0", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0})
	a, _ := openCounted(t, b)
	if w := a.Info().Work; w.Whole < 1<<42 || w.Stream > 1<<30 {
		t.Errorf("%+v", w)
	}
	before := allocated()
	if err := a.Read(t.Context(), make([]byte, 1), grid.Region{Start: []int{0, 0}, Count: []int{1, 1}, Step: []int{1, 1}}); err == nil {
		t.Error("a chunk of 7 bytes was decoded")
	}
	if n := allocated() - before; n > 1<<30 {
		t.Errorf("%d bytes were allocated", n)
	}
	b.Put("zarr.json", []byte(metadata(huge, huge, dtype.Uint8, `{"name":"transpose","configuration":{"order":[1,0]}},`+plainCodec)))
	a, _ = openCounted(t, b)
	if err := a.Read(t.Context(), make([]byte, 1), grid.Region{Start: []int{0, 0}, Count: []int{1, 1}, Step: []int{1, 1}}); err == nil {
		t.Error("a chunk of 7 bytes was read")
	}
}

// TestArrayRemoved wants an error, not fill values, when the whole array is gone.
func TestArrayRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a.zarr")
	if err := os.CopyFS(dir, os.DirFS("testdata/zarr3/z3_missing.zarr")); err != nil {
		t.Fatal(err)
	}
	a, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	read := func() error { return a.Read(t.Context(), make([]byte, 400), storetest.All([]int{10, 10})) }
	if err := read(); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(dir, "zarr.json"), []byte("{}"), 0o666)
	if err := read(); !errors.Is(err, store.ErrChanged) {
		t.Errorf("with other metadata: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	err = read()
	checkMessage(t, err, dir, "zarr.json")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestDigest wants it to follow every change, and nothing else.
func TestDigest(t *testing.T) {
	b := memblob.New()
	putArray(t, b, []int{9}, []int{3}, dtype.Uint8, plainCodec, make([]byte, 9))
	a, c := openCounted(t, b)
	*c.opens = 0
	digest := func() string {
		d, err := a.Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := digest()
	if digest() != first || len(first) != 64 || *c.opens != 0 {
		t.Errorf("it differs without a change, or opens objects: %s", first)
	}
	old, _ := b.Get("c/1")
	b.Put("c/1", old)
	second := digest()
	if second == first {
		t.Error("it is the same after a chunk was replaced")
	}
	if err := b.Delete(t.Context(), "c/1"); err != nil {
		t.Fatal(err)
	}
	if third := digest(); third == second || third == first {
		t.Error("it is the same without a chunk")
	}
}

// TestInfo compares what an array says of itself.
func TestInfo(t *testing.T) {
	a, err := store.Open("testdata/zarr3/z3_sharded.zarr")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	info := a.Info()
	if info.Format != "zarr v3" || list(info.Shape) != "[20,16]" || list(info.Chunks) != "[4,4]" || list(info.Shards) != "[8,16]" ||
		info.Bytes != -1 || !strings.HasPrefix(info.Codec, "zstd:") || info.Details.Fill != "0.0" {
		t.Errorf("%+v", info)
	}
	if info.Work.Whole < 4*4*4 || info.Work.Stream > info.Work.Whole {
		t.Errorf("%+v", info.Work)
	}
	n := 0
	err = a.(storage.Listed).Chunks(t.Context(), func(index []int, bytes int64) error { n++; return nil })
	if err != nil || n != 20 {
		t.Errorf("%d chunks, %v", n, err)
	}
	stop := errors.New("stop")
	err = a.(storage.Listed).Chunks(t.Context(), func([]int, int64) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}
