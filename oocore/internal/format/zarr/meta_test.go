package zarr

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestRefusedV3 changes a good zarr.json in one place and wants one line that names
// the field.
func TestRefusedV3(t *testing.T) {
	good := strings.Join(strings.Fields(metadata([]int{10, 10}, []int{4, 5}, dtype.Float32, plainCodec)), "")
	if _, err := parseV3([]byte(good)); err != nil {
		t.Fatal(err)
	}
	sharding := func(configuration string) string {
		return `"codecs":[{"name":"sharding_indexed","configuration":{` + configuration + `}}]`
	}
	codecs := `"codecs":[` + plainCodec + `]`
	index := `"index_codecs":[` + plainCodec + `]`
	for _, c := range []struct{ old, with, says string }{
		{`{`, ``, "not valid JSON"},
		{good, ``, "not valid JSON"},
		{good, `[]`, "not a JSON object"},
		{good, `null`, "not a JSON object"},
		{good, `{}`, "zarr_format is missing"},
		{`"zarr_format":3`, `"zarr_format":4`, "zarr_format: version 4"},
		{`"zarr_format":3`, `"zarr_format":"3"`, "zarr_format"},
		{`"node_type":"array"`, `"node_type":"folder"`, `node_type: "folder"`},
		{`"node_type":"array",`, ``, "node_type is missing"},
		{`"shape":[10,10]`, `"shape":[10,-1]`, "shape: -1"},
		{`"shape":[10,10]`, `"shape":[10,1.5]`, "shape"},
		{`"shape":[10,10]`, `"shape":10`, "shape"},
		{`"shape":[10,10]`, `"shape":null`, "shape"},
		{`"shape":[10,10]`, `"shape":[4611686018427387904,10]`, "shape"},
		{`"shape":[10,10]`, `"shape":[9223372036854775808,10]`, "shape"},
		{`"shape":[10,10]`, `"Shape":[10,10]`, "Shape: this extension is not supported"},
		{`"data_type":"float32"`, `"data_type":"r16"`, `data_type: elements of type "r16"`},
		{`"data_type":"float32"`, `"data_type":"string"`, `data_type: elements of type "string"`},
		{`"data_type":"float32"`, `"data_type":{"name":"struct","configuration":{}}`, `data_type: fields is missing`},
		{`"data_type":"float32"`, `"data_type":7`, `data_type`},
		{`[4,5]`, `[4,0]`, "chunk_grid: chunk_shape (4, 0)"},
		{`[4,5]`, `[4,-5]`, "chunk_grid: chunk_shape (4, -5)"},
		{`[4,5]`, `[4]`, "chunk_grid: chunk_shape (4,) has 1 dimensions, the array has 2"},
		{`[4,5]`, `[4,2147483648]`, "chunk_grid: chunk_shape"},
		{`[4,5]`, `[2147483647,2147483647]`, "chunk"},
		{`[4,5]`, `[4,99999999999999999999]`, "chunk_grid: chunk_shape"},
		{`"regular"`, `"hexagonal"`, `chunk_grid: "hexagonal"`},
		{`"regular"`, `"rectilinear"`, `chunk_grid: kind is missing`},
		{`{"name":"regular","configuration":{"chunk_shape":[4,5]}}`, `{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[1,2],5]}}`, `the chunks of axis 0 are 3 long`},
		{`{"name":"regular","configuration":{"chunk_shape":[4,5]}}`, `{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[1,2,3]],5]}}`, `neither a length nor a pair`},
		{`{"name":"regular","configuration":{"chunk_shape":[4,5]}}`, `{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[0,99],5]}}`, `neither a length nor a pair`},
		{`{"name":"regular","configuration":{"chunk_shape":[4,5]}}`, `{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[5]}}`, `1 axes`},
		{`"chunk_key_encoding":{"name":"default"}`, `"chunk_key_encoding":{"name":"hash"}`, `chunk_key_encoding: "hash"`},
		{`{"name":"default"}`, `{"name":"default","configuration":{"separator":"../"}}`, `chunk_key_encoding: separator`},
		{`{"name":"default"}`, `{"name":"default","configuration":{"separator":7}}`, `separator`},
		{`"fill_value":0`, `"fill_value":"zero"`, `fill_value: "zero" is not a fill value of float32`},
		{`"fill_value":0`, `"fill_value":null`, `fill_value: null`},
		{`"fill_value":0`, `"fill_value":true`, `fill_value: true`},
		{`"fill_value":0`, `"fill_value":[0,0]`, `fill_value: [0,0]`},
		{`"fill_value":0`, `"fill_value":1e39`, `fill_value: 1e39`},
		{`"fill_value":0`, `"fill_value":"0x1ffffffff"`, `fill_value`},
		{`"fill_value":0,`, ``, `fill_value is missing`},
		{codecs, `"codecs":[]`, "codecs: "},
		{codecs, `"codecs":null`, "codecs: "},
		{codecs + `,`, ``, "codecs is missing"},
		{codecs, `"codecs":[{"name":"zstd","configuration":{"level":1}}]`, "codecs: "},
		{codecs, `"codecs":[{"name":"zstd","configuration":{"level":1}},` + plainCodec + `]`, "codecs: "},
		{codecs, `"codecs":[` + plainCodec + `,{"name":"lzma"}]`, `lzma`},
		{codecs, `"codecs":[7]`, "codecs: "},
		{codecs, sharding(`"chunk_shape":[3,5],"codecs":[` + plainCodec + `],` + index), "codecs: sharding_indexed: chunk_shape (3, 5) does not divide"},
		{codecs, sharding(`"chunk_shape":[0,5],"codecs":[` + plainCodec + `],` + index), "chunk_shape: 0 is too small"},
		{codecs, sharding(`"chunk_shape":[4],"codecs":[` + plainCodec + `],` + index), "chunk_shape (4,) has 1 dimensions"},
		{codecs, sharding(`"chunk_shape":[4,5],` + index), "sharding_indexed: codecs is missing"},
		{codecs, sharding(`"chunk_shape":[4,5],"codecs":[` + plainCodec + `]`), "index_codecs is missing"},
		{codecs, sharding(`"chunk_shape":[4,5],"codecs":[` + plainCodec + `],"index_codecs":[]`), "index_codecs: bytes is missing"},
		{codecs, sharding(`"chunk_shape":[4,5],"codecs":[` + plainCodec + `],"index_codecs":[{"name":"gzip"}]`), `index_codecs: "gzip"`},
		{codecs, sharding(`"chunk_shape":[4,5],"codecs":[` + plainCodec + `],"index_location":"middle",` + index), `index_location: "middle"`},
		{codecs, sharding(`"chunk_shape":[4,5],"codecs":[{"name":"lzma"}],` + index), `lzma`},
		{codecs, `"codecs":[` + plainCodec + `,{"name":"sharding_indexed","configuration":{}}]`, `"bytes" in front of sharding_indexed`},
		{codecs, strings.TrimSuffix(sharding(`"chunk_shape":[4,5],"codecs":[`+plainCodec+`],`+index), "]") + `,{"name":"gzip"}]`, `"gzip" after sharding_indexed`},
		{codecs, `"codecs":[{"name":"transpose","configuration":{"order":[0,0]}},{"name":"sharding_indexed"}]`, "transpose: order (0, 0)"},
		{codecs, `"codecs":[{"name":"transpose","configuration":{"order":[]}},{"name":"sharding_indexed"}]`, "transpose: order ()"},
		{`"attributes":{}`, `"attributes":[]`, "attributes"},
		{`"attributes":{}`, `"dimension_names":["x"]`, "dimension_names: 1 names for 2 dimensions"},
		{`"attributes":{}`, `"dimension_names":[1,2]`, "dimension_names"},
		{`"attributes":{}`, `"storage_transformers":[{"name":"cache"}]`, `storage_transformers: "cache"`},
		{`"attributes":{}`, `"encryption":{"key":1}`, `encryption: this extension is not supported`},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s is not in %s", c.old, good)
		}
		_, err := parseV3([]byte(strings.Replace(good, c.old, c.with, 1)))
		checkMessage(t, err, "zarr.json: ", c.says)
	}
}

func TestRefusedV2(t *testing.T) {
	const good = `{"zarr_format":2,"shape":[10,10],"chunks":[4,5],"dtype":"<f4","compressor":null,"fill_value":0,"order":"C","filters":null}`
	if _, err := parseV2([]byte(good), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, with, says string }{
		{`{`, ``, "not valid JSON"},
		{`"zarr_format":2`, `"zarr_format":1`, "zarr_format: version 1"},
		{`"<f4"`, `[["a","<f4"],["b","<i2"]]`, `dtype: the elements have "a", "b" as fields: add #NAME to the path`},
		{`"<f4"`, `"|O"`, `dtype: elements of type "|O"`},
		{`"<f4"`, `"<U4"`, `dtype: elements of type "<U4"`},
		{`"<f4"`, `"<M8[Y]"`, `dtype: times of this unit, "Y"`},
		{`"<f4"`, `"<M8"`, `dtype: elements of type "<M8"`},
		{`"<f4"`, `"|f4"`, `dtype: elements of type "|f4"`},
		{`"<f4"`, `""`, `dtype: elements of type ""`},
		{`"dtype":"<f4",`, ``, `dtype is missing`},
		{`[4,5]`, `[4,0]`, "chunks: (4, 0)"},
		{`[4,5]`, `[4,5,6]`, "chunks: (4, 5, 6) has 3 dimensions"},
		{`"order":"C"`, `"order":"A"`, `order: "A"`},
		{`"fill_value":0`, `"fill_value":"abc"`, `fill_value: "abc"`},
		{`"compressor":null`, `"compressor":{"id":"zfpy"}`, `zfpy`},
		{`"filters":null`, `"filters":[{"id":"vlen-utf8"}]`, `vlen-utf8`},
		{`"order"`, `"dimension_separator":"-","order"`, `dimension_separator "-"`},
	} {
		_, err := parseV2([]byte(strings.Replace(good, c.old, c.with, 1)), nil)
		checkMessage(t, err, ".zarray: ", c.says)
	}
	_, err := parseV2([]byte(good), []byte("[1]"))
	checkMessage(t, err, ".zattrs: ", "not a JSON object")
}

// TestFillValues compares with the bytes that TensorStore 0.1 and zarr-python 3 have
// for the same JSON.
func TestFillValues(t *testing.T) {
	for _, c := range []struct {
		t          dtype.Type
		json, want string // of the element's bytes, little-endian; "" is rejected
	}{
		{dtype.Bool, "true", "01"}, {dtype.Bool, "false", "00"}, {dtype.Bool, "1", ""}, {dtype.Bool, `"true"`, ""},
		{dtype.Uint8, "255", "ff"}, {dtype.Uint8, "256", ""}, {dtype.Uint8, "-1", ""}, {dtype.Uint8, "0.5", ""}, {dtype.Uint8, "7.0", "07"},
		{dtype.Int16, "-2", "feff"}, {dtype.Int16, "32768", ""}, {dtype.Int16, `"NaN"`, ""},
		{dtype.Uint64, "18446744073709551615", "ffffffffffffffff"}, {dtype.Int64, "-9223372036854775808", "0000000000000080"},
		{dtype.Float16, "1", "003c"}, {dtype.Float16, `"0x7e01"`, "017e"}, {dtype.Float16, `"NaN"`, "007e"}, {dtype.Float16, `"Infinity"`, "007c"},
		{dtype.Float16, "-1", "00bc"}, {dtype.Float16, "1e6", ""}, {dtype.Float16, `"0x7fc00000"`, ""}, {dtype.Float16, "300", "b05c"},
		{dtype.BFloat16, "300", "9643"}, {dtype.BFloat16, `"NaN"`, "c07f"}, {dtype.BFloat16, `"-Infinity"`, "80ff"}, {dtype.BFloat16, "0.5", "003f"},
		{dtype.Float32, `"0x7fc00000"`, "0000c07f"}, {dtype.Float32, "0.5", "0000003f"}, {dtype.Float32, "NaN", ""}, {dtype.Float32, `"1"`, ""},
		{dtype.Float32, "0x10", ""}, {dtype.Float32, `"0x"`, ""}, {dtype.Float32, "Inf", ""}, {dtype.Float32, "-0.0", "00000080"},
		{dtype.Float64, `"-Infinity"`, "000000000000f0ff"}, {dtype.Float64, "1.1", "9a9999999999f13f"},
		{dtype.Complex64, `["NaN","-Infinity"]`, "0000c07f000080ff"}, {dtype.Complex64, `[1,"0x7fc00001"]`, "0000803f0100c07f"},
		{dtype.Complex64, "1", ""}, {dtype.Complex64, "[1]", ""}, {dtype.Complex64, `["1","2"]`, ""},
		{dtype.Complex128, "[1.5, 0]", "000000000000f83f0000000000000000"},
	} {
		got, err := parseFill(json.RawMessage(c.json), c.t)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s as %s is %x", c.json, c.t, got)
			}
		} else if err != nil || hex.EncodeToString(got) != c.want {
			t.Errorf("%s as %s is %x, %v, not %s", c.json, c.t, got, err, c.want)
		}
	}
}

// TestFillRoundTrips writes any element and reads it back, in JSON and in the form
// for people.
func TestFillRoundTrips(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dt := rapid.SampledFrom(dtype.All()).Draw(r, "dtype")
		fill := rapid.SliceOfN(rapid.Byte(), dt.Size(), dt.Size()).Draw(r, "element")
		if dt == dtype.Bool {
			fill[0] &= 1
		}
		raw := encodeFill(fill, dt)
		if !json.Valid(raw) {
			r.Fatalf("%s is not JSON", raw)
		}
		if back, err := parseFill(raw, dt); err != nil || !bytes.Equal(back, fill) {
			r.Fatalf("%x as %s is %s, and back %x, %v", fill, dt, raw, back, err)
		}
		if back, err := parseFillText(fillText(fill, dt), dt); err != nil || !bytes.Equal(back, fill) {
			r.Fatalf("%x as %s is %s, and back %x, %v", fill, dt, fillText(fill, dt), back, err)
		}
	})
}

// TestEncodeRoundTrips writes metadata and reads them back.
func TestEncodeRoundTrips(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		drawn := drawModel(r)
		for i := range drawn.levels { // encodeV3 is for what is written here
			if drawn.levels[i].transpose != nil {
				r.Skip()
			}
		}
		m, err := parseV3([]byte(drawn.json()))
		if err != nil {
			r.Fatal(err)
		}
		for range m.shape {
			m.dims = append(m.dims, rapid.SampledFrom([]string{"", "x", "temps é"}).Draw(r, "dimension"))
		}
		if strings.Join(m.dims, "") == "" {
			m.dims = nil
		}
		m.attributes = json.RawMessage(`{"a": [1, {"b": null}]}`)
		back, err := parseV3(m.encodeV3())
		if err != nil {
			r.Fatalf("%v\n%s", err, m.encodeV3())
		}
		m.attributes, back.attributes = compact(m.attributes), compact(back.attributes)
		codecs, again := m.pipeline.V3(), back.pipeline.V3()
		m.pipeline, back.pipeline, m.rest, back.rest = nil, nil, 0, 0 // the text is another
		if !reflect.DeepEqual(m, back) || !reflect.DeepEqual(codecs, again) {
			r.Fatalf("%+v became %+v", m, back)
		}
	})
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	_ = json.Compact(&b, raw)
	return b.Bytes()
}

// TestKeys compares with the keys of the specification.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		v2        bool
		separator string
		index     []int
		want      string
	}{
		{false, "/", []int{1, 23}, "c/1/23"}, {false, ".", []int{1, 23}, "c.1.23"}, {false, "/", nil, "c"}, {false, ".", nil, "c"},
		{true, "/", []int{1, 23}, "1/23"}, {true, ".", []int{1, 23}, "1.23"}, {true, ".", nil, "0"}, {true, ".", []int{4}, "4"},
	} {
		m := &meta{keys: keyEncoding{v2: c.v2, separator: c.separator}, shape: make([]int, len(c.index)), chunks: make([]int, len(c.index))}
		for d := range c.index {
			m.shape[d], m.chunks[d] = 100, 2
		}
		if got := m.key(c.index); got != c.want {
			t.Errorf("%v has key %q, not %q", c.index, got, c.want)
		}
		back := make([]int, len(c.index))
		if !m.parseKey(c.want, back) || list(back) != list(c.index) {
			t.Errorf("%q is of %v", c.want, back)
		}
		for _, other := range []string{c.want + "/0", c.want + c.separator, "x" + c.want, "c/1/50", "c/01/2", "zarr.json", "", "c/-1/2", "c/1", "c/1/2/3", "1.50", "1/+3"} {
			if m.parseKey(other, back) {
				t.Errorf("%q is of %v", other, back)
			}
		}
	}
}

// TestOtherSpellings reads what other writers have in other words.
func TestOtherSpellings(t *testing.T) {
	good := metadata([]int{10, 10}, []int{4, 5}, dtype.Complex64, plainCodec)
	for _, c := range []struct{ old, with string }{
		{`{"name": "default"}`, `"default"`},
		{`"complex64"`, `{"name": "complex_float32"}`},
		{`"attributes": {}`, `"attributes": {"missing": NaN, "text": "a \" NaN", "most": [-Infinity, Infinity]}`},
		{`"attributes": {}`, `"hint": {"must_understand": false, "x": 1}`},
		{`"attributes": {}`, `"storage_transformers": [], "dimension_names": ["x", null]`},
		{`"fill_value": [0, 0]`, `"fill_value": [NaN, -Infinity]`},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s is not in %s", c.old, good)
		}
		m, err := parseV3([]byte(strings.Replace(good, c.old, c.with, 1)))
		if err != nil {
			t.Errorf("%s: %v", c.with, err)
		} else if m.dtype != dtype.Complex64 || m.attributes != nil && !json.Valid(m.attributes) {
			t.Errorf("%s: %+v", c.with, m)
		}
	}
	m, err := parseV2([]byte(`{"zarr_format":2,"shape":[10],"chunks":[4],"dtype":">i2","compressor":null,"fill_value":null,"order":"F","filters":[]}`),
		[]byte(`{"_FillValue": NaN, "_ARRAY_DIMENSIONS": ["time"]}`))
	if err != nil || m.dtype != dtype.Int16 || list(m.chunks) != "[4]" || len(m.dims) != 1 || m.dims[0] != "time" || m.keys.separator != "." {
		t.Errorf("%+v, %v", m, err)
	}
}
