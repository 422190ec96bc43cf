package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var errDisk = errors.New("the disk failed")

// A room has the folders of a campaign: inputs, outputs, and all that runs keep elsewhere.
type room struct{ in, out, temp, runs string }

func newRoom(t *testing.T) *room {
	t.Helper()
	dir := disktest.Dir(t)
	r := &room{in: filepath.Join(dir, "in"), out: filepath.Join(dir, "out"), temp: filepath.Join(dir, "temp"), runs: filepath.Join(dir, "runs")}
	for name, path := range map[string]string{"TMPDIR": r.temp, "GONBEXT_RUNS": r.runs, "XDG_CACHE_HOME": filepath.Join(dir, "cache")} {
		t.Setenv(name, path)
	}
	check(t, os.Mkdir(r.in, 0o777))
	check(t, os.Mkdir(r.temp, 0o777))
	check(t, inputs(r.in))
	return r
}

// begin makes the outputs' folder what a save begins with, and forgets earlier runs.
func (r *room) begin(t *testing.T, s *save) {
	t.Helper()
	check(t, errors.Join(os.RemoveAll(r.out), os.Mkdir(r.out, 0o777)))
	if s.prepare != nil {
		check(t, s.prepare(r.in, r.out))
	}
	check(t, os.RemoveAll(r.runs))
}

// files are the names in a folder and below, and what is in the files.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		var text []byte
		if !e.IsDir() {
			text, err = os.ReadFile(path)
		}
		all[path] = string(text)
		return err
	}))
	return all
}

// differ names a file of two folders that is not the same in both; "" where all are.
func differ(want, got map[string]string) string {
	for name, text := range want {
		if other, ok := got[name]; !ok {
			return name + " is missing"
		} else if text != other {
			return name + " is another"
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return name + " is left"
		}
	}
	return ""
}

// removeStaging takes the staging folder of an append out of a list of files: where one has
// ended but for removing it, the next append does that.
func removeStaging(files map[string]string) {
	maps.DeleteFunc(files, func(path, _ string) bool { return strings.Contains(path, "/.grown.zarr.gonbext") })
}

// whole checks that each output has the elements of before or of after, all of them.
func (r *room) whole(s *save, before, after [][]complex128) error {
	for i, name := range s.outputs {
		v, err := contents(join(r.out, name))
		if err != nil && !s.dirty {
			return fmt.Errorf("%s is not whole: %w", name, err)
		}
		if err == nil && !slices.Equal(v, before[i]) && !slices.Equal(v, after[i]) {
			return fmt.Errorf("%s has neither the old elements nor the new ones", name)
		}
	}
	return nil
}

// again does the next run. One that appends is not done where the last has ended all but
// telling so: it would append twice.
func (r *room) again(s *save, after [][]complex128) error {
	if s.appends && r.whole(s, after, after) == nil {
		return nil
	}
	return s.run(r.in, r.out)
}

// elements are those of all outputs.
func (r *room) elements(t *testing.T, s *save) (all [][]complex128) {
	t.Helper()
	for _, name := range s.outputs {
		v, err := contents(join(r.out, name))
		check(t, err)
		all = append(all, v)
	}
	return all
}

// leaks counts what a process holds: open files, mapped files, goroutines.
func leaks() [3]int {
	open, mapped := storetest.OpenFiles()
	return [3]int{open, mapped, runtime.NumGoroutine()}
}

// settled waits until no more is held than before, and says what is.
func settled(before [3]int) error {
	var now [3]int
	for range 6000 { // half a minute, on a machine that does other things too
		now = leaks()
		if now[0] <= before[0] && now[1] <= before[1] && now[2] <= before[2] {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%d open files, %d mapped ones and %d goroutines, before there were %d, %d and %d", now[0], now[1], now[2], before[0], before[1], before[2])
}

// A failure is one file operation of a run that fails, does half of its work and fails, or
// is late.
type failure struct {
	op   disktest.Op
	n    int64 // which of its kind, from 1
	mode string
}

func (f failure) String() string { return fmt.Sprintf("%s %d, %s", f.op, f.n, f.mode) }

func (f failure) fault() *disktest.Fault {
	fault := &disktest.Fault{Op: f.op, N: f.n}
	switch f.mode {
	case "late":
		fault.Delay = time.Millisecond
	case "short":
		fault.Short = true
		fallthrough
	default:
		fault.Err = []error{errDisk, syscall.EIO, syscall.ENOSPC, syscall.EMFILE}[f.n%4]
	}
	return fault
}

// failures are the operations of a run that its counts tell of.
func failures(counts *disktest.Fault) (all []failure) {
	for op := range disktest.Ops {
		for n := range counts.Count(op) {
			all = append(all, failure{op, n + 1, "error"}, failure{op, n + 1, "late"})
			if op == disktest.Read || op == disktest.Write {
				all = append(all, failure{op, n + 1, "short"})
			}
		}
	}
	return all
}

// unfaulted runs a save in which nothing fails: it returns how often each file operation is
// called, and the outputs' elements before and after.
func (r *room) unfaulted(t *testing.T, s *save) (counts *disktest.Fault, before, after [][]complex128) {
	r.begin(t, s)
	before = r.elements(t, s)
	counts = new(disktest.Fault)
	restore := disk.Use(counts.FS())
	err := s.run(r.in, r.out)
	restore()
	check(t, err)
	return counts, before, r.elements(t, s)
}

// Every file operation of every kind of save fails once, or a sample of each kind of
// operation: the run gives that error or ends well, what is under the outputs' names is
// whole, nothing is held, and the next run makes the same files as one without a fault and
// leaves no others.
func TestEveryFileOperationFails(t *testing.T) {
	r := newRoom(t)
	operations, errs := 0, 0
	all := saves()
	if !testcases.Full() {
		all = testcases.Sample(t, all, 16, func(save) []string { return []string{""} })
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			counts, before, after := r.unfaulted(t, &s)
			want, temp := files(t, r.out), files(t, r.temp)
			held := leaks()
			for _, c := range testcases.Sample(t, failures(counts), 1, func(c failure) []string { return []string{c.op.String()} }) {
				r.begin(t, &s)
				f := c.fault()
				restore := disk.Use(f.FS())
				err := s.run(r.in, r.out)
				restore()
				if err != nil && !errors.Is(err, f.Err) {
					t.Fatalf("%s: the run gave %v", c, err)
				}
				if wrong := r.whole(&s, before, after); wrong != nil {
					t.Fatalf("%s: %v (the run gave %v)", c, wrong, err)
				}
				if err != nil {
					errs++
					if err := r.again(&s, after); err != nil {
						t.Fatalf("%s: the next run gave %v", c, err)
					}
				}
				now := files(t, r.out)
				if err != nil && s.appends {
					removeStaging(now)
				}
				if wrong := differ(want, now); wrong != "" {
					t.Fatalf("%s: %s (the run gave %v)", c, wrong, err)
				}
				if wrong := differ(temp, files(t, r.temp)); wrong != "" {
					t.Fatalf("%s: %s (the run gave %v)", c, wrong, err)
				}
				if err := settled(held); err != nil {
					t.Fatalf("%s: %v", c, err)
				}
				if f.Hit() {
					operations++
				}
			}
		})
	}
	t.Logf("%d operations failed or were late, %d runs gave an error", operations, errs)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
