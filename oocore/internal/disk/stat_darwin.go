package disk

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// changeTime is when a file's contents, links or permissions last changed.
func changeTime(st fs.FileInfo) (at time.Time) {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		at = time.Unix(sys.Ctimespec.Unix())
	}
	return at
}

// cleanPages writes back a file's dirty pages.
func cleanPages(f *os.File) error { return f.Sync() }

// clockTick is more than the step of the clock that file times are taken from.
func clockTick() time.Duration { return 20 * time.Millisecond }
