package cf

import (
	"context"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("cf_field", Fields{}, blockwise.Exact, blockwise.KeepsAxes) }

// Fields tells a field of dates. Its input is int64 or float64.
type Fields struct {
	Encoding
	Field  Field
	Floats bool `json:",omitempty"`
}

// Requirements is the box of numbers, which take as much room as the result.
func (o Fields) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}, Scratch: int64(grid.Size(box) * 8)}
}

// Fill tells the fields of the box.
func (o Fields) Fill(ctx context.Context, t *blockwise.Task) error {
	in := t.Scratch[:t.Box.Size()*8]
	if err := t.In[0].Read(ctx, t.Box, in); err != nil {
		return err
	}
	return t.Compute(func() error {
		return o.tell(dtype.Slice[int64](t.Dst), in)
	})
}

func (o Fields) tell(out []int64, in []byte) error {
	for i := range out {
		var at Instant
		var err error
		if o.Floats {
			at, err = o.InstantOfFloat(dtype.Slice[float64](in)[i])
		} else {
			at, err = o.Instant(dtype.Slice[int64](in)[i])
		}
		if err != nil {
			return err
		}
		out[i] = int64(o.Field.Of(at, o.Calendar))
	}
	return nil
}
