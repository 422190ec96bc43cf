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
	"strips.tif":     "uint16 [3 7 5] [1 7 5] []",
	"tiles.tif":      "uint16 [2 20 36] [1 16 16] []",
	"lzw.tif":        "int32 [90 70] [60 70] []",
	"float.tif":      "float32 [2 9 8 3] [1 4 8 3] []",
	"planes.tif":     "float64 [3 9 8] [1 9 8] []",
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
		if c, ok := a.(store.Coded); ok {
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
	all, err := store.Members(t.Context(), "testdata/tiles.tif")
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

// tags writes a little-endian file of pages with tags of one number each.
func tags(pages ...[][2]uint32) []byte {
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

func TestOpenRejectsBombs(t *testing.T) {
	image := [][2]uint32{{tagWidth, 4}, {tagLength, 4}, {tagBits, 8}, {tagStripOffsets, 8}, {tagStripCounts, 16}}
	with := func(more ...[2]uint32) []byte { return tags(append(slices.Clone(image), more...)) }
	loop := tags(image, image)
	binary.LittleEndian.PutUint32(loop[len(loop)-4:], 8)
	for want, file := range map[string][]byte{
		"the file's directories form a loop":          loop,
		" chunks, and the places of 1":                tags([][2]uint32{{tagWidth, 1}, {tagLength, 1 << 30}, {tagBits, 8}, {tagStripOffsets, 8}, {tagRowsPerStrip, 1}}),
		"beyond the end of the file":                  with([2]uint32{tagStripOffsets, 1 << 20}),
		"0 samples in chunks":                         with([2]uint32{tagSamples, 0}),
		"predictor 4 is not supported":                with([2]uint32{tagPredictor, 4}),
		"a predictor without compression":             with([2]uint32{tagPredictor, 2}),
		"predictor 3 for elements of uint8":           with([2]uint32{tagPredictor, 3}, [2]uint32{tagCompression, 8}),
		"the compression CCITT Group 4 of TIFF":       with([2]uint32{tagCompression, 4}),
		"palettes in TIFF":                            with([2]uint32{tagPhotometric, photometricColors}),
		"YCbCr in TIFF":                               with([2]uint32{tagPhotometric, photometricYCbCr}),
		"a reversed order of bits (FillOrder)":        with([2]uint32{tagFillOrder, 2}),
		"elements of 12 bits (unsigned integers) are": with([2]uint32{tagBits, 12}),
		"elements of 24 bits (floats) are":            with([2]uint32{tagBits, 24}, [2]uint32{tagSampleFormat, 3}),
		"more bytes than 63 bits count":               with([2]uint32{tagWidth, 1<<31 - 1}, [2]uint32{tagLength, 1<<31 - 1}, [2]uint32{tagSamples, 60000}),
		"the file has no image":                       tags([][2]uint32{{tagWidth, 0}}),
		"it begins with neither II nor MM":            []byte("not a TIFF file"),
		"version 7 of TIFF is not supported":          []byte("II\x07\x00abcdabcdabcd"),
	} {
		path := filepath.Join(t.TempDir(), "x.tif")
		testcases.WriteFile(t, path, file, 0o600)
		a, err := store.Open(path)
		if err == nil {
			t.Errorf("%s: opened as %+v", want, a.Info())
			a.Close()
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
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
	f.Fuzz(func(t *testing.T, b []byte) {
		file := &file{r: bytes.NewReader(b), size: int64(len(b))}
		c, err := file.read()
		if err != nil {
			return
		}
		for _, s := range c.series {
			if s.err == nil && len(s.shape) != len(s.axes) {
				t.Errorf("shape %v of axes %v", s.shape, s.axes)
			}
		}
	})
}

// A hyperstack of more planes than the file has is none, as for tifffile, which then reads the pages.
func TestHyperstackWithoutRoomIsItsPages(t *testing.T) {
	pages := []page{{layout: layout{width: 7, length: 3, samples: 1, bits: 8}}}
	for room, want := range map[int64]string{63: "[3 3 7]", 62: "[3 7]"} {
		all, err := group(pages, "ImageJ=1.11a\nimages=3\nslices=3\n", room)
		if err != nil || len(all) != 1 || fmt.Sprint(all[0].shape) != want {
			t.Errorf("in %d bytes: %v and %v", room, all, err)
		}
	}
}
