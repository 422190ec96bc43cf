package filter

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "uniform_filter", NumPy: "scipy.ndimage.uniform_filter", Holds: "a box with its border", Build: op.Build(Uniform), Examples: "uniform_filter(s, 5)",
		Go: "filter.Uniform(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Uniform returns the mean over windows of the given lengths: scipy.ndimage.uniform_filter. A NaN reaches as far as its windows do, and no further. Of integers the fraction is cut off after each axis.`},
	{Name: "median_filter", NumPy: "scipy.ndimage.median_filter", Holds: "a box with its border", Build: op.Build(MedianOf), Examples: "median_filter(s, 5)",
		Go: "filter.Median(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Median returns the middle element of windows of the given lengths, the upper one of an even number; NaN where there is one: scipy.ndimage.median_filter.`},
	{Name: "minimum_filter", NumPy: "scipy.ndimage.minimum_filter", Holds: "a box with its border", Build: op.Build(Minimum),
		Go: "filter.Minimum(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Minimum returns the smallest element of windows of the given lengths; NaN where there is one: scipy.ndimage.minimum_filter.`},
	{Name: "maximum_filter", NumPy: "scipy.ndimage.maximum_filter", Holds: "a box with its border", Build: op.Build(Maximum), Examples: "maximum_filter(s, 3)",
		Go: "filter.Maximum(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Maximum returns the largest element of windows of the given lengths; NaN where there is one: scipy.ndimage.maximum_filter.`},
	{Name: "gaussian_filter", Without: "Origin", NumPy: "scipy.ndimage.gaussian_filter", Holds: "a box with its border, for each axis", Build: op.Build(Gaussian), Examples: `gaussian_filter(s, 2.0, "reflect")`,
		Go: "filter.Gaussian(a *Array, sigma []float64, o GaussianOptions) = a, sigma, window.Mode(o.Mode), o.Value, o.Order, o.Truncate", Doc: `Gaussian returns the sum with weights of a normal density of standard deviations sigma in elements, or of its derivatives, along one axis after another: scipy.ndimage.gaussian_filter.`},
	{Name: "convolve", NumPy: "scipy.ndimage.convolve", Passes: "none of its own; 1 with more than 1000 weights", Holds: "a box with its border; then three tiles in complex128 too", Build: op.Build(Convolve), Examples: "convolve(s, full(0.1, 5, 5))",
		Go: "filter.Convolve(a, weights *Array, o Options) = a, weights, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Convolve returns the sum over a window of what it shows times the weights, an array of real numbers with as many dimensions, reversed along all axes: scipy.ndimage.convolve.

Sums are in float64. Weights of zero take no part. Of integers the fraction is cut off. Weights of more than a few thousand elements are multiplied by Fourier transforms, tile by tile: then the result is computed by a stage of its own, and rounding errors are relative to the largest element of a tile.`},
	{Name: "correlate", NumPy: "scipy.ndimage.correlate", Passes: "none of its own; 1 with more than 1000 weights", Holds: "a box with its border; then three tiles in complex128 too", Build: op.Build(Correlate), Examples: "correlate(s, full(0.1, 3, 3))",
		Go: "filter.Correlate(a, weights *Array, o Options) = a, weights, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Correlate is Convolve with the weights as they are: scipy.ndimage.correlate.`},
	{Name: "percentile_filter", Names: "x percentile", NumPy: "scipy.ndimage.percentile_filter", Holds: "a box with its border", Build: op.Build(Percentile), Examples: "percentile_filter(s, 30, 5)",
		Go: "filter.Percentile(a *Array, percentile float64, size []int, o Options) = a, percentile, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Percentile returns the element of windows of the given lengths below which a percentage of their elements are; NaN where there is one: scipy.ndimage.percentile_filter.`},
	{Name: "sobel", NumPy: "scipy.ndimage.sobel", Without: "Origin", Holds: "a box with its border, for each axis", Build: op.Build(Edges).With(EdgeArgs{Name: "sobel"}), Examples: "sobel(s, 0)",
		Go: "filter.Sobel(a *Array, axis int, o Options) = a, axis, window.Mode(o.Mode), o.Value", Doc: `Sobel returns the difference of both neighbours along an axis, and along each other axis the sum of an element twice and its neighbours: scipy.ndimage.sobel.`},
	{Name: "prewitt", NumPy: "scipy.ndimage.prewitt", Without: "Origin", Holds: "a box with its border, for each axis", Build: op.Build(Edges).With(EdgeArgs{Name: "prewitt"}), Examples: "prewitt(s, 0)",
		Go: "filter.Prewitt(a *Array, axis int, o Options) = a, axis, window.Mode(o.Mode), o.Value", Doc: `Prewitt is Sobel with the sums of an element once and its neighbours: scipy.ndimage.prewitt.`},
	{Name: "laplace", NumPy: "scipy.ndimage.laplace", Without: "Origin", Holds: "a box with its border, for each axis", Build: op.Build(Laplace), Examples: "laplace(s)",
		Go: "filter.Laplace(a *Array, o Options) = a, window.Mode(o.Mode), o.Value", Doc: `Laplace returns the sum of the second differences along all axes: scipy.ndimage.laplace.`},
	{Name: "zoom", NumPy: "scipy.ndimage.zoom", Holds: "a box with its border, for each axis", Build: op.Build(Zoom), Examples: "zoom(slice(s, \"0:2048\"), 2); zoom(x, 0.5, 1.5, \"order=1\")",
		Go: "filter.Zoom(a *Array, factors []float64, o TransformOptions) = a, factors, o.order(), o.Value", Doc: `Zoom returns the array with as many times the elements along each axis, of the spline through them, by default a cubic one: scipy.ndimage.zoom. The first and the last element along an axis stay what they are. What is between NaN and its neighbours, up to 30 elements away, is NaN.`},
	{Name: "image_shift", NumPy: "scipy.ndimage.shift", Holds: "a box with its border, for each axis", Build: op.Build(Shift), Examples: "image_shift(s, 2.5)",
		Go: "filter.Shift(a *Array, by []float64, o TransformOptions) = a, by, o.order(), o.Value", Doc: `Shift returns the array moved along each axis by a number of elements, which need not be whole, by the spline through them: scipy.ndimage.shift. What comes from outside has the options' value.`},
	{Name: "rotate", NumPy: "scipy.ndimage.rotate", Passes: "1", Holds: "the box around what a tile of about a million elements shows", Build: op.Build(Rotate), Examples: "rotate(s, 30, \"order=1\", \"keep\")",
		Go: "filter.Rotate(a *Array, degrees float64, keep bool, axes []int, o TransformOptions) = a, degrees, axes, keep, o.order(), o.Value", Doc: `Rotate returns the array turned by degrees in the plane of two axes, nil being the first two, by the spline through its elements: scipy.ndimage.rotate. The result is as large as the turned array, or as the array itself where it is to keep its shape.`},
	{Name: "affine_transform", NumPy: "scipy.ndimage.affine_transform", Passes: "1; none of its own of a diagonal matrix", Holds: "the box around what a tile of about a million elements shows", Build: op.Build(AffineTransform), Examples: `affine_transform(s, 0.9, 0.1, -0.1, 0.9, "offset=3,4")`,
		Go: "filter.Affine(a *Array, matrix, offset []float64, shape []int, o TransformOptions) = a, matrix, offset, shape, o.order(), o.Value", Doc: `Affine returns at each place the spline through the array's elements at matrix times the place plus offset, the square matrix being given row by row: scipy.ndimage.affine_transform. A nil offset is zero, and a nil shape is the array's.`},
	{Name: "map_coordinates", NumPy: "scipy.ndimage.map_coordinates", Passes: "1 over the places; each box of 262,144 of them reads the tiles of the array that they are in, of about 524,288 elements, once", Holds: "262,144 places, 16 bytes for each, and a tile with its border in float64", Build: op.Build(MapCoordinates), Examples: `map_coordinates(s, stack(indices(4096, 4096, 0) * 3.9 + 3, indices(4096, 4096, 1) * 3.9 - 2, 0), "order=1")`,
		Go: "filter.MapCoordinates(a, coordinates *Array, o TransformOptions) = a, coordinates, o.order(), o.Value", Doc: `MapCoordinates returns the spline through the array's elements at places, of which coordinates have along their first axis one for each axis of the array: scipy.ndimage.map_coordinates. The result has the other axes of coordinates. At places outside of the array, and at NaN, it has the options' value. Places may lie anywhere; those that are near each other in coordinates and in the array are the fastest.`},
	{Name: "downsample", Names: "x factors", NumPy: "skimage.transform.downscale_local_mean", Holds: "the elements of a few blocks", Build: op.Build(Downsample), Examples: "downsample(s, 4)",
		Go: "filter.Downsample(a *Array, factors []int)", Doc: `Downsample returns the mean of blocks of the given factors. Blocks at the end of an axis that it does not fill are means of fewer elements. Means of integers are float64.`},
}

// Arguments, by the operation.
type (
	SizeArgs struct {
		X     *graph.Node
		Sizes []int `least:"1"`
		window.Border
	}
	WeightArgs struct {
		X, Weights *graph.Node
		window.Border
	}
	PercentileArgs struct {
		X          *graph.Node
		Percentile float64
		Sizes      []int `least:"1"`
		window.Border
	}
	// EdgeArgs are the arguments of sobel and prewitt, which Name says.
	EdgeArgs struct {
		Name string `usage:"-"`
		X    *graph.Node
		Axis int `default:"-1"`
		window.Border
	}
	LaplaceArgs struct {
		X *graph.Node
		window.Border
	}
	GreyArgs struct {
		Name  string `usage:"-"`
		X     *graph.Node
		Sizes []int `least:"1"`
		window.Border
	}
	BinaryArgs struct {
		Name         string `usage:"-"`
		X            *graph.Node
		Iterations   int `word:"2" default:"1"`
		Connectivity int `word:"2" default:"1"`
	}
	// Spline is which spline goes through elements, and what lies outside of the array.
	Spline struct {
		Order int     `word:"1" default:"3"`
		Value float64 `usage:"cval" word:"0"`
	}
	ZoomArgs struct {
		X       *graph.Node
		Factors []float64 `least:"1"`
		Spline
	}
	ShiftArgs struct {
		X      *graph.Node
		Shifts []float64 `least:"1"`
		Spline
	}
	// RotateArgs are the arguments of rotate. No axes are the first two; keep is SciPy's reshape=False.
	RotateArgs struct {
		X     *graph.Node
		Angle float64
		Axes  []int `usage:"axes" word:"0,1"`
		Keep  bool
		Spline
	}
	AffineArgs struct {
		X      *graph.Node
		Matrix []float64 `least:"1"`
		Offset []float64 `word:"0,0"`
		Shape  []int     `usage:"output_shape" word:"64,64"`
		Spline
	}
	CoordinatesArgs struct {
		X, Coordinates *graph.Node
		Spline
	}
	// GaussianArgs are the arguments of gaussian_filter. No orders are 0, and a truncation of 0 is 4.
	GaussianArgs struct {
		X      *graph.Node
		Sigmas []float64 `least:"1"`
		window.Border
		Orders   []int
		Truncate float64 `word:"4"`
	}
)

func init() {
	for _, r := range []struct{ name, method, sentence string }{
		{"grey_erosion", "GreyErosion", "returns the smallest element of windows of the given lengths"},
		{"grey_dilation", "GreyDilation", "returns the largest element of windows of the given lengths, turned around"},
		{"grey_opening", "GreyOpening", "returns the dilation of the erosion over windows of the given lengths"},
		{"grey_closing", "GreyClosing", "returns the erosion of the dilation over windows of the given lengths"},
		{"morphological_gradient", "MorphologicalGradient", "returns the dilation less the erosion over windows of the given lengths"},
		{"white_tophat", "WhiteTopHat", "returns the array less its opening over windows of the given lengths"},
		{"black_tophat", "BlackTopHat", "returns the closing over windows of the given lengths less the array"},
	} {
		Rows = append(Rows, op.Row{Name: r.name, NumPy: "scipy.ndimage." + r.name, Without: "Origin", Holds: "a box with its border, for each axis", Build: op.Build(Grey).With(GreyArgs{Name: r.name}), Examples: r.name + "(s, 3)",
			Go: "filter." + r.method + "(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value", Doc: r.method + " " + r.sentence + ": scipy.ndimage." + r.name + "."})
	}
	for _, r := range []struct{ name, method, sentence string }{
		{"binary_erosion", "BinaryErosion", "returns whether an element and all its neighbours are not zero"},
		{"binary_dilation", "BinaryDilation", "returns whether an element or one of its neighbours is not zero"},
		{"binary_opening", "BinaryOpening", "returns the dilation of the erosion"},
		{"binary_closing", "BinaryClosing", "returns the erosion of the dilation"},
	} {
		Rows = append(Rows, op.Row{Name: r.name, NumPy: "scipy.ndimage." + r.name, Holds: "a box with its border, for each time", Build: op.Build(Binary).With(BinaryArgs{Name: r.name}), Examples: r.name + "(s > 0.5)",
			Go: "filter." + r.method + "(a *Array, iterations, connectivity int)", Doc: r.method + " " + r.sentence + ", each so many times: scipy.ndimage." + r.name + ". Neighbours differ by one along up to connectivity axes, and what is outside is zero."})
	}
}
