package zarr

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestFields reads fields of records that zarr-python wrote, the last of whose chunks is missing, in memory of both sizes.
func TestFields(t *testing.T) {
	for _, name := range []string{"struct", "structured", "v2"} {
		path := "testdata/fields/" + name + ".zarr"
		for _, field := range []string{"e", "id", "b", "z", "h", "t", "in.x", "in.y"} {
			if field == "t" && name == "v2" {
				continue
			}
			want, expected := elements(t, "testdata/fields/"+name+".npy#"+field)
			got, data := elements(t, path+"#"+field)
			if got.DType != want.DType || !bytes.Equal(data, expected) || string(got.Details.Attributes) != string(want.Details.Attributes) {
				t.Errorf("%s#%s: %s\n%x, not %s\n%x", path, field, got.DType, data, want.DType, expected)
			}
			if field == "in.x" && got.Details.Fill != "1.6666666666666667" {
				t.Errorf("%s: fill value %s", path, got.Details.Fill)
			}
		}
		for of, says := range map[string]string{
			"":       `the elements have "e", "id", "b", "s", "z", "h", `,
			"#in":    `field "in" has "x", "y": add .NAME to the path`,
			"#w":     `no field "w": its elements have "e", "id",`,
			"#in.w":  `no field "w": its elements have "x", "y"`,
			"#e.w":   `no field "e.w": its elements have "e", `,
			"#s":     "elements of type ",
			"/c#e":   "neither zarr.json nor .zarray",
			"#in.x.": "no field",
		} {
			_, err := store.Open(path + of)
			checkMessage(t, err, path+of, says)
		}
	}
	_, err := store.Open("testdata/zarr2/" + firstOf(t, "testdata/zarr2") + "#e")
	if err == nil || !strings.Contains(err.Error(), "have no field") {
		t.Errorf("%v", err)
	}
	if _, err := store.Open("testdata#e"); err == nil {
		t.Error("a folder has a field")
	}
}

func firstOf(t *testing.T, folder string) string {
	t.Helper()
	all := testcases.Must[[]os.DirEntry](t)(os.ReadDir(folder))
	return all[0].Name()
}

// TestFieldsAreReadOnly saves to none, and to an array whose name looks like that of one.
func TestFieldsAreReadOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "x.zarr")
	for path, ok := range map[string]bool{folder + "#e": false, folder + "/a#e": true} {
		w, err := store.Create(path, store.Meta{Shape: []int{4}, DType: dtype.Float32})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "fields of records are read only") {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			if err := w.Abort(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFieldArrays reads a field that is an array, behind padding and big-endian, in Fortran order of records.
func TestFieldArrays(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "x.zarr")
	testcases.Must[struct{}](t)(struct{}{}, os.Mkdir(folder, 0o700))
	var record, fill []byte
	value := func(i, j, k int) float32 { return float32(100*i + 10*j + k) }
	put := func(b []byte, i, j int) []byte {
		b = append(b, 1, 2, 9)
		for k := range 3 {
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(value(i, j, k)))
		}
		return b
	}
	fill = append(make([]byte, 3), bytes.Repeat([]byte{0x3f, 0x80, 0, 0}, 3)...)
	testcases.WriteFile(t, filepath.Join(folder, ".zarray"), []byte(`{"zarr_format":2,"shape":[3,4],"chunks":[2,3],"dtype":[["a","<i2"],["","|V1"],["m",">f4",[3,1]]],"compressor":null,"order":"F","filters":null,
"fill_value":"`+base64.StdEncoding.EncodeToString(fill)+`"}`), 0o600)
	testcases.WriteFile(t, filepath.Join(folder, ".zattrs"), []byte(`{"_ARRAY_DIMENSIONS":["y","x"]}`), 0o600)
	for j := range 3 {
		for i := range 2 {
			record = put(record, i, j)
		}
	}
	testcases.WriteFile(t, filepath.Join(folder, "0.0"), record, 0o600)
	info, data := elements(t, folder+"#m")
	if grid.Format(info.Shape) != "(3, 4, 3, 1)" || grid.Format(info.Chunks) != "(2, 3, 3, 1)" || strings.Join(info.Details.Dims, ",") != "y,x,," || info.Details.Fill != "1.0" {
		t.Errorf("%+v", info)
	}
	for n, v := range dtype.Slice[float32](data) {
		i, j, k := n/12, n/3%4, n%3
		want := float32(1)
		if i < 2 && j < 3 {
			want = value(i, j, k)
		}
		if v != want {
			t.Errorf("[%d,%d,%d] is %g, not %g", i, j, k, v, want)
		}
	}
	// A chunk that is too short or too long.
	for _, bad := range [][]byte{record[:len(record)-1], append(record, 0)} {
		testcases.WriteFile(t, filepath.Join(folder, "0.0"), bad, 0o600)
		a := testcases.Must[store.Array](t)(store.Open(folder + "#m"))
		if err := a.Read(t.Context(), data, storetest.All(info.Shape)); err == nil || !strings.Contains(err.Error(), "chunk 0.0: ") {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
		a.Close()
	}
	stored := 0
	a := testcases.Must[store.Array](t)(store.Open(folder + "#m"))
	defer a.Close()
	if err := a.(storage.Listed).Chunks(t.Context(), func(index []int, _ int64) error {
		stored += len(index)
		return nil
	}); err != nil || stored != 4 {
		t.Errorf("%d, %v", stored, err)
	}
}

func TestRefusedFields(t *testing.T) {
	const v2 = `{"zarr_format":2,"shape":[10],"chunks":[4],"dtype":[["a","<f4"]],"compressor":null,"fill_value":null,"order":"C","filters":null}`
	if _, err := parseV2Field([]byte(v2), nil, "a"); err != nil {
		t.Fatal(err)
	}
	deep := `"<f4"`
	for range 6 {
		deep = `[["a",` + deep + `]]`
	}
	for _, c := range []struct{ dtype, says string }{
		{`[]`, "records without fields"},
		{`{}`, "elements of type {} are not supported"},
		{`[["a","<f4"],["a","<i2"]]`, `field "a": two fields have this name`},
		{`[["","<f4"],["a","<i2"]]`, `field "": it has no name`},
		{`[["","|V4"]]`, "records without fields"},
		{`[["a"]]`, `["a"] is no list of a name`},
		{`[[1,"<f4"]]`, `[1,"<f4"] is no list of a name`},
		{`[["a","<f4",[0]]]`, `field "a": it is an array of shape (0,)`},
		{`[["a","<f4",[-1]]]`, `field "a": it is an array of shape (-1,)`},
		{`[["a","<f4","x"]]`, `field "a": `},
		{`[["a","<f4",[4294967296,4294967296,4294967296]]]`, `63 bits`},
		{`[["a","<f4"],["b","<f4",[600000000]]]`, "records of more than 2 GiB"},
		{`[["a","<f4"],["b","|V2147483647"]]`, "records of more than 2 GiB"},
		{`[["a","<f4"],["b","|O"]]`, `field "b": dtype "O" is unknown`},
		{`[["a","|S4"]]`, `elements of type "|S4"`},
		{`[["a","<M8[Y]"]]`, `times of this unit, "Y"`},
		{`[["a",[["b","<f4"]],[2]]]`, `fields of records in an array, as "a" is, are not supported`},
		{deep, "records in more than 4 others"},
	} {
		field := "a"
		if strings.HasPrefix(c.dtype, `[["a",[["b"`) {
			field = "a.b"
		}
		_, err := parseV2Field([]byte(strings.Replace(v2, `[["a","<f4"]]`, c.dtype, 1)), nil, field)
		checkMessage(t, err, ".zarray: dtype: ", c.says)
	}
	for old, with := range map[string][2]string{
		`"chunks":[4]`:      {`"chunks":[2147483647]`, ""},
		`"fill_value":null`: {`"fill_value":"AAAA"`, `fill_value: "AAAA" is not the base64 of a record of 4 bytes`},
		`"filters":null`:    {`"filters":[{"id":"delta","dtype":"<f4"}]`, "delta: it is of numbers, and not supported over records"},
	} {
		if _, err := parseV2Field([]byte(strings.Replace(v2, old, with[0], 1)), nil, "a"); with[1] != "" || err != nil {
			checkMessage(t, err, ".zarray: ", with[1])
		}
	}
	// Chunks of records that overflow where those of the field do not.
	large := strings.Replace(strings.Replace(v2, `"<f4"]`, `"|u1"],["b","|V2000000000"]`, 1), `[10],"chunks":[4]`, `[10,10],"chunks":[2000000000,2000000000]`, 1)
	_, err := parseV2Field([]byte(large), nil, "a")
	checkMessage(t, err, ".zarray: ", "chunks: ")
	large = strings.Replace(large, "2000000000,2000000000", "2000000000,1", 1)
	_, err = parseV2Field([]byte(large), nil, "a")
	checkMessage(t, err, ".zarray: ", "is too large")

	const v3 = `{"zarr_format":3,"node_type":"array","shape":[10],"data_type":{"name":"struct","configuration":{"fields":[{"name":"a","data_type":"float32"}]}},
"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4]}},"chunk_key_encoding":{"name":"default"},"fill_value":{"a":"NaN"},"codecs":[{"name":"bytes"}]}`
	if _, err := parseV3Field([]byte(v3), "a"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, with, says string }{
		{`"name":"a",`, ``, "data_type: field \"\": name is missing"},
		{`"name":"a"`, `"name":""`, `data_type: field "": it has no name`},
		{`{"name":"a","data_type":"float32"}`, `["a","float32"],["a","int8"]`, `field "a": two fields have this name`},
		{`{"name":"a","data_type":"float32"}`, `7`, `7 has no name and data_type`},
		{`"float32"`, `"string"`, `field "a": elements of type "string"`},
		{`"float32"`, `{"name":"null_terminated_bytes","configuration":{"length_bytes":-3}}`, `field "a": elements of type "null_terminated_bytes"`},
		{`{"a":"NaN"}`, `{"b":0}`, `has no value of field "a"`},
		{`{"a":"NaN"}`, `{"a":"b"}`, `fill_value: "b" is not`},
		{`{"a":"NaN"}`, `null`, `null is not the base64`},
		{`{"a":"NaN"}`, `""`, `is not the base64`},
		{`{"name":"bytes"}`, `{"name":"numcodecs.delta","configuration":{"dtype":"<f4"}},{"name":"bytes","configuration":{"endian":"big"}}`, "not supported over records"},
	} {
		_, err := parseV3Field([]byte(strings.Replace(v3, c.old, c.with, 1)), "a")
		checkMessage(t, err, "zarr.json: ", c.says)
	}
}
