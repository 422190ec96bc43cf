package magic

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/host"
)

// A word that is longer is no misspelling of ours, and an error that is longer is not read.
const (
	wordMost  = 100
	errorMost = 1000
)

// nearest is the candidate with the smallest edit distance to s, whatever the case of letters; of equals one with the same
// letters, then one that begins with s, then the first.
func nearest(s string, candidates []string) string {
	s = strings.ToLower(s[:min(len(s), wordMost)])
	best, least := "", 0
	for i, c := range candidates {
		low := strings.ToLower(c)
		d := 4 * host.Distance(s, low)
		switch {
		case sameLetters(s, low):
		case strings.HasPrefix(low, s):
			d++
		default:
			d += 2
		}
		if i == 0 || d < least {
			best, least = c, d
		}
	}
	return best
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// alike is the nearest candidate where it is no more than so far from s, else "".
func alike(s string, candidates []string, most int) string {
	best := nearest(s, candidates)
	if best != "" && host.Distance(strings.ToLower(s), strings.ToLower(best)) <= most {
		return best
	}
	return ""
}

// plainError is err in one line, with escapes for what does not print, and without the
// end of a long one: it may repeat whatever a user has pasted.
func plainError(err error) error {
	var b strings.Builder
	text := err.Error()
	for _, r := range text {
		if b.Len() > errorMost {
			b.WriteString(" …")
			break
		}
		if r != utf8.RuneError && strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	if b.String() == text {
		return err
	}
	return errors.New(b.String())
}
