package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/record"
)

// A run's file may have come in an archive that somebody else has made. What it names, a batch system's address and jobs, is
// used only where the user has named it himself: on the command line, or when he submitted the run, which is noted in
// his run log under the run's ID. The ID is random, so that no other file can name it.

// submission is what the run log has of a run that was submitted.
type submission struct {
	On     string `json:"on"`
	Output string `json:"output"`
	Plan   string `json:"plan"`
}

// submissionAge is how long a run stays in the list of those that were submitted.
const submissionAge = 90 * 24 * time.Hour

var runID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// submissions is the folder of the list in the run log.
func submissions() (string, error) {
	log, err := record.Dir()
	return filepath.Join(log, "submitted"), err
}

// note enters a run in the list, and removes those that are long past. Without a run log there is none: gonbext jobs then
// asks for the batch system.
func (r *run) note() error {
	dir, err := submissions()
	if errors.Is(err, record.ErrOff) {
		return nil
	}
	if err == nil {
		err = disk.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil // as runs without a record
	}
	_ = disk.List(dir, func(e fs.DirEntry) bool {
		if st, err := e.Info(); err == nil && time.Since(st.ModTime()) > submissionAge {
			_ = disk.Remove(filepath.Join(dir, e.Name()))
		}
		return true
	})
	text, err := json.Marshal(submission{r.On, r.Output, r.Plan})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, r.ID), text, 0o600)
	}
	return err
}

// noted reports a run that this user has submitted, as his run log has it.
func (r *run) noted() bool {
	dir, err := submissions()
	if err != nil {
		return false
	}
	st, err := os.Stat(dir)
	if err != nil || disk.Foreign(st) != "" {
		return false
	}
	text, err := readRegular(filepath.Join(dir, r.ID))
	var s submission
	return err == nil && json.Unmarshal(text, &s) == nil && s == submission{r.On, r.Output, r.Plan}
}

// forgetNote removes a run that has ended from the list.
func (r *run) forgetNote() {
	if dir, err := submissions(); err == nil {
		_ = disk.Remove(filepath.Join(dir, r.ID))
	}
}

// named returns an error where the user has named neither the run nor its batch system, which on is.
func (r *run) named(on string) error {
	if on == r.On || on == "" && r.noted() {
		return nil
	}
	if on != "" {
		return fmt.Errorf("%s: its run is not on %s: gonbext jobs says on which batch system it is", r.Output, on)
	}
	return fmt.Errorf("%s: its run is not in this machine's list of those that you have submitted: name its batch system with --on, where you know that it is yours", r.Output)
}

// maxRunFile bounds what is read of a file that may be no run's.
const maxRunFile = 64 << 20

// readRegular reads a file that may be anything, such as a pipe that nobody writes to.
func readRegular(name string) ([]byte, error) {
	f, st, err := disk.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !st.Mode().IsRegular() || st.Size() > maxRunFile {
		return nil, fmt.Errorf("%s: this is not a file of a run", name)
	}
	return io.ReadAll(io.NewSectionReader(f, 0, st.Size()))
}
