package gonbext

import (
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore"
)

// Save computes a within the cell's budget into the array file at path, and
// returns the array stored there. What was saved there before, of the same
// expression, is not computed again. A failure or an interrupt ends the cell.
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

// SaveAll computes several arrays within the cell's budget in one run, and returns the
// arrays stored at their paths. What the outputs share is computed once, and none appears
// before all are computed: see oocore.SaveAll. A failure or an interrupt ends the cell.
func SaveAll(outputs []oocore.Output, opts ...oocore.Option) []*oocore.Array {
	outputs = slices.Clone(outputs)
	for i := range outputs {
		out := &outputs[i]
		out.Options = append(cellChunks(out.Array), out.Options...)
	}
	opts = planOnly("SaveAll", opts, func(opts ...oocore.Option) (*oocore.Plan, error) { return oocore.PlanAll(outputs, opts...) })
	ctx, stop := during()
	defer stop()
	saved, err := oocore.SaveAll(ctx, outputs, opts...)
	if err != nil {
		fail("SaveAll", err)
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

// applyOptions adds the cell's settings to the options of one call.
func applyOptions(op string, a *oocore.Array, path string, opts []oocore.Option) []oocore.Option {
	opts = append(cellChunks(a), opts...)
	return planOnly(op, opts, func(opts ...oocore.Option) (*oocore.Plan, error) { return a.Plan(path, opts...) })
}

// cellChunks returns the option for the cell's chunks, where they have the dimensions of a.
func cellChunks(a *oocore.Array) []oocore.Option {
	if c := current.chunks; c != nil && len(c) == a.Dims() {
		return []oocore.Option{oocore.Chunks(c...)}
	}
	return nil
}

// planOnly adds the option that makes a call plan only, in a cell that only plans.
func planOnly(op string, opts []oocore.Option, planned planner) []oocore.Option {
	if !current.planOnly {
		return opts
	}
	opts, err := footprint(planned, opts)
	if err != nil {
		fail(op, err)
	}
	return opts
}
