package oocore

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/receipt"
	"github.com/gonbext/gonbext/oocore/types"
)

// ErrNoReceipt is that nothing is known of what an array should hold.
var ErrNoReceipt = receipt.ErrNone

// Verify compares a stored array with its receipt: the digests that the Save which made it noted in the run log of
// this user, of the elements that each task wrote (XXH3, 64 bits: against damage, not against forgery). It reads the array
// once, and takes the memory of a task's part, or of a decoded chunk, for each processor. An array without
// a receipt is ErrNoReceipt: a Save of one array to a file of this machine leaves one, unless it multiplies matrices last, or runs in worker processes or on a device.
func Verify(ctx context.Context, path string) (*types.Verification, error) {
	return receipt.Verify(ctx, path)
}

// Why returns what a stored array was made of, back through inputs that have receipts too, and whether each input still is as it was read; with a chunk, an index in the grid
// of the tasks that made the array, also the task that made that chunk with the chunks that it has read. An array without a receipt is
// ErrNoReceipt.
func Why(ctx context.Context, path string, chunk ...int) (*types.Lineage, error) {
	return receipt.Why(ctx, path, chunk)
}
