package gonbext

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// attributes are what an array says of its values: CF's names.
type attributes struct {
	LongName     string `json:"long_name"`
	StandardName string `json:"standard_name"`
	Units        string `json:"units"`
	Calendar     string `json:"calendar"`
}

// attributesOf returns the attributes of an array, empty where it has none.
func attributesOf(a *oocore.Array) (m attributes) {
	if a != nil && a.Err() == nil {
		var texts map[string]any
		_ = json.Unmarshal(host.Attributes(a), &texts) // what is no text is no name
		text := func(name string) string { s, _ := texts[name].(string); return s }
		m = attributes{text("long_name"), text("standard_name"), text("units"), text("calendar")}
	}
	return m
}

// label returns the name of what an array holds and its unit, "" where it has neither.
func (m attributes) label() string {
	name := m.LongName
	if name == "" {
		name = strings.ReplaceAll(m.StandardName, "_", " ")
	}
	units := cmp.Or(map[string]string{"degrees_north": "°N", "degrees_east": "°E", "degree": "°", "degrees": "°", "degC": "°C", "celsius": "°C", "Celsius": "°C"}[m.Units], m.Units)
	switch _, _, is := m.time(); {
	case units == "" || units == "1" || is:
		return name
	case name == "":
		return units
	}
	return name + " (" + units + ")"
}

var unitSeconds = map[string]float64{"ns": 1e-9, "nanosecond": 1e-9, "us": 1e-6, "microsecond": 1e-6, "ms": 1e-3, "millisecond": 1e-3, "s": 1, "sec": 1, "second": 1,
	"min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600, "d": 86400, "day": 86400}

// time returns the seconds of one unit of CF's dates such as "days since 1850-01-01", and the second since
// 1970 that they count from; ok is false where the units are none, or the calendar is not ours.
func (m attributes) time() (unit, since float64, ok bool) {
	name, date, ok := strings.Cut(m.Units, " since ")
	switch m.Calendar {
	case "", "standard", "gregorian", "proleptic_gregorian":
	default:
		return 0, 0, false
	}
	name = strings.ToLower(name)
	unit = cmp.Or(unitSeconds[name], unitSeconds[strings.TrimSuffix(name, "s")])
	date = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(date), "Z"), " UTC")
	for _, layout := range []string{"2006-1-2", "2006-1-2 15:4:5.999999999", "2006-1-2T15:4:5.999999999", "2006-1-2 15:4", "2006-1-2T15:4"} {
		if t, err := time.Parse(layout, date); err == nil && unit > 0 {
			return unit, seconds(t), true
		}
	}
	return 0, 0, false
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

// coordinate returns where n elements are along an axis, in blocks of step: what x says, which is nil, an array or a
// slice of numbers, dates or texts. The label is that of an array's attributes.
func coordinate(collect collector, x any, n, step int) (axis *record.Axis, label string, err error) {
	axis = &record.Axis{}
	var all []float64
	switch v := x.(type) {
	case nil:
		return nil, "", nil
	case *oocore.Array:
		if v == nil {
			return nil, "", nil
		}
		if err := checkDrawable(v); err != nil {
			return nil, "", err
		}
		if v.Size() != n {
			return nil, "", fmt.Errorf("%v has %d coordinates for %d elements", nameOf(v), v.Size(), n)
		}
		m := attributesOf(v)
		unit, since, dates := m.time()
		b, err := reduceBlocks(v.Ravel(), []int{step}, collect)
		if err != nil {
			return nil, "", err
		}
		if err := checkSorted(b.low, b.high, step); err != nil {
			return nil, "", fmt.Errorf("%v %w", nameOf(v), err)
		}
		for i := range b.mean {
			if dates {
				b.mean[i] = since + unit*b.mean[i]
			}
		}
		axis.At, axis.Time = b.mean, dates
		return axis, m.label(), nil
	case []string:
		if len(v) != n {
			return nil, "", fmt.Errorf("%d names for %d elements", len(v), n)
		}
		for i := 0; i < n; i += step {
			axis.Texts = append(axis.Texts, v[i])
		}
		return axis, "", nil
	case []time.Time:
		axis.Time = true
		for _, t := range v {
			all = append(all, seconds(t))
		}
	default:
		s := reflect.ValueOf(x)
		if s.Kind() != reflect.Slice && s.Kind() != reflect.Array || !s.Type().Elem().ConvertibleTo(reflect.TypeFor[float64]()) {
			return nil, "", fmt.Errorf("coordinates are an array or a slice of numbers, time.Time or string, and not %T", x)
		}
		for i := range s.Len() {
			all = append(all, s.Index(i).Convert(reflect.TypeFor[float64]()).Float())
		}
	}
	if len(all) != n {
		return nil, "", fmt.Errorf("%d coordinates for %d elements", len(all), n)
	}
	var low, high []float64
	for i := 0; i < n; i += step {
		block := all[i:min(i+step, n)]
		mean := 0.0
		for k, v := range block {
			mean += (v - mean) / float64(k+1)
		}
		l, h, ok := extremes(block)
		if !ok {
			l, h = math.NaN(), math.NaN()
		}
		axis.At, low, high = append(axis.At, mean), append(low, l), append(high, h)
	}
	return axis, "", checkSorted(low, high, step)
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
