package magic

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/inspect"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/host"
)

// chunks draws the chunk grid of a stored array, and lists the arrays of a collection.
func (r *rewriting) chunks(operands []string) error {
	if len(operands) != 1 {
		return fmt.Errorf(`it takes one path, as in %%chunks acts.zarr, and got %d; one with spaces goes in "quotes"`, len(operands))
	}
	r.later("%chunks", func(ctx context.Context, now relay.Now) (chart.Output, error) {
		path := from(now.Dir, operands[0])
		m, err := inspect.Chunks(ctx, path)
		if err != nil {
			if of, _ := inspect.Describe(ctx, path, true); of != nil {
				if all, several := of.(*inspect.Contents); several {
					return all.Output()
				}
			}
			return chart.Output{}, err
		}
		return m.Output(chart.Options{Library: now.Library})
	})
	return nil
}

// from is a path as the cells in dir mean it: this process stays where it began.
func from(dir, path string) string {
	if here, err := os.Getwd(); err == nil && here == dir || dir == "" || filepath.IsAbs(path) || host.Remote(path) {
		return path
	}
	return filepath.Join(dir, path)
}
