package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/random"
)

// RandomNormal returns numbers of the normal distribution of mean 0 and variance 1, in a float
// type, by Box and Muller's method, of blocks of Philox4x32-10 (Salmon and others, SC11, 2011) as all
// random numbers are. Random says what of them stays the same from run to run.
func RandomNormal(t DType, seed uint64, shape ...int) *Array {
	return made(random.Normals(graph.Caller(), t, seed, shape...))
}

// RandomIntegers returns integers from low up to but not including high, all equally likely, in
// an integer type that has them all.
func RandomIntegers(t DType, seed uint64, low, high int64, shape ...int) *Array {
	return made(random.Integers(graph.Caller(), t, seed, low, high, shape...))
}

// RandomGamma returns float64 numbers of gamma distributions of scale 1 whose shape parameters are
// the array, by Marsaglia and Tsang's method. The array broadcasts to the lengths of the
// result, which has its shape where none are given; Full(2.5).RandomGamma(seed, 1000) has one
// parameter. A negative one is an error when it is computed. With a parameter of 1 it is the
// exponential distribution, and Mul(2) of that of half its degrees is a chi-squared one.
func (a *Array) RandomGamma(seed uint64, lengths ...int) *Array {
	return sampled("gamma", random.Gamma, seed, lengths, a)
}

// RandomPoisson returns int64 numbers of Poisson distributions whose means are the array, which
// broadcasts as in RandomGamma, by Hörmann's method.
func (a *Array) RandomPoisson(seed uint64, lengths ...int) *Array {
	return sampled("poisson", random.Poisson, seed, lengths, a)
}

// RandomBinomial returns how many of so many trials succeed, which the array says, each by a
// chance, an array or a number, as int64. They broadcast as in RandomGamma. It is by
// Hörmann's method.
func (a *Array) RandomBinomial(seed uint64, chance any, lengths ...int) *Array {
	return sampled("binomial", random.Binomial, seed, lengths, a, chance)
}

// RandomBeta returns float64 numbers of beta distributions of two shape parameters, the array and b,
// an array or a number. They broadcast as in RandomGamma. It is by Jöhnk's method, or of two
// gamma numbers.
func (a *Array) RandomBeta(seed uint64, b any, lengths ...int) *Array {
	return sampled("beta", random.Beta, seed, lengths, a, b)
}

// RandomTriangular returns float64 numbers of triangular distributions from the array to right, most
// of them about mode. Both are arrays or numbers, and broadcast as in RandomGamma.
func (a *Array) RandomTriangular(seed uint64, mode, right any, lengths ...int) *Array {
	return sampled("triangular", random.Triangular, seed, lengths, a, mode, right)
}

// RandomVonMises returns float64 angles of von Mises distributions, from -π to π, whose mean
// directions are the array. Their concentrations, an array or a number, are 0 where all directions
// are alike. They broadcast as in RandomGamma. It is by Best and Fisher's method.
func (a *Array) RandomVonMises(seed uint64, concentration any, lengths ...int) *Array {
	return sampled("vonmises", random.VonMises, seed, lengths, a, concentration)
}

// RandomWald returns float64 numbers of Wald distributions, also called inverse Gaussian, whose means
// are the array; the scale is an array or a number. They broadcast as in RandomGamma. It is by
// Michael, Schucany and Haas's method.
func (a *Array) RandomWald(seed uint64, scale any, lengths ...int) *Array {
	return sampled("wald", random.Wald, seed, lengths, a, scale)
}

// RandomGeometric returns the number of the first trial that succeeds, from 1 on, as int64, where
// each does by a chance, which the array says. It broadcasts as in RandomGamma.
func (a *Array) RandomGeometric(seed uint64, lengths ...int) *Array {
	return sampled("geometric", random.Geometric, seed, lengths, a)
}

// RandomHypergeometric returns how many of those drawn at once are good ones, as int64, where the array
// says how many good ones there are. The number of bad ones and of those drawn are arrays or
// numbers, and broadcast as in RandomGamma. It is by Stadlober's method.
func (a *Array) RandomHypergeometric(seed uint64, bad, drawn any, lengths ...int) *Array {
	return sampled("hypergeometric", random.Hypergeometric, seed, lengths, a, bad, drawn)
}

// RandomLogSeries returns int64 numbers of logarithmic series distributions whose parameters, from 0 to
// below 1, are the array. It broadcasts as in RandomGamma. It is by Kemp's method.
func (a *Array) RandomLogSeries(seed uint64, lengths ...int) *Array {
	return sampled("logseries", random.LogSeries, seed, lengths, a)
}

// RandomNegativeBinomial returns how many trials fail before as many succeed as the array says, as int64,
// each by a chance, an array or a number. They broadcast as in RandomGamma. A number of
// successes need not be whole.
func (a *Array) RandomNegativeBinomial(seed uint64, chance any, lengths ...int) *Array {
	return sampled("negative_binomial", random.NegativeBinomial, seed, lengths, a, chance)
}

// RandomZipf returns int64 numbers of Zipf distributions, from 1 to 2**62, whose exponents, above 1, are
// the array. It broadcasts as in RandomGamma. It is by Devroye's method.
func (a *Array) RandomZipf(seed uint64, lengths ...int) *Array {
	return sampled("zipf", random.Zipf, seed, lengths, a)
}

// RandomMultinomial returns into which categories as many trials fall as the array says, as int64: a
// number for each category, along a new last axis. p is an array of the categories' chances along its
// last axis; that of the last one is what the others leave of 1. The lengths are those of the other
// axes, which broadcast as in RandomGamma.
func (a *Array) RandomMultinomial(seed uint64, p *Array, lengths ...int) *Array {
	return build("multinomial", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return random.Categorical(site, "multinomial", random.Multinomial, seed, in[0], in[1], lengths...)
	}, a, p)
}

// RandomMultivariateHypergeometric returns how many of those drawn at once are of each category, as int64,
// where the array has the sizes of the categories along its last axis. The number drawn is an array
// or a number. The lengths are those of the other axes, which broadcast as in RandomGamma.
func (a *Array) RandomMultivariateHypergeometric(seed uint64, drawn any, lengths ...int) *Array {
	return build("multivariate_hypergeometric", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return random.Categorical(site, "multivariate_hypergeometric", random.MultivariateHypergeometric, seed, in[1], in[0], lengths...)
	}, a, drawn)
}

func sampled(name string, d random.Distribution, seed uint64, lengths []int, parameters ...any) *Array {
	return build(name, func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return random.Sample(site, name, d, seed, in, lengths...)
	}, parameters...)
}

// RandomPermutation returns the integers from 0 to n-1 in a random order, as int64, with the
// passes of Argsort: x.Take(RandomPermutation(seed, n), 0) shuffles rows.
func RandomPermutation(seed uint64, n int) *Array {
	return made(random.Permutation(graph.Caller(), seed, n))
}

// Permuted returns each line along an axis in a random order of its own. Lines of up to a million
// elements take the passes of Argsort and TakeAlong, longer ones two that read and two that
// write, of 16 bytes for an element, or 32 for one of complex128, and from about 250 million
// elements on each once more.
func (a *Array) Permuted(seed uint64, axis int) *Array {
	return a.view("permuted", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return random.Permuted(site, n, seed, axis)
	})
}

// ChoiceOptions are the less common arguments of Choice.
type ChoiceOptions struct {
	Distinct bool   // no element is drawn twice
	Weights  *Array // how likely each element is, relative to the others; not with Distinct
}

// Choice returns count elements along the first axis, drawn at random and equally likely. What
// is drawn is read in its order, with no pass before it; Distinct takes the passes of
// Argsort over all places, and Weights those of Cumsum.
func (a *Array) Choice(seed uint64, count int, o ChoiceOptions) *Array {
	return build("choice", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return random.Choice(site, in[0], seed, count, o.Distinct, append(in, nil)[1])
	}, present(a, o.Weights)...)
}
