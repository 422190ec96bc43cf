package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteWhole has write fill a file that takes its name when it is whole and synced; after an error there is what was there before.
func WriteWhole(file string, write func(w io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = errors.Join(f.Chmod(0o644), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one that tells
	}
	return err
}
