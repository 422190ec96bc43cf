package codec

import "github.com/gonbext/gonbext/oocore/internal/simd"

//go:generate go run ./internal/asm -out shuffle_amd64.s -stubs shuffle_stubs_amd64.go -pkg codec

// hasAVX2 is whether loops may use AVX2. Tests turn it off to compare.
var hasAVX2 = simd.Level() != "go"
