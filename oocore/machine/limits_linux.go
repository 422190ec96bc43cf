package machine

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func read() Limits { return readLimits(system{os.DirFS("/")}, ownCgroup()) }

// system is /, whose small files are read by the fewest system calls: every run reads some.
type system struct{ fs.FS }

// ReadFile returns what a file holds.
func (system) ReadFile(name string) ([]byte, error) {
	fd, err := unix.Open("/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	text := make([]byte, 0, 4096)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return text, &fs.PathError{Op: "read", Path: name, Err: err}
		case n == 0:
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}
