package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/edsrzf/mmap-go"
)

// system is the file system of this machine.
type system struct{}

func (system) OpenFile(name string, flag int, perm fs.FileMode) (Handle, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return handle{f}, nil
}

func (system) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }
func (system) Rename(from, to string) error              { return os.Rename(from, to) }
func (system) Remove(name string) error                  { return os.Remove(name) }

// listed bounds how many entries of a folder are held at once.
const listed = 1024

func (system) List(name string, yield func(fs.DirEntry) bool) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(listed)
		for _, e := range entries {
			if !yield(e) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (system) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// handle is a file of this machine.
type handle struct{ *os.File }

func (h handle) OS() *os.File { return h.File }

func (h handle) Map(at int64, n int) (mmap.MMap, error) {
	return mmap.MapRegion(h.File, n, mmap.RDONLY, 0, at)
}
