package store

import "errors"

// AttachWorkspace opens the workspace of an output that another process is writing,
// to write some of its chunks. That process holds the lock, and it alone creates,
// commits and removes what lies in the workspace. A writer that is created with an
// attached workspace fails with ErrNotStaged where that process has begun no such
// array. Its Sync makes durable what it wrote; Suspend and Abort close it and remove
// nothing; Commit is an error. output is empty where the workspace holds temporary
// arrays only.
func AttachWorkspace(dir, output string) (*Workspace, error) {
	w := &Workspace{Path: dir, attached: true}
	if output == "" {
		return w, nil
	}
	var err error
	if _, w.target, err = workspaceDir(formatOf(output).Place(output)); err != nil {
		return nil, pathError("open", output, err)
	}
	return w, nil
}

// Attached reports a workspace that another process holds.
func (w *Workspace) Attached() bool { return w.attached }

// ErrNotStaged is returned for an array of an attached workspace that its owner has
// not begun, or has begun with another shape, dtype or layout.
var ErrNotStaged = errors.New("the process that writes it has begun no such array: its run is over, or is another")

// ErrAttachedCommit is returned by Commit of a writer in an attached workspace.
var ErrAttachedCommit = errors.New("only the process that began the array can commit it")

// Share says that other processes, attached to the workspace, write the array from now
// on: an Abort then takes a region for written that this writer has not touched.
func Share(w Writer) {
	if s, ok := w.(interface{ Share() }); ok {
		s.Share()
	}
}
