// Package stats has what describes the values of an array: how many lie in each bin,
// averages with weights, covariances, and the reductions that leave NaN out.
//
// Counting is an operation of its own, Count. All else is composed of reductions,
// elementwise operations and products.
package stats
