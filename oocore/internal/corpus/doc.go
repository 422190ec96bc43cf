// Package corpus holds digests of the results of every operation, of each type and over the
// borders of vectors, blocks, tiles and chunks: results whose bits change need a new revision.
package corpus

//go:generate go test . -run TestDigests -update
