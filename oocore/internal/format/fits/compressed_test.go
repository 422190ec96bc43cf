package fits

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// tilesFile is testdata/tiles.fits.gz, unpacked.
func tilesFile(t testing.TB) (path string, data []byte) {
	t.Helper()
	f, err := os.Open("testdata/tiles.fits.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "tiles.fits.fz")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// elements are those of an array, and what they are.
func elements(t *testing.T, path string) (data []byte, info store.Info, err error) {
	t.Helper()
	a, err := store.Open(path)
	if err != nil {
		return nil, info, err
	}
	defer a.Close()
	info = a.Info()
	data = make([]byte, grid.Size(info.Shape)*info.DType.Size())
	return data, info, a.Read(t.Context(), data, storetest.All(info.Shape))
}

// TestCompressedImages reads images that astropy has compressed, each of which has what astropy reads of it behind it.
func TestCompressedImages(t *testing.T) {
	path, _ := tilesFile(t)
	for i := range 12 {
		got, info, err := elements(t, fmt.Sprintf("%s#%d", path, 2*i+1))
		if err != nil {
			t.Error(err)
			continue
		}
		want, plain, err := elements(t, fmt.Sprintf("%s#%d", path, 2*i+2))
		if err != nil || info.DType != plain.DType || !slices.Equal(info.Shape, plain.Shape) || !bytes.Equal(got, want) {
			t.Errorf("image %d by %s: other elements of %s %s, want %s %s, %v", 2*i+1, info.Codec, info.DType, grid.Format(info.Shape), plain.DType, grid.Format(plain.Shape), err)
		}
		if packed, _, err := elements(t, fmt.Sprintf("testdata/tiles.fits.gz#%d", 2*i+1)); err != nil || !bytes.Equal(packed, got) {
			t.Errorf("image %d of the packed file: other elements, %v", 2*i+1, err)
		}
		if info.Chunks == nil || info.Work.Open == 0 {
			t.Errorf("image %d: %+v", 2*i+1, info)
		}
	}
}

// odd is an image of floats in four tiles of two, each of which is stored in its own way: the first as integers with a scale, the
// second as they are, the third missing, the fourth as integers again, the last of which is missing. The heap does not begin behind
// the rows.
func odd(change func(cards []string, rows []byte) []string) []byte {
	var rows, heap []byte
	heap = append(heap, 0, 1, 0xff, 0xfe)                                // 1, -2
	heap = binary.BigEndian.AppendUint32(heap, math.Float32bits(2.5))    // at 4
	heap = binary.BigEndian.AppendUint32(heap, math.Float32bits(-1.0/3)) // at 8
	heap = append(heap, 0, 9, 0, 7)                                      // at 12
	row := func(count, at, plain, plainAt uint32, scale float32, zero float64, blank int16) {
		rows = append(rows, 0xaa, 0xbb, 0xcc) // 9 bits, a byte
		rows = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(rows, uint64(count)), uint64(at))
		rows = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(rows, plain), plainAt)
		rows = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(rows, math.Float32bits(scale)), math.Float64bits(zero))
		rows = binary.BigEndian.AppendUint16(rows, uint16(blank))
	}
	row(2, 0, 0, 0, 0.5, 10, 99)
	row(0, 0, 2, 4, 0, 0, 0)
	row(2, 0, 0, 0, 1, 0, -2)
	row(2, 12, 0, 0, 3, 1, 7)
	cards := []string{"XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 41", "NAXIS2  = 4", "PCOUNT  = 26", "GCOUNT  = 1", "THEAP   = 174", "TFIELDS = 7",
		"TFORM1  = '9X'", "TFORM2  = 'B'", "TFORM3  = '1QI(2)'", "TFORM4  = 'PE'", "TFORM5  = 'E'", "TFORM6  = '1D'", "TFORM7  = 'I'",
		"TTYPE3  = 'COMPRESSED_DATA'", "TTYPE4  = 'UNCOMPRESSED_DATA'", "TTYPE5  = 'ZSCALE'", "TTYPE6  = 'ZZERO'", "TTYPE7  = 'ZBLANK'",
		"ZIMAGE  = T", "ZBITPIX = -32", "ZNAXIS  = 2", "ZNAXIS1 = 2", "ZNAXIS2 = 4", "ZCMPTYPE= 'NOCOMPRESS'", "BUNIT   = 'Jy'", "EXTNAME = 'SCI'"}
	if change != nil {
		cards = change(cards, rows)
	}
	return append(part(nil, "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0"), part(slices.Concat(rows, make([]byte, 10), heap), cards...)...)
}

func TestTilesOfAllColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.fits")
	testcases.WriteFile(t, path, odd(nil), 0o600)
	got, info, err := elements(t, path+"#sci,1")
	if err != nil {
		t.Fatal(err)
	}
	nan := math.Float32frombits(0x7fc00000)
	for i, want := range []float32{10.5, 9, 2.5, -1.0 / 3, 1, nan, 28, nan} {
		if bits := binary.LittleEndian.Uint32(got[4*i:]); bits != math.Float32bits(want) {
			t.Errorf("element %d is %v, want %v", i, math.Float32frombits(bits), want)
		}
	}
	if string(info.Details.Attributes) != `{"units":"Jy"}` || !slices.Equal(info.Chunks, []int{1, 2}) || info.Codec != "fits+nocompress" {
		t.Errorf("%+v", info)
	}
	// By keywords, where there are no columns: 1.5 times the integer, and -0.5.
	file := odd(func(cards []string, _ []byte) []string {
		return append(slices.DeleteFunc(cards, func(c string) bool { return strings.HasPrefix(c, "TTYPE") && !strings.Contains(c, "PRESSED") }),
			"ZSCALE  = 1.5", "ZZERO   = -0.5", "ZBLANK  = 9")
	})
	testcases.WriteFile(t, path, file, 0o600)
	if got, _, err = elements(t, path); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{1, -3.5, 2.5, -1.0 / 3, 1, -3.5, nan, 10} {
		if bits := binary.LittleEndian.Uint32(got[4*i:]); bits != math.Float32bits(want) {
			t.Errorf("by keywords element %d is %v, want %v", i, math.Float32frombits(bits), want)
		}
	}
}

// TestTilesThatAreDamaged changes a card, or a row, and says what the error must name.
func TestTilesThatAreDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.fits")
	const huge = "9223372036854775807"
	for _, c := range []struct{ card, want string }{
		{"ZCMPTYPE= 'HCOMPRESS_1'", `"HCOMPRESS_1" of FITS is not supported`},
		{"ZCMPTYPE= 'RICE_1'", "end too early"},
		{"ZCMPTYPE= 'GZIP_2'", "tile 0: it is cut short: gzip"},
		{"ZBITPIX = 12", "ZBITPIX and ZNAXIS: BITPIX 12"},
		{"ZBITPIX = 16", "a column ZSCALE or ZBLANK"},
		{"ZNAXIS1 = 1", "tile 1: nocompress"},
		{"ZNAXIS2 = 5", "its table 4 rows"},
		{"ZNAXIS2 = " + huge, "ZBITPIX and ZNAXIS"},
		{"ZTILE1  = 0", "ZTILE1 is"},
		{"ZTILE2  = 2", "its table 4 rows"},
		{"ZTILE2  = " + huge, "its table 4 rows"},
		{"ZQUANTIZ= 'FANCY'", "ZQUANTIZ is"},
		{"ZDITHER0= 0", "ZDITHER0 is"},
		{"ZDITHER0= 10001", "ZDITHER0 is"},
		{"ZBLANK  = x", "ZBLANK is"},
		{"ZMASKCMP= 'RICE_1'", "ZMASKCMP"},
		{"TFORM3  = '1J'", "column COMPRESSED_DATA"},
		{"TFORM3  = '1QZ'", "column COMPRESSED_DATA"},
		{"TFORM6  = '1J'", "column ZZERO"},
		{"TFORM4  = ''", "TFORM4 is"},
		{"TFORM4  = '99999999999999D'", "TFORM4 is"},
		{"TFORM4  = '99D'", "more bytes than NAXIS1"},
		{"TTYPE3  = 'DATA'", "no column COMPRESSED_DATA"},
		{"TTYPE4  = 'DATA'", "tile 1: it has no data"},
		{"TFIELDS = 1000000000000", "TFORM8 is"},
		{"THEAP   = " + huge, "THEAP"},
		{"PCOUNT  = 0", "THEAP"},
		{"PCOUNT  = " + huge, "PCOUNT " + huge},
		{"PCOUNT  = 12", "2 elements of 2 bytes at 0 of a heap of 2: the file is cut short or damaged"},
		{"NAXIS2  = 3", "THEAP 174 of 149 bytes"},
		{"row 0 at 3", "of a heap of 16: the file is cut short or damaged"},
		{"row 0 at 10", "tile 0"},
		{"row 0 at 15", "of a heap of 16: the file is cut short or damaged"},
	} {
		file := odd(func(cards []string, rows []byte) []string {
			if at := 0; strings.HasPrefix(c.card, "row") {
				_, _ = fmt.Sscanf(c.card, "row 0 at %d", &at)
				rows[at] = 0xff
				return cards
			}
			cards = slices.DeleteFunc(cards, func(old string) bool { return old[:8] == c.card[:8] })
			return append(cards, c.card)
		})
		testcases.WriteFile(t, path, file, 0o600)
		if _, _, err := elements(t, path+"#1"); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q in one line", c.card, err, c.want)
		}
	}
	file := odd(nil)
	for _, size := range []int{len(file) - 2880 + 100, len(file) - 2880 + 176} {
		testcases.WriteFile(t, path, file[:size], 0o600)
		if _, _, err := elements(t, path+"#1"); err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestDamagedTilesAreErrors(t *testing.T) {
	path, _ := tilesFile(t)
	storetest.Damaged(t, path, testcases.Rand(t), 150, "#1", "#5", "#13", "#15", "#19")
}
