package zarr

import (
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
)

// mostAllocated bounds what a small file may make a parser allocate.
const mostAllocated = 16 << 20

// allocated is what has been allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// checkParsed uses metadata that were accepted, as opening and planning do.
func checkParsed(t *testing.T, m *meta, err error, before uint64) {
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("more than a line: %v", err)
	}
	if err == nil {
		a := newArray("fuzz.zarr", memblob.New(), m, blob.Entry{Key: v3File})
		info := a.Info()
		if info.Work.Whole < 0 || info.Work.Stream > info.Work.Whole || len(info.Chunks) != len(info.Shape) {
			t.Errorf("%+v", info)
		}
		index := make([]int, len(m.shape))
		if !m.parseKey(m.key(index), index) && m.objects().Len() > 0 {
			t.Errorf("%q is no key", m.key(index))
		}
	}
	if n := allocated() - before; n > mostAllocated {
		t.Errorf("%d bytes were allocated", n)
	}
}

func FuzzV3(f *testing.F) {
	f.Add([]byte(metadata([]int{10, 10}, []int{4, 5}, dtype.Float32, plainCodec+`,{"name":"zstd","configuration":{"level":1}}`)))
	f.Add([]byte(sharded))
	f.Add([]byte(groupV3))
	f.Add([]byte(metadata([]int{4}, []int{4}, dtype.Complex64, `{"name":"transpose","configuration":{"order":[0]}},{"name":"sharding_indexed","configuration":
		{"chunk_shape":[2],"codecs":[`+plainCodec+`,{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":4,"blocksize":0}}],"index_codecs":[`+plainCodec+`]}}`)))
	f.Add([]byte(strings.Replace(metadata([]int{4}, []int{4}, dtype.Float16, plainCodec), `"attributes": {}`, `"attributes": {"a": NaN}, "dimension_names": ["x"]`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		before := allocated()
		m, err := parseV3(text)
		checkParsed(t, m, err, before)
		if err != nil {
			return
		}
		for _, l := range m.shards { // encodeV3 is for what is written here
			if l.order != nil {
				return
			}
		}
		if _, err := parseV3(m.encodeV3()); err != nil {
			t.Errorf("%v\n%s", err, m.encodeV3())
		}
	})
}

func FuzzV2(f *testing.F) {
	f.Add([]byte(arrayV2), []byte(`{"_ARRAY_DIMENSIONS": ["x"], "_FillValue": NaN}`))
	f.Add([]byte(strings.Replace(arrayV2, `"compressor":null`, `"compressor":{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1}`, 1)), []byte(nil))
	f.Add([]byte(strings.Replace(arrayV2, `"filters":null`, `"filters":[{"id":"zlib","level":1}]`, 1)), []byte("{}"))
	f.Fuzz(func(t *testing.T, zarray, zattrs []byte) {
		before := allocated()
		m, err := parseV2(zarray, zattrs)
		checkParsed(t, m, err, before)
	})
}

// FuzzShardIndex looks every part of a shard up: what it finds lies in the shard,
// outside of the index.
func FuzzShardIndex(f *testing.F) {
	f.Add(shardOf(3, nil), uint8(3), false, false, true)
	f.Add(shardOf(2, nil)[:34], uint8(2), false, true, false)
	f.Add(shardOf(4, nil), uint8(4), true, false, true)
	f.Fuzz(func(t *testing.T, shard []byte, parts uint8, atStart, big, crc bool) {
		n := int(parts)%64 + 1
		b := memblob.New()
		b.Put("c/0", shard)
		o, err := b.Open(t.Context(), "c/0")
		if err != nil {
			t.Fatal(err)
		}
		l := shardLevel{shape: []int{n}, inner: []int{1}, index: shardIndexEncoding{atStart, big, crc}}
		x, _ := newShardIndex(&l, make([]byte, indexBytes([]shardLevel{l})))
		src := chunked.Source{Object: o, Kind: "shard", Key: "c/0", Bytes: int64(len(shard)), Read: new(int64)}
		used := make([]bool, len(shard))
		low, high := 0, len(shard)-int(l.indexBytes())
		if atStart {
			low, high = int(l.indexBytes()), len(shard)
		}
		for i := range n {
			at, size, found, err := x.lookup(t.Context(), &src, i)
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			if err != nil || !found {
				continue
			}
			if at < int64(low) || size < 0 || at+size > int64(high) {
				t.Fatalf("part %d lies at %d with %d bytes", i, at, size)
			}
			for j := range size {
				if used[at+j] {
					t.Fatalf("byte %d has two parts", at+j)
				}
				used[at+j] = true
			}
		}
	})
}
