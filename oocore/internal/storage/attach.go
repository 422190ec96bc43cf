package storage

import (
	"errors"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

// AttachStagingDir opens the staging folder of an output that another process is writing,
// to write some of its chunks. That process holds the lock, and it alone creates,
// commits and removes what lies in the staging folder. A writer that is created with an
// attached staging folder fails with ErrNotStaged where that process has begun no such
// array. Its Sync makes durable what it wrote; Suspend and Abort close it and remove
// nothing; Commit is an error. dir is empty for the folder that NewStagingDir takes for the
// output; output is empty where the staging folder holds temporary arrays only. A process that may continue after the run has given it
// up calls Register.
func AttachStagingDir(dir, output string) (*StagingDir, error) {
	w := &StagingDir{Path: dir, attached: true}
	if output == "" {
		return w, nil
	}
	own, target, err := stagingPath(placeOf(output))
	if err != nil {
		return nil, PathError("open", output, err)
	}
	if w.target = target; dir == "" {
		w.Path = own
	}
	return w, nil
}

// StagingIn returns the path to give to NewStagingDir for an output: a path in folder where the output is in
// an object store, whose staging folder would be in the user's cache otherwise; else the output itself.
func StagingIn(folder, output string) string {
	if folder == "" || blob.PlaceOf(output).Files {
		return output
	}
	return filepath.Join(folder, filepath.Base(output)+"-"+digest(output)+filepath.Ext(output))
}

// Attached reports whether another process holds the staging folder.
func (w *StagingDir) Attached() bool { return w.attached }

// ErrNotStaged is returned for an array of an attached staging folder that its owner has
// not begun, or has begun with another shape, dtype or layout.
var ErrNotStaged = errors.New("the process that writes it has begun no such array: its run is over, or is another")

// ErrAttachedCommit is returned by Commit of a writer in an attached staging folder.
var ErrAttachedCommit = errors.New("only the process that began the array can commit it")

// Share says that from now on processes that are attached to the staging folder write the array too:
// Abort then assumes that a region was written even where this writer has not.
func Share(w store.Writer) {
	if s, ok := w.(interface{ Share() }); ok {
		s.Share()
	}
}
