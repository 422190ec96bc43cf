package hdf5

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestReadVirtual reads virtual datasets that h5py makes of random mappings, and such as are errors.
func TestReadVirtual(t *testing.T) {
	storetest.Foreign(t, "virtual datasets that h5py writes", "testdata/virtual.py", 60)
}

// TestVirtualOfDamagedMappings changes mappings, whose checksum is right then: they are read, or an error of one line, and nothing that a file of
// some kilobytes says takes much memory.
func TestVirtualOfDamagedMappings(t *testing.T) {
	random := testcases.Rand(t)
	text := testcases.ReadFile(t, "testdata/virtual.h5")
	path := filepath.Join(t.TempDir(), "x.h5")
	heap := bytes.Index(text, []byte("GCOL"))
	var blocks [][2]int // of mappings
	for at := heap + 16; at < heap+int(little.Uint64(text[heap+8:])); {
		n := int(little.Uint64(text[at+8:]))
		if little.Uint16(text[at:]) == 0 {
			break
		}
		blocks = append(blocks, [2]int{at + 16, n})
		at += 16 + (n+7)&^7
	}
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for range 300 {
		b := bytes.Clone(text)
		at := blocks[random.IntN(2)]
		block := b[at[0]:][:at[1]]
		for range 1 + random.IntN(3) {
			i := random.IntN(len(block) - 4)
			switch random.IntN(3) {
			case 0:
				block[i] = byte(random.Uint32())
			case 1:
				block[i] ^= 1 << random.IntN(8)
			default:
				for j := range min(random.IntN(8), len(block)-4-i) {
					block[i+j] = 0xff
				}
			}
		}
		little.PutUint32(block[len(block)-4:], lookup3(block[:len(block)-4]))
		testcases.WriteFile(t, path, b, 0o600)
		for _, name := range []string{"#v", "#w"} {
			a, err := store.Open(path + name)
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%q has several lines", err)
				}
				continue
			}
			if region := storetest.All(a.Info().Shape); region.Size() < 1<<16 {
				_ = a.Read(t.Context(), make([]byte, region.Size()*a.Info().DType.Size()), region)
			}
			if open := a.Info().Work.Open; open > 8<<20 {
				t.Errorf("it takes %d bytes", open)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestVirtualFixture reads a dataset without Python, and its parts.
func TestVirtualFixture(t *testing.T) {
	data, kind, err := read(t, "testdata/virtual.h5#v")
	if err != nil || kind != "int64 [6 6]" {
		t.Fatalf("%s, %v", kind, err)
	}
	for i := range 36 {
		row, column := i/6, i%6
		want := []int{0, 6, 9, 12, 9, 18}[row] + column
		if row == 4 || row == 2 {
			want = 9
		}
		if row == 2 && column%2 == 0 {
			want = 1 + 3*column/2
		}
		if got := int(little.Uint64(data[8*i:])); got != want {
			t.Errorf("element %d is %d, want %d", i, got, want)
		}
	}
	if _, kind, err := read(t, "testdata/virtual.h5#w"); err != nil || kind != "float32 [3 6]" {
		t.Errorf("%s, %v", kind, err)
	}
}

// TestVirtualVersionIsOfItsSources makes a source that was absent, and changes it.
func TestVirtualVersionIsOfItsSources(t *testing.T) {
	dir := t.TempDir()
	path, source := filepath.Join(dir, "x.h5"), filepath.Join(dir, "absent.h5")
	testcases.WriteFile(t, path, testcases.ReadFile(t, "testdata/virtual.h5"), 0o600)
	seen := map[string]bool{}
	for _, change := range []func(){
		func() {},
		func() { testcases.WriteFile(t, source, testcases.ReadFile(t, "testdata/virtual.h5"), 0o600) },
		func() { testcases.WriteFile(t, source, testcases.ReadFile(t, "testdata/virtual.h5"), 0o600) },
	} {
		change()
		v, err := storage.VersionOf(t.Context(), path+"#v")
		if err != nil || seen[fmt.Sprint(v)] {
			t.Errorf("%v: version %v was there before", err, v)
		}
		seen[fmt.Sprint(v)] = true
	}
}
