package order

import (
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

const (
	byLines  = "1 of lines up to 16 MiB, else 2 read, 2 written"
	byDigits = "1 of lines up to 16 MiB that lie together; else 1 for each 16 bits of an element, for each 11 where results lie side by side; 2 read, 1 written of lines of under 4 MiB across a large array"
	counts   = "1 that counts up to 16384 distinct elements; for more those of sort to count them, and again"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "sort", Passes: byLines, Holds: "32 MiB; 80 MiB for lines of real elements over 8 GiB", Build: op.Build(Sort), Examples: "sort(x, 1); sort(x, 0); sort(ravel(x))",
		Go: "(a *Array) Sort(axis int)", Doc: `Sort puts the elements along an axis in their order; NaN comes last, and -0 before 0. A line of more than 16 MiB is sorted by an external merge, up to 32 GiB.`,
		More: []op.Func{{Go: "(a *Array) SortDescending(axis int) = a, axis, true", Doc: `SortDescending is Sort in the reverse order: NaN comes first.`}}},
	{Name: "argsort", NumPy: "np.argsort, stable", Passes: byLines + " of 8 or 16 bytes an element", Holds: "48 MiB", Build: op.Build(Argsort), Examples: "argsort(x, 1)",
		Go: "(a *Array) Argsort(axis int)", Doc: `Argsort returns the positions of the elements along an axis in their order, as int64: of equal elements the first comes first.`,
		More: []op.Func{{Go: "(a *Array) ArgsortDescending(axis int) = a, axis, true", Doc: `ArgsortDescending is Argsort in the reverse order; of equal elements the first still comes first.`}}},
	{Name: "topk", NumPy: "da.topk", Passes: "1; those of sort for more than a quarter of 16 MiB; 2 read, 1 written across a large array where elements are complex or k is over 1 in 256", Holds: "48 MiB", Build: op.Build(Top),
		Go: "(a *Array) TopK(k, axis int)", Doc: `TopK returns the k largest elements along an axis, the largest first, or with k < 0 the -k smallest, the smallest first; all of them where
the axis has fewer. NaN is larger than any number. One pass reads the array; where k is more than a quarter of the 16 MiB of records that a
task has, it is sorted. Along an axis whose lines lie across a large array those are put in order first where the elements are complex, or k
is more than a 256th of them.`},
	{Name: "argtopk", NumPy: "da.argtopk", Passes: "1; those of sort for more than a quarter of 16 MiB; 2 read, 1 written across a large array where elements are complex or k is over 1 in 256", Holds: "48 MiB", Build: op.Build(ArgTop),
		Go: "(a *Array) ArgTopK(k, axis int)", Doc: `ArgTopK returns the positions of TopK's elements, as int64: of equal ones the first comes first.`},
	{Name: "searchsorted", Names: "list values", Passes: "none of its own; for lists above 64 KiB 1, and pieces of the list for each 256 Ki values", Holds: "the list, or 16 MiB", Build: op.Build(BuildSearchSorted),
		Go: "(a *Array) SearchSorted(values *Array, side types.Side) = a, values, side.String()", Doc: `SearchSorted is, for each of the values, where it belongs in a, a sorted list: with Left before elements that are equal, with Right after them.`},
	{Name: "digitize", Names: "x edges", Passes: "none of its own; for lists above 64 KiB 1, and pieces of the list for each 256 Ki values", Holds: "the list, or 16 MiB", Build: op.Build(Digitize),
		Go: "(a *Array) Digitize(edges *Array, side types.Side) = a, edges, side.String()", Doc: `Digitize is, for each element, the number of the bin that it is in, between edges that rise or fall: of rising ones bin i is with Left from edge i-1, included, to edge i, excluded, and with Right the other way round.`},
	{Name: "isin", Passes: "those of sort over the list; then as searchsorted and take", Holds: "as searchsorted and take", Build: op.Build(IsIn),
		Go: "(a *Array) IsIn(list *Array)", Doc: `IsIn returns which elements are equal to one of a list, an array of any shape; NaN is equal to none. The list is sorted, with Sort's passes
and working set, and each element is looked up in it as SearchSorted does.`},
	{Name: "unique", Also: "unique_values", Passes: counts, Holds: "16 MiB", Build: op.Build(BuildUnique),
		Go: "(a *Array) Unique(ctx context.Context, opts ...Option)", Doc: `Unique returns the distinct elements in their order, of the array as if flattened; all NaN are one. Their number is a shape: they are counted here, within the context and the options' budget.`},
	{Name: "unique_counts", NumPy: "np.unique_counts(x).counts", Passes: counts, Holds: "16 MiB", Build: op.Build(distinctOf(func(d Distinct) *graph.Node { return d.Counts }, true, false)),
		Go: "Array.UniqueCounts"},
	{Name: "unique_index", NumPy: "np.unique(x, return_index=True)[1]", Passes: counts, Holds: "16 MiB", Build: op.Build(distinctOf(func(d Distinct) *graph.Node { return d.First }, false, true)),
		Go: "Array.UniqueAll"},
	{Name: "unique_inverse", NumPy: "np.unique_inverse(x).inverse_indices", Passes: counts + "; then as searchsorted", Holds: "16 MiB", Build: op.Build(inverseOf),
		Go: "Array.UniqueAll"},
	{Name: "union1d", Passes: "as unique over both", Holds: "16 MiB", Build: op.Build(BuildUnion),
		Go: "(a *Array) Union1D(ctx context.Context, b *Array, opts ...Option)", Doc: `Union1D returns the distinct elements of two arrays, as if flattened, in their order.`},
	{Name: "intersect1d", Passes: "as unique over a and sort over b; then as searchsorted and take", Holds: "16 MiB", Build: op.Build(Intersect),
		Go: "(a *Array) Intersect1D(ctx context.Context, b *Array, opts ...Option)", Doc: `Intersect1D returns the distinct elements of an array that are in another too, as if flattened, in their order. They are counted here, as those of Unique.`},
	{Name: "setdiff1d", Passes: "as unique over a and sort over b; then as searchsorted and take", Holds: "16 MiB", Build: op.Build(Difference),
		Go: "(a *Array) SetDiff1D(ctx context.Context, b *Array, opts ...Option)", Doc: `SetDiff1D returns the distinct elements of an array that are not in another, as if flattened, in their order.`},
	{Name: "setxor1d", Passes: "as unique over both and sort over both; then as searchsorted and take", Holds: "16 MiB", Build: op.Build(SymmetricDifference),
		Go: "(a *Array) SetXor1D(ctx context.Context, b *Array, opts ...Option)", Doc: `SetXor1D returns the distinct elements of two arrays that are in one of them alone, as if flattened, in their order.`},
	{Name: "lexsort", Passes: "as argsort for each key", Holds: "48 MiB", Build: op.Build(Lexsort), Examples: "lexsort(i, j)",
		Go: "Lexsort(keys ...*Array)", Doc: `Lexsort returns the positions along the last axis that put elements in the order of the last key, of equal ones in that of the key before, and so on, as int64: NumPy's lexsort.`},
	{Name: "partition", Names: "x kth", Passes: byLines, Holds: "32 MiB; 80 MiB for lines of real elements over 8 GiB", Build: op.Build(Partition), Examples: "partition(x, 3, 1)",
		Go: "(a *Array) Partition(kth, axis int)", Doc: `Partition puts the element of a place along an axis where it is in their order, with no larger ones before it and no smaller ones behind. The others are in their order too: it is Sort.`},
	{Name: "argpartition", Names: "x kth", Passes: byLines + " of 8 or 16 bytes an element", Holds: "48 MiB", Build: op.Build(ArgPartition), Examples: "argpartition(x, 3, 1)",
		Go: "(a *Array) ArgPartition(kth, axis int)", Doc: `ArgPartition returns the positions of Partition's elements, as int64.`},
	{Name: "rankdata", NumPy: "scipy.stats.rankdata", Passes: "as argsort twice, take_along_axis and cumsum", Holds: "48 MiB", Build: op.Build(RankData), Examples: `rankdata(x, 1, "dense")`,
		Go: "(a *Array) RankData(method string, axis ...int) = a, axis, method", Doc: `RankData returns the ranks of elements along an axis, from 1 on; without one, in the array as if flattened. Equal elements have by method the "average" of their places, the "min" or the "max" of them, "dense" ranks that leave none out, or "ordinal" ones, which differ. A line with NaN is all NaN. Ranks of floats and averages are float64, others int64.`},
	{Name: "spearmanr", NumPy: "scipy.stats.spearmanr", Passes: "as rankdata over both", Holds: "48 MiB", Build: op.Build(SpearmanR),
		Go: "(a *Array) SpearmanR(b *Array)", Doc: `SpearmanR returns the rank correlation of two arrays as if flattened, SciPy's statistic of spearmanr.`},
	{Name: "median", Passes: byDigits, Holds: "16 MiB", Build: op.Build(BuildMedian),
		Go: "(a *Array) Median(axes ...int)", Doc: `Median returns the middle element along the axes, or the mean of the middle two; NaN where there is one. It is exact: see Quantiles for its
passes.`},
	{Name: "nanmedian", Passes: byDigits, Holds: "16 MiB", Build: op.Build(nanMedian),
		Go: "Array.MedianWith"},
	{Name: "tril_indices", NumPy: "np.tril_indices(rows, diagonal, columns)[part]", Passes: "as cumsum over the rows; then as searchsorted and take", Holds: "as searchsorted and take", Build: op.BuildAll(TriangleIndices).With(TriangleArgs{Upper: false}),
		Go: "TriangleIndices"},
	{Name: "triu_indices", NumPy: "np.triu_indices(rows, diagonal, columns)[part]", Passes: "as cumsum over the rows; then as searchsorted and take", Holds: "as searchsorted and take", Build: op.BuildAll(TriangleIndices).With(TriangleArgs{Upper: true}),
		Go: "TriangleIndices"},
}

// Arguments, by the operation.
type (
	SortArgs struct {
		X          *graph.Node
		Axis       int `default:"-1"`
		Descending bool
	}
	TopArgs struct {
		X    *graph.Node
		K    int
		Axis int `default:"-1"`
	}
	SideArgs struct {
		A, B *graph.Node
		Side string `words:"left right" default:"left"`
	}
	LexsortArgs struct {
		Keys []*graph.Node `least:"1"`
	}
	PartitionArgs struct {
		X    *graph.Node
		Kth  int
		Axis int `default:"-1"`
	}
	RankArgs struct {
		X      *graph.Node
		Axis   []int  `most:"1"`
		Method string `words:"average min max dense ordinal" default:"average"`
	}
	IsInArgs struct {
		X, List *graph.Node
		Invert  bool
	}
	TriangleArgs struct {
		Upper                   bool `usage:"-"`
		Rows, Diagonal, Columns int
	}
)

func init() {
	for _, skip := range []bool{false, true} {
		for _, name := range []string{"quantile", "percentile"} {
			row := op.Row{Name: name, Passes: byDigits + `; with "weights" alike, of both, elements being of 16 bytes then`, Holds: "16 MiB, 32 MiB with weights",
				Go: "Array." + strings.ToUpper(name[:1]) + name[1:]}
			if skip {
				row.Name, row.Go = "nan"+name, "Array.Quantiles"
			}
			scale := map[string]float64{"quantile": 1, "percentile": 100}[name]
			row.Build = op.ByHand(`x, q, axes..., "method", "weights", w, "keepdims"`, 2, -1, func(c *op.Call) (*graph.Node, error) { return quantileOf(c, scale, skip) })
			if name == "quantile" && !skip {
				row.Examples = `quantile(x, 0.3, "inverted_cdf", "weights", y); quantile(x, 0.3, 0, "inverted_cdf", "weights", y)`
			}
			Rows = append(Rows, row)
		}
	}
}

// quantileOf is of one number, or of several in a text: "0.25, 0.5, 0.75". It is read by hand, as keepdims is a
// word where it comes last, and else a method that is unknown.
func quantileOf(c *op.Call, scale float64, skip bool) (*graph.Node, error) {
	x, err := c.Node(0)
	if err != nil {
		return nil, err
	}
	var q []float64
	integers := scale == 1 // NumPy's of integers are elements
	list := c.Values[1].Text != nil
	if list && strings.TrimSpace(*c.Values[1].Text) != "" {
		for field := range strings.SplitSeq(*c.Values[1].Text, ",") {
			field = strings.TrimSpace(field)
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, c.Fail(1, `%s takes numbers here, such as "0.25, 0.5": %q is none`, c.Name, field)
			}
			_, err = strconv.Atoi(field)
			integers = integers && err == nil
			q = append(q, v/scale)
		}
	} else if !list {
		_, integer := c.Values[1].Number.(int64)
		integers = integers && integer
		v, err := c.Float(1)
		if err != nil {
			return nil, err
		}
		q = append(q, v/scale)
	}
	o := QuantileOptions{SkipNaN: skip}
	var words []string
	for at := 2; at < len(c.Values); at++ {
		switch v := c.Values[at]; {
		case v.Is("weights") && o.Weights == nil && at+1 < len(c.Values) && c.Values[at+1].Node != nil:
			at++
			o.Weights = c.Values[at].Node
		case v.Text != nil:
			words = append(words, *v.Text)
		default:
			n, ok := v.Number.(int64)
			if !ok {
				return nil, c.Fail(at, "%s takes an integer or a text here: %s", c.Name, c.Usage)
			}
			o.Axes = append(o.Axes, int(n))
		}
	}
	if last := len(words) - 1; last >= 0 && words[last] == "keepdims" {
		o.KeepDims, words = true, words[:last]
	}
	if len(words) > 1 {
		return nil, c.Fail(2, "%s takes one method: %s", c.Name, c.Usage)
	}
	if len(words) > 0 {
		o.Method = Method(words[0])
	}
	if integers && o.Weights == nil && (o.Method == "" || o.Method == "linear") {
		o.Method = "lower"
	}
	return Quantile(c.Site, c.Name, x, q, list, o)
}

// BuildSearchSorted is SearchSorted with a word for the side.
func BuildSearchSorted(site graph.Site, a SideArgs) (*graph.Node, error) {
	return SearchSorted(site, a.A, a.B, a.Side == "right")
}

// BuildUnique is what is distinct in an array.
func BuildUnique(site graph.Site, a op.Counting) (*graph.Node, error) {
	d, err := Unique(site, a.X, false, false, a.Run)
	return d.Values, err
}

// distinctOf is another part of what Unique finds.
func distinctOf(part func(Distinct) *graph.Node, counts, first bool) func(site graph.Site, a op.Counting) (*graph.Node, error) {
	return func(site graph.Site, a op.Counting) (*graph.Node, error) {
		d, err := Unique(site, a.X, counts, first, a.Run)
		return part(d), err
	}
}

func inverseOf(site graph.Site, a op.Counting) (*graph.Node, error) {
	d, err := Unique(site, a.X, false, false, a.Run)
	if err != nil {
		return nil, err
	}
	return Inverse(site, a.X, d.Values)
}

// BuildUnion is what is distinct in two arrays.
func BuildUnion(site graph.Site, args op.Counting2) (*graph.Node, error) {
	both, err := Union(site, args.A, args.B)
	if err != nil {
		return nil, err
	}
	d, err := Unique(site, both, false, false, args.Run)
	return d.Values, err
}

// BuildMedian is the median along axes; NaN where there is one.
func BuildMedian(site graph.Site, a op.Reducing) (*graph.Node, error) {
	return Median(site, a.X, QuantileOptions{Axes: a.Axes, KeepDims: a.KeepDims})
}

func nanMedian(site graph.Site, a op.Reducing) (*graph.Node, error) {
	return Median(site, a.X, QuantileOptions{Axes: a.Axes, KeepDims: a.KeepDims, SkipNaN: true})
}
