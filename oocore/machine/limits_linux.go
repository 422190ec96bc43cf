package machine

import (
	"io/fs"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

func read() Limits {
	l := readLimits(kernel, ownCgroup())
	l.AddressSpace.Max, l.Data.Max = softLimit(unix.RLIMIT_AS), softLimit(unix.RLIMIT_DATA)
	l.readUsed(kernel)
	return l
}

// kernel are the files that every run reads several times.
var kernel = &keptOpen{FS: os.DirFS("/"), files: map[string]int{}}

// keptOpen reads files that the kernel makes up anew for each read from their beginning, by a
// system call each: it opens them once.
type keptOpen struct {
	fs.FS
	mu    sync.Mutex
	files map[string]int
}

// pages take what is read, since runs of a millisecond read ten files.
var pages = sync.Pool{New: func() any { return new([4096]byte) }}

// ReadFile returns what a file holds.
func (k *keptOpen) ReadFile(name string) ([]byte, error) {
	fd, err := k.open(name)
	if err != nil {
		return nil, err
	}
	page := pages.Get().(*[4096]byte)
	defer pages.Put(page)
	for text := page[:]; ; {
		n, err := unix.Pread(fd, text, 0)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: name, Err: err}
		case n == len(text):
			text = make([]byte, 2*len(text))
		default:
			return slices.Clone(text[:n]), nil
		}
	}
}

func (k *keptOpen) open(name string) (fd int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fd, ok := k.files[name]
	if !ok {
		if fd, err = unix.Open("/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return 0, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		k.files[name] = fd
	}
	return fd, nil
}
