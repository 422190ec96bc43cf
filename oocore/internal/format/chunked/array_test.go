package chunked_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// places is an Index over one object, in which the chunks lie at known places.
type places struct {
	object blob.Object
	at     map[string][2]int64 // offset and length, by the text of the chunk's index
	read   *int64
	array  *chunked.Array // whose chunks are stored without what is beyond it
	source chunked.Source
}

func (p *places) Find(_ context.Context, chunk []int) (*chunked.Source, error) {
	at, ok := p.at[fmt.Sprint(chunk)]
	if !ok {
		return nil, nil
	}
	p.source = chunked.Source{Object: p.object, Serial: 1, Kind: "file", Key: "all", Base: at[0], Bytes: at[1], Read: p.read}
	var err error
	if p.array != nil {
		p.source.Pipeline, err = p.array.Edge(chunk)
	}
	return &p.source, err
}

func (p *places) Close() error { return nil }

// fetching is places whose chunks are read by one request.
type fetching struct{ *places }

func (f fetching) Fetch(ctx context.Context, chunk []int, p []byte) (int64, *chunked.Source, error) {
	src, err := f.Find(ctx, chunk)
	if src == nil || err != nil || src.Bytes > int64(len(p)) {
		return f.at[fmt.Sprint(chunk)][1], src, err
	}
	return src.Bytes, src, src.ReadAt(ctx, p[:src.Bytes], 0)
}

func (f fetching) FetchAt(ctx context.Context, chunk []int, p []byte, at int64) (int64, *chunked.Source, error) {
	src, err := f.Find(ctx, chunk)
	if src == nil || err != nil || int64(len(p)) > src.Bytes-at {
		return f.at[fmt.Sprint(chunk)][1], src, err
	}
	return src.Bytes, src, src.ReadAt(ctx, p, at)
}

var _ chunked.Fetcher = fetching{}

// drawn is an array of any layout, with its elements in C order.
type drawn struct {
	*chunked.Array
	data []byte
}

func draw(r *rapid.T) drawn {
	dims := rapid.IntRange(0, 4).Draw(r, "dims")
	a := &chunked.Array{Path: "drawn", Shape: make([]int, dims), Chunk: make([]int, dims)}
	order := make([]int, dims)
	for d := range dims {
		a.Shape[d] = rapid.IntRange(1, 9).Draw(r, "length")
		a.Chunk[d] = rapid.IntRange(1, 9).Draw(r, "chunk")
		order[d] = d
	}
	order = rapid.Permutation(order).Draw(r, "order")
	a.DType = rapid.SampledFrom([]dtype.Type{dtype.Uint8, dtype.Float16, dtype.Float32, dtype.Complex128}).Draw(r, "dtype")
	endian := rapid.SampledFrom([]string{"little", "big"}).Draw(r, "endian")
	list := []string{`{"name":"bytes","configuration":{"endian":"` + endian + `"}}`}
	if rapid.Bool().Draw(r, "transposed") {
		text, _ := json.Marshal(order)
		list = append([]string{`{"name":"transpose","configuration":{"order":` + string(text) + `}}`}, list...)
	}
	list = append(list, rapid.SampledFrom([][]string{nil, {`{"name":"gzip","configuration":{"level":1}}`}, {`{"name":"crc32c"}`},
		{`{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":` + strconv.Itoa(a.DType.Size()) + `,"blocksize":256}}`},
		{`{"name":"zstd","configuration":{"level":1,"checksum":false}}`, `{"name":"crc32c"}`}}).Draw(r, "codecs")...)
	var raw []json.RawMessage
	for _, text := range list {
		raw = append(raw, json.RawMessage(text))
	}
	var err error
	if a.Pipeline, err = codec.FromV3(raw, a.Chunk, a.DType); err != nil {
		r.Fatal(err)
	}
	cut := rapid.Bool().Draw(r, "cut") // chunks are stored without what is beyond the array
	item := a.DType.Size()
	a.Fill = bytes.Repeat([]byte{7}, item)
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
	whole := drawn{a, make([]byte, grid.Size(a.Shape)*item)}
	bits := rapid.SampledFrom([]uint32{3, 255}).Draw(r, "bits") // of those of few bits, Blosc has blocks; others it copies
	for i := range whole.data {
		whole.data[i] = byte(random.Uint32() & bits)
	}
	e, err := a.Pipeline.Encoder(make([]byte, a.Pipeline.EncodeWork().Whole))
	if err != nil {
		r.Fatal(err)
	}
	defer e.Close()
	var file []byte
	at := map[string][2]int64{}
	for _, chunk := range (grid.Grid{Shape: a.Shape, Chunks: a.Chunk}).All() {
		index := make([]int, dims)
		for d := range index {
			index[d] = chunk.Start[d] / a.Chunk[d]
		}
		values := bytes.Repeat(a.Fill, grid.Size(a.Chunk))
		missing := random.IntN(4) == 0
		for i := range chunk.Size() { // element by element, by the definition of C order
			to, from, rest, strideTo, strideFrom := 0, 0, i, 1, 1
			for d := dims - 1; d >= 0; d-- {
				k := rest % chunk.Shape[d]
				rest /= chunk.Shape[d]
				to, strideTo = to+k*strideTo, strideTo*a.Chunk[d]
				from, strideFrom = from+(chunk.Start[d]+k)*strideFrom, strideFrom*a.Shape[d]
			}
			if missing {
				copy(whole.data[from*item:], a.Fill)
			}
			copy(values[to*item:(to+1)*item], whole.data[from*item:])
		}
		if missing {
			continue
		}
		encode := e
		if edge, err := a.Edge(index); err != nil {
			r.Fatal(err)
		} else if cut && edge != nil {
			whole := grid.Region{Start: make([]int, dims), Count: chunk.Shape, Step: slices.Repeat([]int{1}, dims)}
			values = storetest.Pick(values, a.Chunk, item, whole)
			if encode, err = edge.Encoder(make([]byte, edge.EncodeWork().Whole)); err != nil {
				r.Fatal(err)
			}
			defer encode.Close()
		}
		encoded, err := encode.Whole(context.Background(), values)
		if err != nil {
			r.Fatal(err)
		}
		file = append(file, make([]byte, random.IntN(20))...) // gaps between chunks
		at[fmt.Sprint(index)] = [2]int64{int64(len(file)), int64(len(encoded))}
		file = append(file, encoded...)
	}
	b := memblob.New()
	b.Put("all", file)
	o, err := b.Open(context.Background(), "all")
	if err != nil {
		r.Fatal(err)
	}
	fetches := rapid.Bool().Draw(r, "fetches")
	a.NewIndex = func(_ []byte, read *int64) chunked.Index {
		p := &places{object: o, at: at, read: read}
		if cut {
			p.array = a
			return p
		}
		if fetches {
			return fetching{p}
		}
		return p
	}
	return whole
}

func TestSessionReadsAnyRegionOfAnyLayout(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		a := draw(r)
		whole := rapid.Bool().Draw(r, "whole")
		s, err := chunked.WithWindow(a.Array, whole, func(most int) int { return min(most, 16*rapid.IntRange(1, 40).Draw(r, "window")) })
		if err != nil {
			r.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(r, "reads") {
			region := storetest.DrawRegion(r, a.Shape)
			want := storetest.Pick(a.data, a.Shape, a.DType.Size(), region)
			got := bytes.Repeat([]byte{0xa5}, len(want))
			if _, err := s.Read(r.Context(), got, region); err != nil {
				r.Fatalf("%+v: %v", region, err)
			}
			if !bytes.Equal(got, want) {
				r.Fatalf("%+v: %x, not %x", region, got, want)
			}
		}
		if err := s.Close(); err != nil {
			r.Fatal(err)
		}
	})
}

func TestReadAfterCloseFails(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		a := draw(r)
		if err := a.Close(); err != nil {
			r.Fatal(err)
		}
		err := a.Read(r.Context(), slices.Clone(a.data), grid.Entire(a.Shape).Region())
		var path *fs.PathError
		if !errors.Is(err, fs.ErrClosed) || !errors.As(err, &path) || path.Path != "drawn" {
			r.Fatalf("%v", err)
		}
	})
}

// Digests of earlier runs stay: names and versions are written as strconv.Quote writes them.
func TestEntriesAreQuoted(t *testing.T) {
	for _, s := range []string{"", "c/0/1", "17f3-a-9", `a"b`, `a\b`, "ä", "a\tb", "a\x7fb", "a\xffb", " ~"} {
		if got := string(chunked.AppendQuoted(nil, s)); got != strconv.Quote(s) {
			t.Errorf("%q is written %s", s, got)
		}
	}
}
