package label

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
)

// Select returns the part of an array whose labels are those that are given, by dimension: a number or a date, whose dimension is
// then gone; near one; a range "low/high" of them with both ends included, in the order of the labels; a date that says less than
// the labels do, such as a month; or an array of labels.
func Select(site graph.Site, n *graph.Node, by []By, read op.Labels) (*graph.Node, error) {
	out, err := selected(site, n, by, read)
	return graph.Result(site, "sel", out, err, n)
}

// By is what is selected along a dimension.
type By struct {
	Dim   string
	Label op.Value
}

func selected(site graph.Site, n *graph.Node, by []By, read op.Labels) (*graph.Node, error) {
	places := make([]places, len(n.Shape))
	for _, b := range by {
		v, g, _, err := labelsOf(site, n, b.Dim, read)
		if err != nil {
			return nil, err
		}
		if places[g.Axis], err = v.places(newFinder(site, read), b.Dim, b.Label); err != nil {
			return nil, fmt.Errorf("labels along %q: %w", b.Dim, err)
		}
	}
	m := &graph.Maker{Site: site}
	var drop []int
	for d, p := range places {
		switch {
		case p.list != nil:
			at := m.Bytes(dtype.Bytes(p.list), dtype.Int64, len(p.list))
			n = m.Make(func() (*graph.Node, error) { return index.Take(site, n, at, d) })
		case p.chosen:
			spec := slices.Repeat([]string{":"}, len(places))
			spec[d] = fmt.Sprintf("%d:%d", p.first, p.end)
			n = m.Slice(n, "%s", strings.Join(spec, ", "))
		}
		if p.one {
			drop = append(drop, d)
		}
	}
	if len(drop) > 0 {
		n = m.Squeeze(n, drop...)
	}
	return n, m.Err
}

// places are those along an axis: from first on and before end, or a list.
type places struct {
	chosen, one bool
	first, end  int
	list        []int64
}

// places finds a label, or those that are meant by one.
func (v *values) places(f *finder, dim string, label op.Value) (p places, err error) {
	near, isNear := label.Number.(op.Near)
	if isNear {
		label = op.Value(near)
	}
	texts, several := label.Number.([]string)
	isName := label.Text != nil && v.names != nil && slices.Contains(slices.Collect(maps.Values(v.names)), *label.Text)
	switch {
	case label.Node != nil && !isNear:
		return v.listed(f, dim, label.Node)
	case isNear:
		return v.nearest(label)
	case label.Text != nil && v.names != nil && !isName && strings.Contains(*label.Text, ","):
		for text := range strings.SplitSeq(strings.TrimSuffix(*label.Text, ","), ",") {
			texts = append(texts, strings.TrimSpace(text))
		}
		return v.several(texts)
	case several:
		return v.several(texts)
	case label.Text != nil && !isName && strings.Contains(*label.Text, "/"):
		low, high, _ := strings.Cut(*label.Text, "/")
		return v.between(low, high)
	case label.Text != nil && v.dates != nil:
		if v.coarser(*label.Text) {
			p, err := v.between(*label.Text, *label.Text)
			if err == nil && p.first == p.end {
				err = fmt.Errorf("none is in %s: %s", *label.Text, v.ends())
			}
			return p, err
		}
	}
	key, err := v.key(label)
	if err != nil {
		return p, err
	}
	first, count := -1, 0
	for i := range v.len() {
		if v.compare(i, key, 0) == 0 {
			if count++; first < 0 {
				first = i
			}
		}
	}
	switch {
	case count == 0 && v.len() > 0:
		return p, fmt.Errorf("there is no %s: the nearest is %s; near(…) takes it", key.text(0), v.text(v.closest(key)))
	case count == 0:
		return p, errors.New("there are none")
	case count > 1:
		return p, fmt.Errorf("%s stands at %d places: Take takes them by place", key.text(0), count)
	}
	return places{chosen: true, one: true, first: first, end: first + 1}, nil
}

// coarser reports a date that says less than the labels, which are days where all are of midnight.
func (v *values) coarser(text string) bool {
	_, p, err := cf.ParseDate(text, v.of.Calendar)
	days := !slices.ContainsFunc(v.dates, func(at cf.Instant) bool { return at.Nano != 0 })
	return err == nil && (p < cf.ToDay || p == cf.ToDay && !days || p > cf.ToDay && p < cf.ToSecond && !days && v.finer(p))
}

// finer reports that labels say more than a time of day to the hour or the minute.
func (v *values) finer(p cf.Precision) bool {
	return slices.ContainsFunc(v.dates, func(at cf.Instant) bool { return at.Nano%p.Nanos() != 0 })
}

// key is a label of the kind that these are.
func (v *values) key(label op.Value) (*values, error) {
	if v.dates != nil {
		if label.Text == nil {
			return nil, fmt.Errorf("they are dates, in double quotes: %s", v.ends())
		}
		at, _, err := cf.ParseDate(*label.Text, v.of.Calendar)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, v.ends())
		}
		return &values{ints: []int64{0}, dates: []cf.Instant{at}, of: v.of}, nil
	}
	if v.names != nil && label.Text != nil {
		for i, name := range v.names {
			if name == *label.Text {
				return &values{ints: []int64{i}, names: v.names}, nil
			}
		}
		if len(v.names) > 20 {
			return nil, fmt.Errorf("%q is none of the %d names: %s", *label.Text, len(v.names), v.ends())
		}
		return nil, fmt.Errorf("%q is none of the names %q", *label.Text, slices.Sorted(maps.Values(v.names)))
	}
	if v.isText {
		return nil, fmt.Errorf("they are text, in double quotes: %s", v.ends())
	}
	if i, is := label.Number.(int64); is {
		return &values{ints: []int64{i}}, nil
	}
	x, ok := label.Float()
	if label.Text != nil {
		var err error
		x, err = strconv.ParseFloat(strings.TrimSpace(*label.Text), 64)
		ok = err == nil
	}
	if !ok || x != x {
		return nil, fmt.Errorf("they are numbers: %s", v.ends())
	}
	return &values{floats: []float64{x}}, nil
}

// closest is the place of the label that is nearest to a key, the first one of equals.
func (v *values) closest(key *values) int {
	best, least := 0, math.Inf(1)
	for i := range v.len() {
		distance := math.Abs(v.number(i) - key.number(0))
		if v.dates != nil {
			distance = math.Abs(v.dates[i].Sub(key.dates[0]))
		}
		if distance < least {
			best, least = i, distance
		}
	}
	return best
}

func (v *values) nearest(label op.Value) (p places, err error) {
	key, err := v.key(label)
	if err != nil || v.len() == 0 {
		return p, cmpError(err, "there are none")
	}
	i := v.closest(key)
	return places{chosen: true, one: true, first: i, end: i + 1}, nil
}

func cmpError(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}

// between are the labels from one to another, both included, in their own order: of labels that fall the first is the higher.
func (v *values) between(low, high string) (p places, err error) {
	order := v.order()
	if order == 0 && v.len() > 1 {
		return p, fmt.Errorf("they neither rise nor fall, so that nothing lies between two of them: SortBy sorts by them")
	}
	if order < 0 {
		low, high = high, low
	}
	from, err := v.bound(low, false)
	if err != nil {
		return p, err
	}
	to, err := v.bound(high, true)
	if err != nil {
		return p, err
	}
	in := func(i int) bool { return (from == nil || !v.less(i, from)) && (to == nil || v.less(i, to)) }
	p = places{chosen: true, first: 0}
	for p.first < v.len() && !in(p.first) {
		p.first++
	}
	for p.end = p.first; p.end < v.len() && in(p.end); {
		p.end++
	}
	if p.first == v.len() {
		p.first, p.end = 0, 0
	}
	return p, nil
}

// several are the places of labels as people write them.
func (v *values) several(texts []string) (p places, err error) {
	if len(texts) == 0 {
		return p, errors.New("the list of labels is empty")
	}
	for _, text := range texts {
		one, err := v.places(nil, "", op.String(text))
		if err != nil {
			return p, err
		}
		for i := one.first; i < one.end; i++ {
			p.list = append(p.list, int64(i))
		}
	}
	return p, nil
}

// listed are the places of an array's labels.
func (v *values) listed(f *finder, dim string, n *graph.Node) (p places, err error) {
	if len(n.Shape) != 1 || grid.Size(n.Shape) == 0 {
		return p, errors.New("several are given by an array of one dimension")
	}
	of, err := f.values(n)
	if err != nil {
		return p, err
	}
	if err := v.counts(of, dim); err != nil {
		return p, err
	}
	p.list = make([]int64, of.len())
	for k := range p.list {
		i := 0
		for i < v.len() && v.compare(i, of, k) != 0 {
			i++
		}
		if i == v.len() {
			return p, fmt.Errorf("there is no %s: %s", of.text(k), v.ends())
		}
		p.list[k] = int64(i)
	}
	return p, nil
}
