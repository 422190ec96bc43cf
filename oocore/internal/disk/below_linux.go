package disk

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/unix"

	"github.com/gonbext/gonbext/oocore/machine"
)

// noOpenat2 says that the system, or a sandbox that the process runs in, lacks openat2.
var noOpenat2 atomic.Bool

// openBelow opens a file of a folder that is prepared for Many, to read it: by one system call, where
// os.Root takes one for each folder on the way. It returns nil where os.Root has to decide.
func openBelow(root *Root, name string, flag int) Handle {
	if root.dir == nil || flag&^unix.O_NONBLOCK != os.O_RDONLY || noOpenat2.Load() {
		return nil
	}
	fd, err := unix.Openat2(int(root.dir.Fd()), name, &unix.OpenHow{
		Flags: uint64(flag) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS})
	if err == unix.ENOSYS || err == unix.EPERM {
		noOpenat2.Store(true)
	}
	if err != nil {
		return nil
	}
	return &descriptor{fd: fd, root: root, rel: name}
}

// descriptor is a file that one goroutine reads and closes. An os.File would be registered with the
// runtime's poller and its garbage collector.
type descriptor struct {
	fd   int
	root *Root
	rel  string
	file *os.File // of OS, by which it is closed then
}

func (d *descriptor) name() string { return filepath.Join(d.root.path, d.rel) }

func (d *descriptor) OS() *os.File {
	if d.file == nil {
		d.file = os.NewFile(uintptr(d.fd), d.name())
	}
	return d.file
}

func (d *descriptor) failed(op string, err error) error {
	return &fs.PathError{Op: op, Path: d.name(), Err: err}
}

func (d *descriptor) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		m, err := syscall.Pread(d.fd, p[n:], at+int64(n))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return n, d.failed("read", err)
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}

func (d *descriptor) Close() error {
	if d.file != nil {
		return d.file.Close()
	}
	if d.fd < 0 {
		return d.failed("close", os.ErrClosed)
	}
	err := syscall.Close(d.fd)
	if d.fd = -1; err != nil && err != syscall.EINTR {
		return d.failed("close", err)
	}
	return nil
}

func (d *descriptor) Stat() (fs.FileInfo, error) {
	st := &state{name: filepath.Base(d.rel)}
	for {
		if err := syscall.Fstat(d.fd, &st.sys); err == nil {
			return st, nil
		} else if err != syscall.EINTR {
			return nil, d.failed("stat", err)
		}
	}
}

func (d *descriptor) WriteAt(p []byte, at int64) (int, error) { return d.OS().WriteAt(p, at) }
func (d *descriptor) Truncate(size int64) error               { return d.OS().Truncate(size) }
func (d *descriptor) Sync() error                             { return handle{d.OS()}.Sync() }
func (d *descriptor) Lock() error                             { return handle{d.OS()}.Lock() }

func (d *descriptor) Map(at int64, n int) (mmap.MMap, error) { return handle{d.OS()}.Map(at, n) }

// state is that of a file, as os.FileInfo has it.
type state struct {
	name string
	sys  syscall.Stat_t
}

func (s *state) Name() string       { return s.name }
func (s *state) Size() int64        { return s.sys.Size }
func (s *state) ModTime() time.Time { return time.Unix(s.sys.Mtim.Unix()) }
func (s *state) IsDir() bool        { return s.Mode().IsDir() }
func (s *state) Sys() any           { return &s.sys }

func (s *state) Mode() fs.FileMode {
	mode := fs.FileMode(s.sys.Mode & 0o777)
	switch s.sys.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return mode
	case syscall.S_IFDIR:
		return mode | fs.ModeDir
	case syscall.S_IFLNK:
		return mode | fs.ModeSymlink
	}
	return mode | fs.ModeIrregular // nobody reads it
}

// looks is the least that is worth a goroutine: a look at a file takes a microsecond.
const looks = 64

// listStates goes through a folder's entries, which have been looked at: many at once, where os.File
// looks at those of an os.Root one after the other.
func listStates(d *os.File, yield func(fs.DirEntry) bool) error {
	defer d.Close()
	fd := int(d.Fd())
	for {
		names, err := d.Readdirnames(listed)
		if err != nil && err != io.EOF {
			return err
		}
		states, errs := make([]state, len(names)), make([]error, len(names))
		each := max((len(names)+machine.Cores()-1)/machine.Cores(), looks)
		var all sync.WaitGroup
		for from := 0; from < len(names); from += each {
			all.Go(func() {
				for i := from; i < min(from+each, len(names)); i++ {
					states[i].name = names[i]
					errs[i] = states[i].lookAt(fd)
				}
			})
		}
		all.Wait()
		for i := range states {
			switch {
			case errs[i] == syscall.ENOENT: // removed meanwhile
			case errs[i] != nil:
				return &fs.PathError{Op: "stat", Path: filepath.Join(d.Name(), names[i]), Err: errs[i]}
			case !yield(fs.FileInfoToDirEntry(&states[i])):
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// lookAt fills the state of a name in a folder, without following a link.
func (s *state) lookAt(folder int) error {
	for {
		err := unix.Fstatat(folder, s.name, (*unix.Stat_t)(unsafe.Pointer(&s.sys)), unix.AT_SYMLINK_NOFOLLOW)
		if err != syscall.EINTR {
			return err
		}
	}
}
