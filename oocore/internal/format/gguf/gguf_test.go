package gguf

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// read is a region of a tensor, in float32.
func read(t *testing.T, a store.Array, r grid.Region) []float32 {
	t.Helper()
	of := a.Info().DType
	b := make([]byte, grid.Size(r.Count)*of.Size())
	if err := a.Read(context.Background(), b, r); err != nil {
		t.Fatal(err)
	}
	widen, _ := kernel.Cast(of, dtype.Float32)
	out := make([]float32, grid.Size(r.Count))
	widen(len(out), dtype.Bytes(out), b, nil, nil)
	return out
}

func whole(shape []int) grid.Region {
	return grid.Region{Start: make([]int, len(shape)), Count: shape, Step: slices.Repeat([]int{1}, len(shape))}
}

// held compares every tensor of a file with what the gguf package makes of it.
func held(t *testing.T, file, floats string) {
	t.Helper()
	raw := testcases.ReadFile(t, floats)
	want := dtype.Slice[float32](raw)
	members, err := storage.Members(t.Context(), file)
	if err != nil || len(members) != 26 {
		t.Fatalf("%d tensors, %v", len(members), err)
	}
	for _, m := range members {
		a, err := store.Open(m.Path)
		if err != nil {
			t.Fatal(err)
		}
		info := a.Info()
		n := grid.Size(info.Shape)
		if got := read(t, a, whole(info.Shape)); !slices.EqualFunc(got, want[:n], func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			t.Errorf("%s: other elements", m.Name)
		}
		if len(info.Shape) == 2 { // a part of a block, backwards
			r := grid.Region{Start: []int{2, 301}, Count: []int{3, 40}, Step: []int{-1, -7}}
			for i, got := range read(t, a, r) {
				if w := want[(2-i/40)*512+301-i%40*7]; got != w {
					t.Errorf("%s: element %d is %v, want %v", m.Name, i, got, w)
				}
			}
		}
		want = want[n:]
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(want) > 0 {
		t.Errorf("%d elements are not in the file", len(want))
	}
}

func TestReadsWhatTheReferenceReads(t *testing.T) { held(t, "testdata/all.gguf", "testdata/all.f32") }

func TestReadsWhatTheReferenceWritesToday(t *testing.T) {
	python := testcases.Python(t, "the gguf package")
	dir := t.TempDir()
	script := testcases.ReadFile(t, "testdata/make.py")
	cmd := exec.Command(python, "-c", strings.Replace(string(script), "default_rng(24)", "default_rng()", 1), dir+"/a.gguf", dir+"/a.f32")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	held(t, dir+"/a.gguf", dir+"/a.f32")
}

// readFrom is readPairs of a file in memory.
func readFrom(b []byte) (Header, []byte, error) { return readPairs(bytes.NewReader(b), int64(len(b))) }

// fixture is the file as bytes, and its header.
func fixture(t testing.TB) ([]byte, Header) {
	b := testcases.ReadFile(t, "testdata/all.gguf")
	h, _, err := readFrom(b)
	if err != nil {
		t.Fatal(err)
	}
	return b, h
}

func TestHeaderHasAttributes(t *testing.T) {
	_, h := fixture(t)
	for _, want := range []string{`"general.name":"made for tests"`, `"llama.block_count":2`, `"made":true`, `"llama.rope.freq_base":10000`} {
		if !strings.Contains(string(h.Attributes), want) {
			t.Errorf("%s lacks %s", h.Attributes, want)
		}
	}
	if strings.Contains(string(h.Attributes), "tokens") {
		t.Error("a vocabulary is an attribute")
	}
}

// little are pieces of a header: numbers as they are, texts with their lengths.
func little(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(binary.LittleEndian.AppendUint64(b, uint64(len(p))), p...)
		case []byte:
			b = append(b, p...)
		default:
			b, _ = binary.Append(b, binary.LittleEndian, p)
		}
	}
	return b
}

func TestRejectsHostileHeaders(t *testing.T) {
	start := func(tensors, keys uint64) []byte { return little([]byte("GGUF"), uint32(3), tensors, keys) }
	tensor := func(name string, kind uint32, offset uint64, dims ...uint64) []byte {
		return little(name, uint32(len(dims)), dims, kind, offset)
	}
	file := func(parts ...[]byte) []byte { return append(bytes.Join(parts, nil), make([]byte, 4096)...) }
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":               {nil, "not a GGUF file"},
		"other magic":         {file([]byte("GGML")), "not a GGUF file"},
		"version":             {file(little([]byte("GGUF"), uint32(1))), "version 1"},
		"big-endian":          {file(little([]byte("GGUF"), uint32(3<<24))), "big-endian"},
		"endless tensors":     {file(start(1<<62, 0)), "claims more"},
		"endless keys":        {file(start(0, 1<<40)), "claims more"},
		"endless name":        {file(start(1, 0), little(uint64(1<<62))), "a name of"},
		"endless text":        {file(start(0, 1), little("a", uint32(8), uint64(1<<62))), "claims more"},
		"endless array":       {file(start(0, 1), little("a", uint32(9), uint32(10), uint64(1<<61))), "claims more"},
		"nested arrays":       {file(start(0, 1), little("a", uint32(9)), bytes.Repeat(little(uint32(9), uint64(1)), 9)), "too deep"},
		"type of a value":     {file(start(0, 1), little("a", uint32(99))), "type 99"},
		"key twice":           {file(start(0, 2), little("a", uint32(7), uint8(1), "a", uint32(7), uint8(1))), "stands twice"},
		"alignment":           {file(start(0, 1), little("general.alignment", uint32(4), uint32(3))), "no power of two"},
		"dimensions":          {file(start(1, 0), tensor("t", 0, 0, 1, 1, 1, 1, 1)), "5 dimensions"},
		"size that overflows": {file(start(1, 0), tensor("t", 0, 0, 1<<40, 1<<40)), "t\""},
		"a huge dimension":    {file(start(1, 0), tensor("t", 0, 0, 1<<63)), "a dimension of"},
		"beyond the file":     {file(start(1, 0), tensor("t", 0, 0, 1<<20)), "cut short"},
		"offset":              {file(start(1, 0), tensor("t", 0, 1<<63, 1)), "offset"},
		"odd offset":          {file(start(1, 0), tensor("t", 0, 4, 1)), "no multiple of 32"},
		"overlap":             {file(start(2, 0), tensor("t", 0, 0, 16), tensor("u", 0, 32, 16)), "overlaps"},
		"name twice":          {file(start(2, 0), tensor("t", 0, 0, 8), tensor("t", 0, 32, 8)), "two tensors"},
		"half a block":        {file(start(1, 0), tensor("t", 8, 0, 33)), "blocks of 32"},
	} {
		if _, _, err := readFrom(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "x.gguf")
	testcases.WriteFile(t, path, file(start(1, 0), tensor("t", 15, 0, 256)), 0o666)
	if _, err := store.Open(path); err == nil || !strings.Contains(err.Error(), "Q8_K cannot be read") {
		t.Errorf("Q8_K: %v", err)
	}
}

// A header that is read can be written, and gives the same header.
func FuzzReadHeader(f *testing.F) {
	b, h := fixture(f)
	f.Add(b[:h.Data])
	f.Add(b[:64])
	f.Fuzz(func(t *testing.T, b []byte) {
		size := int64(len(b)) + 1<<16
		h, pairs, err := readFrom(append(b, make([]byte, 1<<16)...))
		if err != nil {
			return
		}
		for _, of := range h.Tensors {
			if n, known := of.bytes(); known && (of.Offset < 0 || h.Data+of.Offset+n > size) {
				t.Errorf("tensor %q lies beyond the file", of.Name)
			}
		}
		again, same, err := readFrom(append(h.encode(pairs), make([]byte, size)...))
		if err != nil || !bytes.Equal(same, pairs) || len(again.Tensors) != len(h.Tensors) {
			t.Errorf("what was read is written so that it cannot be read: %v", err)
		}
	})
}

func TestResume(t *testing.T) {
	storetest.TestResume(t, dtype.Float32, func(t testing.TB) storetest.Place {
		dir := t.TempDir()
		path := filepath.Join(dir, "a.gguf#weights")
		return storetest.Place{
			Create: func(m store.Meta) (store.Writer, error) { return store.Create(path, m) },
			Open:   func(store.Meta) (store.Array, error) { return store.Open(path) },
			Left: func() (names []string) {
				entries, _ := os.ReadDir(dir)
				for _, e := range entries {
					names = append(names, e.Name())
				}
				return names
			},
		}
	})
}

func TestReadHeaderCountsWhatItHolds(t *testing.T) {
	const n, words = 20_000, 100_000
	b := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	text := func(s string) { b = append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...) }
	b = binary.LittleEndian.AppendUint64(b, n)
	b = binary.LittleEndian.AppendUint64(b, 1)
	text("tokenizer.ggml.merges") // which nothing holds
	b = binary.LittleEndian.AppendUint32(b, 9)
	b = binary.LittleEndian.AppendUint32(b, 8)
	b = binary.LittleEndian.AppendUint64(b, words)
	for i := range words {
		text(fmt.Sprintf("merge %d", i))
	}
	for i := range n {
		text(fmt.Sprintf("blk.%d.ffn_gate.weight", i))
		b = binary.LittleEndian.AppendUint32(b, 2)
		b = binary.LittleEndian.AppendUint64(b, 8)
		b = binary.LittleEndian.AppendUint64(b, 1)
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(32*i))
	}
	b = append(b, make([]byte, 32*n+32)...)
	testcases.Counted(t, func(take func(int64) error) (Header, error) {
		return ReadHeader(bytes.NewReader(b), int64(len(b)), take)
	})
}
