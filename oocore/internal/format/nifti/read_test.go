package nifti

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "files that nibabel writes", "testdata/make.py", 60)
}

func TestDamagedFilesAreErrors(t *testing.T) {
	storetest.Damaged(t, "testdata/small.nii", testcases.Rand(t), 3000, "")
}

// Each of these has one field that contradicts the others.
func TestOpenRejectsContradictionsByTheirField(t *testing.T) {
	whole, err := os.ReadFile("testdata/small.nii")
	if err != nil {
		t.Fatal(err)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if binary.BigEndian.Uint32(whole) == 348 {
		order = binary.BigEndian
	}
	path := filepath.Join(t.TempDir(), "x.nii")
	for want, change := range map[string]func(b []byte) []byte{
		"bitpix of the header":      func(b []byte) []byte { order.PutUint16(b[72:], 7); return b },
		"dim[1] of the header is 0": func(b []byte) []byte { order.PutUint16(b[42:], 0); return b },
		"vox_offset of the header":  func(b []byte) []byte { order.PutUint32(b[108:], math.Float32bits(348)); return b },
		"bytes from 352 on":         func(b []byte) []byte { return append(b, make([]byte, padding)...) },
		"in a file of their own":    func(b []byte) []byte { copy(b[344:], "ni1"); return b },
		"the file is cut short":     func(b []byte) []byte { return b[:len(b)-1] },
	} {
		testcases.WriteFile(t, path, change(bytes.Clone(whole)), 0o600)
		if a, err := store.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s; %v", err, want, a)
		}
	}
}

// A pair without one of its files is an error that names it, and files of other formats with such names are not NIfTI's.
func TestPairNamesTheFileThatIsMissing(t *testing.T) {
	header := testcases.ReadFile(t, "testdata/small.nii")[:348]
	copy(header[344:], "ni1")
	for want, files := range map[string]map[string][]byte{
		"the elements of a pair, x.img, are missing": {"x.hdr": header}, "the header of a pair, x.hdr, cannot be read": {"x.img": nil},
		"bare elements": {"x.hdr": []byte("ENVI\n"), "x.img": nil}, "name it NAME.nii": {"x.hdr": testcases.ReadFile(t, "testdata/small.nii"), "x.img": nil},
	} {
		dir := t.TempDir()
		for name, text := range files {
			testcases.WriteFile(t, filepath.Join(dir, name), text, 0o600)
		}
		for _, name := range []string{"x.hdr", "x.img"} {
			if a, err := store.Open(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s; %v", name, err, want, a)
			}
		}
	}
}

// RGB24 is an axis of colours that goes fastest.
func TestColoursAreAnAxis(t *testing.T) {
	b := make([]byte, 352+24)
	binary.LittleEndian.PutUint32(b, 348)
	copy(b[40:], []byte{3, 0, 4, 0, 2, 0, 1, 0}) // dim
	copy(b[70:], []byte{128, 0, 24, 0})          // datatype, bitpix
	binary.LittleEndian.PutUint32(b[80:], math.Float32bits(2))
	binary.LittleEndian.PutUint32(b[108:], math.Float32bits(352))
	b[123] = 2 // millimetres
	copy(b[344:], "n+1\x00")
	path := filepath.Join(t.TempDir(), "x.nii")
	testcases.WriteFile(t, path, b, 0o600)
	a, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	info := a.Info()
	if got := fmt.Sprint(info.Shape, info.Fortran, info.DType, info.Details.Dims, " ", string(info.Details.Attributes)); got != `[1 2 4 3] true uint8 [z y x c] {"axes":[{"name":"c"},{"name":"x","scale":2,"unit":"millimeter"},{"name":"y"},{"name":"z"}]}` {
		t.Error(got)
	}
}

func FuzzDamaged(f *testing.F) {
	storetest.Fuzz(f, []string{"testdata/small.nii"}, "")
}
