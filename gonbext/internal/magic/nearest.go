package magic

// nearest is the candidate with the smallest edit distance to s; the first one
// of equals.
func nearest(s string, candidates []string) string {
	best, least := "", 0
	for i, c := range candidates {
		if d := distance(s, c); i == 0 || d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is Levenshtein's, over bytes: candidates are ASCII.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
