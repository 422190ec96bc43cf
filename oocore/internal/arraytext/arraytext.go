// Package arraytext writes arrays as NumPy prints them.
package arraytext

import (
	"slices"
	"strings"
)

// What NumPy's print options are where nobody has set them.
const (
	Threshold = 1000 // elements, from which on only the corners are written
	Edge      = 3    // elements on each side of an axis, in a corner
	lineWidth = 75
)

// Layout arranges words, those of the elements of an array of a shape in C order, in
// brackets. Where abridged is set an axis longer than twice Edge has words for its first and
// last Edge only.
func Layout(shape []int, words []string, abridged bool) string {
	if slices.Contains(shape, 0) {
		return "[]"
	}
	l := layout{shape: shape, words: words, abridged: abridged}
	return l.axis(0, " ", lineWidth)
}

type layout struct {
	shape    []int
	words    []string // that are left
	abridged bool
}

// axis writes what lies along an axis and those after it. indent stands before each line but
// the first.
func (l *layout) axis(axis int, indent string, width int) string {
	if axis == len(l.shape) {
		word := l.words[0]
		l.words = l.words[1:]
		return word
	}
	n, gap := l.shape[axis], -1
	if l.abridged && n > 2*Edge {
		n, gap = 2*Edge, Edge
	}
	last := axis == len(l.shape)-1
	var all strings.Builder
	line := indent
	put := func(word string) {
		if len(line)+len(word) > width-1 && len(line) > len(indent) {
			all.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word
	}
	between := strings.Repeat("\n", len(l.shape)-axis-1)
	for i := range n {
		if i == gap && last {
			put("...")
			line += " "
		} else if i == gap {
			all.WriteString(indent + "..." + between)
		}
		word := l.axis(axis+1, indent+" ", width-1)
		switch {
		case last:
			put(word)
			if i < n-1 {
				line += " "
			}
		case i < n-1:
			all.WriteString(indent + word + between)
		default:
			all.WriteString(indent + word)
		}
	}
	if last {
		all.WriteString(line)
	}
	return "[" + all.String()[len(indent):] + "]"
}
