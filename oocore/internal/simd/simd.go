// Package simd says which vector instructions the loops of this module use: the widest that the
// processor has, or those that the environment variable GONBEXT_CPU names.
package simd

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/cpu"
)

// levels are in the order of their widths.
var levels = []string{"go", "avx2", "avx512"}

var level, err = choose(os.Getenv("GONBEXT_CPU"), widest())

// Level returns "avx512", "avx2", or "go" for none.
func Level() string { return level }

// Err returns an error where GONBEXT_CPU names no level, or one that the processor does not have.
// Level is then the processor's.
func Err() error { return err }

func widest() string {
	switch x := cpu.X86; {
	case !x.HasAVX2 || !x.HasFMA:
		return "go"
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return "avx512"
	}
	return "avx2"
}

// choose returns the level of a name, on a processor that has the widest.
func choose(name, widest string) (string, error) {
	switch at := slices.Index(levels, name); {
	case name == "":
		return widest, nil
	case at < 0:
		return widest, fmt.Errorf("GONBEXT_CPU is %q: it takes go, avx2 or avx512, or is unset for the widest instructions that the processor has", name)
	case at > slices.Index(levels, widest):
		return widest, fmt.Errorf("GONBEXT_CPU is %q, which this processor does not have: the widest here is %s", name, widest)
	}
	return name, nil
}
