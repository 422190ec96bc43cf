// Package corpus holds digests of the results of every operation, of each type and over the
// borders of vectors, blocks, tiles and chunks: results whose bits change need a new revision. It
// holds the plans of large arrays too, so that a change of one is seen in review.
package corpus

//go:generate go test . -run "TestDigests|TestPlans" -update
