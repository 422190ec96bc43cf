package disk

import (
	"errors"
	"os"
	"strconv"
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

// reserve takes the blocks of the whole file, so that the disk cannot fill up
// before the last of them is written, and boxes written in any order lie in the
// file's order. That makes tiles up to half as fast again and changes nothing
// for whole rows. A file system that cannot reserve is none the worse for it.
func reserve(h Handle, size int64) error {
	if size == 0 {
		return nil
	}
	for {
		switch err := unix.Fallocate(int(h.OS().Fd()), 0, 0, size); err {
		case unix.EINTR:
			continue
		case unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EIO:
			return os.NewSyscallError("fallocate", err)
		}
		return nil
	}
}

type directState struct {
	handle   Handle // nil where the page cache has to be used
	rejected atomic.Bool
	memAlign uintptr // what direct writes ask of the memory's address
}

func (d *direct) close() error {
	if d.handle == nil {
		return nil
	}
	return d.handle.Close()
}

// open opens the file a second time, unless its file system wants everything
// through the page cache.
func (d *direct) open(f *File) {
	d.memAlign = Page
	var st unix.Statx_t
	if err := unix.Statx(int(f.OS().Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st); err == nil && st.Mask&unix.STATX_DIOALIGN != 0 {
		if st.Dio_offset_align == 0 || Page%st.Dio_offset_align != 0 {
			return
		}
		d.memAlign = uintptr(st.Dio_mem_align)
	}
	// By its descriptor: the name may lead elsewhere by now.
	if h, err := OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.OS().Fd())), os.O_RDWR|unix.O_DIRECT, 0); err == nil {
		d.handle = h
	}
}

// writeDirect writes the whole pages of a long run past the page cache. It
// reports false where it has done nothing.
func (f *File) writeDirect(p []byte, at int64) (cached int, done bool, err error) {
	head := int(-at & (Page - 1))
	body := (len(p) - head) &^ (Page - 1)
	if body < DirectRun {
		return 0, false, nil
	}
	d := &f.direct
	d.once.Do(func() { d.open(f) })
	if d.handle == nil || d.rejected.Load() || uintptr(unsafe.Pointer(unsafe.SliceData(p[head:])))%d.memAlign != 0 {
		return 0, false, nil
	}
	if _, err := d.handle.WriteAt(p[head:head+body], at+int64(head)); err != nil {
		if errors.Is(err, unix.EINVAL) { // it does not do what it announced
			d.rejected.Store(true)
			return 0, false, nil
		}
		return 0, true, err
	}
	for _, end := range []struct{ from, to int }{{0, head}, {head + body, len(p)}} {
		if end.from == end.to {
			continue
		}
		if _, err := f.WriteAt(p[end.from:end.to], at+int64(end.from)); err != nil {
			return 0, true, err
		}
	}
	return len(p) - body, true, nil
}

// WritebackRange sends what was written to the page cache on its way to the disk: n
// bytes between two places.
func (f *File) WritebackRange(from, to int64, n int) error {
	if !f.large || n == 0 {
		return nil
	}
	return f.behind.add(int(f.OS().Fd()), span{from, to, int64(n)})
}

// ThrottleDirty counts the bytes of pages that short runs have touched, and waits for the
// disk when these are too many.
func (f *File) ThrottleDirty(n int) error {
	if !f.large || n == 0 {
		return nil
	}
	return f.behind.scattered(int(f.OS().Fd()), int64(n))
}

// Flush ends the writing. It starts to write back what is in the page cache, so
// that a Sync later has less to wait for, and keeps one descriptor.
func (f *File) Flush() error {
	err := errors.Join(f.behind.begin(int(f.OS().Fd())), f.direct.close())
	f.direct.handle = nil
	return err
}
