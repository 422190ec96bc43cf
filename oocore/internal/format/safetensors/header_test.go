package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// file is a header in front of n bytes of data.
func file(header string, n int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, n)...)
}

func readBytes(b []byte) (Header, error) { return readFrom(bytes.NewReader(b), int64(len(b))) }

func readFrom(r io.ReaderAt, size int64) (Header, error) {
	return ReadHeader(r, size, func(int64) error { return nil })
}

func TestReadHeaderNamesWhatIsWrong(t *testing.T) {
	x := func(fields string) string { return `{"x":{` + fields + `}}` }
	for _, c := range []struct {
		header string
		n      int
		want   string
	}{
		{"", 0, "header: it does not begin with {"},
		{" {}", 0, "header: it does not begin with {"},
		{"[]", 0, "header: it does not begin with {"},
		{`{"x":`, 0, "header: "},
		{"{\"\xff\":{}}", 0, "header: it is not UTF-8"},
		{`{} x`, 0, `header: "x" follows the object`},
		{`{}{}`, 0, `header: "{}" follows the object`},
		{`{"x":1}`, 0, `header: tensor "x": it is not an object`},
		{`{"__metadata__":1}`, 0, "header: __metadata__: it is not an object"},
		{`{"__metadata__":{"a":1}}`, 0, `header: __metadata__: "a": it is not a string`},
		{`{"__metadata__":{"a":"1","a":"2"}}`, 0, `header: __metadata__: key "a" stands twice`},
		{`{"__metadata__":{},"__metadata__":{}}`, 0, `header: key "__metadata__" stands twice`},
		{`{"x":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[],"data_offsets":[1,2]}}`, 2, `header: two tensors have the name "x"`},
		{x(`"dtype":"U8","dtype":"U8"`), 0, `header: tensor "x": key "dtype" stands twice`},
		{x(`"shape":[],"data_offsets":[0,1]`), 1, `header: tensor "x": dtype is missing`},
		{x(`"dtype":"U8","data_offsets":[0,1]`), 1, `header: tensor "x": shape is missing`},
		{x(`"dtype":"U8","shape":[]`), 1, `header: tensor "x": data_offsets is missing`},
		{x(`"dtype":8,"shape":[],"data_offsets":[0,1]`), 1, `"dtype": it is not a string`},
		{x(`"dtype":"U8","shape":3,"data_offsets":[0,1]`), 1, `"shape": it is not a list`},
		{x(`"dtype":"U8","shape":[-1],"data_offsets":[0,1]`), 1, `"shape": -1 is not a natural number`},
		{x(`"dtype":"U8","shape":[1.0],"data_offsets":[0,1]`), 1, `"shape": 1.0 is not a natural number`},
		{x(`"dtype":"U8","shape":["1"],"data_offsets":[0,1]`), 1, `"shape": it holds something other than numbers`},
		{x(`"dtype":"U8","shape":[1],"data_offsets":[1]`), 1, "data_offsets has 1 numbers, not two"},
		{x(`"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551615]`), 1, "is not a natural number of 63 bits"},
		{x(`"dtype":"F32","shape":[9223372036854775807,2],"data_offsets":[0,8]`), 8, "more bytes than 63 bits count"},
		{x(`"dtype":"U8","shape":[1],"data_offsets":[1,0]`), 1, "data_offsets [1, 0] end before they begin"},
		{x(`"dtype":"U8","shape":[1],"data_offsets":[1,2]`), 2, "data_offsets [1, 2] leave a hole of 1 bytes before them"},
		{x(`"dtype":"F32","shape":[2],"data_offsets":[0,9]`), 9, "shape (2,) of F32 has 8 bytes, data_offsets [0, 9] have 9"},
		{x(`"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,3]`), 3, "shape (2,) of F8_E4M3 has 2 bytes"},
		{x(`"dtype":"F4","shape":[3],"data_offsets":[0,3]`), 3, "shape (3,) of F4 has 2 bytes"},
		{x(`"dtype":"U8","shape":[2],"data_offsets":[0,2]`), 3, "the tensors end at byte 2 of the data, the file has 3"},
		{x(`"dtype":"U8","shape":[2],"data_offsets":[0,2]`), 1, "the tensors end at byte 2 of the data, the file has 1"},
		{`{}`, 1, "the tensors end at byte 0 of the data, the file has 1"},
		{`{"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}`, 4,
			`tensor "y": data_offsets [2, 4] overlap those of "x", which end at 3`},
	} {
		_, err := readBytes(file(c.header, c.n))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.header, err, c.want)
		}
	}
}

func TestReadHeaderIsBounded(t *testing.T) {
	claim := func(n uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), "{}"...) }
	for want, b := range map[string][]byte{
		"it has only 7 bytes":                           make([]byte, 7),
		"claims 100000001 bytes, the format allows":     claim(100_000_001),
		"claims 100000000 bytes, the file has only 10":  claim(100_000_000),
		"claims 18446744073709551615 bytes, the format": claim(1<<64 - 1),
	} {
		if _, err := readBytes(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestDTypesThatCannotBeReadAreRefusedByName(t *testing.T) {
	for name, want := range map[string]string{
		"F8_E8M0":     "dtype F8_E8M0 cannot be read: save the tensor as F16, BF16 or F32",
		"F8_E5M2FNUZ": "dtype F8_E5M2FNUZ cannot be read", "U3": `dtype "U3" is unknown`,
	} {
		h, err := readBytes(file(`{"a":{"dtype":"`+name+`","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[],"data_offsets":[2,3]}}  `, 3))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := h.extent(h.Tensors[1]); err != nil || e.DType != dtype.Uint8 || e.Offset != h.Data+2 {
			t.Errorf("beside %s: %+v, %v", name, e, err)
		}
		if _, err := h.extent(h.Tensors[0]); err == nil || !strings.Contains(err.Error(), `tensor "a": `+want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestHeaderIsReadBack(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		want := Header{Metadata: rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(r, "metadata")}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 9, -1), 0, 6, rapid.ID).Draw(r, "names") {
			shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(r, "shape")
			dt := rapid.SampledFrom(dtype.All()).Draw(r, "dtype")
			tensor, err := newTensor(name, store.Meta{Shape: shape, DType: dt})
			if dt == dtype.Complex128 || name == "__metadata__" {
				if err == nil {
					r.Fatalf("%q of %s was accepted", name, dt)
				}
				continue
			}
			want.Tensors = append(want.Tensors, tensor)
		}
		size := place(want.Tensors)
		b, err := want.encode()
		if err != nil {
			r.Fatal(err)
		}
		if len(b)%headerAlign != 0 {
			r.Fatalf("the data begin at %d", len(b))
		}
		got, err := readFrom(bytes.NewReader(b), int64(len(b))+size)
		if err != nil {
			r.Fatal(err)
		}
		for _, w := range want.Tensors {
			if i, err := got.Names.Find(w.Name); err != nil || !reflect.DeepEqual(got.Tensors[i], w) {
				r.Errorf("%d, %v, want %+v", i, err, w)
			}
		}
		if len(got.Tensors) != len(want.Tensors) || fmt.Sprint(got.Metadata) != fmt.Sprint(want.Metadata) {
			r.Errorf("%+v, want %+v", got, want)
		}
	})
}

func FuzzHeader(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.safetensors")
	bad, _ := filepath.Glob("testdata/bad/*.safetensors")
	for _, name := range append(files, bad...) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(file(`{"a":{"dtype":"F4","shape":[2,0,3],"data_offsets":[0,0],"more":[{}]},"__metadata__":{"a":"b"}} `, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h, err := readBytes(b)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; len(b) < 1<<16 && taken > 16<<20 {
			t.Errorf("%d bytes were allocated for a file of %d", taken, len(b))
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		at := int64(0)
		for _, tensor := range h.Tensors {
			if tensor.Begin != at || tensor.End < at {
				t.Errorf("%+v does not begin at %d", tensor, at)
			}
			at = tensor.End
			if e, err := h.extent(tensor); err == nil && (e.Offset < 8 || e.Offset+e.Bytes() > int64(len(b))) {
				t.Errorf("%+v reaches beyond the file's %d bytes", e, len(b))
			}
		}
		if h.Data+at != int64(len(b)) {
			t.Errorf("the tensors end at %d of %d", h.Data+at, len(b))
		}
	})
}

func TestReadHeaderCountsWhatItHolds(t *testing.T) {
	const n = 40_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"model.layers.%d.weight":{"dtype":"U8","shape":[1,%d],"data_offsets":[%d,%d]}`, i, i%2, i/2, i/2+i%2)
	}
	text := file("{"+b.String()[1:]+"}", n/2)
	testcases.Counted(t, func(take func(int64) error) (Header, error) {
		return ReadHeader(bytes.NewReader(text), int64(len(text)), take)
	})
}

func TestFilesOfAModelWithoutIndexAreOne(t *testing.T) {
	dir := t.TempDir()
	part := func(i int) string { return filepath.Join(dir, fmt.Sprintf("m-%05d-of-00002.safetensors", i)) }
	one := func(name string) []byte {
		return file(`{"`+name+`":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}`, 1)
	}
	testcases.WriteFile(t, part(1), one("a"), 0o666)
	testcases.WriteFile(t, part(2), one("b"), 0o666)
	all, err := storage.Members(t.Context(), part(2))
	if err != nil || len(all) != 2 || all[0].Path != part(1)+"#a" || all[1].Path != part(2)+"#b" {
		t.Errorf("%v, %v", all, err)
	}
	if a, err := store.Open(part(1) + "#b"); err != nil {
		t.Error(err)
	} else {
		a.Close()
	}
	if _, err := store.Open(part(1)); err == nil || !strings.Contains(err.Error(), `"a", "b": add #NAME`) {
		t.Errorf("without a name: %v", err)
	}
	testcases.WriteFile(t, part(2), one("a"), 0o666)
	if _, err := storage.Members(t.Context(), part(1)); err == nil || !strings.Contains(err.Error(), `"a" is in m-00001-of-00002.safetensors and in m-00002`) {
		t.Errorf("a name twice: %v", err)
	}
	os.Remove(part(2))
	if _, err := storage.Members(t.Context(), part(1)); err == nil || !strings.Contains(err.Error(), "m-00002-of-00002.safetensors is missing") {
		t.Errorf("a missing file: %v", err)
	}
	testcases.WriteFile(t, filepath.Join(dir, "m.safetensors.index.json"), []byte(`{"weight_map":{"a":"m-00001-of-00002.safetensors"}}`), 0o666)
	if a, err := store.Open(part(1)); err != nil { // by itself, beside an index
		t.Error(err)
	} else {
		a.Close()
	}
}
