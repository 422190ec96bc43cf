package fits

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "files that astropy writes", "testdata/make.py", 60)
}

// part is a header of cards, and its data, each filled up to whole blocks.
func part(data []byte, keywords ...string) []byte {
	var b bytes.Buffer
	for _, card := range append(keywords, "END") {
		fmt.Fprintf(&b, "%-80s", card)
	}
	b.WriteString(strings.Repeat(" ", (blockBytes-b.Len()%blockBytes)%blockBytes))
	b.Write(data)
	b.Write(make([]byte, (blockBytes-b.Len()%blockBytes)%blockBytes))
	return b.Bytes()
}

// TestImagesFollowKeywords has what FITS Standard 4.0 says of each, in section 4.4.2.5 of BSCALE, BZERO and BLANK.
func TestImagesFollowKeywords(t *testing.T) {
	for _, c := range []struct {
		bitpix     int
		cards      string // one a line
		dtype      dtype.Type
		attributes string
		err        string
	}{
		{8, "BZERO   = -128", dtype.Int8, "", ""},
		{16, "BZERO   =              32768.0 / unsigned", dtype.Uint16, "", ""},
		{16, "BZERO   = 3.2768D4\nBSCALE  = 1.0", dtype.Uint16, "", ""},
		{32, "BZERO   = 2147483648", dtype.Uint32, "", ""},
		{64, "BZERO   = 9223372036854775808", dtype.Uint64, "", ""},
		{64, "BZERO   = 9223372036854775808\nBLANK   = -1", dtype.Uint64, `{"_FillValue":9223372036854775807}`, ""},
		{16, "BZERO   = 32768\nBLANK   = -32768", dtype.Uint16, `{"_FillValue":0}`, ""},
		{8, "BZERO   = -128\nBLANK   = 255", dtype.Int8, `{"_FillValue":127}`, ""},
		{64, "BLANK   = -9223372036854775808", dtype.Int64, `{"_FillValue":-9223372036854775808}`, ""},
		{16, "BZERO   = 32768\nBSCALE  = 2", dtype.Int16, `{"add_offset":32768,"scale_factor":2}`, ""},
		{32, "BZERO   = 32768", dtype.Int32, `{"add_offset":32768}`, ""},
		{-32, "BSCALE  = 0.5\nBLANK   = 7\nBUNIT   = 'Jy/beam '", dtype.Float32, `{"scale_factor":0.5,"units":"Jy/beam"}`, ""},
		{16, "BLANK   = 99999", dtype.Int16, "", ""}, // which no number is equal to
		{16, "BSCALE  = 0.5\nBSCALE  = 4", dtype.Int16, `{"scale_factor":0.5}`, ""},
		{16, "BUNIT   = 'photons per &'\nCONTINUE  'second &' / more\nCONTINUE  'and m2'", dtype.Int16, `{"units":"photons per second and m2"}`, ""},
		{16, "BSCALE  = 'half'", dtype.Int16, "", "BSCALE is \"half\", which is not a number"},
		{16, "BZERO   = inf", dtype.Int16, "", "BZERO is"},
		{16, "BLANK   = none", dtype.Int16, "", "BLANK is"},
		{16, "GCOUNT  = 2", dtype.Int16, "", "random groups"},
	} {
		file := part(make([]byte, 64), append([]string{"SIMPLE  = T", fmt.Sprintf("BITPIX  = %d", c.bitpix), "NAXIS   = 1", "NAXIS1  = 4"}, strings.Split(c.cards, "\n")...)...)
		all, err := images(bytes.NewReader(file), int64(len(file)))
		if err != nil || len(all) != 1 {
			t.Errorf("%s: images %v, %v", c.cards, all, err)
			continue
		}
		m := all[0]
		if c.err != "" {
			if m.err == nil || !strings.Contains(m.err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.cards, m.err, c.err)
			}
		} else if m.err != nil || m.DType != c.dtype || string(m.Details.Attributes) != c.attributes {
			t.Errorf("%s: %s with %s, %v; want %s with %s", c.cards, m.DType, m.Details.Attributes, m.err, c.dtype, c.attributes)
		}
	}
}

func TestImagesSkipsRandomGroups(t *testing.T) {
	groups := part(make([]byte, 7*(3+2*4)*4), "SIMPLE  = T", "BITPIX  = -32", "NAXIS   = 3", "NAXIS1  = 0", "NAXIS2  = 2", "NAXIS3  = 4", "GROUPS  = T", "PCOUNT  = 3", "GCOUNT  = 7")
	file := append(groups, part(make([]byte, 8), "XTENSION= 'IMAGE   '", "BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 8", "PCOUNT  = 0", "GCOUNT  = 1")...)
	all, err := images(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(all) != 2 || all[0].err == nil || all[1].err != nil || all[1].Shape[0] != 8 {
		t.Errorf("%+v, %v", all, err)
	}
	for reason, cards := range map[string][]string{"SIMPLE = F": {"SIMPLE  = F", "BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 8"}, "damaged": {"SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 8", "PCOUNT  = 9000000000", "GCOUNT  = 9000000000"}} {
		file := part(make([]byte, 8), cards...)
		if _, err := images(bytes.NewReader(file), int64(len(file))); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%v: %v", cards, err)
		}
	}
}

// failing has its last bytes on a part of the disk that cannot be read.
type failing struct {
	io.ReaderAt
	from int64
}

func (r failing) ReadAt(p []byte, at int64) (int, error) {
	if at >= r.from {
		return 0, syscall.EIO
	}
	return r.ReaderAt.ReadAt(p, at)
}

func TestImagesReportsFailingRead(t *testing.T) {
	data := testcases.ReadFile(t, "testdata/small.fits")
	all, err := images(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(all) < 2 {
		t.Fatalf("images %v, %v: the test needs two", all, err)
	}
	from := all[1].Offset - blockBytes // of the second image's header
	if all, err := images(failing{bytes.NewReader(data), from}, int64(len(data))); !errors.Is(err, syscall.EIO) {
		t.Errorf("images %v, error %v", all, err)
	}
	if _, err := images(bytes.NewReader(data), from+100); err != nil {
		t.Errorf("what follows the first is cut short: %v", err)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	storetest.Damaged(t, "testdata/small.fits", testcases.Rand(t), 3000, "", "#0", "#sci")
}

func FuzzDamaged(f *testing.F) {
	storetest.Fuzz(f, []string{"testdata/small.fits"}, "", "#0", "#sci")
}
