package oocore

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
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

// ChoiceOptions are the less common arguments of Choice.
type ChoiceOptions struct {
	Distinct bool   // no element is drawn twice
	Weights  *Array // how likely each element is, relative to the others; not with Distinct
}
