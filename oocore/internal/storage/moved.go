package storage

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// A writer notes the version of what it has staged before it renames that to the array's
// name. A process may be killed after the rename and before anyone knows of it: by the note
// the next writer finds that what has the array's name is what was staged, and that nothing
// is left to write.

// movedExt ends the name of a note on what has the rest of the name in the staging folder.
const movedExt = ".moving"

// move is such a note.
type move struct {
	Version
	// Replaces is the inode of the file or folder that has the array's name before; nil where none has.
	Replaces *uint64 `json:"replaces,omitempty"`
}

// NoteMove notes, durably, which version of an array has a name in the staging folder and is
// about to be renamed to target, or exchanged for it.
func (w *StagingDir) NoteMove(name, target string, v Version) error {
	return w.noteMove(disk.WriteFile, name, target, v)
}

func (w *StagingDir) noteMove(write func(name string, text []byte) error, name, target string, v Version) error {
	m := move{Version: v}
	if st, err := os.Stat(target); err == nil {
		inode := disk.Inode(st)
		m.Replaces = &inode
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = write(name+movedExt, text)
	}
	if err != nil {
		return err
	}
	_, err = w.folder.Stat() // Linux gives an exact time to the next change of what was looked at
	return err
}

// moving reads the note of a name, and returns nil where there is none.
func (w *StagingDir) moving(name string) *move {
	var m move
	text, err := disk.ReadFile(name + movedExt)
	if err != nil || json.Unmarshal(text, &m) != nil {
		return nil
	}
	return &m
}

// Moved reports whether a version is the one that was noted under a name, as its rename has
// left it.
func (w *StagingDir) Moved(name string, now Version) bool {
	m := w.moving(name)
	if m == nil || m.Equal(now) {
		return m != nil
	}
	// A rename gives the file and the folder that it leaves the same change time. Whatever
	// changes the file later gives it another.
	st, err := w.folder.Stat()
	m.File.ChangeTime = now.File.ChangeTime
	return err == nil && m.Equal(now) && disk.SameMoment(now.File.ChangeTime, disk.ID(st).ChangeTime)
}

// Exchanged reports whether what has a name in the staging folder is, or may be, what had the
// array's own name before.
func (w *StagingDir) Exchanged(name string) bool {
	m := w.moving(name)
	if m == nil || m.Replaces == nil {
		return false
	}
	st, err := disk.Lstat(name)
	return err != nil || disk.Inode(st) == *m.Replaces
}

// RegionName is the name under which the version is noted that an array has once a box of it
// is written in place.
func (w *StagingDir) RegionName(b types.Box) string { return w.Join("region-" + digest(b.String())) }

// touch gives the staging folder a new change time.
func (w *StagingDir) touch() {
	name := w.Join("touched")
	_ = errors.Join(disk.Mkdir(name, 0o700), disk.Remove(name))
}

// RemoveMove removes the note of a name.
func (w *StagingDir) RemoveMove(name string) error { return disk.Remove(name + movedExt) }

// Placed reports whether an earlier writer has already put the array of a writer that was created
// with Meta.Resume in its place. Nothing is left to write then, and Commit does the rest of the
// clean-up.
func Placed(w store.Writer) bool {
	p, ok := w.(interface{ Placed() bool })
	return ok && p.Placed()
}
