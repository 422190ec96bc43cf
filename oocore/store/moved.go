package store

import (
	"encoding/json"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// A writer notes the version of what it has staged before it renames that to the array's
// name. A process may be killed after the rename and before anyone knows of it: by the note
// the next writer finds that what has the array's name is what was staged, and that nothing
// is left to write.

// movedExt ends the name of a note on what has the rest of the name in the staging folder.
const movedExt = ".moving"

// NoteMove notes, durably, which version of an array has a name in the staging folder and is
// about to be renamed to the array's own.
func (w *StagingDir) NoteMove(name string, v Version) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(name+movedExt, text); err != nil {
		return err
	}
	_, err = w.folder.Stat() // Linux gives an exact time to the next change of what was looked at
	return err
}

// Moved reports whether a version is the one that was noted under a name, as it was then or
// as its rename has left it. noted is false where there is no note.
func (w *StagingDir) Moved(name string, now Version) (moved, noted bool) {
	var was Version
	text, err := disk.ReadFile(name + movedExt)
	if err != nil || json.Unmarshal(text, &was) != nil {
		return false, false
	}
	if was.Equal(now) {
		return true, true
	}
	// A rename gives the file and the folder that it leaves the same change time. Whatever
	// changes the file later gives it another.
	st, err := w.folder.Stat()
	was.File.ChangeTime = now.File.ChangeTime
	return err == nil && was.Equal(now) && disk.SameMoment(now.File.ChangeTime, disk.ID(st).ChangeTime), true
}

// RemoveMove removes the note of a name.
func (w *StagingDir) RemoveMove(name string) error { return disk.Remove(name + movedExt) }

// Placed reports that an earlier writer has put the array of a writer that was created with
// Meta.Resume in its place: nothing is left to write, and Commit does what may be missing
// around it.
func Placed(w Writer) bool {
	p, ok := w.(interface{ Placed() bool })
	return ok && p.Placed()
}
