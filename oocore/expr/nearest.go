package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/spell"
)

// nearest is ", did you mean …?" with the most similar of the known names; where
// none is similar and they are few, all of them.
func nearest(name string, known []string) string {
	slices.Sort(known)
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := spell.Distance(strings.ToLower(name), k); d < least {
			best, least = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf(", did you mean %q?", best)
	case len(known) == 0 || len(known) > 10:
		return ""
	}
	return ": known are " + strings.Join(known, ", ")
}
