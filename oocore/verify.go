package oocore

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/receipt"
	"github.com/gonbext/gonbext/oocore/internal/run"
	"github.com/gonbext/gonbext/oocore/types"
)

// ErrNoReceipt is that nothing is known of what an array should hold.
var ErrNoReceipt = receipt.ErrNone

// Receipt has Save write the array's receipt as a file too, for others, and Verify, Recompute, Repair and Why take it from there
// instead of this user's run log. To its digests are added SHA-256 of each part, for which Save reads the array once. Paths in it are relative to
// its folder: it goes along with the array and the inputs.
//
// That an array is what its receipt tells is proved then, though not that the receipt was made by who seems to have made it:
// Recompute shows whether its expression of its inputs gives the array.
func Receipt(path string) Option {
	return option(func(s *settings) error {
		if path == "" {
			return errors.New("the path of the receipt is empty")
		}
		s.receipt = path
		return nil
	})
}

// Verify compares a stored array with its receipt: the digests that the Save which made it noted in the run log of
// this user, of the elements that each task wrote (XXH3, 64 bits: against damage, not against forgery), or those of a file that Receipt names. It reads the array
// once, and takes the memory of a task's part, or of a decoded chunk's, for each processor. An array without
// a receipt is ErrNoReceipt: a Save of one array to a file of this machine leaves one, unless it multiplies matrices last, or runs in worker processes or on a device.
func Verify(ctx context.Context, path string, opts ...Option) (*types.Verification, error) {
	r, err := receiptOf(path, opts)
	if err != nil {
		return nil, err
	}
	return r.Verify(ctx)
}

// Recompute is Verify, and computes in addition a share of the parts anew, from the inputs by the plan in the receipt: parts taken at random for less than 1, all for
// 1; of reductions always all. It computes within a budget, as Save does, and stores nothing. Inputs that have changed since, or another processor, on which sums round in another way, are an
// error.
func Recompute(ctx context.Context, path string, share float64, opts ...Option) (*types.Verification, error) {
	s, err := applyOptions(opts)
	if err == nil && !(share > 0 && share <= 1) {
		err = fmt.Errorf("a share of %v of the parts: give more than 0, and at most 1", share)
	}
	if err != nil {
		return nil, err
	}
	return s.recomputing().Recompute(ctx, path, s.receipt, share)
}

// Repair is Verify, and computes again the parts that are damaged, by the plan in the receipt. The others are taken over, and the array is
// replaced when it is whole: one that was cut off resumes. A reduction is computed as a whole. Errors are those of Recompute.
func Repair(ctx context.Context, path string, opts ...Option) (*types.Verification, error) {
	s, err := applyOptions(opts)
	if err != nil {
		return nil, err
	}
	return s.recomputing().Repair(ctx, path, s.receipt)
}

// recomputing are the options of a run that computes anew what was saved.
func (s *settings) recomputing() *run.Options {
	return &run.Options{Budget: s.Budget, Pool: s.Pool, NoWait: s.NoWait, Workers: s.Workers, Progress: s.Progress}
}

func receiptOf(path string, opts []Option) (*receipt.Receipt, error) {
	s, err := applyOptions(opts)
	if err != nil {
		return nil, err
	}
	return receipt.Find(path, s.receipt)
}

// Why returns what a stored array was made of, back through inputs that have receipts too, and whether each input still is as it was read; with a chunk, an index in the grid
// of the tasks that made the array, also the task that made that chunk with the chunks that it has read. An array without a receipt is
// ErrNoReceipt.
func Why(ctx context.Context, path string, chunk []int, opts ...Option) (*types.Lineage, error) {
	r, err := receiptOf(path, opts)
	if err != nil {
		return nil, err
	}
	return r.Why(ctx, chunk)
}

// checkReceipt rejects a receipt where the run would leave none.
func (s *settings) checkReceipt(op string, j *run.Job) error {
	if s.receipt == "" {
		return nil
	}
	err := receipt.CheckFile(s.receipt)
	if err == nil && (op != "save" || s.Region != "" || s.Cluster != nil || !j.Traceable()) {
		err = errors.New("a receipt is of one whole array that is saved to a file of this machine, by a run in this process that does not multiply matrices last: leave Receipt out")
	}
	if err == nil {
		return nil
	}
	return &OptionError{Err: err}
}
