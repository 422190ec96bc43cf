package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Of the errors of writing back only those are none that say that there is no such call.
func TestErrorsOfWritingBack(t *testing.T) {
	for _, err := range []error{unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.ENOMEM, unix.EBADF, unix.EROFS, unix.ESTALE, unix.ETIMEDOUT} {
		if got := rangeError(err); !errors.Is(got, err) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	for _, err := range []error{nil, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL, unix.ESPIPE} {
		if got := rangeError(err); got != nil {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	f, err := CreatePart(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.WritebackRange(0, 1<<20, 1<<20), f.OS().Close()); err != nil {
		t.Fatal(err)
	}
	if err := f.WritebackRange(0, 1<<20, 1<<20); !errors.Is(err, unix.EBADF) || errors.Is(err, os.ErrInvalid) {
		t.Errorf("writing back a file that is closed gives %v", err)
	}
}

// The pages of short runs are left to the kernel up to a part of the memory, beyond which the
// file is written back.
func TestShortRunsAreWrittenBackBeyondPartOfMemory(t *testing.T) {
	f, err := CreatePart(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	if mostScattered() < scatteredBytes {
		t.Errorf("%d bytes, fewer than are allowed in the smallest container", mostScattered())
	}
	if err := errors.Join(f.ThrottleDirty(int(mostScattered()-1)), f.OS().Close()); err != nil || f.behind.short != mostScattered()-1 {
		t.Errorf("%d bytes are counted: %v", f.behind.short, err)
	}
	if err := f.ThrottleDirty(1); !errors.Is(err, unix.EBADF) || f.behind.short != 0 {
		t.Errorf("one byte more leaves %d and gives %v, want a write-back of a file that is closed", f.behind.short, err)
	}
}
