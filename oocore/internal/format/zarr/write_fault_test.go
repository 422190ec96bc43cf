package zarr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// writing replaces an array, or a region of it, unit by unit with a Sync after each.
type writing struct {
	m         store.Meta
	layout    store.Layout
	box       grid.Box
	old, want []byte
	synced    int // units, so far
}

func (w *writing) path(dir string) string { return filepath.Join(dir, "x.zarr") }

func (w *writing) begin(t *testing.T, dir string) {
	t.Helper()
	m := w.m
	m.Region = nil
	saveAll(t, w.path(dir), m, w.old)
	var err error
	if w.layout, err = storage.LayoutOf(w.path(dir), w.m); err != nil {
		t.Fatal(err)
	}
}

// run writes the units from one on, and gives up after an error.
func (w *writing) run(dir string, from int) error {
	m := w.m
	m.Resume = from > 0
	ctx := context.Background()
	out, err := store.Create(w.path(dir), m)
	if err != nil {
		return err
	}
	if err = w.fill(ctx, out, from); err == nil {
		err = out.Commit(ctx)
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return nil
}

func (w *writing) fill(ctx context.Context, out store.Writer, from int) error {
	n := 0
	for unit := range w.box.Align([]int{0, 0}, w.layout.Unit) {
		if n++; n <= from {
			continue
		}
		if err := w.unit(ctx, out, unit); err != nil {
			return err
		}
		if err := out.Sync(ctx); err != nil {
			return err
		}
		w.synced = n
	}
	return nil
}

func (w *writing) unit(ctx context.Context, out store.Writer, unit grid.Box) error {
	coded, ok := out.(storage.CodedWriter)
	if !ok {
		return out.Write(ctx, boxOf(w.want, w.m.Shape, 4, unit), unit)
	}
	s, err := coded.Session(make([]byte, w.layout.Work.Whole))
	if err != nil {
		return err
	}
	_, err = feed(ctx, s, w.layout, w.want, w.m.Shape, 4, unit, 0)
	return errors.Join(err, s.Close())
}

// state is what a folder shows of the array.
func (w *writing) state(t *testing.T, dir string) string {
	t.Helper()
	return storetest.State(t, w.path(dir), w.m.Shape, w.old, w.want)
}

func writings() map[string]*writing {
	shape := []int{6, 5}
	box := grid.Whole(shape).Box(0)
	region := grid.Box{Start: []int{1, 0}, Shape: []int{4, 5}}
	old, fresh := storetest.Elements(dtype.Int32, 30), storetest.Elements(dtype.Int32, 31)[:120]
	part := bytes.Clone(old)
	copy(part[20:100], fresh[20:])
	m := store.Meta{Shape: shape, DType: dtype.Int32, Chunks: []int{2, 5}}
	open, shards, inside := m, m, store.Meta{Shape: shape, DType: dtype.Int32, Region: &region}
	open.Codec = "none"
	shards.Shards = []int{4, 5}
	return map[string]*writing{
		"chunks": {m: m, box: box, old: old, want: fresh},
		"open":   {m: open, box: box, old: old, want: fresh},
		"shards": {m: shards, box: box, old: old, want: fresh},
		"region": {m: inside, box: region, old: old, want: part},
	}
}

// TestFaults lets every operation of writing fail, one by one.
func TestFaults(t *testing.T) {
	errDisk := errors.New("the disk is on fire")
	all := writings()
	for _, name := range []string{"open", "shards", "region"} { // chunks go the ways of shards
		w := all[name]
		t.Run(name, func(t *testing.T) {
			storetest.NoLeaks(t)
			for op := range disktest.Ops {
				for n, reached := int64(1), true; reached; n++ {
					faults := []*disktest.Fault{{Err: errDisk}}
					if n == 1 {
						faults = append(faults, &disktest.Fault{Delay: time.Millisecond})
					}
					if op == disktest.Write {
						faults = append(faults, &disktest.Fault{Err: errDisk, Short: true})
					}
					for _, f := range faults {
						f.Op, f.N = op, n
						w.fault(t, f, errDisk)
						reached = reached && f.Hit()
					}
				}
			}
		})
	}
}

func (w *writing) fault(t *testing.T, f *disktest.Fault, errDisk error) {
	dir := disktest.Dir(t)
	w.begin(t, dir)
	var err error
	t.Run("", func(t *testing.T) { // which ends the use of the fault
		disktest.Use(t, f.FS())
		err = w.run(dir, 0)
	})
	state := w.state(t, dir)
	where := fmt.Sprintf("%s %d (%v, short %t)", f.Op, f.N, f.Err, f.Short)
	switch {
	case err == nil && state != "new":
		t.Errorf("%s: no error, and the array is %s", where, state)
	case err != nil && f.Err == nil:
		t.Errorf("%s: late, and fails: %v", where, err)
	case err != nil && (!errors.Is(err, errDisk) || !strings.Contains(err.Error(), "x.zarr")):
		t.Errorf("%s: error %v", where, err)
	case state != "old" && state != "new" && !(state == "torn" && w.m.Region != nil):
		t.Errorf("%s: the array is %s", where, state)
	}
	if err := w.run(dir, 0); err != nil {
		t.Errorf("%s: afterwards: %v", where, err)
	}
	names, _ := os.ReadDir(dir)
	if state := w.state(t, dir); state != "new" || len(names) != 1 {
		t.Errorf("%s: afterwards the array is %s and there is %v", where, state, names)
	}
	for _, name := range files(t, dir) {
		if strings.Contains(name, "gonbext") {
			t.Errorf("%s: afterwards there is %s", where, name)
		}
	}
}

// TestCrash looks after every operation at what a crash would leave, and continues
// from there with the units that were not synced.
func TestCrash(t *testing.T) {
	for name, w := range writings() {
		t.Run(name, func(t *testing.T) {
			dir := disktest.Dir(t)
			w.begin(t, dir)
			crash := disktest.NewCrash(t, dir)
			type wreck struct {
				dir    string
				synced int
			}
			var wrecks []wreck
			crash.Each = func() {
				for _, leave := range []func(string){crash.Lost, crash.Torn} {
					to := disktest.Dir(t)
					leave(to)
					wrecks = append(wrecks, wreck{to, w.synced})
				}
			}
			t.Run("", func(t *testing.T) {
				disktest.Use(t, crash.FS())
				if err := w.run(dir, 0); err != nil {
					t.Error(err)
				}
			})
			if state := w.state(t, dir); state != "new" || len(wrecks) < 30 {
				t.Errorf("after %d operations the array is %s", len(wrecks)/2, state)
			}
			for i, at := range wrecks {
				state := w.state(t, at.dir)
				if state != "old" && state != "new" && !(state == "torn" && w.m.Region != nil) {
					t.Errorf("wreck %d: the array is %s", i, state)
				}
				if state == "new" && w.m.Region == nil {
					continue
				}
				if err := w.run(at.dir, at.synced); err != nil {
					t.Errorf("wreck %d: resuming after %d units: %v", i, at.synced, err)
				}
				if after := w.state(t, at.dir); after != "new" {
					t.Errorf("wreck %d: continuing from %s after %d units: the array is %s", i, state, at.synced, after)
				}
			}
		})
	}
}
