package crash

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// killsItself kills this process before a file operation: "rename 2" is the second rename.
func killsItself(when string) {
	f := new(disktest.Fault)
	var kind string
	if n, _ := fmt.Sscanf(when, "%s %d", &kind, &f.N); n < 2 {
		return
	}
	for f.Op.String() != kind {
		f.Op++
	}
	f.Call = func() {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {}
	}
	disk.Use(f.FS())
}

// runKilled lets a save kill itself before a file operation. It reports whether the save came
// there.
func (r *room) runKilled(s *save, op disktest.Op, n int64) (bool, error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), saveVariable+"="+s.name, inVariable+"="+r.in, outVariable+"="+r.out, fmt.Sprintf("%s=%s %d", killVariable, op, n))
	out, err := c.CombinedOutput()
	if err != nil && (c.ProcessState == nil || c.ProcessState.ExitCode() >= 0) { // it has not been killed
		return false, fmt.Errorf("%w: %s", err, out)
	}
	return err != nil, nil
}

// placed reports whether one of the outputs has its new elements.
func (r *room) placed(s *save, before, after [][]complex128) bool {
	for i, name := range s.outputs {
		v, err := contents(join(r.out, name))
		if err == nil && slices.Equal(v, after[i]) && !slices.Equal(v, before[i]) {
			return true
		}
	}
	return false
}

// computed is how many tasks the saves have computed of which there is a record. Of a mask, and
// of what is unique, the elements are counted before the save.
func (r *room) computed(t *testing.T) (n int64) {
	t.Helper()
	all, err := record.List(r.runs)
	check(t, err)
	for _, e := range all {
		run, err := record.Read(e.Path)
		check(t, err)
		if run.End != nil && run.Header.Output != "" {
			n += run.End.Computed
		}
	}
	return n
}

// Runs are killed before each file operation, or a sample of them, from the one on that has put the first output in
// its place: the next run computes nothing, and makes the same files as one that nobody kills.
func TestRunKilledOnceAnOutputIsPlacedComputesNothingAgain(t *testing.T) {
	sample := []string{"map to npy", "replacing old.npy", "replacing old.zarr", "map to o.npz#a", "map to group.zarr/a", "several outputs", "collection to o.safetensors.index.json", "collection to o.zarr", "collection to folder", "members of a new group", "region of region.npy", "region of region.zarr"}
	r := newRoom(t)
	kills, stride := 0, int64(20)
	switch {
	case testcases.All():
		stride = 1
	case !testcases.Full():
		stride = 300
	}
	random := testcases.Rand(t)
	for _, s := range saves() {
		if s.appends || !testcases.All() && !slices.Contains(sample, s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			counts, before, after := r.unfaulted(t, &s)
			want := files(t, r.out)
			for op := range disktest.Ops {
				for n := counts.Count(op); n > 0; n -= 1 + random.Int64N(stride) {
					r.begin(t, &s)
					killed, err := r.runKilled(&s, op, n)
					check(t, err)
					if !killed { // how often some operations are needed depends on the time
						continue
					}
					if !r.placed(&s, before, after) {
						break // nor was it earlier
					}
					kills++
					was := r.computed(t)
					if err := s.run(r.in, r.out); err != nil {
						t.Fatalf("killed before %s %d: the next run gave %v", op, n, err)
					}
					if again := r.computed(t) - was; again > 0 {
						t.Errorf("killed before %s %d: the next run computed %d tasks again", op, n, again)
					}
					now := files(t, r.out)
					if wrong := differ(want, now); wrong != "" {
						t.Fatalf("killed before %s %d: %s", op, n, wrong)
					}
				}
			}
		})
	}
	t.Logf("%d runs were killed", kills)
	if kills == 0 {
		t.Error("no run was killed")
	}
}

// A run is killed once its output is in its place, and somebody changes a byte of that and
// sets its time back: the next run computes, and the output is as if nobody had.
func TestOutputChangedAfterAKillIsComputedAgain(t *testing.T) {
	r := newRoom(t)
	for _, s := range saves() {
		if !slices.Contains([]string{"map to npy", "replacing old.npy", "map to o.safetensors#a", "region of region.npy"}, s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			counts, before, after := r.unfaulted(t, &s)
			want := files(t, r.out)
			last := counts.Count(disktest.Sync)
			for tries := 10; ; tries-- { // how often a run syncs depends on how long it takes
				r.begin(t, &s)
				killed, err := r.runKilled(&s, disktest.Sync, last)
				check(t, err)
				if killed && r.placed(&s, before, after) {
					break
				}
				if last--; killed {
					last += 2
				}
				if tries == 0 {
					t.Fatal("the run was not killed between putting its output in its place and syncing the folder")
				}
			}
			file, _, _ := strings.Cut(join(r.out, s.outputs[0]), "#")
			st, err := os.Stat(file)
			check(t, err)
			text, err := os.ReadFile(file)
			check(t, err)
			text[len(text)-1] ^= 1
			time.Sleep(50 * time.Millisecond) // changes at one moment cannot be told apart
			check(t, os.WriteFile(file, text, 0o666))
			check(t, os.Chtimes(file, st.ModTime(), st.ModTime()))
			check(t, s.run(r.in, r.out))
			now := files(t, r.out)
			if s.dirty { // what somebody has changed outside the region stays
				delete(want, file)
				delete(now, file)
			}
			if r.computed(t) == 0 {
				t.Error("nothing was computed")
			}
			if wrong := differ(want, now); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}
