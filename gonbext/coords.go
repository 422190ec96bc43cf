package gonbext

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// attributes are what an array says of its values, under CF's names.
type attributes struct {
	longName, standardName, units string
	// Of dates, the seconds of a unit and the second since 1970 that they count from.
	dates       bool
	unit, since float64
}

// attributesOf returns the attributes of an array, empty where it has none.
func attributesOf(a *oocore.Array) (m attributes) {
	if a != nil && a.Err() == nil {
		var texts map[string]any
		_ = json.Unmarshal(host.Attributes(a), &texts) // what is no text is no name
		text := func(name string) string { s, _ := texts[name].(string); return s }
		m = attributes{longName: text("long_name"), standardName: text("standard_name"), units: text("units")}
		m.unit, m.since, m.dates = host.Dates(a)
	}
	return m
}

// label returns the name of what an array holds and its unit, "" where it has neither.
func (m attributes) label() string {
	name := m.longName
	if name == "" {
		name = strings.ReplaceAll(m.standardName, "_", " ")
	}
	units := cmp.Or(map[string]string{"degrees_north": "°N", "degrees_east": "°E", "degree": "°", "degrees": "°", "degC": "°C", "celsius": "°C", "Celsius": "°C"}[m.units], m.units)
	switch {
	case units == "" || units == "1" || m.dates:
		return name
	case name == "":
		return units
	}
	return name + " (" + units + ")"
}

func seconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// labelsOf returns where the elements of an array are along an axis: what coords says, else the labels of its dimension,
// and nil where it has none.
func labelsOf(coords []any, a *oocore.Array, axis int) any {
	if axis < len(coords) && coords[axis] != nil {
		return coords[axis]
	}
	if names := a.DimNames(); axis < len(names) && names[axis] != "" {
		if labels := a.Coord(names[axis]); labels.Err() == nil {
			return labels
		}
	}
	return nil
}

// labelRanges returns the labels at both ends of each dimension that has some, as "time 2001-01-01 … 2001-12-31". It reads these alone.
func labelRanges(collect collector, a *oocore.Array) (all []string) {
	for d, name := range a.DimNames() {
		labels, is := labelsOf(nil, a, d).(*oocore.Array)
		if n := a.Shape()[d]; is && n > 0 {
			labels = labels.Slice(fmt.Sprintf("::%d", max(n-1, 1)))
			if ends, _, err := coordinate(collect, labels, labels.Size(), 1); err == nil { // else their type has no figures
				all = append(all, name+" "+placeText(ends, 0)+" … "+placeText(ends, max(len(ends.At), len(ends.Texts))-1))
			}
		}
	}
	return all
}

// placeText writes a number, date or name of an axis.
func placeText(a *record.Axis, i int) string {
	if a.Texts != nil {
		return a.Texts[i]
	}
	if a.Time {
		return strings.TrimSuffix(time.Unix(int64(a.At[i]), 0).UTC().Format("2006-01-02 15:04"), " 00:00")
	}
	return short(a.At[i])
}

// coordinate returns where n elements are along an axis, in blocks of step: what x says, which is nil, an array or a
// slice of numbers, dates or texts. The label is that of an array's attributes.
func coordinate(collect collector, x any, n, step int) (axis *record.Axis, label string, err error) {
	axis = &record.Axis{}
	a, is := x.(*oocore.Array)
	var all []float64
	switch s := reflect.ValueOf(x); {
	case x == nil, is && a == nil:
		return nil, "", nil
	case is:
	case s.Kind() != reflect.Slice:
		return nil, "", fmt.Errorf("coordinates are an array or a slice of numbers, time.Time or string, and not %T", x)
	case s.Len() != n:
		return nil, "", fmt.Errorf("%d coordinates for %d elements", s.Len(), n)
	case s.Type().Elem().Kind() == reflect.String:
		for i := 0; i < n; i += step {
			axis.Texts = append(axis.Texts, s.Index(i).String())
		}
		return axis, "", nil
	case s.Type().Elem() == reflect.TypeFor[time.Time]():
		axis.Time = true
		for i := range n {
			all = append(all, seconds(s.Index(i).Interface().(time.Time)))
		}
	case !s.Type().Elem().ConvertibleTo(reflect.TypeFor[float64]()):
		return nil, "", fmt.Errorf("coordinates are numbers, time.Time or string, and not %v", s.Type().Elem())
	default:
		for i := range n {
			all = append(all, s.Index(i).Convert(reflect.TypeFor[float64]()).Float())
		}
	}
	if !is {
		a = oocore.FromSlice(all, n)
	}
	if err := checkDrawable(a); err != nil {
		return nil, "", err
	}
	if a.Size() != n {
		return nil, "", fmt.Errorf("%v has %d coordinates for %d elements", nameOf(a), a.Size(), n)
	}
	b, err := reduceBlocks(a.Ravel(), []int{step}, true, collect)
	if err != nil {
		return nil, "", err
	}
	if err := checkSorted(b.low, b.high, step); err != nil {
		return nil, "", fmt.Errorf("%v %w", nameOf(a), err)
	}
	m := attributesOf(a)
	if m.dates {
		axis.Time = true
		for i := range b.mean {
			b.mean[i] = m.since + m.unit*b.mean[i]
		}
	}
	if names := host.Flags(a); names != nil && step == 1 {
		for _, at := range b.mean {
			axis.Texts = append(axis.Texts, cmp.Or(names[int64(at)], fmt.Sprint(at)))
		}
		return axis, m.label(), nil
	}
	axis.At = b.mean
	return axis, m.label(), nil
}

// checkSorted returns an error where blocks of coordinates overlap: what is between them is then not seen.
func checkSorted(low, high []float64, step int) error {
	if step == 1 {
		return nil
	}
	rises, falls := true, true
	for i := 1; i < len(low); i++ {
		rises, falls = rises && low[i] >= high[i-1], falls && high[i] <= low[i-1]
	}
	if !rises && !falls {
		return fmt.Errorf("as coordinates of more than %d points have to rise or fall: sort them first, or draw points with Scatter", maxRaw)
	}
	return nil
}
