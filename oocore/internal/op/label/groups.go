package label

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/store"
)

// Groups are the places along an axis in groups that follow from their labels.
type Groups struct {
	Axis  int
	Of    []int64 // the group of each place
	Count int
	Coord *graph.Node // what labels the groups
}

// GroupBy puts places in groups by equal labels of a dimension, "lat", or by a field of its dates, "time.month". Groups come in
// the order of what they have in common; seasons in that of their names: DJF, JJA, MAM, SON. The labels of groups of names are integers
// with their names, by CF's attributes of flags.
func GroupBy(site graph.Site, n *graph.Node, by string, read op.Labels) (g Groups, err error) {
	dim, field, isField := strings.Cut(by, ".")
	v, g, c, err := labelsOf(site, n, dim, read)
	if err != nil {
		return g, err
	}
	name := dim
	keys := make([]float64, v.len())
	switch {
	case isField && !slices.Contains(cf.AllFields, cf.Field(field)):
		return g, fmt.Errorf("%q is no field of a date: take one of %q", field, cf.AllFields)
	case isField && v.dates == nil:
		return g, fmt.Errorf("the labels along %q are no dates, which have a %s: %s", dim, field, v.ends())
	case isField:
		name = field
		for i, at := range v.dates {
			keys[i] = float64(cf.Field(field).Of(at, v.of.Calendar))
		}
	default:
		for i := range keys {
			keys[i] = v.number(i)
		}
	}
	distinct := slices.Clone(keys)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if slices.ContainsFunc(distinct, math.IsNaN) {
		return g, fmt.Errorf("a label along %q is NaN, which is in no group", dim)
	}
	g.Count = len(distinct)
	for i, k := range keys {
		at, _ := slices.BinarySearch(distinct, k)
		g.Of[i] = int64(at)
	}
	m := &graph.Maker{Site: site}
	switch {
	case isField || v.ints != nil:
		whole := make([]int64, len(distinct))
		for i, k := range distinct {
			whole[i] = int64(k)
		}
		g.Coord = m.Bytes(dtype.Bytes(whole), dtype.Int64, len(whole))
	default:
		g.Coord = m.Bytes(dtype.Bytes(distinct), dtype.Float64, len(distinct))
	}
	var d *store.Details
	switch {
	case isField && cf.Field(field) == cf.Season:
		d = cf.Named(cf.Seasons)
	case !isField && v.names != nil:
		of := cf.DetailsOf(c)
		d = &store.Details{Attributes: of.Attributes}
		if !v.isText { // packing is undone
			d.Attributes = cf.Only(of.Attributes, "flag_values", "flag_meanings")
		}
	}
	return g.labelled(name, d), m.Err
}

// labelled gives the groups' labels their name and attributes.
func (g Groups) labelled(name string, d *store.Details) Groups {
	c := *g.Coord
	c.Labels, c.Details = name, d
	g.Coord = &c
	return g
}

// labelsOf reads the labels of a dimension.
func labelsOf(site graph.Site, n *graph.Node, dim string, read op.Labels) (*values, Groups, *graph.Node, error) {
	c, d, err := coordinateOf(site, n, dim, read)
	if err != nil {
		return nil, Groups{}, nil, err
	}
	v, err := newFinder(site, read).values(c)
	if err != nil {
		return nil, Groups{}, nil, fmt.Errorf("labels along %q: %w", dim, err)
	}
	return v, Groups{Axis: d, Of: make([]int64, v.len())}, c, nil
}

// period is a length of time between the groups of Resample, by pandas' names.
type period struct {
	count int
	unit  string // Y, Q, M, W, D, h, min or s
	start bool   // labelled by its start, as of YS, QS and MS; else by its end
}

var periodForm = regexp.MustCompile(`^(\d*)\s*([A-Za-z]+)$`)

func parsePeriod(text string) (p period, err error) {
	m := periodForm.FindStringSubmatch(strings.TrimSpace(text))
	if m != nil {
		p.count = 1
		if m[1] != "" {
			p.count, _ = strconv.Atoi(m[1])
		}
		names := map[string]string{"Y": "Y", "A": "Y", "YE": "Y", "Q": "Q", "QE": "Q", "M": "M", "ME": "M", "W": "W", "D": "D", "h": "h", "H": "h", "min": "min", "T": "min", "s": "s", "S": "s"}
		p.unit = names[m[2]]
		if whole, isStart := strings.CutSuffix(m[2], "S"); isStart && p.unit == "" && slices.Contains([]string{"Y", "A", "Q", "M"}, whole) {
			p.unit, p.start = names[whole], true
		}
	}
	if p.unit == "" || p.count < 1 || p.count > 1e6 {
		return p, fmt.Errorf("%q is no period: it is such as 1M, MS, 3MS, QS, Y, W, 10D, 6h, 30min or 1s", text)
	}
	return p, nil
}

// Resample puts places in groups by the period that their dates are in. Groups follow each other without gaps, from the first date's
// to the last one's. Those of years, quarters, months and weeks are labelled by their last day, those of YS, QS, MS, days and less by
// their start, as pandas and xarray do.
func Resample(site graph.Site, n *graph.Node, dim, every string, read op.Labels) (g Groups, err error) {
	p, err := parsePeriod(every)
	if err != nil {
		return g, err
	}
	v, g, _, err := labelsOf(site, n, dim, read)
	if err != nil {
		return g, err
	}
	if v.dates == nil {
		return g, fmt.Errorf("the labels along %q are no dates: %s", dim, v.ends())
	}
	if v.len() == 0 {
		return g, fmt.Errorf("the dimension %q is empty", dim)
	}
	c := v.of.Calendar
	first, last := slices.MinFunc(v.dates, cf.Instant.Compare), slices.MaxFunc(v.dates, cf.Instant.Compare)
	number := p.numbering(first, c)
	lowest := number(first)
	g.Count = number(last) - lowest + 1
	if g.Count > 1<<24 {
		return g, fmt.Errorf("%d groups of %s from %s to %s are too many", g.Count, every, v.of.Text(first), v.of.Text(last))
	}
	for i, at := range v.dates {
		g.Of[i] = int64(number(at) - lowest)
	}
	labels := make([]cf.Instant, g.Count)
	for i := range labels {
		labels[i] = p.begin(lowest+i, first, c)
		if !p.start && strings.Contains("YQMW", p.unit) {
			labels[i] = p.begin(lowest+i+1, first, c)
			labels[i].Day--
		}
	}
	if g.Coord, err = datesNode(&graph.Maker{Site: site}, labels, c); err != nil {
		return g, err
	}
	return g.labelled(dim, g.Coord.Details), nil
}

// numbering returns the number of the period that a date is in: of periods of several units, counted from the first date's on.
func (p period) numbering(first cf.Instant, c cf.Calendar) func(at cf.Instant) int {
	single := func(at cf.Instant) int {
		d := c.Date(at.Day)
		switch p.unit {
		case "Y":
			return d.Year
		case "Q":
			return 4*d.Year + (d.Month-1)/3
		case "M":
			return 12*d.Year + d.Month - 1
		case "W": // from Monday to Sunday
			return cf.FloorDiv(at.Day+3, 7)
		}
		return at.Day
	}
	if length := p.seconds(); length > 0 { // from the first midnight on
		return func(at cf.Instant) int { return ((at.Day-first.Day)*daySeconds + int(at.Nano/1e9)) / length }
	}
	from := single(first)
	return func(at cf.Instant) int { return cf.FloorDiv(single(at)-from, p.count) }
}

const daySeconds = 86400

// seconds is the length of a period of hours or less; 0 of others.
func (p period) seconds() int {
	return map[string]int{"h": 3600, "min": 60, "s": 1}[p.unit] * p.count
}

// begin is where a period begins.
func (p period) begin(number int, first cf.Instant, c cf.Calendar) cf.Instant {
	if length := p.seconds(); length > 0 {
		return cf.Instant{Day: first.Day + number*length/daySeconds, Nano: int64(number*length%daySeconds) * 1e9}
	}
	d := c.Date(first.Day)
	n := number * p.count
	day := func(d cf.Date) cf.Instant { return cf.Instant{Day: c.First(d)} }
	switch p.unit {
	case "Y":
		return day(cf.Date{Year: d.Year + n, Month: 1, Day: 1})
	case "Q":
		m := 4*d.Year + (d.Month-1)/3 + n
		return day(cf.Date{Year: cf.FloorDiv(m, 4), Month: 3*(m-4*cf.FloorDiv(m, 4)) + 1, Day: 1})
	case "M":
		m := 12*d.Year + d.Month - 1 + n
		return day(cf.Date{Year: cf.FloorDiv(m, 12), Month: m - 12*cf.FloorDiv(m, 12) + 1, Day: 1})
	case "W":
		return cf.Instant{Day: 7*(cf.FloorDiv(first.Day+3, 7)+n) - 3}
	}
	return cf.Instant{Day: first.Day + n}
}
