package graph

import (
	"regexp"
	"testing"
)

// GoNB panics at some lines of output that match this.
var taken = regexp.MustCompile(`main(_test)?\.go:\d`)

func TestSitesSuitGoNB(t *testing.T) {
	for site, want := range map[Site]string{
		{File: "/gonb/main.go", Line: 7}:      "main:7",
		{File: "/gonb/main_test.go", Line: 7}: "main_test:7",
		{File: "/gonb/domain.go", Line: 7}:    "domain:7",
		{File: "/gonb/lib.go", Line: 7}:       "lib.go:7",
		{File: "cell", Line: 5}:               "cell:5",
	} {
		got := composed(site).String()
		if got != want {
			t.Errorf("%v became %s, not %s", site, got, want)
		}
		if taken.MatchString(got + ")") {
			t.Errorf("GoNB takes %s for its own", got)
		}
	}
}
