package checkpoint

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
)

// merging is a stage that has merged n tasks, whose accumulators are full of n.
type merging struct {
	n      byte
	middle func() // is called while a snapshot is half written
}

const mergingBytes = 100_000

func (m *merging) SnapshotBytes() int64 { return mergingBytes }

func (m *merging) Snapshot(w *SnapshotWriter) ([]byte, int, error) {
	half := bytes.Repeat([]byte{m.n}, mergingBytes/2)
	if _, err := w.Write(half); err != nil {
		return nil, 0, err
	}
	m.middle()
	_, err := w.Write(half)
	return []byte{m.n}, int(m.n), err
}

func begin(t *testing.T) (*Checkpoint, *plan.Plan, plan.Fingerprint) {
	t.Helper()
	x, err := graph.Full(graph.Site{}, dtype.ValueOf(1.0), 100)
	check(t, err)
	p, err := compile.New(x, compile.Target{Path: filepath.Join(t.TempDir(), "o.npy")})
	check(t, err)
	print := p.Fingerprint("", nil)
	c, err := New(p, print, false)
	check(t, err)
	return c, p, print
}

func recorderOf(c *Checkpoint, m *merging) *Recorder {
	return &Recorder{Stage: Stage{Sync: func(Tasks) error { return nil }, Accumulators: m, Merges: true}, checkpoint: c, snapshots: newSnapshots(c, 0, m)}
}

// left is what a run that is killed now leaves: the number of tasks, which the snapshot has.
func left(t *testing.T, c *Checkpoint) byte {
	t.Helper()
	f, err := os.Open(c.staging.Join(journalFile))
	check(t, err)
	defer f.Close()
	state, _, err := ReadJournal(f)
	check(t, err)
	s := state.Snapshots[0]
	if s == nil {
		return 0
	}
	b, err := os.ReadFile(c.snapshotPath(0, s.file))
	check(t, err)
	if n := s.Meta[0]; int(n) != state.Done[0].Len() || !bytes.Equal(b, bytes.Repeat([]byte{n}, mergingBytes)) {
		t.Fatalf("the journal has %d tasks, and the snapshot is of %d and has %d bytes", state.Done[0].Len(), n, len(b))
	}
	return s.Meta[0]
}

// A run that is killed before, after or while a snapshot is written has the last whole one,
// with the tasks that it stands for.
func TestSnapshotKilledInTheMiddleLosesNothing(t *testing.T) {
	c, p, print := begin(t)
	m := &merging{}
	m.middle = func() {
		if got := left(t, c); got != m.n-1 {
			t.Errorf("while snapshot %d is written there is %d", m.n, got)
		}
	}
	r := recorderOf(c, m)
	for m.n = 1; m.n < 6; m.n++ {
		r.Done(int(m.n) - 1)
		check(t, r.commit(true))
		if got := left(t, c); got != m.n {
			t.Errorf("after snapshot %d there is %d", m.n, got)
		}
	}
	if !c.Resumable() {
		t.Error("it cannot be resumed")
	}
	check(t, c.Close(true))
	c, err := New(p, print, false)
	check(t, err)
	s, f, err := c.Snapshot(0)
	if err != nil || s == nil || s.Meta[0] != 5 || c.Done(0).Len() != 5 {
		t.Fatalf("the next run finds %+v of %d tasks, %v", s, c.Done(0).Len(), err)
	}
	check(t, f.Close())
	check(t, c.Forget(0))
	if c.Resumable() {
		t.Error("it can be resumed after all was forgotten")
	}
	check(t, c.Close(false))
}

// A disk that has no room for a snapshot does not end the run. What was noted stays.
func TestSnapshotWithoutRoomIsNoError(t *testing.T) {
	for _, op := range []disktest.Op{disktest.Create, disktest.Write, disktest.Sync} {
		c, _, _ := begin(t)
		m := &merging{n: 1, middle: func() {}}
		r := recorderOf(c, m)
		r.Done(0)
		check(t, r.commit(true))
		restore := disk.Use((&disktest.Fault{Op: op, N: 1, Err: syscall.ENOSPC}).FS())
		m.n = 2
		r.Done(1)
		err := r.commit(true)
		restore()
		if err != nil || left(t, c) != 1 {
			t.Errorf("%s: %v, and there is %d", op, err, left(t, c))
		}
		if r.snapshots.pays(1) {
			t.Errorf("%s: it continues to write snapshots", op)
		}
		check(t, c.Close(false))
	}
}

// ended has nothing to write when a snapshot is taken, though it had just before.
type ended struct{ merging }

func (*ended) Snapshot(*SnapshotWriter) ([]byte, int, error) { return nil, 0, nil }

func TestSnapshotOfNothingLeavesNoFile(t *testing.T) {
	c, _, _ := begin(t)
	s := newSnapshots(c, 0, &ended{})
	if taken, _ := s.take(); taken != nil {
		t.Errorf("there is a snapshot: %+v", taken)
	}
	if c.exists("snapshot-0-0") {
		t.Error("its file takes room on the disk")
	}
	check(t, c.Close(false))
}
