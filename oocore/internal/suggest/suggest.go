// Package suggest tells how far one word is from another, for messages that name
// the word that was probably meant.
package suggest

// Within reports whether b has the bytes of a in their order, among others.
func Within(a, b string) bool {
	for i := range len(b) {
		if a != "" && a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}

// Distance is the number of bytes to add, drop or change, or of neighbours to swap, to make b of a: the distance of
// optimal string alignment.
func Distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)} // of a's prefixes, by length modulo 3
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := range len(a) {
		row, above := rows[(i+1)%3], rows[i%3]
		row[0] = i + 1
		for j := range len(b) {
			change := above[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], rows[(i+2)%3][j-1]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
