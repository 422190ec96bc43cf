package chart

import (
	"strings"
	"testing"
)

// A text breaks at its spaces where they do, and anywhere where a word of it is as long as a path: that may have
// spaces in other folders.
func TestLongTextsBreak(t *testing.T) {
	for text, want := range map[string]string{
		"short":                                  "",
		strings.Repeat("a ", 40):                 "white-space:normal",
		strings.Repeat("a", 41):                  "word-break:break-all",
		"/my folder/" + strings.Repeat("a/", 40): "word-break:break-all",
	} {
		if got := string(wrapped(text)); want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "break-all") != strings.Contains(want, "break-all") {
			t.Errorf("%q has the style %q, want %q in it", text, got, want)
		}
	}
}
