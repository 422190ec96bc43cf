package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Run is a run on a batch system whose output is not in its place yet. It is known from the
// files beside the output, or the note that an object store has there, on any machine that sees them.
// Since anybody may have made these files, Wait and Cancel ask the batch system that they name only where
// the user's run log has the run as one that was submitted here, or Trust was called.
type Run struct {
	of *run
	on string // that is trusted
}

// Trust says that the user has named the batch system: Wait and Cancel may ask it where it is the run's.
func (r *Run) Trust(on string) {
	if r != nil {
		r.on = on
	}
}

// Find returns the runs whose outputs lie in a folder or below an object store's address, or the run of an output.
func Find(ctx context.Context, path string) (all []*Run, err error) {
	dirs, err := storage.StagingDirs(ctx, path)
	for _, dir := range dirs {
		if r, err := load(dir); err == nil {
			all = append(all, &Run{of: r})
		} else if len(dirs) == 1 && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return all, err
}

// Ended returns the run of an output that was cancelled or has failed, and why it has; both are nil where there is none.
func Ended(ctx context.Context, output string) (*Run, error) {
	output, err := storage.Absolute(output)
	if err != nil {
		return nil, nil
	}
	dirs, _ := storage.StagingDirs(ctx, output)
	for _, dir := range dirs {
		if r, err := loadFile(filepath.Join(filepath.Dir(runFile(dir)), endedFile)); err == nil && r.Output == output {
			why := r.failure()
			if why == nil {
				why = errors.New("the run was cancelled: the same command again resumes it")
			}
			return &Run{of: r}, why
		}
	}
	return nil, nil
}

// found returns the run, or an error where no function of this package made it.
func (r *Run) found() (*run, error) {
	if r == nil || r.of == nil {
		return &run{}, errors.New("the *cluster.Run is empty: take one that Find or Ended has returned")
	}
	return r.of, nil
}

// Output returns the path of the run's output.
func (r *Run) Output() string { of, _ := r.found(); return of.Output }

// On returns the name of the run's batch system.
func (r *Run) On() string { of, _ := r.found(); return of.On }

// Begun returns when the run was submitted.
func (r *Run) Begun() time.Time { of, _ := r.found(); return of.Begun }

// Progress says how far the run is, by its files alone.
func (r *Run) Progress(context.Context) (string, error) {
	if _, err := r.found(); err != nil {
		return "", err
	}
	s, err := r.of.counts()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d of %d tasks", s.done, s.of), nil
}

// Wait waits until the output is in its place. tell, where it is not nil, is given a line when there
// is progress. Where ctx ends, the run goes on and the error is ErrDetached.
func (r *Run) Wait(ctx context.Context, tell func(line string)) error {
	if _, err := r.found(); err != nil {
		return err
	}
	if err := r.of.named(r.on); err != nil {
		return err
	}
	if err := r.of.wait(ctx, tell); err != nil {
		return err
	}
	now, err := storage.VersionOf(ctx, r.of.Output)
	return door.CheckWritten(r.of.Output, r.of.Before, now, err)
}

// Cancel ends the run's jobs. What is done stays: the same run again resumes there.
func (r *Run) Cancel(ctx context.Context) error {
	if _, err := r.found(); err != nil {
		return err
	}
	if err := r.of.named(r.on); err != nil {
		return err
	}
	return r.of.cancel(ctx)
}

// Logs returns what the run's jobs have written, each under its file's name.
func (r *Run) Logs() (string, error) {
	of, err := r.found()
	if err != nil {
		return "", err
	}
	return of.logs()
}
