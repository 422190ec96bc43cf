package expr

import (
	"fmt"
	"slices"
	"strings"
)

// nearest is ", did you mean …?" with the most similar of the known names; where
// none is similar and they are few, all of them.
func nearest(name string, known []string) string {
	slices.Sort(known)
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), k); d < least {
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

// distance is the number of letters to add, drop or change (Levenshtein's).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j]+1, row[j+1]+1, change)
		}
	}
	return row[len(b)]
}
