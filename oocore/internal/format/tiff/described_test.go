package tiff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// described is a file of n pages of 4 × 4 bytes, the first of which has a description. Its elements follow the directories.
func described(n int, text string) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("II*\x00"), 8)
	data := 8 + n*(6+12*6) + len(text)
	for k := range n {
		b = binary.LittleEndian.AppendUint16(b, 6)
		for _, t := range [][4]int{{256, 4, 1, 4}, {257, 4, 1, 4}, {258, 4, 1, 8}, {270, 2, len(text), data - len(text)}, {273, 4, 1, data + 16*k}, {279, 4, 1, 16}} {
			if t[0] == 270 && k > 0 {
				t[0], t[1], t[2], t[3] = 271, 4, 1, 0 // another tag
			}
			b = binary.LittleEndian.AppendUint16(b, uint16(t[0]))
			b = binary.LittleEndian.AppendUint16(b, uint16(t[1]))
			b = binary.LittleEndian.AppendUint32(b, uint32(t[2]))
			b = binary.LittleEndian.AppendUint32(b, uint32(t[3]))
		}
		next := uint32(len(b) + 4)
		if k == n-1 {
			next = 0
		}
		b = binary.LittleEndian.AppendUint32(b, next)
	}
	return append(append(b, text...), make([]byte, 16*n)...)
}

// A description that has other pages than the file is an error; the pages themselves can be read.
func TestDescriptionsAreHeldToThePages(t *testing.T) {
	xml := func(pixels, data string) string {
		return `<OME UUID="a"><Image><Pixels DimensionOrder="XYCZT" SizeX="4" SizeY="4" ` + pixels + ">" + data + `</Pixels></Image></OME>`
	}
	for _, c := range []struct {
		pages      int
		text, want string
	}{
		{3, "ImageJ=1\nimages=3\nslices=3\n", "[3 4 4] [z y x]"},
		{6, "ImageJ=1\nimages=6\nchannels=2\nslices=3\n", "[3 2 4 4] [z c y x]"},
		{3, "ImageJ=1\nimages=4\nslices=4\n", "says 4 images, the file has 3 pages"},
		{3, "ImageJ=1\nimages=2\nslices=2\n", "says 2 images, the file has 3 pages"},
		{3, "ImageJ=1\nimages=3\nslices=3\nframes=2\n", "says images=3, and 6 channels, slices and frames"},
		{1, "ImageJ=1\nimages=3\nslices=3\n", "the file ends before"},
		{3, "ImageJ=1\nimages=x\n", `says "images=x"`},
		{3, `{"shape": [3, 4, 4], "axes": "TYX"}`, "[3 4 4] [t y x]"},
		{3, `{"shape": [1, 3, 4, 4]}`, "[1 3 4 4] [i i0 y x]"},
		{3, `{"shape": [4, 4, 4]}`, "has an array of 4 pages, the file has 3"},
		{3, `{"shape": [3, 5, 4]}`, "makes an array of (3, 5, 4) of such"},
		{1, `{"shape": [3, 4, 4], "truncated": true}`, "the file ends before"},
		{3, `{"shape": [3, 4`, "not valid JSON"},
		{6, xml(`SizeC="2" SizeZ="3" SizeT="1"`, `<TiffData/>`), "[3 2 4 4] [z c y x]"},
		{2, xml(`SizeC="2" SizeZ="1" SizeT="1"`, `<TiffData IFD="1" FirstC="0"/><TiffData IFD="0" FirstC="1"/>`), "[2 4 4] [c y x]"},
		{5, xml(`SizeC="2" SizeZ="3" SizeT="1"`, `<TiffData/>`), "has no page for plane 5 of 6"},
		{2, xml(`SizeC="2" SizeZ="1" SizeT="1"`, `<TiffData IFD="0" FirstC="0"/><TiffData IFD="2" FirstC="1"/>`), "the file has 2 pages"},
		{2, xml(`SizeC="2" SizeZ="1" SizeT="1"`, `<TiffData IFD="0" FirstC="0"/><TiffData IFD="0" FirstC="1"/>`), "has page 0, or its plane 1, twice"},
		{2, xml(`SizeC="2" SizeZ="1" SizeT="1"`, `<TiffData IFD="0" FirstC="2"/>`), "puts a page at c 2, of 2"},
		{1, xml(`SizeC="1" SizeZ="1" SizeT="1"`, `<TiffData><UUID FileName="old-name.ome.tif">a</UUID></TiffData>`), "[4 4] [y x]"},
		{1, xml(`SizeC="2" SizeZ="1" SizeT="1"`, `<TiffData><UUID FileName="a.ome.tif">a</UUID></TiffData><TiffData FirstC="1"><UUID FileName="b.ome.tif">b</UUID></TiffData>`), `.tif, which has planes of the image: no such file`},
		{1, `<OME><BinaryOnly MetadataFile="m.companion.ome" UUID="x"/></OME>`, `m.companion.ome, which has the metadata of its image: no such file`},
		{1, `<OME><Image></OME>`, "its OME-XML is not valid"},
	} {
		b := described(c.pages, c.text)
		a, err := newArray(t.Context(), "x.tif", "x.tif", "", bytes.NewReader(b), int64(len(b)))
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(a.Shape, a.details.Dims)
		}
		if !strings.Contains(got, c.want) || err != nil && !strings.Contains(got, "#pages") {
			t.Errorf("%d pages of %s: %s, want %s", c.pages, c.text, got, c.want)
		}
		if a, err = newArray(t.Context(), "x.tif#pages", "x.tif", "pages", bytes.NewReader(b), int64(len(b))); err != nil || len(a.series.pages) != c.pages {
			t.Errorf("%s: its pages: %v", c.text, err)
		}
	}
}

// What a file holds that has some planes of an image is known by the version of the array, and looked at when it is read.
func TestChangedFileOfSeveralIsSeen(t *testing.T) {
	dir := t.TempDir()
	data := `<TiffData><UUID FileName="a.tif">a</UUID></TiffData><TiffData FirstC="1"><UUID FileName="b.tif">b</UUID></TiffData>`
	for _, name := range []string{"a", "b"} {
		testcases.WriteFile(t, filepath.Join(dir, name+".tif"), described(1, `<OME UUID="`+name+`"><Image><Pixels DimensionOrder="XYCZT" SizeX="4" SizeY="4" SizeC="2" SizeZ="1" SizeT="1">`+data+`</Pixels></Image></OME>`), 0o600)
	}
	path := filepath.Join(dir, "a.tif")
	a, before, err := storage.OpenVersion(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	other := filepath.Join(dir, "b.tif")
	testcases.WriteFile(t, other, append(testcases.ReadFile(t, other), 1), 0o600)
	if after, err := storage.VersionOf(t.Context(), path); err != nil || after.Equal(before) {
		t.Errorf("%v, the version is that of before", err)
	}
	if err := a.Read(t.Context(), make([]byte, 32), storetest.All(a.Info().Shape)); err == nil || !strings.Contains(err.Error(), "b.tif: "+store.ErrChanged.Error()) {
		t.Error(err)
	}
}

func TestAttributesSayWhatNumbersMean(t *testing.T) {
	for text, want := range map[string]string{
		"ImageJ=1\nimages=2\nslices=2\nunit=\\u00B5m\nspacing=2.5\ncf=0\nc0=-32768\nc1=1\n":                                                                                                            `{"add_offset":-32768,"axes":[{"name":"z","scale":2.5,"unit":"micrometer"},{"name":"y"},{"name":"x"}],"scale_factor":1}`,
		`<OME><Image><Pixels DimensionOrder="XYCZT" SizeX="4" SizeY="4" SizeC="2" SizeZ="1" SizeT="1" PhysicalSizeX="0.5" PhysicalSizeY="2" PhysicalSizeYUnit="nm"><TiffData/></Pixels></Image></OME>`: `{"axes":[{"name":"c"},{"name":"y","scale":2,"unit":"nanometer"},{"name":"x","scale":0.5,"unit":"micrometer"}]}`,
	} {
		b := described(2, text)
		a, err := newArray(t.Context(), "x.tif", "x.tif", "", bytes.NewReader(b), int64(len(b)))
		if err != nil || string(a.details.Attributes) != want {
			t.Errorf("%s: %v, %s", text, err, a.details.Attributes)
		}
	}
	for number, want := range map[uint32]string{0: `{"photometric":"WhiteIsZero"}`, 1: "", 5: `{"photometric":"separated"}`, 32803: `{"photometric":"CFA"}`} {
		b := image([2]uint32{262, number})
		if a, err := newArray(t.Context(), "x.tif", "x.tif", "", bytes.NewReader(b), int64(len(b))); err != nil || string(a.details.Attributes) != want {
			t.Errorf("photometric %d: %v", number, err)
		}
	}
	b := image([2]uint32{274, 6}, [2]uint32{42113, 0x39392d})
	binary.LittleEndian.PutUint16(b[10+12*6+2:], 2) // the text -99
	binary.LittleEndian.PutUint32(b[10+12*6+4:], 4)
	a, err := newArray(t.Context(), "x.tif", "x.tif", "", bytes.NewReader(b), int64(len(b)))
	if err != nil || string(a.details.Attributes) != `{"orientation":6}` || a.details.Fill != "" { // uint8 has no -99
		t.Errorf("%v, %+v", err, a)
	}
}
