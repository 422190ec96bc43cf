package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func exchange(dirA *os.File, a string, dirB *os.File, b string) error {
	err := unix.Renameat2(at(dirA), a, at(dirB), b, unix.RENAME_EXCHANGE)
	switch err {
	case unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP:
		return errors.ErrUnsupported
	}
	return err
}
