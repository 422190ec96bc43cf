// Package filter holds operations that compute an element from its neighbours:
// sums with weights, Gaussian, uniform, median, minimum and maximum filters, and means
// of blocks. Results are scipy.ndimage's, except where a comment says otherwise.
//
// All but the transform for large weights take any box: they read it with its border
// and are part of whatever reads them.
package filter
