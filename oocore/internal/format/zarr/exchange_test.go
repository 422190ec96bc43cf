package zarr

import (
	"errors"
	"os"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
)

// stepwise is a file system that cannot exchange, as NFS.
type stepwise struct{ disk.FS }

func (stepwise) Exchange(string, string) error { return errors.ErrUnsupported }

// Where folders are exchanged in steps a failure, or an end, between any two of them
// loses neither array: what was there is put back, or the new one is there.
func TestReplacingInStepsLosesNothing(t *testing.T) {
	errDisk := errors.New("the disk is on fire")
	var w *writing
	for _, w = range writings() { // one that replaces a whole array
		if w.m.Region == nil {
			break
		}
	}
	for n := int64(1); ; n++ {
		dir := disktest.Dir(t)
		w.begin(t, dir)
		f := &disktest.Fault{Op: disktest.Rename, N: n, Err: errDisk}
		var err error
		t.Run("", func(t *testing.T) {
			disktest.Use(t, stepwise{f.FS()})
			err = w.run(dir, 0)
		})
		if state := w.state(t, dir); state != "old" && state != "new" || err == nil && state != "new" {
			t.Errorf("rename %d failed: the array is %s, the run gave %v", n, state, err)
		}
		if err := w.run(dir, 0); err != nil {
			t.Errorf("rename %d failed: afterwards: %v", n, err)
		}
		if state := w.state(t, dir); state != "new" {
			t.Errorf("rename %d failed: afterwards the array is %s", n, state)
		}
		os.RemoveAll(dir)
		if !f.Hit() {
			break
		}
	}
	dir := disktest.Dir(t)
	w.begin(t, dir)
	crash := disktest.NewCrash(t, dir)
	var wrecks []string
	crash.Each = func() {
		for _, leave := range []func(string){crash.Lost, crash.Torn} {
			to := disktest.Dir(t)
			leave(to)
			wrecks = append(wrecks, to)
		}
	}
	t.Run("", func(t *testing.T) {
		disktest.Use(t, stepwise{crash.FS()})
		if err := w.run(dir, 0); err != nil {
			t.Error(err)
		}
	})
	missing := 0
	for i, at := range wrecks {
		before := w.state(t, at)
		if before == "none" {
			missing++
		}
		out, err := storage.NewStagingDir(w.path(at))
		if err != nil {
			t.Fatalf("wreck %d: %v", i, err)
		}
		if err := out.Remove(); err != nil {
			t.Errorf("wreck %d: %v", i, err)
		}
		if state := w.state(t, at); state != "old" && state != "new" {
			t.Errorf("wreck %d was %s and is %s once its folder was taken and removed", i, before, state)
		}
	}
	if missing == 0 {
		t.Error("no wreck was without the array: the exchange was not made in steps")
	}
}
