package oocore

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
)

// Selector is what Index selects along an axis: a Range, At or Whole.
type Selector interface{ spec() (string, error) }

// Range is the indices from Start up to but not including Stop. Negative ones count from
// the end, and End is the end.
type Range struct{ Start, Stop int }

// End is the Stop of a Range that ends with the axis.
const End = math.MaxInt

// Whole is a whole axis.
var Whole = Range{0, End}

// By returns every n-th index of a range, from its first on.
func (r Range) By(n int) Selector { return stepped{r, n} }

// At returns one index, whose axis the result does not have. A negative one counts from the end.
func At(i int) Selector { return at(i) }

type at int

type stepped struct {
	Range
	n int
}

func (i at) spec() (string, error) { return strconv.Itoa(int(i)), nil }

func (r Range) spec() (string, error) {
	if r.Stop == End {
		return fmt.Sprintf("%d:", r.Start), nil
	}
	return fmt.Sprintf("%d:%d", r.Start, r.Stop), nil
}

func (s stepped) spec() (string, error) {
	if s.n < 1 {
		return "", fmt.Errorf("a step of %d: By takes 1 or more, and Flip reverses an axis", s.n)
	}
	text, err := s.Range.spec()
	return text + ":" + strconv.Itoa(s.n), err
}

// Index returns a part of the array: a selector for each of its first axes, and the whole of
// those after them. Index(Range{0, 100}, Whole, At(-1)) is Slice("0:100, :, -1").
func (a *Array) Index(selectors ...Selector) *Array {
	return a.view("index", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		texts := make([]string, len(selectors))
		for i, s := range selectors {
			err := errors.New("a selector is nil")
			if s != nil {
				texts[i], err = s.spec()
			}
			if err != nil {
				return nil, graph.Reject(site, "index", err, n)
			}
		}
		return graph.Slice(site, n, strings.Join(texts, ", "))
	})
}
