package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
)

// arrayError is by how much an array of a collection differs from that of its name in another.
type arrayError struct {
	Name string `json:"name"`
	// Largest and Mean are of the absolute differences. They and Cosine are null where elements are
	// NaN or infinite; Cosine also where an array has only zeros.
	Largest *float64 `json:"largest"`
	Mean    *float64 `json:"mean"`
	Cosine  *float64 `json:"cosine"`
	Error   string   `json:"error,omitempty"` // why the arrays are not compared
}

// errorFigures is the number of figures of an array. They are computed in float64.
const errorFigures = 5

// compareCollections compares two collections array by array, in the order of their names, or two arrays, in one run.
func compareCollections(ctx context.Context, a, b string, opts []oocore.Option) ([]arrayError, error) {
	first, err := openAll(a)
	if err != nil {
		return nil, err
	}
	second, err := openAll(b)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gonbext-error-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "figures.npz")
	var all []arrayError
	var outputs []oocore.Output
	var compared []int
	others := second.Names()
	if first.Len() == 1 && len(others) == 1 { // two arrays, whatever their files are called
		second, others = second.With(first.Names()[0], second.Get(others[0])), first.Names()
	}
	for name, x := range first.All() {
		d := arrayError{Name: name}
		y := second.Get(name)
		switch {
		case !slices.Contains(others, name):
			d.Error = "it is not in " + b
		case x.Err() != nil:
			d.Error = x.Err().Error()
		case y.Err() != nil:
			d.Error = y.Err().Error()
		case !slices.Equal(x.Shape(), y.Shape()):
			d.Error = fmt.Sprintf("it has shape %v, and %v in %s", x.Shape(), y.Shape(), b)
		case x.DType().Kind() == dtype.KindComplex || y.DType().Kind() == dtype.KindComplex:
			d.Error = "complex numbers are not compared"
		case x.Size() == 0:
			d.Error = "it has no elements"
		default:
			x, y = x.AsType(oocore.Float64), y.AsType(oocore.Float64)
			off := x.Sub(y).Abs()
			for i, v := range [errorFigures]*oocore.Array{off.Max(), off.Mean(), x.Mul(y).Sum(), x.Mul(x).Sum(), y.Mul(y).Sum()} {
				outputs = append(outputs, oocore.Output{Array: v, Path: fmt.Sprintf("%s#%d-%d", file, len(all), i)})
			}
			compared = append(compared, len(all))
		}
		all = append(all, d)
	}
	for _, name := range others {
		if !slices.ContainsFunc(all, func(d arrayError) bool { return d.Name == name }) {
			all = append(all, arrayError{Name: name, Error: "it is not in " + a})
		}
	}
	// Figures come to the places that the arrays have by now.
	defer slices.SortFunc(all, func(a, b arrayError) int { return names.Natural(a.Name, b.Name) })
	if len(outputs) == 0 {
		return all, nil
	}
	values, err := oocore.SaveAll(ctx, outputs, opts...)
	if err != nil {
		return nil, failure(err)
	}
	for k, i := range compared {
		var v [errorFigures]float64
		for n := range v {
			if v[n], err = oocore.Item[float64](ctx, values[k*errorFigures+n], opts...); err != nil {
				return nil, failure(err)
			}
		}
		d := &all[i]
		d.Largest, d.Mean, d.Cosine = finiteOrNil(v[0]), finiteOrNil(v[1]), finiteOrNil(v[2]/math.Sqrt(v[3]*v[4]))
	}
	return all, nil
}

// finiteOrNil is a number that JSON has.
func finiteOrNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// printDifferences writes a table, with a bar for each mean error.
func printDifferences(w io.Writer, all []arrayError) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	bar, scale := meanBars(all)
	fmt.Fprintln(t, "array\tlargest error\tmean error\tcosine\t"+scale)
	text := func(v *float64) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf("%.6g", *v)
	}
	for _, d := range all {
		if d.Error != "" {
			fmt.Fprintf(t, "%.200q\t%s\n", d.Name, d.Error)
			continue
		}
		fmt.Fprintf(t, "%.200q\t%s\t%s\t%s\t%s\n", d.Name, text(d.Largest), text(d.Mean), text(d.Cosine), bar(d.Mean))
	}
	return t.Flush()
}

// meanBars returns how means are drawn as bars, and what that says of their scale. Means that lie
// more than a factor of a hundred apart are drawn by their logarithms, where one would hide the others.
func meanBars(all []arrayError) (bar func(mean *float64) string, scale string) {
	const longest, apart = 20, 100
	least, most := math.Inf(1), 0.0
	for _, d := range all {
		if d.Mean != nil && *d.Mean > 0 {
			least, most = min(least, *d.Mean), max(most, *d.Mean)
		}
	}
	length := func(v float64) float64 { return longest * v / most }
	if most/least > apart {
		scale = fmt.Sprintf("mean error from %.2g to %.2g, logarithmic", least, most)
		length = func(v float64) float64 {
			return 1 + (longest-1)*(math.Log(v)-math.Log(least))/(math.Log(most)-math.Log(least))
		}
	}
	return func(mean *float64) string {
		if mean == nil || *mean == 0 {
			return ""
		}
		return strings.Repeat("█", int(math.Ceil(length(*mean))))
	}, scale
}
