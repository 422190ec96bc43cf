package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// flopsPerByte is how many additions and multiplications take the time of reading or writing
// a byte, on two cores with a usual disk.
const flopsPerByte = 100

// exhaustive is the number of operands up to which all orders are tried.
const exhaustive = 6

// order is which two terms are contracted in each step, by their places among those
// that are left; what they give comes last. It is the one that moves the fewest bytes,
// counting arithmetic by what a byte is worth.
func order(terms []term, out []rune) [][2]int {
	steps, _ := search(sizes(terms), out, len(terms) <= exhaustive)
	return steps
}

// sized is a term without its elements.
type sized struct {
	axes    []rune
	lengths map[rune]int
	item    int
}

func sizes(terms []term) []sized {
	lengths := map[rune]int{}
	for _, t := range terms {
		for d, name := range t.axes {
			lengths[name] = max(lengths[name], t.node.Shape[d])
		}
	}
	all := make([]sized, len(terms))
	for i, t := range terms {
		all[i] = sized{axes: t.axes, lengths: lengths, item: t.node.DType.Size()}
	}
	return all
}

func (s sized) bytes() float64 {
	n := float64(s.item)
	for _, name := range s.axes {
		n *= float64(s.lengths[name])
	}
	return n
}

// joined is what two terms give, and what that costs.
func joined(a, b sized, rest []sized, out []rune) (sized, float64) {
	keep := slices.Clone(out)
	for _, t := range rest {
		keep = append(keep, t.axes...)
	}
	c := sized{lengths: a.lengths, item: max(a.item, b.item)}
	flops := 2.0
	for _, name := range append(slices.Clone(a.axes), b.axes...) {
		if slices.Contains(c.axes, name) {
			continue
		}
		if slices.Contains(keep, name) {
			c.axes = append(c.axes, name)
		}
	}
	seen := map[rune]bool{}
	for _, name := range append(slices.Clone(a.axes), b.axes...) {
		if !seen[name] {
			seen[name] = true
			flops *= float64(a.lengths[name])
		}
	}
	return c, a.bytes() + b.bytes() + c.bytes() + flops/flopsPerByte
}

func search(terms []sized, out []rune, all bool) (best [][2]int, least float64) {
	if len(terms) < 2 {
		return nil, 0
	}
	found := false
	var step [2]int
	for i := range terms {
		for j := i + 1; j < len(terms); j++ {
			rest := slices.Delete(slices.Clone(terms), j, j+1)
			rest = slices.Delete(rest, i, i+1)
			c, cost := joined(terms[i], terms[j], rest, out)
			var steps [][2]int
			if all {
				var more float64
				steps, more = search(append(rest, c), out, true)
				cost += more
			}
			if !found || cost < least {
				found, least, step, best = true, cost, [2]int{i, j}, append([][2]int{{i, j}}, steps...)
			}
		}
	}
	if all {
		return best, least
	}
	rest := slices.Delete(slices.Clone(terms), step[1], step[1]+1)
	rest = slices.Delete(rest, step[0], step[0]+1)
	c, _ := joined(terms[step[0]], terms[step[1]], rest, out)
	steps, more := search(append(rest, c), out, len(rest)+1 <= exhaustive)
	return append([][2]int{step}, steps...), least + more
}

// Path says in which order Einsum contracts its operands, a line a step: what with
// what to what, and the bytes that are read and written.
func Path(site graph.Site, subscripts string, in ...*graph.Node) (string, error) {
	terms, out, err := parse(site, subscripts, in)
	if err != nil {
		return "", graph.Reject(site, "einsum_path", ofShapes(err, in), in...)
	}
	left := sizes(terms)
	var b strings.Builder
	for _, s := range order(terms, out) {
		x, y := left[s[0]], left[s[1]]
		rest := slices.Delete(slices.Clone(left), s[1], s[1]+1)
		rest = slices.Delete(rest, s[0], s[0]+1)
		c, _ := joined(x, y, rest, out)
		fmt.Fprintf(&b, "%s,%s->%s: %.0f bytes read, %.0f written\n", text(x.axes), text(y.axes), text(c.axes), x.bytes()+y.bytes(), c.bytes())
		left = append(rest, c)
	}
	return b.String(), nil
}

func text(axes []rune) string {
	s := ""
	for _, name := range axes {
		if name >= dots {
			if !strings.HasSuffix(s, "...") {
				s += "..."
			}
			continue
		}
		s += string(name)
	}
	return s
}

func bytes(n *graph.Node) int {
	b := n.DType.Size()
	for _, l := range n.Shape {
		b *= l
	}
	return b
}
