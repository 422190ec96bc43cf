package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// FileID is what a file system tells of one version of a file in addition to its size
// and modification time.
type FileID struct {
	Device, Inode uint64
	// ChangeTime is when contents, links or permissions last changed. Unlike the
	// modification time no program can set it. It is zero where the system has none.
	ChangeTime time.Time
}

// ID returns the identity of a file that was looked at.
func ID(st fs.FileInfo) FileID {
	id := FileID{ChangeTime: changeTime(st)}
	id.Device, id.Inode = Numbers(st)
	return id
}

// LastChange returns when a file last changed, as far as the system tells.
func LastChange(st fs.FileInfo) time.Time {
	if changed := changeTime(st); !changed.IsZero() {
		return changed
	}
	return st.ModTime()
}

// SameMoment reports whether one operation can have given two files their change times.
func SameMoment(a, b time.Time) bool { return a.Sub(b).Abs() <= 20*time.Millisecond }

// dirtyAge is how long a page that was written through a mapping may stay dirty before
// the kernel writes it back, with room to spare. While it is dirty, more can be written
// to it without any change of the file's times.
const dirtyAge = time.Minute

// Settle waits until every later change of a file will show in its times, as far as its
// file system allows: a file that changes twice within one tick of the clock keeps its
// times, and so does a mapped page that is written again before it was written back.
// Settle reports whether the file's times can be relied on from now on.
func Settle(name string) (bool, error) {
	st, err := os.Stat(name)
	if err != nil {
		return false, err
	}
	if InMemory(name) {
		return false, nil // pages that are written through a mapping change no time, ever
	}
	changed := LastChange(st)
	if time.Since(changed) > dirtyAge {
		return true, nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|quick, 0)
	if err != nil {
		return false, err
	}
	if err := errors.Join(cleanPages(f), f.Close()); err != nil {
		return false, err
	}
	wait, reliable := Unsettled(changed)
	time.Sleep(wait)
	return reliable, nil
}

// Settler asks of many open files what Settle says of one.
type Settler struct {
	device         uint64
	asked, changes bool // whether the device's files change their times with their contents
}

// Settled reports whether every later change of an open file, which last changed at a time, will
// show in its times. It does not wait.
func (s *Settler) Settled(f Handle, device uint64, changed time.Time) bool {
	if !s.asked || device != s.device {
		*s = Settler{device, true, !InMemory(f.OS().Name())}
	}
	if !s.changes {
		return false
	}
	if time.Since(changed) > dirtyAge {
		return true
	}
	wait, reliable := Unsettled(changed)
	return reliable && wait == 0 && cleanPages(f.OS()) == nil
}

// Unsettled returns how long a file that last changed at a time might change again without
// another time. It is not reliable where the file system's clock is ahead of this
// machine's.
func Unsettled(changed time.Time) (wait time.Duration, reliable bool) {
	tick := clockTick()
	if changed.Nanosecond() == 0 {
		tick = 2 * time.Second // as on FAT
	}
	wait = tick - time.Since(changed)
	return max(min(wait, tick), 0), wait <= tick
}
