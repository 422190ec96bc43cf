package kernel

import (
	"os"

	"golang.org/x/sys/cpu"
)

// The instructions that the loops may use: what the processor has, or less
// where GONBEXT_KERNEL is "avx2" or "go". Tests turn them off to compare levels.
var (
	hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA && os.Getenv("GONBEXT_KERNEL") != "go"

	hasAVX512 = hasAVX2 && os.Getenv("GONBEXT_KERNEL") != "avx2" &&
		cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
)
