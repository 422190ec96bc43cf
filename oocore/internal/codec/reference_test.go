package codec

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// reference is a chunk that another library has encoded, and what its metadata say.
type reference struct {
	Name  string
	DType dtype.Type
	Chunk []int
	Data  string

	Codecs []json.RawMessage // of Zarr v3

	Compressor, Filters json.RawMessage // of Zarr v2
	Order               string
	Big                 bool
}

func (r reference) pipeline() (*Pipeline, error) {
	if r.Codecs != nil {
		return FromV3(r.Codecs, r.Chunk, r.DType)
	}
	return FromV2(r.Compressor, r.Filters, r.Order, r.Big, r.Chunk, r.DType)
}

func openZip(t testing.TB, path string) func(name string) []byte {
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return func(name string) []byte {
		f, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func references(t testing.TB) (all []reference, read func(name string) []byte) {
	read = openZip(t, "testdata/reference.zip")
	if err := json.Unmarshal(read("cases.json"), &all); err != nil {
		t.Fatal(err)
	}
	return all, read
}

// TestReference decodes what numcodecs, zarr-python and TensorStore have encoded, as
// testdata/make.py let them.
func TestReference(t *testing.T) { engines(t, readReferences) }

func readReferences(t *testing.T) {
	all, read := references(t)
	for i, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			p, err := r.pipeline()
			if err != nil {
				t.Fatal(err)
			}
			chunk := stored(read(strconv.Itoa(i) + ".chunk"))
			want := read(r.Data)
			got, err := decodeWhole(p, chunk)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatal("other elements")
			}
			moved := make([]byte, len(want))
			p.move(moved, want)
			got, err = decodeStream(p, chunk, []int{len(want) / p.t.Size() / 3 * p.t.Size(), len(want) - len(want)/p.t.Size()/3*p.t.Size()})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, moved) {
				t.Fatal("other elements as a stream")
			}
		})
	}
}

// TestNumcodecsReads lets numcodecs decode what is encoded here.
func TestNumcodecsReads(t *testing.T) {
	python := testcases.Python(t, "what numcodecs makes of chunks encoded here")
	engines(t, func(t *testing.T) { numcodecsReads(t, python) })
}

func numcodecsReads(t *testing.T, python string) {
	type codecs = []map[string]any
	var all []codecs
	var want [][]byte
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.zip"), filepath.Join(dir, "out.zip")
	file, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(file)
	put := func(name string, b []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	type made struct {
		text string
		dt   dtype.Type
		n    int
	}
	var cases []made
	for _, text := range append(texts, "blosc:lz4:9:bitshuffle", "blosc:zstd:9:bitshuffle", "blosc:lz4hc:9:shuffle", "gzip:9", "gzip:0", "zstd:19") {
		for _, dt := range []dtype.Type{dtype.Uint8, dtype.Int16, dtype.Float32, dtype.Float64, dtype.Complex128} {
			for _, n := range []int{1, 1001, 1600, 300_000} {
				cases = append(cases, made{text, dt, n})
			}
		}
	}
	strata := func(m made) []string { return []string{m.text, m.dt.String(), strconv.Itoa(m.n)} }
	for _, m := range testcases.Sample(t, cases, 4, strata) {
		text, dt, n := m.text, m.dt, m.n
		p, err := Parse(text, []int{n}, dt)
		if err != nil {
			t.Fatal(err)
		}
		chunk := field(p.raw, dt)
		var config codecs
		for _, f := range p.filters {
			id, _, _ := bytes.Cut([]byte(f.text()), []byte(":"))
			config = append(config, map[string]any{"id": string(id)})
		}
		whole, err := encodeWhole(p, chunk)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := encodeStream(p, chunk, []int{n / 3 * dt.Size(), (n - n/3) * dt.Size()})
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range []stored{whole, stream} {
			put(strconv.Itoa(len(all))+".chunk", data)
			all, want = append(all, config), append(want, chunk)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	put("cases.json", text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(python, "testdata/make.py", "--decode", in, out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	read := openZip(t, out)
	for i := range all {
		if !bytes.Equal(read(strconv.Itoa(i)+".raw"), want[i]) {
			t.Errorf("chunk %d, %v: numcodecs has other elements", i, all[i])
		}
	}
}
