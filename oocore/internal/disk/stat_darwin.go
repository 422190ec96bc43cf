package disk

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// ID is the identity of a file that was looked at.
func ID(st fs.FileInfo) FileID {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}
	}
	return FileID{Device: uint64(sys.Dev), Inode: sys.Ino, ChangeTime: time.Unix(sys.Ctimespec.Unix())}
}

// cleanPages writes back a file's dirty pages.
func cleanPages(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// clockTick is more than the step of the clock that file times are taken from.
func clockTick() time.Duration { return 20 * time.Millisecond }
