package simd

import (
	"strings"
	"testing"
)

func TestChooseTakesWhatTheProcessorHas(t *testing.T) {
	for _, c := range []struct{ name, widest, level, problem string }{
		{"", "go", "go", ""},
		{"", "avx512", "avx512", ""},
		{"go", "avx512", "go", ""},
		{"avx2", "avx512", "avx2", ""},
		{"avx512", "avx512", "avx512", ""},
		{"avx2", "avx2", "avx2", ""},
		{"avx512", "avx2", "avx2", "does not have: the widest here is avx2"},
		{"avx2", "go", "go", "does not have: the widest here is go"},
		{"AVX2", "avx512", "avx512", "takes go, avx2 or avx512"},
		{"sse9", "avx2", "avx2", "takes go, avx2 or avx512"},
	} {
		level, err := choose(c.name, c.widest)
		if level != c.level {
			t.Errorf("%q on %s: %s, want %s", c.name, c.widest, level, c.level)
		}
		if (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) || !strings.Contains(err.Error(), "GONBEXT_CPU")) {
			t.Errorf("%q on %s: %v", c.name, c.widest, err)
		}
	}
}
