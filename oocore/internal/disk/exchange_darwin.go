package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(dirA *os.File, a string, dirB *os.File, b string) error {
	const swap = 2 // RENAME_SWAP
	err := unix.RenameatxNp(at(dirA), a, at(dirB), b, swap)
	switch err {
	case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP:
		return errors.ErrUnsupported
	}
	return err
}
