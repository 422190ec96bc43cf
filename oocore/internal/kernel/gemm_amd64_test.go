package kernel

import "testing"

// TestGemmWithoutVNNI is for processors that have AVX-512 and not its fused products
// of 16-bit integers.
func TestGemmWithoutVNNI(t *testing.T) {
	defer func(had bool) { hasVNNI = had }(hasVNNI)
	hasVNNI = false
	checkGemmInt32(t)
}
