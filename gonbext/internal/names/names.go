// Package names sorts and folds names that differ by numbers, as those of a model's layers do.
package names

import (
	"strconv"
	"strings"
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
