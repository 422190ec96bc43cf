package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// A stage's snapshot is a file with accumulators of results that are not whole, or with the
// states of boxes that are filled in steps. A stage has two, which it writes by turns: the
// journal names the last one that is durable, so that a run killed while it writes the
// other loses nothing.

const (
	// snapshotRate is the bytes a second that a snapshot is taken to cost where none of its
	// size was written.
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
	f, _, err := disk.Open(c.snapshotPath(stage, s.file))
	return s, f, err
}

// SnapshotWriter appends to a snapshot's file.
type SnapshotWriter struct {
	file   *disk.File
	at     int64
	waited time.Duration
}

// Offset returns where the next Write goes.
func (w *SnapshotWriter) Offset() int64 { return w.at }

// Wait runs what waits for work that is done meanwhile: that costs the run nothing.
func (w *SnapshotWriter) Wait(f func()) {
	begun := time.Now()
	f()
	w.waited += time.Since(begun)
}

// Write appends to the file. It keeps nothing of p.
func (w *SnapshotWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:min(n+snapshotWrite, len(p))]
		cached, err := w.file.Write(part, w.at)
		if err != nil {
			return n, err
		}
		from := w.at
		n, w.at = n+len(part), from+int64(len(part))
		if err := w.file.WritebackRange(from, w.at, cached); err != nil {
			return n, err
		}
	}
	return n, nil
}

// snapshots writes a stage's snapshots.
type snapshots struct {
	checkpoint *Checkpoint
	stage      int
	source     Accumulators  // nil where there are none
	last       time.Time     // when the last one was written, or the stage began
	cost       time.Duration // of the last one
	bytes      int64         // of the last one, at the most
	failed     bool
}

func newSnapshots(c *Checkpoint, stage int, source Accumulators) *snapshots {
	return &snapshots{checkpoint: c, stage: stage, source: source, last: time.Now()}
}

// pays reports whether there is something to write that takes no more than 1/share of the
// time since the last snapshot.
func (s *snapshots) pays(share int) bool {
	if s.source == nil || s.failed {
		return false
	}
	bytes := s.source.SnapshotBytes()
	more := float64(max(bytes-s.bytes, 0)) / snapshotRate * float64(time.Second)
	return bytes > 0 && (s.checkpoint.Eager || time.Since(s.last) >= time.Duration(share)*(s.cost+time.Duration(more)))
}

// take writes a snapshot and makes it durable. It returns nil where there is nothing to
// write. A disk that has no room, or fails, is no error of the stage: it has no snapshots
// from then on.
func (s *snapshots) take() (_ *Snapshot, merged int) {
	begun, bytes := time.Now(), s.source.SnapshotBytes()
	file := 0
	if noted := s.checkpoint.state.Snapshots[s.stage]; noted != nil {
		file = 1 - noted.file
	}
	path := s.checkpoint.snapshotPath(s.stage, file)
	meta, merged, waited, err := s.write(path, bytes)
	if err != nil {
		s.failed = true
		_ = disk.Remove(path)
		return nil, 0
	}
	s.last, s.bytes = time.Now(), bytes
	s.cost = s.last.Sub(begun) - waited
	if meta == nil { // all has ended meanwhile
		_ = disk.Remove(path)
		return nil, 0
	}
	return &Snapshot{file, meta}, merged
}

func (s *snapshots) write(path string, size int64) (meta []byte, merged int, waited time.Duration, err error) {
	if err := disk.Remove(path); err != nil {
		return nil, 0, 0, err
	}
	if folder := s.checkpoint.staging.Path; disk.InMemory(folder) || !disk.HasRoom(folder, size) { // in memory it would be no part of the budget
		return nil, 0, 0, syscall.ENOSPC
	}
	f, err := disk.Create(path, size)
	if err != nil {
		return nil, 0, 0, err
	}
	w := &SnapshotWriter{file: f}
	meta, merged, err = s.source.Snapshot(w)
	if err == nil && meta != nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && meta != nil {
		err = disk.SyncDir(s.checkpoint.staging.Path)
	}
	return meta, merged, w.waited, err
}

// CopyBytes is the buffer through which results in memory are copied to the staging folder. It
// is part of the runtime's overhead, not of the arena.
const CopyBytes = 256 << 10

// ReadBuffers fills buffers, one after the other, from an offset of a file on.
func ReadBuffers(from io.ReaderAt, at int64, into [][]byte) error {
	for _, b := range into {
		if _, err := from.ReadAt(b, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return nil
}

// Length returns the number of bytes of all buffers.
func Length(all [][]byte) (n int64) {
	for _, b := range all {
		n += int64(len(b))
	}
	return n
}
