package grid_test

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func TestParseReadsShapes(t *testing.T) {
	for text, want := range map[string][]int{
		"3075200x512": {3075200, 512}, "1,256,1024": {1, 256, 1024}, "[384, 192]": {384, 192}, "(5,)": {5}, "3 × 4": {3, 4}, "3X4": {3, 4},
		"3 4": {3, 4}, " 7 ": {7}, "1_000x2": {1000, 2}, "0x3": {0, 3}, "()": {}, "[]": {},
	} {
		got, err := grid.Parse(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseRejectsMissingLengths(t *testing.T) {
	for _, text := range []string{"", " ", "x", "3x", "x3", "3xx4", "3,,4", ",", "3x-1", "axb", "3.5", "3;4", "99999999999999999999"} {
		if got, err := grid.Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
