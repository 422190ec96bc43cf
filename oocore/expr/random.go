package expr

import (
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/random"
)

func init() {
	define("normal(seed, lengths...)", 1, -1, seeded(0, func(c *call, _ *graph.Node, seed uint64, shape []int) (*graph.Node, error) {
		return random.Normals(c.site, dtype.Float64, seed, shape...)
	}))
	sampled("gamma(seed, shape, lengths...)", random.Gamma, 1)
	sampled("poisson(seed, mean, lengths...)", random.Poisson, 1)
	sampled("binomial(seed, trials, chance, lengths...)", random.Binomial, 2)
	sampled("beta(seed, a, b, lengths...)", random.Beta, 2)
	sampled("triangular(seed, left, mode, right, lengths...)", random.Triangular, 3)
	sampled("vonmises(seed, mean, concentration, lengths...)", random.VonMises, 2)
	sampled("wald(seed, mean, scale, lengths...)", random.Wald, 2)
	sampled("geometric(seed, chance, lengths...)", random.Geometric, 1)
	sampled("hypergeometric(seed, good, bad, drawn, lengths...)", random.Hypergeometric, 3)
	sampled("logseries(seed, chance, lengths...)", random.LogSeries, 1)
	sampled("negative_binomial(seed, successes, chance, lengths...)", random.NegativeBinomial, 2)
	sampled("zipf(seed, exponent, lengths...)", random.Zipf, 1)
	parametrized("multinomial(seed, trials, chances, lengths...)", 2, func(site graph.Site, name string, in []*graph.Node, seed uint64, shape []int) (*graph.Node, error) {
		return random.Categorical(site, name, random.Multinomial, seed, in[0], in[1], shape...)
	})
	parametrized("multivariate_hypergeometric(seed, colors, drawn, lengths...)", 2, func(site graph.Site, name string, in []*graph.Node, seed uint64, shape []int) (*graph.Node, error) {
		return random.Categorical(site, name, random.MultivariateHypergeometric, seed, in[1], in[0], shape...)
	})
	define("integers(seed, low, high, lengths...)", 3, -1, seeded(0, func(c *call, _ *graph.Node, seed uint64, n []int) (*graph.Node, error) {
		return random.Integers(c.site, dtype.Int64, seed, int64(n[0]), int64(n[1]), n[2:]...)
	}))
	define("permutation(seed, n)", 2, 2, seeded(0, func(c *call, _ *graph.Node, seed uint64, n []int) (*graph.Node, error) {
		return random.Permutation(c.site, seed, n[0])
	}))
	define("permuted(x, seed, axis)", 2, 3, seeded(1, func(c *call, x *graph.Node, seed uint64, axis []int) (*graph.Node, error) {
		return random.Permuted(c.site, x, seed, append(axis, -1)[0])
	}))
	define(`choice(x, seed, count, "distinct" or "weights", w)`, 3, 5, func(c *call) (*graph.Node, error) {
		distinct := c.option("distinct")
		var weights *graph.Node
		if at := len(c.values) - 2; at > 2 && c.follows("weights", at) {
			weights = c.values[at+1].Node
			c.values = c.values[:at]
		}
		return seeded(1, func(c *call, x *graph.Node, seed uint64, n []int) (*graph.Node, error) {
			if len(n) != 1 {
				return nil, c.fail(c.args[0].Pos(), "choice takes a number of elements: %s", c.f.Usage)
			}
			return random.Choice(c.site, x, seed, n[0], distinct, weights)
		})(c)
	})
	document("normal", Doc{NumPy: "np.random.Generator.standard_normal", Passes: fused, Working: "a block"})
	document("integers", Doc{NumPy: "np.random.Generator.integers", Passes: fused, Working: "a block"})
	document("permutation", Doc{NumPy: "np.random.Generator.permutation", Passes: "as argsort", Working: "as argsort"})
	document("permuted", Doc{NumPy: "np.random.Generator.permuted", Passes: "as argsort and take_along_axis of lines up to a million elements, else 2 read, 2 written of 16 or 32 bytes an element", Working: "48 MiB"})
	document("choice", Doc{NumPy: "np.random.Generator.choice", Passes: "none of its own, but what is drawn is read in its order; \"distinct\" as argsort over all places, \"weights\" as cumsum over them", Working: "as take"})
}

// sampled adds a distribution that has parameters, after its seed.
func sampled(usage string, d random.Distribution, parameters int) {
	parametrized(usage, parameters, func(site graph.Site, name string, in []*graph.Node, seed uint64, shape []int) (*graph.Node, error) {
		return random.Sample(site, name, d, seed, in, shape...)
	})
}

// parametrized adds a function of a seed, arrays and lengths.
func parametrized(usage string, parameters int, f func(site graph.Site, name string, in []*graph.Node, seed uint64, shape []int) (*graph.Node, error)) {
	define(usage, 1+parameters, -1, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1 + parameters)
		if err != nil {
			return nil, err
		}
		rest := *c
		rest.values = append(c.values[:1:1], c.values[1+parameters:]...)
		rest.args = append(c.args[:1:1], c.args[1+parameters:]...)
		return seeded(0, func(c *call, _ *graph.Node, seed uint64, shape []int) (*graph.Node, error) {
			return f(c.site, c.f.Name, in[1:], seed, shape)
		})(&rest)
	})
	name, _, _ := strings.Cut(usage, "(")
	document(name, Doc{NumPy: "np.random.Generator." + strings.Replace(name, "gamma", "standard_gamma", 1), Passes: fused, Working: "a block"})
}

// seeded is a function of a seed, after an array where it stands at 1, and integers.
func seeded(at int, f func(c *call, x *graph.Node, seed uint64, n []int) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		var x *graph.Node
		if at > 0 {
			in, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			x = in[0]
		}
		n, err := c.ints(at)
		if err != nil {
			return nil, err
		}
		if n[0] < 0 {
			return nil, c.fail(c.args[at].Pos(), "a seed is not negative")
		}
		return f(c, x, uint64(n[0]), n[1:])
	}
}
