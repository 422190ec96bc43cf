package surface

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/sources"
)

// wording are words for which the field has others.
var wording = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\brefus(e|es|ed|al|als|ing)\b`), "reject, or return an error"},
	{regexp.MustCompile(`\b([Gg]oes|went) on\b`), "continue, or resume"},
	{regexp.MustCompile(`\b[Mm]ended\b`), "fixed"},
	{regexp.MustCompile(`\b(KeptError|turnstile)\b`), "ResumableError, orderedMerge"},
}

// findings returns what of a text has other words in the field.
func findings(text string) (all []string) {
	text = strings.ReplaceAll(text, "connection refused", "") // the system's words
	for _, w := range wording {
		for _, found := range w.pattern.FindAllString(text, -1) {
			all = append(all, found+": "+w.instead)
		}
	}
	return all
}

func TestSourcesUseTheWordsOfTheField(t *testing.T) {
	root := os.DirFS(filepath.Join("..", "..", ".."))
	read := 0
	err := sources.Walk(root, []string{".go", ".md"}, func(file string, text []byte) error {
		if file == "oocore/internal/surface/words_test.go" {
			return nil
		}
		read++
		for number, line := range strings.Split(string(text), "\n") {
			for _, found := range findings(line) {
				t.Errorf("%s:%d: %s", file, number+1, found)
			}
		}
		return nil
	})
	if err != nil || read < 500 {
		t.Fatalf("%d files were read: %v", read, err)
	}
}

func TestFindingsNameTheWord(t *testing.T) {
	for text, want := range map[string]int{"the run goes on, and is refused": 2, "dial: connection refused": 0, "it continues": 0} {
		if got := findings(text); len(got) != want {
			t.Errorf("%q: %v, want %d", text, got, want)
		}
	}
}
