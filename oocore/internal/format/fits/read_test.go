package fits

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "files that astropy writes", "testdata/make.py", 60)
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
