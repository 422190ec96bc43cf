package host

import (
	"context"
	"strconv"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
)

// Columns returns the names that the columns of an array have in a table: the labels of its last axis, which are texts, dates as
// pandas writes them, and numbers, else the columns' numbers. An array of one dimension is one column, 0.
func Columns(ctx context.Context, a *oocore.Array) ([]string, error) {
	n, labels := 1, (*oocore.Array)(nil)
	if dims := a.DimNames(); a.Dims() > 1 {
		n = a.Shape()[a.Dims()-1]
		if dims != nil && dims[a.Dims()-1] != "" {
			labels = a.Coord(dims[a.Dims()-1])
		}
	}
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	if labels == nil || labels.Err() != nil { // which are none
		return names, nil
	}
	if labels.DType().Integer() {
		at, err := oocore.Collect[int64](ctx, labels.AsType(dtype.Int64))
		if err != nil {
			return nil, err
		}
		texts := Flags(labels)
		unit, since, dates := Dates(labels)
		for i, v := range at {
			text, named := texts[v]
			switch {
			case named:
				names[i] = text
			case dates:
				at := time.Unix(int64(since), 0).Add(time.Duration(float64(v) * unit * 1e9))
				if unit >= 1 { // which no Duration need hold
					at = time.Unix(int64(since)+v*int64(unit), 0)
				}
				names[i] = at.UTC().Format("2006-01-02 15:04:05.999999999")
			case labels.DType() == dtype.Uint64:
				names[i] = strconv.FormatUint(uint64(v), 10)
			default:
				names[i] = strconv.FormatInt(v, 10)
			}
		}
		return names, nil
	}
	at, err := oocore.Collect[float64](ctx, labels.AsType(dtype.Float64))
	for i, v := range at {
		names[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return names, err
}
