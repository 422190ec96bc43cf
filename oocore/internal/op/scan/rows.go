package scan

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

const (
	passes = "2 that read, 1 where lines are short"
	states = "256 KiB"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "cumsum", Without: "Initial", Passes: passes, Holds: states, Build: op.Build(BuildCumulative).With(CumulativeArgs{Name: "cumsum"}), Examples: "cumsum(x, 0); cumsum(x, 1); cumsum(x)",
		Go: "(a *Array) Cumsum(axis ...int)", Doc: `Cumsum returns the sums of the elements up to each along an axis; without one, in the array as if flattened. Integers are added in 64 bits,
where they wrap; floats at least as accurately as Sum does.`},
	{Name: "cumprod", Without: "Initial", Passes: passes, Holds: states, Build: op.Build(BuildCumulative).With(CumulativeArgs{Name: "cumprod", Product: true}), Examples: "cumprod(x, 1)",
		Go: "(a *Array) Cumprod(axis ...int)", Doc: `Cumprod returns the products of the elements up to each along an axis; without one, in the array as if flattened. A product of floats that is beyond their range is infinite or zero there, and right again where later factors bring it back.`},
	{Name: "cumulative_sum", Passes: passes, Holds: states, Build: op.Build(Along).With(CumulativeArgs{Name: "cumulative_sum"}), Examples: "cumulative_sum(x, 1)",
		Go: "(a *Array) CumulativeSum(from types.Beginning, axis ...int) = a, axis, bool(from)", Doc: `CumulativeSum is Cumsum along an axis, which only an array of one dimension may leave out; with Initial, a zero comes before each line.`},
	{Name: "cumulative_prod", Passes: passes, Holds: states, Build: op.Build(Along).With(CumulativeArgs{Name: "cumulative_prod", Product: true}), Examples: "cumulative_prod(x, 1)",
		Go: "(a *Array) CumulativeProd(from types.Beginning, axis ...int) = a, axis, bool(from)", Doc: `CumulativeProd is Cumprod along an axis, which only an array of one dimension may leave out; with Initial, a one comes before each line.`},
	{Name: "maximum_accumulate", Also: "cummax", Without: "Initial", NumPy: "np.maximum.accumulate", Passes: passes, Holds: states, Build: op.Build(MaximumAccumulate), Examples: "maximum_accumulate(x, 0); maximum_accumulate(i, 1)",
		Go: "(a *Array) MaximumAccumulate(axis ...int)", Doc: `MaximumAccumulate returns the largest of the elements up to each along an axis, the first where it is left out; a NaN stays.`},
	{Name: "minimum_accumulate", Also: "cummin", Without: "Initial", NumPy: "np.minimum.accumulate", Passes: passes, Holds: states, Build: op.Build(MinimumAccumulate), Examples: "minimum_accumulate(x, 0)",
		Go: "(a *Array) MinimumAccumulate(axis ...int)", Doc: `MinimumAccumulate returns the smallest of the elements up to each along an axis, the first where it is left out; a NaN stays.`},
	{Name: "ffill", NumPy: "xr.DataArray.ffill", Passes: passes, Holds: states, Build: op.Build(FFill), Examples: `ffill(log(x - 0.3), 0); ffill(log(x - 0.3), 1, "limit=3")`,
		Go: "(a *Array) FFill(axis, limit int)", Doc: `FFill has each NaN replaced by the last element before it along an axis that is none, at most limit of them after each element; a limit of 0 is none. Integers have no NaN.`},
	{Name: "bfill", NumPy: "xr.DataArray.bfill", Passes: passes, Holds: states, Build: op.Build(BFill), Examples: "bfill(log(x - 0.3), 0)",
		Go: "(a *Array) BFill(axis, limit int)", Doc: `BFill has each NaN replaced by the next element along an axis that is none, at most limit of them before each element; a limit of 0 is none.`},
	{Name: "interpolate_na", NumPy: "xr.DataArray.interpolate_na", Passes: "3 that read, 1 where lines are short", Holds: "twice 256 KiB", Build: op.Build(InterpolateNA), Examples: "interpolate_na(log(x - 0.3), 0)",
		Go: "(a *Array) InterpolateNA(axis int)", Doc: `InterpolateNA has each NaN between two other elements along an axis replaced by the line through the nearest of these, elements being one apart; NaN at the ends stays.`},
	{Name: "ewm_mean", NumPy: "pd.DataFrame.ewm(alpha=alpha).mean()", Passes: passes, Holds: states, Build: op.Build(EWMMean), Examples: `ewm_mean(x, 0.1, 0); ewm_mean(x, 0.1, 1); ewm_mean(log(x - 0.3), 0.1, 0, "adjust=false")`,
		Go: "(a *Array) EWMMean(alpha float64, axis int)", Doc: `EWMMean returns the exponentially weighted means of the elements up to each along an axis: weights fall by 1 - alpha with each element, and are divided by their sum, as in pandas' ewm(alpha=alpha).mean(). NaN has no weight.`,
		More: []op.Func{{Go: "(a *Array) EWMMeanRecursive(alpha float64, axis int) = a, alpha, axis, true", Doc: `EWMMeanRecursive returns the means that each element moves towards itself by alpha of the way: pandas' ewm(alpha=alpha, adjust=False).mean(). An element after NaN moves it further, as the mean has lost weight by 1 - alpha with each.`}}},
	{Name: "unwrap", Passes: passes, Holds: states, Build: op.Build(Unwrap), Examples: "unwrap(x * 40, 0)",
		Go: "(a *Array) Unwrap(axis int, period, discont float64) = a, axis, period, discont", Doc: `Unwrap adds multiples of a period to elements along an axis, so that neighbours are not further apart than half of it, or than discont where that is more: NumPy's unwrap. A period of 0 is 2π.`},
	{Name: "diff", Build: op.Build(BuildDiff), Examples: "diff(x, 1, 0)",
		Go: "(a *Array) Diff(times, axis int)", Doc: `Diff returns the differences of neighbours along an axis, taken so many times: each is as much shorter. Bools differ or not.`},
	{Name: "ediff1d", Holds: op.Shown, Build: op.Build(EDiff1D), Examples: "ediff1d(x)",
		Go: "(a *Array) EDiff1D(toBegin, toEnd any)", Doc: `EDiff1D returns NumPy's ediff1d: the differences of neighbours of the array as if flattened, between toBegin and toEnd, which are arrays, numbers or nil for none, and take the array's type.`},
	{Name: "gradient", NumPy: "np.gradient(x, spacing, axis=axis)", Holds: op.Shown, Build: op.Build(BuildGradient), Examples: "gradient(x, 1, 0)",
		Go: "(a *Array) Gradient(spacing float64, axis int, edgeOrder ...int) = a, spacing, axis, door.Single(&in, edgeOrder, 1)", Doc: `Gradient returns NumPy's gradient along one axis, of elements that are spacing apart: half the difference of both neighbours, at the ends the difference of the one, or with an edge order of 2 the slope there of the parabola through three elements. Integers are computed in float64.`,
		More: []op.Func{{Go: "(a *Array) GradientAt(coordinates *Array, axis int, edgeOrder ...int) = a, coordinates, axis, door.Single(&in, edgeOrder, 1)", Doc: `GradientAt is Gradient of elements that stand at coordinates, a vector with one for each element along the axis: inside, the slopes on both sides count by the distance on the other.`}}},
}

// Arguments, by the operation.
type (
	// CumulativeArgs are the arguments of cumsum, cumprod and their like; Name is what errors say.
	CumulativeArgs struct {
		Name    string `usage:"-"`
		Product bool   `usage:"-"`
		X       *graph.Node
		Axis    []int `most:"1"`
		Initial bool
	}
	// FillArgs are the arguments of ffill and bfill. A limit of 0 is none.
	FillArgs struct {
		X     *graph.Node
		Axis  int `default:"-1"`
		Limit int `word:"3"`
	}
	AxisArgs struct {
		X    *graph.Node
		Axis int `default:"-1"`
	}
	UnwrapArgs struct {
		P       *graph.Node
		Axis    int     `default:"-1"`
		Period  float64 `word:"360" default:"0"`
		Discont float64 `word:"200" default:"0"`
	}
	EWMArgs struct {
		X         *graph.Node
		Alpha     float64
		Axis      int  `default:"-1"`
		Recursive bool `usage:"adjust=false"`
	}
	DiffArgs struct {
		X       *graph.Node
		Times   int         `default:"1"`
		Axis    int         `default:"-1"`
		Prepend *graph.Node `word:"p"`
		Append  *graph.Node `word:"a"`
	}
	EDiff1DArgs struct {
		X       *graph.Node
		ToBegin *graph.Node `usage:"to_begin" word:"b"`
		ToEnd   *graph.Node `usage:"to_end" word:"e"`
	}
	GradientArgs struct {
		X         *graph.Node
		Spacing   *graph.Node `usage:"spacing or coordinates" default:"1"`
		Axis      []int       `most:"1"`
		EdgeOrder int         `usage:"edge_order" word:"2" default:"1"`
	}
)

// BuildCumulative is Cumulative along an axis, or of the array as if flattened.
func BuildCumulative(site graph.Site, a CumulativeArgs) (*graph.Node, error) {
	return Cumulative(site, a.Name, a.Product, a.X, a.Axis...)
}
