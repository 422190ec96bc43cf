package checkpoint

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// A stage's snapshot is a file with accumulators of results that are not whole. A stage
// has two, which it writes by turns: the journal names the last one that is durable, so
// that a run killed while it writes the other loses nothing.

const (
	// snapshotRate is the bytes a second that a snapshot is taken to cost before one
	// was written.
	snapshotRate = 1 << 30
	// snapshotWrite bounds one system call.
	snapshotWrite = 8 << 20
)

func (c *Checkpoint) snapshotPath(stage, file int) string {
	return c.staging.Join(fmt.Sprintf("snapshot-%d-%d", stage, file))
}

// Snapshot opens the last snapshot of a stage for reading; it returns nil where there is
// none.
func (c *Checkpoint) Snapshot(stage int) (*Snapshot, disk.Handle, error) {
	s := c.state.Snapshots[stage]
	if s == nil {
		return nil, nil, nil
	}
	f, err := disk.Open(c.snapshotPath(stage, s.file))
	return s, f, err
}

// SnapshotWriter appends to a snapshot's file.
type SnapshotWriter struct {
	file    *disk.File
	at      int64
	settled int64
	cached  int
}

// Offset returns where the next Write goes.
func (w *SnapshotWriter) Offset() int64 { return w.at }

// Write appends to the file. It keeps nothing of p.
func (w *SnapshotWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:min(n+snapshotWrite, len(p))]
		cached, err := w.file.Write(part, w.at)
		if err != nil {
			return n, err
		}
		n, w.at, w.cached = n+len(part), w.at+int64(len(part)), w.cached+cached
		if err := w.file.WritebackRange(w.settled, w.at, w.cached); err != nil {
			return n, err
		}
		w.settled, w.cached = w.at, 0
	}
	return n, nil
}

// snapshots writes a stage's snapshots.
type snapshots struct {
	checkpoint *Checkpoint
	stage      int
	source     Accumulators
	due        time.Time
	last       time.Time     // when the last one was written, or the stage began
	cost       time.Duration // of one
	writing    time.Duration // the part of that before it is synced, in which it takes from the run
	failed     bool
}

func newSnapshots(c *Checkpoint, stage int, source Accumulators) *snapshots {
	s := &snapshots{checkpoint: c, stage: stage, source: source, last: time.Now()}
	s.cost = time.Duration(float64(source.SnapshotBytes()) / snapshotRate * float64(time.Second))
	s.due = s.last.Add(groupShare * s.cost)
	return s
}

// isDue reports whether another snapshot costs little compared with what was computed since the
// last one.
func (s *snapshots) isDue() bool { return !s.failed && !time.Now().Before(s.due) }

// saves reports whether another snapshot costs less than what was computed since the last
// one.
func (s *snapshots) saves() bool { return !s.failed && time.Since(s.last) >= s.cost }

// take writes a snapshot and makes it durable. It returns nil where there is nothing to
// write. A disk that has no room, or fails, is no error of the stage: it has no snapshots
// from then on.
func (s *snapshots) take() (_ *Snapshot, merged int64) {
	begun := time.Now()
	file := 0
	if noted := s.checkpoint.state.Snapshots[s.stage]; noted != nil {
		file = 1 - noted.file
	}
	path := s.checkpoint.snapshotPath(s.stage, file)
	meta, merged, err := s.write(path)
	if err != nil {
		s.failed = true
		_ = disk.Remove(path)
		return nil, 0
	}
	s.last = time.Now()
	s.cost = s.last.Sub(begun)
	s.due = s.last.Add(max(groupShare*s.writing, min(groupShare*s.cost, groupLatest-s.cost)))
	if meta == nil {
		return nil, 0
	}
	return &Snapshot{file, meta}, merged
}

func (s *snapshots) write(path string) (meta []byte, merged int64, err error) {
	if err := disk.Remove(path); err != nil {
		return nil, 0, err
	}
	size := s.source.SnapshotBytes()
	if free, err := disk.Free(s.checkpoint.staging.Path); err == nil && size > free/2 {
		return nil, 0, syscall.ENOSPC // others have use for the rest of the disk
	}
	f, err := disk.Create(path, size)
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	meta, merged, err = s.source.Snapshot(&SnapshotWriter{file: f})
	s.writing = time.Since(begun)
	if err == nil && meta != nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && meta != nil {
		err = disk.SyncDir(s.checkpoint.staging.Path)
	}
	return meta, merged, err
}
