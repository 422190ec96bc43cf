package kernel

import (
	"os"

	"golang.org/x/sys/cpu"
)

// What the processor has of the loops' instructions, and GONBEXT_KERNEL lets
// them use.
var (
	hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA && os.Getenv("GONBEXT_KERNEL") != "go"

	hasAVX512 = hasAVX2 && os.Getenv("GONBEXT_KERNEL") != "avx2" &&
		cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
)
