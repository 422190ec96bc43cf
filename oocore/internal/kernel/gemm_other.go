//go:build !amd64

package kernel

// tileShape is the tile that multiplyTile adds to.
func tileShape[T float]() (rows, cols int) { return 4, 4 }

// multiplyTile adds the product of two panels of k steps to a tile of c.
func multiplyTile[T float](k int, a, b, c *T, ldc int) { goTile(k, a, b, c, ldc) }

// multiplyPairTile adds the product of two panels of k pairs of 16-bit integers to a
// tile of c.
func multiplyPairTile(k int, a, b *uint32, c *int32, ldc int) { goPairTile(k, a, b, c, ldc) }
