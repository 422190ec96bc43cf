package gonbext

import (
	"errors"

	"github.com/gonbext/gonbext/oocore"
)

// Save computes a within the cell's budget into the array file at path, and
// returns the array stored there. What is there already, of the same expression,
// is not computed again. A failure or an interrupt ends the cell.
func Save(a *oocore.Array, path string, opts ...oocore.Option) *oocore.Array {
	opts = applyOptions("Save", a, path, opts)
	ctx, stop := during()
	defer stop()
	saved, err := a.Save(ctx, path, opts...)
	if err != nil {
		fail("Save", err)
	}
	return saved
}

// Collect computes a and returns its elements in C order, in memory that counts
// towards the budget. A failure or an interrupt ends the cell; so does
// %%footprint, which has no values to return.
func Collect[T oocore.Element](a *oocore.Array, opts ...oocore.Option) []T {
	opts = applyOptions("Collect", a, "", opts)
	ctx, stop := during()
	defer stop()
	values, err := oocore.Collect[T](ctx, a, opts...)
	if errors.Is(err, oocore.ErrPlanned) {
		leave("Collect")
	}
	if err != nil {
		fail("Collect", err)
	}
	return values
}

// applyOptions adds what the cell has to say to the options of one call.
func applyOptions(op string, a *oocore.Array, path string, opts []oocore.Option) []oocore.Option {
	if c := current.chunks; c != nil && len(c) == a.Dims() {
		opts = append([]oocore.Option{oocore.Chunks(c...)}, opts...)
	}
	if !current.planOnly {
		return opts
	}
	opts, err := footprint(a, path, opts)
	if err != nil {
		fail(op, err)
	}
	return opts
}
