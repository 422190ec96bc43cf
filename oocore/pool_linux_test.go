package oocore_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gonbext/gonbext/oocore"
)

func TestLongRunInPoolHasLowerPriority(t *testing.T) {
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	const chunk = 1 << 20 // some make a task
	for _, c := range []struct {
		in    []oocore.Option
		after int // as the kernel counts it: 20 less the niceness
	}{{nil, before}, {[]oocore.Option{oocore.In(oocore.NewPool("256MiB"))}, min(before, 10)}} {
		priorities := oocore.MapChunks(func(dst, _ []int64, at oocore.Block) error {
			if at.Start[0] == 0 {
				time.Sleep(150 * time.Millisecond)
			}
			priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
			dst[0] = int64(priority)
			return err
		}, oocore.Zeros(oocore.Int64, 8*chunk), oocore.MapOptions{Chunks: []int{chunk}})
		got, err := oocore.Collect[int64](t.Context(), priorities, append(c.in, oocore.Memory("192MiB"), oocore.Workers(1))...)
		if err != nil {
			t.Fatal(err)
		}
		if got[0] != int64(before) || got[7*chunk] != int64(c.after) {
			t.Errorf("in %v: the kernel's priorities are %d and %d, want %d and then %d", c.in, got[0], got[7*chunk], before, c.after)
		}
	}
}
