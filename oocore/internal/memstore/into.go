package memstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
)

// Into returns a Writer to memory that the caller keeps: dense, in C order, of the
// shape's size.
func Into(shape []int, t dtype.Type, data []byte) store.Writer {
	return &into{shape, t.Size(), data}
}

type into struct {
	shape []int
	size  int
	data  []byte
}

func (w *into) Write(ctx context.Context, src []byte, b grid.Box) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l, err := strided.Of(w.shape, w.size, b.Region())
	if err == nil && len(src) != l.Bytes() {
		err = errors.New("the buffer has another size than the box")
	}
	if err != nil {
		return fmt.Errorf("write to memory: %w", err)
	}
	if len(src) > 0 {
		l.Scatter(w.data, src, 0)
	}
	return nil
}

func (w *into) Sync(ctx context.Context) error { return ctx.Err() }

func (w *into) Commit(ctx context.Context) error { return ctx.Err() }

func (w *into) Suspend() error { return nil }

func (w *into) Abort() error { return nil }
