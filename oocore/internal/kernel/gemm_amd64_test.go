package kernel

import "testing"

// TestGemmWithoutVNNI is for processors that have AVX-512 and not its fused products
// of 16-bit integers.
func TestGemmWithoutVNNI(t *testing.T) {
	if !hasAVX512 || !hasVNNI {
		t.Skip("the processor has no VNNI to do without")
	}
	defer func() { hasVNNI = true }()
	hasVNNI = false
	checkGemmInt32(t)
}
