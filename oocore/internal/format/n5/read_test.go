package n5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestReadInterchange reads what TensorStore writes.
func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "containers that TensorStore writes", "testdata/make.py", 100)
}

// block writes a block of uint16 that count up from one on, with N5's first axis first in shape.
func block(from int, mode uint16, shape ...uint32) []byte {
	b := binary.BigEndian.AppendUint16(nil, mode)
	b = binary.BigEndian.AppendUint16(b, uint16(len(shape)))
	n := 1
	for _, length := range shape {
		b = binary.BigEndian.AppendUint32(b, length)
		n *= int(length)
	}
	if mode == 1 {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for i := range n {
		b = binary.BigEndian.AppendUint16(b, uint16(from+i))
	}
	return b
}

const attributes = `{"dimensions": [3, 4], "blockSize": [2, 4], "dataType": "uint16", "compression": {"type": "raw"}, "axes": ["x", "y"], "resolution": [4, 5]}`

// container writes files of a container.
func container(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "x.n5")
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, name, []byte(text), 0o600)
	}
	return root
}

func read(t *testing.T, path string) ([]byte, error) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	data := make([]byte, 24)
	return data, a.Read(t.Context(), data, storetest.All(a.Info().Shape))
}

func TestReadBlocks(t *testing.T) {
	ends := "it has the shape"
	for name, c := range map[string]struct {
		first, last []byte
		want        string // the last column of the array, or words of the error
	}{
		"cut at the edge":    {block(0, 0, 2, 4), block(100, 0, 1, 4), "[100 101 102 103]"},
		"whole at the edge":  {block(0, 0, 2, 4), block(100, 0, 2, 4), "[100 102 104 106]"},
		"with a length":      {block(0, 1, 2, 4), block(100, 1, 1, 4), "[100 101 102 103]"},
		"not stored":         {block(0, 0, 2, 4), nil, "[0 0 0 0]"},
		"smaller":            {block(0, 0, 1, 4), block(100, 0, 1, 4), "block 0/0: " + ends},
		"smaller than edges": {block(0, 0, 2, 4), block(100, 0, 1, 3), "block 1/0: " + ends},
		"larger":             {block(0, 0, 2, 4), block(100, 0, 1<<31, 0), "block 1/0: " + ends},
		"of other lengths":   {append(binary.BigEndian.AppendUint32(block(0, 1, 2, 4)[:12], 9), block(0, 0, 2, 4)[12:]...), nil, "block 0/0: its header does not say the 8 elements"},
		"of objects":         {block(0, 2, 2, 4), nil, "block 0/0: its header says mode 2"},
		"of other axes":      {block(0, 0, 2, 4), block(0, 0, 4), "block 1/0: its header says"},
		"without a header":   {block(0, 0, 2, 4), []byte{0, 0}, "block 1/0: it is cut short"},
		"cut short":          {block(0, 0, 2, 4)[:20], nil, "block 0/0: "},
	} {
		files := map[string]string{"a/x/attributes.json": attributes, "a/x/0/0": string(c.first)}
		if c.last != nil {
			files["a/x/1/0"] = string(c.last)
		}
		data, err := read(t, container(t, files)+"/a/x")
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var column []uint16
		for row := range 4 {
			column = append(column, binary.NativeEndian.Uint16(data[row*6+4:]))
			if first := binary.NativeEndian.Uint16(data[row*6:]); first != uint16(2*row) {
				t.Errorf("%s: row %d begins with %d", name, row, first)
			}
		}
		if got := fmt.Sprint(column); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestOpenSaysWhatIsThere(t *testing.T) {
	root := container(t, map[string]string{"attributes.json": `{"n5": "4.0.0"}`, "a/attributes.json": `{}`, "a/x/attributes.json": attributes,
		"a/x/0/0": string(block(0, 0, 2, 4)), "y/attributes.json": strings.Replace(attributes, "raw", "xz", 1)})
	a, err := store.Open(root + "/a/x")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	i := a.Info()
	if got := fmt.Sprint(i.Format, i.DType, i.Shape, i.Chunks, i.Codec, i.Details.Dims, string(i.Details.Attributes)); got != `n5uint16 [4 3] [4 2]big-endian[y x]{"resolution":[4,5]}` {
		t.Error(got)
	}
	var stored []string
	err = a.(storage.Listed).Chunks(t.Context(), func(index []int, bytes int64) error {
		stored = append(stored, fmt.Sprint(index, bytes))
		return nil
	})
	if err != nil || !slices.Equal(stored, []string{"[0 0] 28"}) {
		t.Errorf("%v, %v", stored, err)
	}
	all, err := storage.Members(t.Context(), root)
	if err != nil || fmt.Sprint(all) != fmt.Sprintf("[{a/x %s/a/x} {y %s/y}]", root, root) {
		t.Errorf("%v, %v", all, err)
	}
	for path, want := range map[string]string{
		"":      `it is a group: it has "a/x", "y"`,
		"/a":    `it is a group: it has "x"`,
		"/y":    `"xz" is not supported: supported are raw, gzip, zstd and blosc`,
		"/none": "attributes.json: no such file",
		"/../x": "does not name an array in x.n5",
	} {
		if _, err := store.Open(root + path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDamagedFilesAreErrors changes bytes of attributes and blocks: an error has one line.
func TestDamagedFilesAreErrors(t *testing.T) {
	random := testcases.Rand(t)
	files := map[string]string{"attributes.json": strings.Replace(attributes, "raw", "zstd", 1), "0/0": string(block(0, 0, 2, 4)), "1/0": string(block(9, 1, 1, 4))}
	root := container(t, files)
	names := slices.Sorted(maps.Keys(files))
	for range 300 {
		name := names[random.IntN(len(names))]
		b := bytes.Clone([]byte(files[name]))
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		b = b[:len(b)-random.IntN(2)*random.IntN(len(b))]
		testcases.WriteFile(t, filepath.Join(root, name), b, 0o600)
		a, err := store.Open(root)
		if err == nil {
			if region := storetest.All(a.Info().Shape); region.Size() < 1<<16 {
				err = a.Read(t.Context(), make([]byte, region.Size()*a.Info().DType.Size()), region)
			}
			a.Close()
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q has several lines", err)
		}
		testcases.WriteFile(t, filepath.Join(root, name), []byte(files[name]), 0o600)
	}
}

// FuzzParse reads any bytes as attributes.
func FuzzParse(f *testing.F) {
	for _, c := range []string{`"gzip"`, `"blosc", "cname": "lz4", "shuffle": 2`, `"zstd"`} {
		f.Add([]byte(strings.Replace(attributes, `"raw"`, c, 1)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err == nil && (len(m.Shape) != len(m.Chunks) || m.Pipeline == nil) {
			t.Errorf("%+v", m)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q has several lines", err)
		}
	})
}
