package random

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "random", NumPy: "np.random.Generator.random", Build: op.Build(uniform),
		Go: "Random"},
	{Name: "normal", NumPy: "np.random.Generator.standard_normal", Build: op.Build(normal),
		Go: "RandomNormal"},
	{Name: "gamma", Names: "seed shape", Without: "B C", NumPy: "np.random.Generator.standard_gamma", Build: op.Build(Sample).With(SampledArgs{Name: "gamma", Of: Gamma}),
		Go: "(a *Array) RandomGamma(seed uint64, lengths ...int)", Doc: `RandomGamma returns float64 numbers of gamma distributions of scale 1 whose shape parameters are the array, by Marsaglia and Tsang's method.
The array broadcasts to the lengths of the result, which has its shape where none are given; Full(2.5).RandomGamma(seed, 1000) has one
parameter. A negative one is an error when it is computed. With a parameter of 1 it is the exponential distribution, and Mul(2) of that of
half its degrees is a chi-squared one.`},
	{Name: "poisson", Names: "seed mean", Without: "B C", NumPy: "np.random.Generator.poisson", Build: op.Build(Sample).With(SampledArgs{Name: "poisson", Of: Poisson}),
		Go: "(a *Array) RandomPoisson(seed uint64, lengths ...int)", Doc: `RandomPoisson returns int64 numbers of Poisson distributions whose means are the array, which broadcasts as in RandomGamma, by Hörmann's
method.`},
	{Name: "binomial", Names: "seed trials chance", Without: "C", NumPy: "np.random.Generator.binomial", Build: op.Build(Sample).With(SampledArgs{Name: "binomial", Of: Binomial}), Examples: `binomial(1, 10, slice(x, "0:65536"))`,
		Go: "(a *Array) RandomBinomial(seed uint64, chance any, lengths ...int)", Doc: `RandomBinomial returns how many of so many trials succeed, which the array says, each by a chance, an array or a number, as int64. They
broadcast as in RandomGamma. It is by Hörmann's method.`},
	{Name: "beta", Without: "C", NumPy: "np.random.Generator.beta", Build: op.Build(Sample).With(SampledArgs{Name: "beta", Of: Beta}),
		Go: "(a *Array) RandomBeta(seed uint64, b any, lengths ...int)", Doc: `RandomBeta returns float64 numbers of beta distributions of two shape parameters, the array and b, an array or a number. They broadcast as
in RandomGamma. It is by Jöhnk's method, or of two gamma numbers.`},
	{Name: "triangular", Names: "seed left mode right", NumPy: "np.random.Generator.triangular", Build: op.Build(Sample).With(SampledArgs{Name: "triangular", Of: Triangular}),
		Go: "(a *Array) RandomTriangular(seed uint64, mode, right any, lengths ...int)", Doc: `RandomTriangular returns float64 numbers of triangular distributions from the array to right, most of them about mode. Both are arrays or
numbers, and broadcast as in RandomGamma.`},
	{Name: "vonmises", Names: "seed mean concentration", Without: "C", NumPy: "np.random.Generator.vonmises", Build: op.Build(Sample).With(SampledArgs{Name: "vonmises", Of: VonMises}),
		Go: "(a *Array) RandomVonMises(seed uint64, concentration any, lengths ...int)", Doc: `RandomVonMises returns float64 angles of von Mises distributions, from -π to π, whose mean directions are the array. Their concentrations,
an array or a number, are 0 where all directions are alike. They broadcast as in RandomGamma. It is by Best and Fisher's method.`},
	{Name: "wald", Names: "seed mean scale", Without: "C", NumPy: "np.random.Generator.wald", Build: op.Build(Sample).With(SampledArgs{Name: "wald", Of: Wald}),
		Go: "(a *Array) RandomWald(seed uint64, scale any, lengths ...int)", Doc: `RandomWald returns float64 numbers of Wald distributions, also called inverse Gaussian, whose means are the array; the scale is an array or
a number. They broadcast as in RandomGamma. It is by Michael, Schucany and Haas's method.`},
	{Name: "geometric", Names: "seed chance", Without: "B C", NumPy: "np.random.Generator.geometric", Build: op.Build(Sample).With(SampledArgs{Name: "geometric", Of: Geometric}),
		Go: "(a *Array) RandomGeometric(seed uint64, lengths ...int)", Doc: `RandomGeometric returns the number of the first trial that succeeds, from 1 on, as int64, where each does by a chance, which the array says.
It broadcasts as in RandomGamma.`},
	{Name: "hypergeometric", Names: "seed good bad drawn", NumPy: "np.random.Generator.hypergeometric", Build: op.Build(Sample).With(SampledArgs{Name: "hypergeometric", Of: Hypergeometric}),
		Go: "(a *Array) RandomHypergeometric(seed uint64, bad, drawn any, lengths ...int)", Doc: `RandomHypergeometric returns how many of those drawn at once are good ones, as int64, where the array says how many good ones there are. The
number of bad ones and of those drawn are arrays or numbers, and broadcast as in RandomGamma. It is by Stadlober's method.`},
	{Name: "logseries", Names: "seed chance", Without: "B C", NumPy: "np.random.Generator.logseries", Build: op.Build(Sample).With(SampledArgs{Name: "logseries", Of: LogSeries}),
		Go: "(a *Array) RandomLogSeries(seed uint64, lengths ...int)", Doc: `RandomLogSeries returns int64 numbers of logarithmic series distributions whose parameters, from 0 to below 1, are the array. It broadcasts
as in RandomGamma. It is by Kemp's method.`},
	{Name: "negative_binomial", Names: "seed successes chance", Without: "C", NumPy: "np.random.Generator.negative_binomial", Build: op.Build(Sample).With(SampledArgs{Name: "negative_binomial", Of: NegativeBinomial}),
		Go: "(a *Array) RandomNegativeBinomial(seed uint64, chance any, lengths ...int)", Doc: `RandomNegativeBinomial returns how many trials fail before as many succeed as the array says, as int64, each by a chance, an array or a
number. They broadcast as in RandomGamma. A number of successes need not be whole.`},
	{Name: "zipf", Names: "seed exponent", Without: "B C", NumPy: "np.random.Generator.zipf", Build: op.Build(Sample).With(SampledArgs{Name: "zipf", Of: Zipf}),
		Go: "(a *Array) RandomZipf(seed uint64, lengths ...int)", Doc: `RandomZipf returns int64 numbers of Zipf distributions, from 1 to 2**62, whose exponents, above 1, are the array. It broadcasts as in
RandomGamma. It is by Devroye's method.`},
	{Name: "multinomial", Names: "seed trials chances", Without: "C", NumPy: "np.random.Generator.multinomial", Build: op.Build(BuildCategorical).With(SampledArgs{Name: "multinomial", Of: Multinomial}),
		Go: "(a *Array) RandomMultinomial(seed uint64, p *Array, lengths ...int)", Doc: `RandomMultinomial returns into which categories as many trials fall as the array says, as int64: a number for each category, along a new
last axis. p is an array of the categories' chances along its last axis; that of the last one is what the others leave of 1. The lengths are
those of the other axes, which broadcast as in RandomGamma.`},
	{Name: "multivariate_hypergeometric", Names: "seed colors drawn", Without: "C", NumPy: "np.random.Generator.multivariate_hypergeometric", Build: op.Build(BuildCategorical).With(SampledArgs{Name: "multivariate_hypergeometric", Of: MultivariateHypergeometric}), Examples: `multivariate_hypergeometric(1, slice(i, "0:32768") & 7, 9)`,
		Go: "(a *Array) RandomMultivariateHypergeometric(seed uint64, drawn any, lengths ...int)", Doc: `RandomMultivariateHypergeometric returns how many of those drawn at once are of each category, as int64, where the array has the sizes of
the categories along its last axis. The number drawn is an array or a number. The lengths are those of the other axes, which broadcast as in
RandomGamma.`},
	{Name: "integers", NumPy: "np.random.Generator.integers", Build: op.Build(integers),
		Go: "RandomIntegers"},
	{Name: "permutation", NumPy: "np.random.Generator.permutation", Passes: "as argsort", Holds: "as argsort", Build: op.Build(Permutation), Examples: "permutation(1, 100000)",
		Go: "RandomPermutation(seed uint64, n int)", Doc: `RandomPermutation returns the integers from 0 to n-1 in a random order, as int64, with the passes of Argsort: x.Take(RandomPermutation(seed,
n), 0) shuffles rows.`},
	{Name: "permuted", NumPy: "np.random.Generator.permuted", Passes: "as argsort and take_along_axis of lines up to a million elements, else 2 read, 2 written of 16 or 32 bytes an element", Holds: "48 MiB", Build: op.Build(Permuted),
		Go: "(a *Array) Permuted(seed uint64, axis int)", Doc: `Permuted returns each line along an axis in a random order of its own. Lines of up to a million elements take the passes of Argsort and
TakeAlong, longer ones two that read and two that write, of 16 bytes for an element, or 32 for one of complex128, and from about 250 million
elements on each once more.`},
	{Name: "choice", NumPy: "np.random.Generator.choice", Passes: `none of its own, but what is drawn is read in its order; "distinct" as argsort over all places, "weights" as cumsum over them`, Holds: "as take", Build: op.Build(Choice), Examples: `choice(slice(x, ":, 0"), 1, 10, "distinct")`,
		Go: "(a *Array) Choice(seed uint64, count int, o ChoiceOptions) = a, seed, count, o.Distinct, o.Weights", Doc: `Choice returns count elements along the first axis, drawn at random and equally likely.`},
}

// Arguments, by the operation.
type (
	lengthsArgs struct {
		Seed    uint64
		Lengths []int
	}
	integersArgs struct {
		Seed      uint64
		Low, High int
		Lengths   []int
	}
	SampledArgs struct {
		Name    string       `usage:"-"`
		Of      Distribution `usage:"-"`
		Seed    uint64
		A, B, C *graph.Node
		Lengths []int
	}
	PermutationArgs struct {
		Seed uint64
		N    int
	}
	PermutedArgs struct {
		X    *graph.Node
		Seed uint64
		Axis int `default:"-1"`
	}
	ChoiceArgs struct {
		X        *graph.Node
		Seed     uint64
		Count    int
		Distinct bool
		Weights  *graph.Node `word:"w"`
	}
)

func uniform(site graph.Site, a lengthsArgs) (*graph.Node, error) {
	return graph.Uniform(site, dtype.Float64, a.Seed, a.Lengths...)
}

func normal(site graph.Site, a lengthsArgs) (*graph.Node, error) {
	return Normals(site, dtype.Float64, a.Seed, a.Lengths...)
}

func integers(site graph.Site, a integersArgs) (*graph.Node, error) {
	return Integers(site, dtype.Int64, a.Seed, int64(a.Low), int64(a.High), a.Lengths...)
}

// BuildCategorical draws how many of those drawn are of each category.
func BuildCategorical(site graph.Site, args SampledArgs) (*graph.Node, error) {
	draws, categories := args.A, args.B
	if args.Of == MultivariateHypergeometric { // of categories first
		draws, categories = categories, draws
	}
	return Categorical(site, args.Name, args.Of, args.Seed, draws, categories, args.Lengths...)
}
