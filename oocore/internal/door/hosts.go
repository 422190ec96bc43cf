package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/omezarr"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Carrier is what oocore.Plan embeds, so that packages which import oocore reach the methods of
// its type Internals, which it does not export.
type Carrier[Internals any] struct{}

func (Carrier[I]) internals() (i I) { return i }

// Get returns what an oocore.Plan{} carries.
func Get[I any](plan interface{ internals() I }) I { return plan.internals() }

// Cluster runs the tasks of a run where they may outlive this process.
type Cluster interface {
	// Executor returns the run's executor. saved is what Resume needs.
	Executor(saved json.RawMessage) exec.Executor
	// Wait waits for a run that the executor has left, until its outputs are in their places.
	Wait(ctx context.Context) error
	// Predict says in the header of a record what is asked for each worker, and what all take.
	Predict(h *record.Header, p *size.Plan)
	// Records reports whether this process writes the run's record.
	Records() bool
}

// CheckWritten returns an error where a run on a cluster has ended, and the version of an output, which was
// read with err, is the one that it had before.
func CheckWritten(output string, before, now storage.Version, err error) error {
	if err == nil && (now.Unknown || !now.Equal(before)) {
		return nil
	}
	return errors.Join(fmt.Errorf("the run has ended without its output %s: its inputs were changed meanwhile, or someone removed its folder", output), err)
}

// State is the state of an iterative algorithm in the user's run log, where a later program
// with the same algorithm, options and inputs finds it.
type State interface {
	// Load reads the state that an earlier program stored, and reports whether there is one.
	// Under Fresh, and for Go functions without a Version, there is none.
	Load(state any) bool
	// Store makes a state durable, unless an input has changed since the State was made. A
	// failure is no error of the algorithm: the next program computes.
	Store(ctx context.Context, state any)
	// Skipped writes the record of an algorithm whose result an earlier program stored.
	Skipped(title string, series ...record.Series)
}

// Decomposed are the parts of a decomposition in an expression. What an algorithm does
// not have is nil.
type Decomposed[Array any] struct {
	Whole, Core, Weights, Errors Array
	Factors                      []Array
}

// Parts are a collection for another process.
type Parts[Array any] struct {
	Members          []Part[Array]
	Path, Checkpoint string
	Source           []store.Member
	Image            *omezarr.Image
}

// Part is an array of a collection: Path leads to it, or it was made.
type Part[Array any] struct {
	Name, Path string
	Array      *Array
}
