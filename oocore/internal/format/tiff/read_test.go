package tiff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestReadInterchange reads what tifffile writes in any layout, as tifffile reads it.
func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "files that tifffile writes", "testdata/make.py", 200)
}

// fixtures are files whose arrays count up in C order, with their types, shapes, chunks and
// names of dimensions.
var fixtures = map[string]string{
	"strips.tif":     "uint16 [3 7 5] [1 7 5] [i y x]",
	"tiles.tif":      "uint16 [2 20 36] [1 16 16] [i y x]",
	"lzw.tif":        "int32 [90 70] [60 70] [y x]",
	"float.tif":      "float32 [2 9 8 3] [1 4 8 3] [i y x s]",
	"planes.tif":     "float64 [3 9 8] [1 9 8] [s y x]",
	"images.ome.tif": "uint16 [2 3 4 5] [] [t c y x]",
	"imagej.tif":     "uint16 [2 3 4 5] [] [t z y x]",
}

func TestReadFixtures(t *testing.T) {
	for name, want := range fixtures {
		a, err := store.Open("testdata/" + name)
		if err != nil {
			t.Error(err)
			continue
		}
		info := a.Info()
		if got := fmt.Sprint(info.DType, info.Shape, info.Chunks, info.Details.Dims); got != want {
			t.Errorf("%s is %s", name, got)
		}
		region := storetest.All(info.Shape)
		size := info.DType.Size()
		data := make([]byte, region.Size()*size)
		check := func(how string, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				return
			}
			for i := range len(data) / size {
				v := dtype.FromInt(info.DType, int64(i))
				var element [16]byte
				v.Put(element[:])
				if !bytes.Equal(data[i*size:(i+1)*size], element[:size]) {
					t.Errorf("%s, %s: element %d is %x", name, how, i, data[i*size:(i+1)*size])
					break
				}
			}
		}
		check("whole", a.Read(t.Context(), data, region))
		if c, ok := a.(storage.Coded); ok {
			clear(data)
			s, err := c.Session(make([]byte, info.Work.Stream))
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Read(t.Context(), data, region)
			check("in pieces", err)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMembersAreSeries(t *testing.T) {
	all, err := storage.Members(t.Context(), "testdata/tiles.tif")
	if err != nil || len(all) != 1 || all[0].Path != "testdata/tiles.tif#0" {
		t.Errorf("%v, %v", all, err)
	}
	for path, want := range map[string]string{
		"testdata/tiles.tif#1": `no array "1": the file has 0 to 0`,
		"testdata/tiles.tif#x": `no array "x"`,
		"testdata/none.tif":    "no such file",
	} {
		if _, err := store.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	rounds := 100
	if testcases.Full() {
		rounds = 1000
	}
	for name := range fixtures {
		storetest.Damaged(t, "testdata/"+name, testcases.Rand(t), rounds, "")
	}
}

// written writes a little-endian file of pages with tags of one number each.
func written(pages ...[][2]uint32) []byte {
	b := []byte("II*\x00\x08\x00\x00\x00")
	for _, page := range pages {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(page)))
		for _, tag := range page {
			b = binary.LittleEndian.AppendUint16(b, uint16(tag[0]))
			b = binary.LittleEndian.AppendUint16(b, 4)
			b = binary.LittleEndian.AppendUint32(b, 1)
			b = binary.LittleEndian.AppendUint32(b, tag[1])
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(b)+4))
	}
	binary.LittleEndian.PutUint32(b[len(b)-4:], 0)
	return b
}

// image is a little-endian page of 4 × 4 bytes at 512, in a file of 768.
func image(more ...[2]uint32) []byte {
	page := [][2]uint32{{256, 4}, {257, 4}, {258, 8}, {273, 512}, {279, 16}}
	for _, tag := range more {
		page = slices.DeleteFunc(page, func(t [2]uint32) bool { return t[0] == tag[0] })
		page = append(page, tag)
	}
	return padded(written(page))
}

func padded(b []byte) []byte { return append(b, make([]byte, max(768-len(b), 0))...) }

// without is image without some tags, and with others.
func without(leftOut []uint32, more ...[2]uint32) []byte {
	b := image(more...)
	n := int(b[8])
	for i := n - 1; i >= 0; i-- {
		if at := 10 + 12*i; slices.Contains(leftOut, uint32(binary.LittleEndian.Uint16(b[at:]))) {
			b = slices.Delete(b, at, at+12)
			b[8]--
		}
	}
	return b
}

// What a directory says is held to the rest of it: each of these has one contradiction.
func TestOpenRejectsContradictionsByTheirTag(t *testing.T) {
	loop := image()
	binary.LittleEndian.PutUint32(loop[10+12*5:], 8)
	type tag = [2]uint32
	twice := image(tag{284, 1})
	binary.LittleEndian.PutUint16(twice[10+12*5:], 279)
	kind := image()
	kind[10+2] = 99
	long := image()
	binary.LittleEndian.PutUint32(long[10+4:], 1<<30)
	for _, c := range []struct {
		file []byte
		want string
	}{
		{loop, "the file's directories form a loop"},
		{twice, "tag StripByteCounts stands there twice"},
		{kind, "tag ImageWidth has values of the unknown type 99"},
		{long, "tag ImageWidth has 1073741824 values"},
		{image(tag{256, 0}), "ImageWidth is 0"},
		{image(tag{257, 0}), "ImageLength 0"},
		{without([]uint32{256}), "ImageWidth is 0"},
		{without([]uint32{273}), "neither StripOffsets nor TileOffsets"},
		{without([]uint32{279}, tag{259, 5}), "no StripByteCounts or TileByteCounts"},
		{image(tag{278, 0}), "RowsPerStrip, or TileWidth or TileLength, is 0"},
		{image(tag{278, 2}), "it has 2 chunks by its shape, and 1 values of StripOffsets"},
		{image(tag{322, 16}), "RowsPerStrip, or TileWidth or TileLength, is 0"},
		{image(tag{324, 512}), "it has both StripOffsets and TileOffsets"},
		{image(tag{325, 8}), "it has both StripByteCounts and TileByteCounts"},
		{image(tag{279, 15}), "chunk 0 has 15 bytes by StripByteCounts or TileByteCounts, 16 by its shape"},
		{image(tag{279, 17}), "chunk 0 has 17 bytes by StripByteCounts or TileByteCounts, 16 by its shape"},
		{image(tag{279, 0}), "chunk 0 has 0 bytes by StripByteCounts"},
		{image(tag{257, 5}), "chunk 0 has 16 bytes by StripByteCounts or TileByteCounts, 20 by its shape"},
		{image(tag{258, 16}), "32 by its shape"},
		{image(tag{277, 3}), "48 by its shape"},
		{image(tag{273, 4}), "chunk 0 has 16 bytes at 4"},
		{image(tag{273, 20}), "lie across those of another"},
		{image(tag{273, 1 << 20}), "chunk 0 has 16 bytes at 1048576"},
		{image(tag{284, 3}), "PlanarConfiguration is 3"},
		{image(tag{284, 2}, tag{277, 3}), "it has 3 chunks by its shape"},
		{image(tag{274, 9}), "Orientation is 9"},
		{image(tag{277, 0}), "SamplesPerPixel 0"},
		{written([][2]uint32{{256, 1}, {257, 1 << 30}, {258, 8}, {273, 8}, {278, 1}}), "it has 1073741824 chunks by its shape, and 1 values"},
		{image(tag{256, 1<<31 - 1}, tag{257, 1<<31 - 1}, tag{277, 60000}), "more bytes than 63 bits count"},
		{image(tag{317, 4}), "predictor 4 is not supported"},
		{image(tag{317, 2}), "a predictor without compression"},
		{image(tag{317, 3}, tag{259, 8}), "predictor 3 for elements of uint8"},
		{image(tag{259, 4}), "the compression CCITT Group 4 of several bits of TIFF"},
		{image(tag{259, 3}, tag{258, 1}, tag{292, 1}), "the compression CCITT Group 3 of two dimensions of TIFF"},
		{image(tag{259, 7}, tag{258, 12}), "the compression JPEG of 1 samples of 12 bits"},
		{image(tag{259, 34887}), "the compression LERC of TIFF"},
		{image(tag{262, 6}), "YCbCr colours of fewer places (YCbCrSubSampling)"},
		{image(tag{262, 7}), "colours of PhotometricInterpretation 7"},
		{image(tag{266, 3}), "FillOrder is 3"},
		{image(tag{258, 12}), "24 by its shape"},
		{image(tag{258, 12}, tag{317, 2}, tag{259, 8}), "predictor 2 for elements of uint16, of 12 bits"},
		{image(tag{258, 24}, tag{339, 3}), "elements of 24 bits (floats) are"},
		{image(tag{339, 9}), "elements of 8 bits (an unknown kind) are"},
		{image(tag{32997, 2}), "depth (ImageDepth, TileDepth)"},
		{image(tag{32998, 2}, tag{278, 2}), "depth (ImageDepth, TileDepth)"}, // of which chunks are fewer
		{written(), "the file has no image"},
		{[]byte("not a TIFF file"), "it begins with neither II nor MM"},
		{[]byte("II\x07\x00abcdabcdabcd"), "version 7 of TIFF is not supported"},
		{[]byte("II\x2b\x00\x08\x00\x01\x00abcdabcd"), "version 43 of TIFF is not supported"},
	} {
		path := filepath.Join(t.TempDir(), "x.tif")
		testcases.WriteFile(t, path, c.file, 0o600)
		a, err := store.Open(path)
		if err == nil {
			t.Errorf("%s: opened as %+v", c.want, a.Info())
			a.Close()
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// libtiff and tifffile read tiles whose places stand in the tags of strips, and a last strip that is as long as the others.
func TestOpenReadsWhatLibtiffReads(t *testing.T) {
	type tag = [2]uint32
	path := filepath.Join(t.TempDir(), "x.tif")
	for want, file := range map[string][]byte{
		"[4 4] [16 16]": image(tag{322, 16}, tag{323, 16}, tag{279, 256}),
		"[3 4] []":      image(tag{257, 3}, tag{278, 4}, tag{279, 12}),
		"[4 4] []":      without([]uint32{279}),
	} {
		testcases.WriteFile(t, path, file, 0o600)
		a, err := store.Open(path)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		info := a.Info()
		if got := fmt.Sprint(info.Shape, info.Chunks); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		storetest.ReadAll(t, a)
		a.Close()
	}
}

// Whichever bit of a directory is flipped, no page is left out or has the place of another: it is an error, or the page is there.
func TestFlippedBitShiftsNoPage(t *testing.T) {
	for name := range fixtures {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		open := func() (*stored, error) {
			return newArray(t.Context(), name, name, "", bytes.NewReader(b), int64(len(b)))
		}
		whole, err := open()
		if err == nil {
			err = whole.load()
		}
		if err != nil {
			t.Fatal(err)
		}
		pages := len(whole.series.pages)
		if pages == 1 {
			continue
		}
		at := func(a *stored, page int) place { return a.places[page*len(a.places)/pages] }
		for _, p := range whole.contents.pages {
			for i := range 8 * whole.file.directoryBytes(int(p.tags)) {
				b[p.at+i/8] ^= 1 << (i % 8)
				if a, err := open(); err == nil && a.load() == nil {
					if len(a.series.pages) != pages {
						t.Errorf("%s, bit %d at %d: %v in place of %v", name, i%8, p.at+i/8, a.Shape, whole.Shape)
					}
					for k := range pages {
						for j := range pages {
							if j != k && at(a, k).offset == at(whole, j).offset {
								t.Errorf("%s, bit %d at %d: page %d in place of page %d", name, i%8, p.at+i/8, j, k)
							}
						}
					}
				}
				b[p.at+i/8] ^= 1 << (i % 8)
			}
		}
	}
}

// FuzzRead reads any bytes as the directories of a file.
func FuzzRead(f *testing.F) {
	for name := range fixtures {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(described(2, "ImageJ=1\nimages=2\nslices=2\n"))
	f.Add(described(2, `{"shape": [2, 4, 4]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file := newFile(bytes.NewReader(b), int64(len(b)))
		c, err := file.read()
		if err != nil {
			return
		}
		for i, s := range c.series {
			if s.err == nil && len(s.shape) != len(s.axes) {
				t.Errorf("shape %v of axes %v", s.shape, s.axes)
			}
			a, err := newArray(t.Context(), "x.tif", "x.tif", fmt.Sprint(i), bytes.NewReader(b), int64(len(b)))
			if err != nil || a.load() != nil {
				continue
			}
			for _, p := range a.places {
				if p.bytes > 0 && (p.offset < 8 || p.bytes > int64(len(b))-p.offset) {
					t.Errorf("%d bytes at %d, of %d", p.bytes, p.offset, len(b))
				}
			}
		}
	})
}
