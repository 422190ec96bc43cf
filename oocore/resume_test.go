package oocore_test

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
)

// A mean takes time, so that it is saved; to sort it does not. The run then fails: the mean
// is not computed again, though its last reader is done.
func TestResumeKeepsWhatStagesThatWereNotSavedHaveRead(t *testing.T) {
	x := counted(t, 64)
	var calls atomic.Int32
	slow := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		if calls.Add(1) == 1 {
			time.Sleep(400 * time.Millisecond)
		}
		copy(dst, src)
		return nil
	}, x, oocore.MapOptions{Chunks: []int{16, 512}})
	fails := true
	a := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		if fails {
			return errors.New("it fails")
		}
		copy(dst, src)
		return nil
	}, x.Add(slow.Mean(0).Sort(0)), oocore.MapOptions{Chunks: []int{16, 512}})
	out := filepath.Join(t.TempDir(), "out.npy")
	if _, err := a.Save(t.Context(), out, oocore.Version("1")); err == nil || calls.Load() != 4 {
		t.Fatalf("%v, after %d calls of the first function", err, calls.Load())
	}
	fails = false
	got := saved(t, a, out, oocore.Version("1"))
	if n := calls.Load(); n != 4 {
		t.Errorf("the first function was called %d times more", n-4)
	}
	// Column j holds j, j+512, …: its mean is j + 512·63/2.
	for k, v := range collect[float64](t, got) {
		if want := float64(k) + float64(k%512) + 512*63/2.0; v != want {
			t.Fatalf("element %d is %v, want %v", k, v, want)
		}
	}
}
