// Package stats has the statistics of an array: histograms, averages with weights,
// covariances, moments, and the reductions that ignore NaN.
//
// Counting is an operation of its own, Count. All else is composed of reductions,
// elementwise operations and products.
package stats
