package oocore

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/types"
)

// Selector is what Index selects along an axis: a Range, At, a Step or Whole.
type Selector interface{ spec() (string, error) }

// Range is the indices from Start up to but not including Stop. Negative ones count from
// the end, and End is the end.
type Range struct{ Start, Stop int }

// Step is every n-th index of a whole axis, from its first on.
type Step int

// Constants for arguments that are numbers or bools.
const (
	End   = math.MaxInt // the Stop of a Range that ends with the axis
	Whole = Step(1)     // a whole axis

	Left, Right    = types.Left, types.Right    // of SearchSorted and Digitize
	Lower, Upper   = types.Lower, types.Upper   // of TriangleIndices and linalg.SolveTriangular
	XY, IJ         = types.XY, types.IJ         // of Meshgrid
	Exact, Trim    = types.Exact, types.Trim    // of Coarsen
	Rows, Columns  = types.Rows, types.Columns  // of Corrcoef
	First, Initial = types.First, types.Initial // of CumulativeSum and CumulativeProd
)

// By returns every n-th index of a range, from its first on.
func (r Range) By(n int) Selector { return stepped{r, n} }

// By returns every n-th of the indices.
func (s Step) By(n int) Selector { return s * Step(n) }

// At selects one index and removes its axis. A negative index counts from the end.
func At(i int) Selector { return at(i) }

type at int

type stepped struct {
	Range
	n int
}

func (s Step) spec() (string, error) { return Range{0, End}.By(int(s)).spec() }

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
	return door.One("index", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
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
	}, a)
}
