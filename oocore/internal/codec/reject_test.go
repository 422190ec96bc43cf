package codec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

const little = `{"name":"bytes","configuration":{"endian":"little"}}`

// TestRejected is metadata that nobody can read, with what the error must name.
func TestRejected(t *testing.T) {
	for _, c := range []struct{ codecs, want string }{
		{`[]`, "no bytes codec"},
		{`[{"name":"gzip","configuration":{"level":1}}]`, `"gzip": it comes before bytes`},
		{`[{"name":"gzip","configuration":{"level":1}},` + little + `]`, `"gzip": it comes before bytes`},
		{`[` + little + `,` + little + `]`, `"bytes": it comes twice`},
		{`[` + little + `,{"name":"transpose","configuration":{"order":[0,1]}}]`, `"transpose": it comes after bytes`},
		{`[{"name":"transpose","configuration":{"order":[0,0]}},` + little + `]`, "order [0 0]"},
		{`[{"name":"transpose","configuration":{"order":[0]}},` + little + `]`, "order [0]"},
		{`[{"name":"transpose","configuration":{"order":"F"}},` + little + `]`, `"transpose"`},
		{`[{"name":"bytes"}]`, "needs an endian"},
		{`[{"name":"bytes","configuration":{"endian":"middle"}}]`, `"middle"`},
		{`[` + little + `,{"name":"magic"}]`, `"magic": it is not supported`},
		{`[` + little + `,{"name":"numcodecs.delta","configuration":{"dtype":"<f4"}}]`, `"numcodecs.delta": it comes after bytes`},
		{`[{"name":"numcodecs.delta","configuration":{"dtype":"<f4"}},{"name":"transpose","configuration":{"order":[1,0]}},` + little + `]`, `"transpose": it comes after`},
		{`[{"name":"numcodecs.fixedscaleoffset","configuration":{"dtype":"<f4","scale":2}},` + little + `]`, "no offset"},
		{`[{"name":"numcodecs.astype","configuration":{"encode_dtype":"<U3"}},` + little + `]`, `"<U3"`},
		{`[` + little + `,{"name":"numcodecs.zfpy"}]`, "supported are adler32, astype, bitround, blosc"},
		{`[` + little + `,{"name":"numcodecs.lzma","configuration":{"format":3,"filters":[{"id":3,"dist":4},{"id":33}]}}]`, "LZMA2 alone"},
		{`[{"name":"sharding_indexed","configuration":{}}]`, `"sharding_indexed"`},
		{`[` + little + `,{"name":"zstd","configuration":{"level":23}}]`, "level 23"},
		{`[` + little + `,{"name":"zstd","configuration":{"level":"3"}}]`, `"zstd"`},
		{`[` + little + `,{"name":"zstd","configuration":{"level":3,"dictionary":"x"}}]`, "dictionary"},
		{`[` + little + `,{"name":"gzip","configuration":{"level":10}}]`, "level 10"},
		{`[` + little + `,{"name":"blosc","configuration":{"cname":"snappy","clevel":5,"shuffle":"shuffle","typesize":4,"blocksize":0}}]`, "snappy"},
		{`[` + little + `,{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"sideways","typesize":4,"blocksize":0}}]`, "sideways"},
		{`[` + little + `,{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":-4,"blocksize":0}}]`, "typesize -4"},
		{`[` + little + `,7]`, "codec 1"},
		{`[` + little + `,{}]`, `""`},
	} {
		var codecs []json.RawMessage
		if err := json.Unmarshal([]byte(c.codecs), &codecs); err != nil {
			t.Fatal(err)
		}
		_, err := FromV3(codecs, []int{2, 3}, dtype.Float32)
		rejected(t, c.codecs, err, c.want)
	}
	for _, c := range []struct{ compressor, filters, order, want string }{
		{`{"id":"zfpy"}`, `null`, "C", `"zfpy": it is not supported`},
		{`null`, `[{"id":"delta","dtype":"|b1"}]`, "C", `"delta": from bool to bool`},
		{`null`, `[{"id":"fixedscaleoffset"}]`, "C", `"fixedscaleoffset"`},
		{`null`, `{}`, "C", "filters"},
		{`"zlib"`, `null`, "C", "no object with an id"},
		{`null`, `null`, "A", `order "A"`},
		{`{"id":"blosc","cname":"lz4","shuffle":3}`, `null`, "C", "shuffle 3"},
	} {
		_, err := FromV2(json.RawMessage(c.compressor), json.RawMessage(c.filters), c.order, false, []int{2, 3}, dtype.Float32)
		rejected(t, c.compressor+c.filters+c.order, err, c.want)
	}
	for text, want := range map[string]string{
		"":                   "chunks have no codec",
		"snappy":             `no codec "snappy"`,
		"none:1":             "at most 0",
		"zstd:x":             `"x" is no number`,
		"zstd:99":            "level 99",
		"zstd:3:crc":         `"crc" is not checksum`,
		"gzip:5:5":           "at most 1",
		"blosc:lz5":          `"lz5"`,
		"blosc:lz4:10":       "clevel 10",
		"blosc:lz4:5:stir":   `"stir"`,
		"blosc:lz4:5:stir:1": "at most 3",
	} {
		_, err := Parse(text, []int{2, 3}, dtype.Float32)
		rejected(t, text, err, want)
	}
	for want, chunk := range map[string][]int{"axis of 0": {3, 0}, "axis of -1": {-1}, "too large": {1 << 40, 1 << 40}, "40 axes": make([]int, 40)} {
		_, err := Parse("none", chunk, dtype.Float32)
		rejected(t, want, err, want)
	}
	_, err := Parse("blosc", []int{1 << 30}, dtype.Float32)
	rejected(t, "a large chunk", err, "at most")
	p, err := Parse("blosc:blosclz", []int{9}, dtype.Float32)
	if err != nil {
		t.Fatal(err)
	}
	_, err = encodeWhole(p, make([]byte, p.raw))
	rejected(t, "writing blosclz", err, "use lz4")
}

func rejected(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: the error is %v, and should say %q in one line", what, err, want)
	}
}

// TestFaultNamesCodec damages the outer one of two codecs.
func TestFaultNamesCodec(t *testing.T) {
	var codecs []json.RawMessage
	if err := json.Unmarshal([]byte(`[`+little+`,{"name":"gzip","configuration":{"level":1}},{"name":"crc32c"}]`), &codecs); err != nil {
		t.Fatal(err)
	}
	p, err := FromV3(codecs, []int{1000}, dtype.Float32)
	if err != nil {
		t.Fatal(err)
	}
	data, err := encodeWhole(p, field(p.raw, p.t))
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	_, err = decodeWhole(p, data)
	rejected(t, "whole", err, "crc32c: the checksum is")
	_, err = decodeStream(p, data, []int{int(p.raw)})
	rejected(t, "stream", err, "crc32c: the checksum is")
}

// TestZlibSums holds checksums of numcodecs to those of the check values of their algorithms.
func TestZlibSums(t *testing.T) {
	for name, sum := range map[string]string{"crc32": "\x26\x39\xf4\xcb", "adler32": "\xde\x01\x1e\x09"} {
		for location, want := range map[string]string{"": sum + "123456789", `,"location":"start"`: sum + "123456789", `,"location":"end"`: "123456789" + sum} {
			p, err := FromV2(json.RawMessage(`{"id":"`+name+`"`+location+`}`), nil, "C", false, []int{9}, dtype.Uint8)
			if err != nil {
				t.Fatal(err)
			}
			data, err := encodeWhole(p, []byte("123456789"))
			if err != nil || string(data) != want {
				t.Errorf("%s%s: %q, %v", name, location, data, err)
			}
			if got, err := decodeWhole(p, data); err != nil || string(got) != "123456789" {
				t.Errorf("%s%s: %q, %v", name, location, got, err)
			}
			data[5] ^= 1
			_, err = decodeWhole(p, data)
			rejected(t, name+location, err, name+": the checksum is")
		}
	}
	_, err := FromV2(json.RawMessage(`{"id":"crc32","location":"middle"}`), nil, "C", false, []int{9}, dtype.Uint8)
	rejected(t, "middle", err, `location "middle" is neither start nor end`)
}
