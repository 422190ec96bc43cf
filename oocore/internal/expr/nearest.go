package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/suggest"
)

// nearest is ", did you mean …?" with the most similar of the known names; where
// none is similar and they are few, all of them.
func nearest(name string, known []string) string {
	slices.Sort(known)
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := suggest.Distance(strings.ToLower(name), k); d < least {
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

// elsewhere says what stands for NumPy's functions that are not known.
var elsewhere = map[string]string{
	"amax": "write max(x)", "amin": "write min(x)", "round_": "write round(x, decimals)",
	"array":   "arrays come from files, as NAME=PATH",
	"asarray": "arrays come from files, as NAME=PATH", "range": "write arange(start, stop, step)", "len": "a shape is known: write its number",
	"ptp": "write max(x) - min(x)", "float": "write astype(x, \"float64\")", "int": "write astype(x, \"int64\")",
}

// nearestFunction is what to write instead of a function that is unknown: the known ones
// that are most similar, or of which it is an abbreviation.
func nearestFunction(name string) string {
	if instead, ok := elsewhere[name]; ok {
		return ": " + instead
	}
	low := strings.ToLower(name)
	var alike []string
	least := max(1, len(name)/3)
	for k := range maps.Keys(functions()) {
		if len(low) > 2 && len(k) <= 2*len(low) && k[0] == low[0] && suggest.Within(low, k) || suggest.Distance(low, k) <= least {
			alike = append(alike, k)
		}
	}
	slices.SortFunc(alike, func(a, b string) int {
		if d := suggest.Distance(low, a) - suggest.Distance(low, b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	if len(alike) > 3 {
		alike = alike[:3]
	}
	for i := range alike {
		alike[i] = fmt.Sprintf("%q", alike[i])
	}
	switch n := len(alike); n {
	case 0:
		return ""
	case 1:
		return ", did you mean " + alike[0] + "?"
	default:
		return ", did you mean " + strings.Join(alike[:n-1], ", ") + " or " + alike[n-1] + "?"
	}
}
