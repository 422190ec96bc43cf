package codec

import (
	"os"

	"golang.org/x/sys/cpu"
)

//go:generate go run ./internal/asm -out shuffle_amd64.s -stubs shuffle_stubs_amd64.go -pkg codec

// hasAVX2 is whether loops may use AVX2: the processor has it, and GONBEXT_KERNEL does
// not say "go". Tests turn it off to compare.
var hasAVX2 = cpu.X86.HasAVX2 && os.Getenv("GONBEXT_KERNEL") != "go"
