package gonbext

import (
	"regexp"
	"testing"

	"github.com/gonbext/gonbext/oocore/graph"
)

// GoNB panics at some lines of output that match this.
var taken = regexp.MustCompile(`main(_test)?\.go:\d`)

func TestSitesSuitGoNB(t *testing.T) {
	call := graph.Site{File: "/gonb/main.go", Line: 20}
	inCell := cellLines(call, 3)
	for site, want := range map[graph.Site]string{
		{File: "/gonb/main.go", Line: 22}:     "cell:5",
		{File: "/gonb/main.go", Line: 7}:      "main:7", // in a function above main
		{File: "/gonb/main_test.go", Line: 7}: "main_test:7",
		{File: "/gonb/domain.go", Line: 7}:    "domain:7",
		{File: "/gonb/lib.go", Line: 7}:       "lib.go:7",
	} {
		got := inCell(site).String()
		if got != want {
			t.Errorf("%v became %s, not %s", site, got, want)
		}
		if taken.MatchString(got + ")") {
			t.Errorf("GoNB takes %s for its own", got)
		}
	}
}
