// Package iterations has expressions of many steps, each of which uses the one before more
// than once. As trees they have more nodes than a machine has bytes.
package iterations

import (
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/filter"
)

// Family is one expression: a step, done again and again, and what is done last.
type Family struct {
	Name  string
	Times int
	Step  func(y *oocore.Array) *oocore.Array
	Last  func(y *oocore.Array) *oocore.Array // nil for nothing
	// Python is the step in Python, of y and NumPy as np, and PythonLast what is done last.
	Python, PythonLast string
	// Tolerance is how far, relative to them, results may be from those of Python; 0 where
	// they have the same bits.
	Tolerance float64
}

// Of returns the expression of an array.
func (f *Family) Of(y *oocore.Array) *oocore.Array {
	for range f.Times {
		y = f.Step(y)
	}
	if f.Last != nil {
		y = f.Last(y)
	}
	return y
}

// All lists the families.
func All() []Family {
	return []Family{
		{Name: "a chain of operations", Times: 2000, Step: func(y *oocore.Array) *oocore.Array { return y.Mul(0.5).Add(0.25) },
			Python: "y * 0.5 + 0.25"},
		{Name: "means with its own roll", Times: 40, Step: func(y *oocore.Array) *oocore.Array { return y.Add(y.Roll(1, 0)).Mul(0.5) },
			Python: "(y + np.roll(y, 1, 0)) * 0.5"},
		{Name: "sums with its own roll", Times: 12, Step: func(y *oocore.Array) *oocore.Array { return y.Add(y.Roll(1, 0)) },
			Python: "y + np.roll(y, 1, 0)"},
		{Name: "squarings", Times: 40, Step: func(y *oocore.Array) *oocore.Array { return y.Mul(y) }, Last: func(y *oocore.Array) *oocore.Array { return y.Sum() },
			Python: "y * y", PythonLast: "np.sum(y)", Tolerance: 1e-12},
		{Name: "heat equation by slices", Times: 24, Step: func(u *oocore.Array) *oocore.Array {
			around := u.Slice("2:, 1:-1").Add(u.Slice(":-2, 1:-1")).Add(u.Slice("1:-1, 2:")).Add(u.Slice("1:-1, :-2"))
			middle := u.Slice("1:-1, 1:-1")
			return middle.Add(around.Sub(middle.Mul(4)).Mul(0.1))
		}, Python: "y[1:-1, 1:-1] + (y[2:, 1:-1] + y[:-2, 1:-1] + y[1:-1, 2:] + y[1:-1, :-2] - y[1:-1, 1:-1] * 4) * 0.1"},
		{Name: "heat equation by rolls", Times: 24, Step: func(u *oocore.Array) *oocore.Array {
			around := u.Roll(1, 0).Add(u.Roll(-1, 0)).Add(u.Roll(1, 1)).Add(u.Roll(-1, 1))
			return u.Add(around.Sub(u.Mul(4)).Mul(0.1))
		}, Python: "y + (np.roll(y, 1, 0) + np.roll(y, -1, 0) + np.roll(y, 1, 1) + np.roll(y, -1, 1) - y * 4) * 0.1"},
		{Name: "differences from a gaussian", Times: 14, Step: func(y *oocore.Array) *oocore.Array {
			return y.Sub(filter.Gaussian(y, []float64{1}, filter.GaussianOptions{}))
		}, Python: "y - scipy.ndimage.gaussian_filter(y, 1)", Tolerance: 1e-9},
	}
}
