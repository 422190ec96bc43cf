package disk

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/gonbext/gonbext/oocore/machine"
)

const (
	// behindBytes is how much written data stays in the page cache. Dirty pages
	// count against a cgroup's limit and cannot be reclaimed, and each fresh page
	// costs more than one that was just given back.
	behindBytes = 8 << 20
	// behindStart is the least for which writing back begins at once.
	behindStart = 64 << 10
	// scatteredBytes is how much of pages that are written in short runs may always be dirty.
	scatteredBytes = 16 << 20
	// scatteredPart is the part of the memory that is free when a process first writes short
	// runs of which such pages may be.
	scatteredPart = 16
)

// mostScattered is how much of pages that are written in short runs stays dirty. Such pages
// are left to the kernel while more runs may come to them; a cgroup full of them cannot be
// reclaimed but by writing, and whoever writes meanwhile on the same file system waits for
// that. Pages that are half written reach the disk twice: 128 MiB in chunks of 2048 × 512
// float32 took 0.9 s with 16 MiB, and 0.5 s from 64 MiB on.
var mostScattered = sync.OnceValue(func() int64 {
	free, _ := machine.Read().Headroom()
	return max(free/scatteredPart, scatteredBytes)
})

// writeBehind writes back what went through the page cache, in the order in
// which it came, and drops it once it is on disk.
type writeBehind struct {
	mu    sync.Mutex
	queue []span
	bytes int64
	short int64 // bytes of pages that short runs have touched
}

// span is n bytes between two places of a file.
type span struct{ from, to, n int64 }

func (w *writeBehind) add(fd int, s span) error {
	if s.n >= behindStart {
		if err := syncRange(fd, s, unix.SYNC_FILE_RANGE_WRITE); err != nil {
			return err
		}
	}
	for _, old := range w.exchange(s) {
		const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
		if err := syncRange(fd, old, all); err != nil {
			return err
		}
		_ = unix.Fadvise(fd, old.from, old.to-old.from, unix.FADV_DONTNEED) // a hint
	}
	return nil
}

// scattered writes back the whole file where short runs have touched many pages. Those
// who write meanwhile wait too.
func (w *writeBehind) scattered(fd int, n int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.short += n; w.short < mostScattered() {
		return nil
	}
	w.short = 0
	return syncRange(fd, span{}, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
}

// begin starts to write back all that is left.
func (w *writeBehind) begin(fd int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes == 0 {
		return nil
	}
	return syncRange(fd, span{}, unix.SYNC_FILE_RANGE_WRITE) // up to the end
}

// exchange takes a span in, and out those that are now too many.
func (w *writeBehind) exchange(s span) []span {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, s)
	w.bytes += s.n
	n := 0
	for ; w.bytes > behindBytes; n++ {
		w.bytes -= w.queue[n].n
	}
	old := w.queue[:n:n]
	w.queue = w.queue[n:]
	return old
}

// syncRange reports every error, of which the final sync would not hear again, but
// that a file system lacks the call.
func syncRange(fd int, s span, flags int) error {
	for {
		err := unix.SyncFileRange(fd, s.from, s.to-s.from, flags)
		if err != unix.EINTR {
			return rangeError(err)
		}
	}
}

func rangeError(err error) error {
	if err == unix.EINVAL || err == unix.ESPIPE || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return os.NewSyscallError("sync_file_range", err)
}
