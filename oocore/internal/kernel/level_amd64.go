package kernel

import "github.com/gonbext/gonbext/oocore/internal/simd"

// The instructions that the loops may use. Tests turn them off to compare levels.
var (
	hasAVX2   = simd.Level() != "go"
	hasAVX512 = simd.Level() == "avx512"
)
