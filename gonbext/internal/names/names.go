// Package names sorts and folds names that differ by numbers, as those of a model's layers do.
package names

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/units"
)

// Group is names that stand in one line.
type Group struct {
	Name    string // of one as it is, of several with the range of each number: layers.{0–31}.weight
	Members []int  // which of the names
}

// Fold puts names together that differ by numbers between separators only, and are of one kind.
// Groups and their members keep the order of the names.
func Fold(names []string, kind func(i int) string) []Group {
	var all []Group
	var ranges [][]span // of each group
	groups := map[[2]string]int{}
	for i, name := range names {
		pattern, numbers := split(name)
		key := [2]string{pattern, kind(i)}
		g, ok := groups[key]
		if !ok {
			g = len(all)
			groups[key] = g
			all, ranges = append(all, Group{Name: pattern}), append(ranges, numbers)
		}
		all[g].Members = append(all[g].Members, i)
		for d, n := range numbers {
			ranges[g][d].add(n)
		}
	}
	for g := range all {
		for _, r := range ranges[g] {
			all[g].Name = strings.Replace(all[g].Name, hole, r.String(), 1)
		}
	}
	return all
}

// hole stands for a number in a pattern: no name has it.
const hole = "\x00"

// span is the least and the greatest of some numbers, as the names have them.
type span struct {
	least, most         uint64
	leastText, mostText string
}

func (s *span) add(n span) {
	if n.least < s.least {
		s.least, s.leastText = n.least, n.leastText
	}
	if n.most > s.most {
		s.most, s.mostText = n.most, n.mostText
	}
}

func (s span) String() string {
	if s.least == s.most {
		return s.leastText
	}
	return "{" + s.leastText + "–" + s.mostText + "}"
}

// split takes the numbers out of a name that are all of what stands between separators.
func split(name string) (pattern string, numbers []span) {
	var b strings.Builder
	for len(name) > 0 {
		end := strings.IndexAny(name, "./_-[]: ")
		if end < 0 {
			end = len(name)
		}
		if n, err := strconv.ParseUint(name[:end], 10, 64); err == nil {
			numbers = append(numbers, span{n, n, name[:end], name[:end]})
			b.WriteString(hole)
		} else {
			b.WriteString(name[:end])
		}
		if end < len(name) {
			b.WriteByte(name[end])
			end++
		}
		name = name[end:]
	}
	return b.String(), numbers
}

// Clip returns text of a file in one line of at most 200 characters that a terminal can print:
// some attributes are whole documents.
func Clip(s string) string {
	s = units.Line(s)
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}

// Natural compares two names with the numbers in them as numbers, so that layer 2 stands before
// layer 10.
func Natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		i, j := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(i), len(j)), strings.Compare(i, j)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// digits is how many digits a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// Totals sums arrays by element type, the type with the most bytes first.
type Totals []Total

// Total is the sum of the arrays of one element type.
type Total struct {
	DType  string `json:"dtype"`
	Arrays int64  `json:"arrays"`
	Bytes  int64  `json:"bytes"` // of the elements
}

// Add counts one more array.
func (t *Totals) Add(dtype string, bytes int64) {
	i := slices.IndexFunc(*t, func(t Total) bool { return t.DType == dtype })
	if i < 0 {
		i = len(*t)
		*t = append(*t, Total{DType: dtype})
	}
	(*t)[i].Arrays++
	(*t)[i].Bytes += bytes
	slices.SortFunc(*t, func(a, b Total) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.DType, b.DType))
	})
}
