//go:build !linux && !darwin

package disk

import (
	"io/fs"
	"time"
)

// changeTime is zero: nothing but a file's size and modification time is known here.
func changeTime(fs.FileInfo) time.Time { return time.Time{} }

func cleanPages(string) error { return nil }

// clockTick is more than the step of the clock that file times are taken from.
func clockTick() time.Duration { return 20 * time.Millisecond }

func inMemory(string) bool { return false }
