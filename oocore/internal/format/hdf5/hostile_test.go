package hdf5

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// appended is a copy of a file with bytes after its end, which add makes and refers to: at is where they lie.
func appended(t testing.TB, file string, add func(b []byte, at uint64) []byte) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, add(b, uint64(len(b)))...)
	path := filepath.Join(t.TempDir(), "x.h5")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var little = binary.LittleEndian

// manyTimes has a node of a B-tree of a kind above the only leaf of so many entries, which reaches it
// again and again; keys have so many bytes.
func manyTimes(t testing.TB, file string, kind byte, entries uint16, key, times int) string {
	return appended(t, file, func(b []byte, at uint64) []byte {
		leaf := -1
		for i := 0; ; i++ {
			next := bytes.Index(b[i:], []byte("TREE"))
			if next < 0 {
				t.Fatal("no such node")
			}
			if i += next; b[i+4] == kind && little.Uint16(b[i+6:]) == entries {
				leaf = i
				break
			}
		}
		node := append([]byte("TREE"), kind, 1)
		node = little.AppendUint16(node, uint16(times))
		node = append(node, bytes.Repeat([]byte{255}, 16)...)
		for range times {
			node = append(node, b[leaf+24:leaf+24+key]...)
			node = little.AppendUint64(node, uint64(leaf))
		}
		node = append(node, make([]byte, key)...)
		for i := range len(b) - 8 { // what refers to the leaf
			if little.Uint64(b[i:]) == uint64(leaf) {
				little.PutUint64(b[i:], at)
			}
		}
		return node
	})
}

// overlapping has a header that continues many times into a block of continuations.
func overlapping(t testing.TB, file, name string, times int) string {
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	st, err := r.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(r, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	o, err := f.lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return appended(t, file, func(b []byte, at uint64) []byte {
		header := b[o.address:]
		little.PutUint16(header[2:], 65535) // messages
		continues := func(m []byte) {
			little.PutUint16(m, msgContinuation)
			m[4] = 0
			little.PutUint64(m[8:], at)
			little.PutUint64(m[16:], uint64(24*times))
		}
		continues(header[16:])
		block := make([]byte, 24*times)
		for i := range times {
			little.PutUint16(block[24*i+2:], 16)
			continues(block[24*i:])
		}
		return block
	})
}

// counted is a reader that counts bytes.
type counted struct {
	*bytes.Reader
	bytes int64
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += int64(len(p))
	return c.Reader.ReadAt(p, at)
}

// TestHostileFilesReadNoMoreThanTheyHave opens files whose structures reach the same bytes again and again.
func TestHostileFilesReadNoMoreThanTheyHave(t *testing.T) {
	const chunks, keyBytes = 15, 8 + 3*8 // of a/b/tree
	for _, c := range []struct{ file, name, want string }{
		{manyTimes(t, "testdata/old.h5", 1, chunks, keyBytes, 4096), "a/b/tree", "more places than there are chunks"},
		{manyTimes(t, "testdata/old.h5", 0, 1, 8, 65535), "contiguous", "its structures have more bytes than the file"},
		{overlapping(t, "testdata/old.h5", "a/b/tree", 2000), "a/b/tree", "its header has more bytes than the file"},
	} {
		b := testcases.ReadFile(t, c.file)
		r := &counted{Reader: bytes.NewReader(b)}
		s, err := find(c.file, r, int64(len(b)), c.name, false)
		if err == nil {
			_, err = s.index()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if most := 1<<20 + 9*int64(len(b)); r.bytes > most {
			t.Errorf("%s: %d bytes were read of a file of %d", c.name, r.bytes, len(b))
		}
	}
}

// TestFlagsAreReadOrRejected opens files in which a flag changes what bytes mean, and such as no program should write.
func TestFlagsAreReadOrRejected(t *testing.T) {
	storetest.Foreign(t, "HDF5 files with flags that h5py writes", "testdata/flags.py", 38)
}
