package magic

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/gonbext/chart"
	"github.com/gonbext/gonbext/gonbext/internal/stored"
)

// chunks draws the chunk grid of a stored array.
func (r *rewriting) chunks(operands []string) error {
	if len(operands) != 1 {
		return fmt.Errorf(`it takes one path, as in %%chunks acts.zarr, and got %d; one with spaces goes in "quotes"`, len(operands))
	}
	r.later("%chunks", func(ctx context.Context, library bool) (chart.Output, error) {
		m, err := stored.Chunks(ctx, operands[0])
		if err != nil {
			return chart.Output{}, err
		}
		return m.Output(chart.Options{Library: library})
	})
	return nil
}
