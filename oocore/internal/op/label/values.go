package label

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// values are labels that were read.
type values struct {
	ints   []int64
	floats []float64
	dates  []cf.Instant // of both, where they are dates
	of     *cf.Encoding
	names  map[int64]string // of integers that stand for names
	isText bool             // the names are all that the labels are
}

// errUnread is the error where nothing is computed.
var errUnread = errors.New("labels are read where a selection by them is made, and nothing is computed here")

// values reads labels.
func (f *finder) values(n *graph.Node) (*values, error) {
	all, err := f.valuesOf([]*graph.Node{n})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// valuesOf reads labels of several arrays, in one go where they are of one type.
func (f *finder) valuesOf(of []*graph.Node) ([]*values, error) {
	if f.read == nil {
		return nil, errUnread
	}
	all, numbers := make([]*values, len(of)), make([]*graph.Node, len(of))
	parts, alike := make([]*graph.Node, len(of)), true
	for i, n := range of {
		var err error
		if numbers[i], all[i], err = f.decoded(n); err != nil {
			return nil, err
		}
		alike = alike && numbers[i].DType == numbers[0].DType
		parts[i] = numbers[i]
	}
	if alike {
		whole, err := shape.Concatenate(f.site, 0, parts...)
		if err != nil {
			return nil, err
		}
		parts = []*graph.Node{whole}
	}
	next := 0 // of numbers
	for _, part := range parts {
		read, err := f.read(part)
		if err != nil {
			return nil, err
		}
		ints, _ := read.([]int64)
		floats, _ := read.([]float64)
		for at := 0; next < len(of) && (at < part.Shape[0] || numbers[next].Shape[0] == 0); next++ {
			v, end := all[next], at+numbers[next].Shape[0]
			if ints != nil {
				v.ints = ints[at:end:end]
			} else if floats != nil {
				v.floats = floats[at:end:end]
			}
			if at = end; v.of == nil {
				continue
			}
			if err := v.date(); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// decoded are labels as numbers, and how these are dates.
func (f *finder) decoded(n *graph.Node) (*graph.Node, *values, error) {
	numbers, e, err := cf.DatesOf(f.site, n)
	if err != nil {
		return nil, nil, err
	}
	if e == nil {
		if numbers, err = cf.Decode(f.site, cf.DecodeArgs{X: n}); err != nil { // what a file does not have, decodes as it is
			numbers = n
		}
	}
	v := &values{of: e}
	if n.DType.Integer() {
		v.names, v.isText = cf.Flags(cf.DetailsOf(n)), isText(n)
	}
	return numbers, v, nil
}

// date tells the dates of numbers.
func (v *values) date() (err error) {
	v.dates = make([]cf.Instant, v.len())
	for i := range v.dates {
		if v.floats != nil {
			v.dates[i], err = v.of.InstantOfFloat(v.floats[i])
		} else {
			v.dates[i], err = v.of.Instant(v.ints[i])
		}
		if err != nil {
			return fmt.Errorf("the label at place %d: %w", i, err)
		}
	}
	return nil
}

func (v *values) len() int { return max(len(v.ints), len(v.floats)) }

// number is a label as a float.
func (v *values) number(i int) float64 {
	if v.floats != nil {
		return v.floats[i]
	}
	return float64(v.ints[i])
}

// compare orders label i and label k of others.
func (v *values) compare(i int, w *values, k int) int {
	switch {
	case v.dates != nil && w.dates != nil:
		return v.dates[i].Compare(w.dates[k])
	case v != w && v.names != nil && w.names != nil:
		return cmp.Compare(v.text(i), w.text(k))
	case v.ints != nil && w.ints != nil:
		return cmp.Compare(v.ints[i], w.ints[k])
	}
	return cmp.Compare(v.number(i), w.number(k))
}

// text is a label as people write it.
func (v *values) text(i int) string {
	switch {
	case v.dates != nil:
		return v.of.Text(v.dates[i])
	case v.ints != nil:
		if name, is := v.names[v.ints[i]]; is {
			return name
		}
		return strconv.FormatInt(v.ints[i], 10)
	}
	return strconv.FormatFloat(v.floats[i], 'g', -1, 64)
}

// texts are labels as people write them.
func (v *values) texts() []string {
	all := make([]string, v.len())
	for i := range all {
		all[i] = v.text(i)
	}
	return all
}

// ends says what labels there are.
func (v *values) ends() string {
	if v.len() == 0 {
		return "there are none"
	}
	if v.names != nil {
		return fmt.Sprintf("they are names, %.80q to %.80q", v.text(0), v.text(v.len()-1))
	}
	return fmt.Sprintf("they are %s to %s", v.text(0), v.text(v.len()-1))
}

// order is 1 where labels rise, -1 where they fall, and 0 else; one that repeats or is not a number makes it 0.
func (v *values) order() int {
	rises, falls := true, true
	for i := 1; i < v.len(); i++ {
		c := v.compare(i-1, v, i)
		rises, falls = rises && c < 0, falls && c > 0
	}
	if v.dates == nil && slices.ContainsFunc(v.floats, math.IsNaN) {
		return 0
	}
	switch {
	case rises:
		return 1
	case falls:
		return -1
	}
	return 0
}

// bound is a place between labels: those that compare less than it, and those that do not.
type bound struct {
	date   cf.Instant
	number float64
	after  bool // a label that is equal lies before it
}

// less reports that label i lies before the bound.
func (v *values) less(i int, b *bound) bool {
	c := 0
	if v.dates != nil {
		c = v.dates[i].Compare(b.date)
	} else {
		c = cmp.Compare(v.number(i), b.number)
	}
	return c < 0 || c == 0 && b.after
}

// bound reads the end of a range: what is meant by it lies within, so that of a month as a last end its last moment does.
func (v *values) bound(text string, last bool) (*bound, error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	if v.names != nil {
		key, err := v.key(op.String(text))
		if err != nil {
			return nil, err
		}
		return &bound{number: key.number(0), after: last}, nil
	}
	if v.dates == nil {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != f {
			return nil, fmt.Errorf("%q is not a number, as the labels are: %s", text, v.ends())
		}
		return &bound{number: f, after: last}, nil
	}
	from, p, err := cf.ParseDate(text, v.of.Calendar)
	if err != nil {
		return nil, fmt.Errorf("%w; the labels are dates: %s", err, v.ends())
	}
	if last {
		from = from.After(p, v.of.Calendar)
	}
	return &bound{date: from}, nil
}
