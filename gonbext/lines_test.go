package gonbext

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/graph"
)

func TestCellLines(t *testing.T) {
	inCell := cellLines(graph.Site{File: "/gonb/main.go", Line: 20}, 3)
	for site, want := range map[graph.Site]string{
		{File: "/gonb/main.go", Line: 22}: "cell:5",
		{File: "/gonb/main.go", Line: 7}:  "main.go:7", // in a function above main
		{File: "/gonb/lib.go", Line: 7}:   "lib.go:7",
	} {
		if got := inCell(site).String(); got != want {
			t.Errorf("%v became %s, not %s", site, got, want)
		}
	}
}
