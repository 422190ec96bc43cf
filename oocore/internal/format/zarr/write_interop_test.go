package zarr

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestInterchange has zarr-python and TensorStore read what is written here: every
// type with every codec, in chunks and shards of shapes that fit and do not.
func TestInterchange(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out: reading with zarr-python and TensorStore, for which GONBEXT_TEST=full makes them")
	}
	python := zarrPython(t)
	dir := t.TempDir()
	type sample struct {
		Name       string         `json:"name"`
		DType      string         `json:"dtype"`
		Shape      []int          `json:"shape"`
		Dims       []string       `json:"dims"`
		Attributes map[string]any `json:"attributes"`
	}
	var all []sample
	readings := 0
	add := func(m store.Meta, data []byte) {
		t.Helper()
		s := sample{fmt.Sprint("a", len(all)), m.DType.String(), m.Shape, m.Details.Dims, map[string]any{}}
		if m.Details.Attributes != nil {
			if err := json.Unmarshal(m.Details.Attributes, &s.Attributes); err != nil {
				t.Fatal(err)
			}
		}
		saveAll(t, filepath.Join(dir, s.Name+".zarr"), m, data)
		testcases.WriteFile(t, filepath.Join(dir, s.Name+".raw"), data, 0o666)
		all = append(all, s)
		if readings += 2; m.DType == dtype.BFloat16 {
			readings--
		}
	}
	codecs := append([]string{"zstd:19", "gzip:9", "blosc:lz4:9:noshuffle", "blosc:lz4:1:bitshuffle", "blosc:zstd:5:shuffle"}, writtenCodecs...)
	for _, dt := range dtype.All() {
		for _, codec := range codecs {
			for _, m := range []store.Meta{
				{Shape: []int{13, 7}, Chunks: []int{4, 3}},
				{Shape: []int{30, 11}, Chunks: []int{5, 4}, Shards: []int{10, 8}},
			} {
				m.DType, m.Codec = dt, codec
				add(m, storetest.Elements(dt, grid.Size(m.Shape)))
			}
		}
	}
	for _, codec := range codecs {
		for _, m := range []store.Meta{
			{Shape: []int{}},
			{Shape: []int{}, Chunks: []int{}, Shards: []int{}},
			{Shape: []int{0}},
			{Shape: []int{3, 0, 2}},
			{Shape: []int{1}},
			{Shape: []int{2, 3, 1, 4, 2}, Chunks: []int{1, 2, 1, 3, 2}},
			{Shape: []int{50000}, Chunks: []int{20000}},
			{Shape: []int{300, 300}, Chunks: []int{100, 300}, Shards: []int{200, 300}},
			{Shape: []int{17}, Chunks: []int{5}, Details: store.Details{
				Fill: "NaN", Dims: []string{"x"}, Attributes: []byte(`{"title": "ä <b>", "n": [1, 2.5]}`)}},
		} {
			m.DType, m.Codec = dtype.Float64, codec
			data := storetest.Elements(m.DType, grid.Size(m.Shape))
			if len(data) > 1000 { // something that compresses
				for i := range data {
					data[i] = byte(i / 64 * i)
				}
			}
			add(m, data)
			add(m, make([]byte, len(data)))
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(dir, "cases.json"), text, 0o666)
	out, err := exec.Command(python, "testdata/write_check.py", dir).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines[:len(lines)-1] {
		var i int
		_, _ = fmt.Sscanf(line, "a%d ", &i)
		t.Errorf("%s: %+v", line, all[i])
	}
	if last := lines[len(lines)-1]; last != strconv.Itoa(readings) {
		t.Errorf("%s of %d readings are equal", last, readings)
	}
	t.Logf("%d readings", readings)
}

// zarrPython finds a Python with zarr-python and TensorStore.
func zarrPython(t *testing.T) string {
	return testcases.Venv(t, "zarr-3.1.6", "zarr==3.1.6", "tensorstore", "ml_dtypes")
}
