package store

import (
	"errors"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// How elements reach the disk decides the speed of a run that writes as much as
// it reads. Measured on ext4 in a cgroup of 256 MiB, 1 GB in blocks of 4 MiB or
// more from two goroutines, the disk's sync included, and the processor time:
//
//	page cache, left to the kernel       0.6 GB/s
//	page cache, written back behind us   2.6 GB/s, 0.50 s
//	direct, from pages of 4 KiB          1.9 GB/s, 0.08 s
//	direct, from huge pages              3.4 GB/s, 0.03 s
//
// Direct writes of 64 KiB reach 0.5 GB/s against 1.7 through the cache, of
// 1 MiB 2.0 against 2.5.
const (
	// largeBytes is the size from which on an array bypasses the page cache or is
	// dropped from it; a smaller one stays there for the next reader.
	largeBytes = 16 << 20
	// directBytes is the shortest run that is written directly.
	directBytes = 1 << 20
)

// output is the file that an array is written to.
type output struct {
	file     *os.File
	direct   *os.File // the same file without the page cache; nil where it has to be used
	refused  atomic.Bool
	memAlign uintptr // what direct writes ask of the memory's address
	behind   *writeBehind
}

// newOutput makes the file, at its full size.
func newOutput(name string, size int64) (*output, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(reserve(f, size), f.Truncate(size)); err != nil {
		f.Close()
		os.Remove(name)
		return nil, err
	}
	o := &output{file: f}
	if size >= largeBytes {
		o.behind = &writeBehind{fd: int(f.Fd())}
		o.openDirect(name)
	}
	return o, nil
}

// reserve takes the blocks of the whole file, so that the disk cannot fill up
// before the last of them is written, and boxes written in any order lie in the
// file's order. That makes tiles up to half as fast again and changes nothing
// for whole rows. A file system that cannot reserve is none the worse for it.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	switch err := unix.Fallocate(int(f.Fd()), 0, 0, size); err {
	case unix.ENOSPC, unix.EDQUOT, unix.EFBIG:
		return os.NewSyscallError("fallocate", err)
	}
	return nil
}

// openDirect opens the file a second time, unless its file system wants
// everything through the page cache.
func (o *output) openDirect(name string) {
	o.memAlign = dataAlign
	var st unix.Statx_t
	if err := unix.Statx(int(o.file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st); err == nil && st.Mask&unix.STATX_DIOALIGN != 0 {
		if st.Dio_offset_align == 0 || dataAlign%st.Dio_offset_align != 0 {
			return
		}
		o.memAlign = uintptr(st.Dio_mem_align)
	}
	if f, err := os.OpenFile(name, os.O_RDWR|unix.O_DIRECT, 0); err == nil {
		o.direct = f
	}
}

// write stores a run. It may run at once with others that do not overlap. It
// returns how many bytes went into the page cache.
func (o *output) write(src []byte, at int64) (cached int, err error) {
	head := int(-at & (dataAlign - 1))
	body := (len(src) - head) &^ (dataAlign - 1)
	if body >= directBytes && o.canDirect(src[head:]) {
		switch _, err := o.direct.WriteAt(src[head:head+body], at+int64(head)); {
		case errors.Is(err, unix.EINVAL): // it does not do what it announced
			o.refused.Store(true)
		case err != nil:
			return 0, err
		default:
			if _, err := o.file.WriteAt(src[:head], at); err != nil {
				return 0, err
			}
			_, err := o.file.WriteAt(src[head+body:], at+int64(head+body))
			return len(src) - body, err
		}
	}
	_, err = o.file.WriteAt(src, at)
	return len(src), err
}

func (o *output) canDirect(src []byte) bool {
	return o.direct != nil && !o.refused.Load() && uintptr(unsafe.Pointer(unsafe.SliceData(src)))%o.memAlign == 0
}

// settle sends what was written to the page cache on its way to the disk: n
// bytes between two places.
func (o *output) settle(from, to int64, n int) error {
	if o.behind == nil || n == 0 {
		return nil
	}
	return o.behind.add(span{from, to, int64(n)})
}

// finish makes everything durable and closes the file.
func (o *output) finish() error {
	return errors.Join(os.NewSyscallError("fdatasync", unix.Fdatasync(int(o.file.Fd()))), o.close())
}

// close gives up what was written.
func (o *output) close() error {
	if o.direct != nil {
		return errors.Join(o.direct.Close(), o.file.Close())
	}
	return o.file.Close()
}
