package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changeTime is when a file's contents, links or permissions last changed.
func changeTime(st fs.FileInfo) (at time.Time) {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		at = time.Unix(sys.Ctim.Unix())
	}
	return at
}

// clockTick is the step of the clock that file times are taken from.
func clockTick() time.Duration {
	var step unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_REALTIME_COARSE, &step); err != nil {
		return 20 * time.Millisecond
	}
	return time.Duration(step.Nano()) + time.Millisecond
}

// cleanPages begins to write back a file's dirty pages, by which the kernel takes from
// mappings the right to write them unseen.
func cleanPages(f *os.File) error {
	err := unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	if err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ESPIPE) && !errors.Is(err, unix.EPERM) {
		return &fs.PathError{Op: "sync_file_range", Path: f.Name(), Err: err}
	}
	return nil
}
