package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Each output of a run has a staging folder. That of the first has the journal, and a list of
// the other outputs; each of the others names it. So whoever drops a journal finds the
// folders that nobody can resume without it, and a run knows its own from those that
// another one has begun since.
const (
	othersFile = "others" // paths of the outputs after the first, as JSON
	ownerFile  = "of"     // path of the first output's staging folder
)

// Claim makes the staging folder of an output after the first this run's. What is in it is
// removed, with what it names, unless the run resumes and it was this run's already.
func (c *Checkpoint) Claim(other *storage.StagingDir) error {
	owner := ""
	if c.staging != nil {
		var err error
		if owner, err = filepath.Abs(c.staging.Path); err != nil {
			return err
		}
	}
	if c.resumes && belongs(other, owner) {
		return nil
	}
	if err := errors.Join(removeOthers(other), other.Clear()); err != nil {
		return err
	}
	return disk.WriteFile(other.Join(ownerFile), []byte(owner))
}

// belongs reports whether a staging folder names the first output's.
func belongs(other *storage.StagingDir, owner string) bool {
	named, err := disk.ReadFile(other.Join(ownerFile))
	return err == nil && string(named) == owner
}

// isClaimed reports whether a staging folder is of a later output of an unfinished run, which
// its first output's journal lets resume.
func isClaimed(staging *storage.StagingDir) bool {
	owner, err := disk.ReadFile(staging.Join(ownerFile))
	if err != nil || len(owner) == 0 {
		return false
	}
	_, err = os.Stat(filepath.Join(string(owner), journalFile))
	return err == nil
}

// listOthers writes the list of the outputs after the first.
func (c *Checkpoint) listOthers() error {
	var paths []string
	for i := range c.plan.Staged() {
		path, err := storage.Absolute(c.plan.StagingPath(i))
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	if paths = paths[1:]; len(paths) == 0 {
		return nil
	}
	text, err := json.Marshal(paths)
	if err != nil {
		return err
	}
	return disk.WriteFile(c.staging.Join(othersFile), text)
}

// removeOthers removes what the run that a staging folder is of left in those of its other
// outputs. A folder that a run holds, that another run has begun anew, or that cannot be
// reached any more, stays: the run that drops it has no need of it.
func removeOthers(first *storage.StagingDir) error {
	text, err := disk.ReadFile(first.Join(othersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, err := filepath.Abs(first.Path)
	if err != nil {
		return err
	}
	var paths []string
	if json.Unmarshal(text, &paths) != nil {
		return nil // a damaged list names nothing
	}
	var errs []error
	for _, path := range paths {
		other, err := storage.ExistingStagingDir(path)
		switch {
		case err != nil || other == nil:
		case belongs(other, owner):
			errs = append(errs, other.Remove())
		default:
			errs = append(errs, other.Close())
		}
	}
	return errors.Join(errs...)
}

// remove removes a run's staging folder, with those of its other outputs.
func remove(first *storage.StagingDir) error { return errors.Join(removeOthers(first), first.Remove()) }
