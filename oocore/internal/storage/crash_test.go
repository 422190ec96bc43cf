package storage_test

import (
	"bytes"
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

// writing is a way to write x.npy, or x.bin, in a folder.
type writing struct {
	name string
	m    store.Meta
	old  []byte // what is there before
	want []byte // and afterwards
	boxes
}

// boxes are written one after the other, with a Sync between them.
type boxes []grid.Box

func (w writing) path(dir string) string { return filepath.Join(dir, w.name) }

// run writes, and gives up after an error.
func (w writing) run(t *testing.T, dir string) error {
	out, err := storage.Create(w.path(dir), w.m)
	if err != nil {
		return err
	}
	err = w.fill(t, out)
	if err == nil {
		err = out.Commit(t.Context())
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return nil
}

func (w writing) fill(t *testing.T, out store.Writer) error {
	for i, b := range w.boxes {
		src := storetest.Pick(w.want, w.m.Shape, w.m.DType.Size(), b.Region())
		if err := out.Write(t.Context(), src, b); err != nil {
			return err
		}
		if i < len(w.boxes)-1 {
			if err := out.Sync(t.Context()); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin makes a folder with the old array.
func (w writing) begin(t *testing.T, dir string) {
	t.Helper()
	storetest.Save(t, w.path(dir), store.Meta{Shape: w.m.Shape, DType: w.m.DType}, w.old)
}

// state is what a folder shows of the array.
func (w writing) state(t *testing.T, dir string) string {
	t.Helper()
	return storetest.State(t, w.path(dir), w.m.Shape, w.old, w.want)
}

func writings() map[string]writing {
	shape := []int{8, 64}
	data := func(t dtype.Type, seed int) []byte { return storetest.Elements(t, 512+seed)[:512*t.Size()] }
	whole := boxes{{Start: []int{0, 0}, Shape: []int{3, 64}}, {Start: []int{3, 0}, Shape: []int{5, 30}}, {Start: []int{3, 30}, Shape: []int{5, 34}}}
	all := map[string]writing{
		"npy": {"x.npy", store.Meta{Shape: shape, DType: dtype.Float32}, data(dtype.Float32, 0), data(dtype.Float32, 1), whole},
		"raw": {"x.bin?shape=8,64&dtype=int16", store.Meta{Shape: shape, DType: dtype.Int16}, data(dtype.Int16, 0), data(dtype.Int16, 1), whole},
	}
	for _, name := range []string{"npy", "raw"} {
		w := all[name]
		b := grid.Box{Start: []int{2, 0}, Shape: []int{4, 64}}
		w.m.Region = &b
		size := 64 * w.m.DType.Size()
		want := bytes.Clone(w.old)
		copy(want[2*size:6*size], w.want[2*size:6*size])
		w.want = want
		w.boxes = boxes{{Start: []int{2, 0}, Shape: []int{1, 64}}, {Start: []int{3, 0}, Shape: []int{3, 64}}}
		all[name+" region"] = w
	}
	return all
}

// TestFaults lets every operation of writing fail, one by one.
func TestFaults(t *testing.T) {
	errDisk := errors.New("the disk is on fire")
	all := writings()
	for _, name := range []string{"npy", "raw region"} { // the others go the same ways
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
						dir := t.TempDir()
						w.begin(t, dir)
						var err error
						t.Run("", func(t *testing.T) { // which ends the use of the fault
							disktest.Use(t, f.FS())
							err = w.run(t, dir)
						})
						reached = reached && f.Hit()
						state := w.state(t, dir)
						where := fmt.Sprintf("%s %d (%v, short %t)", op, n, f.Err, f.Short)
						switch {
						case err == nil && state != "new":
							t.Errorf("%s: no error, and the array is %s", where, state)
						case err != nil && f.Err == nil:
							t.Errorf("%s: late, and fails: %v", where, err)
						case err != nil && (!errors.Is(err, errDisk) || !strings.Contains(err.Error(), "x.")):
							t.Errorf("%s: error %v", where, err)
						case state != "old" && state != "new" && !(state == "torn" && w.m.Region != nil):
							t.Errorf("%s: the array is %s", where, state)
						}
						if err := w.run(t, dir); err != nil {
							t.Errorf("%s: afterwards: %v", where, err)
						}
						if state := w.state(t, dir); state != "new" || len(storetest.List(t, dir)) != 1 {
							t.Errorf("%s: afterwards the array is %s and there is %v", where, state, storetest.List(t, dir))
						}
					}
				}
			}
		})
	}
}

// TestCrash looks after every operation at what a crash would leave.
func TestCrash(t *testing.T) {
	for name, w := range writings() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w.begin(t, dir)
			crash := disktest.NewCrash(t, dir)
			look := func(allowed ...string) {
				for name, state := range map[string]func(string){"lost": crash.Lost, "torn": crash.Torn} {
					to := t.TempDir()
					state(to)
					got := w.state(t, to)
					for _, a := range allowed {
						if got == a {
							got = ""
						}
					}
					if got != "" {
						t.Errorf("%s: the array is %s, want %v", name, got, allowed)
					}
					os.RemoveAll(to)
				}
			}
			n := 0
			crash.Each = func() {
				n++
				if w.m.Region != nil {
					look("old", "new", "torn")
				} else {
					look("old", "new")
				}
			}
			disktest.Use(t, crash.FS())
			if err := w.run(t, dir); err != nil {
				t.Fatal(err)
			}
			crash.Each = func() {}
			look("new")
			if n < 10 {
				t.Errorf("only %d operations were seen", n)
			}
		})
	}
}

// TestCrashAfterSync continues, after a crash, with what was synced.
func TestCrashAfterSync(t *testing.T) {
	for name, w := range writings() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w.begin(t, dir)
			crash := disktest.NewCrash(t, dir)
			to := t.TempDir()
			t.Run("", func(t *testing.T) {
				disktest.Use(t, crash.FS())
				out, err := storage.Create(w.path(dir), w.m)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.fill(t, out); err != nil { // all but the last box are synced
					t.Fatal(err)
				}
				crash.Lost(to)
				if err := out.Abort(); err != nil {
					t.Fatal(err)
				}
			})
			w.m.Resume = true
			out, err := storage.Create(w.path(to), w.m)
			if err != nil {
				t.Fatal(err)
			}
			if !storage.Resumed(out) {
				t.Error("nothing is left to resume")
			}
			last := w.boxes[len(w.boxes)-1]
			src := storetest.Pick(w.want, w.m.Shape, w.m.DType.Size(), last.Region())
			if err := errors.Join(out.Write(t.Context(), src, last), out.Commit(t.Context())); err != nil {
				t.Fatal(err)
			}
			if state := w.state(t, to); state != "new" {
				t.Errorf("the array is %s", state)
			}
		})
	}
}
