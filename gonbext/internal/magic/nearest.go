package magic

import "github.com/gonbext/gonbext/oocore/suggest"

// nearest is the candidate with the smallest edit distance to s; the first one
// of equals.
func nearest(s string, candidates []string) string {
	best, least := "", 0
	for i, c := range candidates {
		if d := suggest.Distance(s, c); i == 0 || d < least {
			best, least = c, d
		}
	}
	return best
}
