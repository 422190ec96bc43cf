package cf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("cf_dates", Dates{}, blockwise.Exact, blockwise.KeepsAxes) }

// units of dates from the coarsest on, by NumPy's and CF's names, and how many of each a
// second has. Those above a second are negative: how many seconds they have.
var units = []struct {
	symbol, name string
	others       []string
	each         int64
}{
	{"D", "days", []string{"d"}, -86400},
	{"h", "hours", []string{"h", "hr", "hrs"}, -3600},
	{"m", "minutes", []string{"min", "mins"}, -60},
	{"s", "seconds", []string{"s", "sec", "secs"}, 1},
	{"ms", "milliseconds", []string{"ms", "msec", "msecs", "millisec", "millisecs"}, 1e3},
	{"us", "microseconds", []string{"us", "microsec", "microsecs"}, 1e6},
	{"ns", "nanoseconds", []string{"ns", "nanosec", "nanosecs"}, 1e9},
}

const second = 3 // of units

// unitOf is the place of a unit by one of its names.
func unitOf(name string) (int, bool) {
	name = strings.ToLower(name)
	for i, u := range units {
		if strings.TrimSuffix(name, "s") == strings.TrimSuffix(u.name, "s") || slices.Contains(u.others, name) {
			return i, true
		}
	}
	return 0, false
}

// times says how numbers are dates.
type times struct {
	from, to int      // units
	start    *big.Int // the date that they are counted from, in the unit `to` since 1970
	standard bool     // the standard calendar, which before 1582-10-15 is Julius Caesar's
}

// Forms are compiled when they are first used, as few programs have dates.
var (
	sinceForm = lazily(`^\s*(\S+)\s+since\s+(.*?)\s*$`)
	dateForm  = lazily(`^([+-]?\d{1,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ]\s*(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?)?)?\s*(?:(Z|UTC|GMT)|([+-])(\d{1,2})(?::?(\d{2}))?)?$`)
)

func lazily(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}

// reform is the first date of the calendar of today, in seconds since 1970.
const reform = reformed * 86400

// timesOf reads the attributes units and calendar; nil where they are not those of dates.
func timesOf(all map[string]json.RawMessage, unit string) (*times, error) {
	to, ok := second, unit == "s"
	for i := second; i < len(units); i++ {
		if units[i].symbol == unit || unit == "" {
			to, ok = i, true
		}
	}
	if !ok {
		return nil, fmt.Errorf("the unit %q is unknown: dates are decoded in s, ms, us or ns", unit)
	}
	e, err := encodingOf(all)
	if e == nil || err != nil {
		return nil, err
	}
	t := &times{from: e.Unit, to: max(to, e.Unit), standard: e.Calendar == Standard}
	switch {
	case !t.standard && e.Calendar != Gregorian:
		return nil, fmt.Errorf("dates of the calendar %s are not decoded: those of standard and proleptic_gregorian are; year, month, sel and groupby take them as they are", e.Calendar)
	case t.standard && e.Day < reformed:
		return nil, fmt.Errorf("attribute units: %q is before 1582-10-15, where the calendar standard is not proleptic_gregorian: set the attribute calendar to the one that is meant", e.Text(Instant{e.Day, e.Nano}))
	}
	for e.Nano%(1e9/units[t.to].each) != 0 { // what the unit cannot say
		t.to++
	}
	each := units[t.to].each
	t.start = new(big.Int).Mul(big.NewInt(int64(e.Day)), big.NewInt(86400*each))
	t.start.Add(t.start, big.NewInt(e.Nano/(1e9/each)))
	return t, nil
}

// factor is how many of the unit of the result one of the numbers is.
func (t *times) factor() int64 {
	from, to := units[t.from].each, units[t.to].each
	if from < 0 {
		return -from * to
	}
	return to / from
}

// describe sets the attributes of the result.
func (t *times) describe(all map[string]json.RawMessage) {
	all["units"] = json.RawMessage(`"` + units[t.to].name + ` since 1970-01-01"`)
	all["calendar"] = json.RawMessage(`"proleptic_gregorian"`)
	all["_FillValue"] = json.RawMessage(strconv.FormatInt(math.MinInt64, 10))
}

func (t *times) decode(m *graph.Maker, n *graph.Node) *graph.Node {
	as := dtype.Int64
	if n != nil && n.DType.Kind() == dtype.KindFloat {
		as = dtype.Float64
	} else if n != nil && n.DType == dtype.Uint64 {
		as = dtype.Uint64
	}
	n = m.Cast(n, as)
	op := Dates{Type: as, Factor: t.factor(), Start: t.start.String(), Unit: units[t.to].symbol}
	if t.standard && op.Unit != "ns" { // which has none of so long ago
		op.Least = reform * units[t.to].each
	}
	return m.Blockwise("decode_cf", op, n.Shape, dtype.Int64, []*graph.Node{n})
}

// Dates turns numbers into those of another unit, counted from another date.
type Dates struct {
	Type   dtype.Type // int64, uint64 or float64
	Factor int64
	Start  string // a whole number, of any size
	Unit   string
	Least  int64 `json:",omitempty"` // of the results; 0: any
}

// Requirements is the box of numbers.
func (o Dates) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}, Scratch: int64(grid.Size(box) * 8)}
}

// Fill decodes the box.
func (o Dates) Fill(ctx context.Context, t *blockwise.Task) error {
	in := t.Scratch[:t.Box.Size()*8]
	return t.ComputeFrom(ctx, 0, t.Box, in, func() error {
		start, ok := new(big.Int).SetString(o.Start, 10)
		if !ok {
			return errors.New("the plan's first date is not a number")
		}
		out, s := dtype.Slice[int64](t.Dst), newSum(o, start)
		switch o.Type {
		case dtype.Float64:
			for i, f := range dtype.Slice[float64](in) {
				if f != f {
					out[i] = math.MinInt64
				} else if err := s.float(&out[i], f*float64(o.Factor)); err != nil {
					return err
				}
			}
		case dtype.Uint64:
			for i, u := range dtype.Slice[uint64](in) {
				v := new(big.Int).SetUint64(u)
				if err := o.put(&out[i], v.Mul(v, s.factor), start); err != nil {
					return err
				}
			}
		default:
			for i, n := range dtype.Slice[int64](in) {
				if n == math.MinInt64 {
					out[i] = n
				} else if err := s.integer(&out[i], n); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// sum adds numbers to the first date, in int64 where nothing goes beyond that.
type sum struct {
	Dates
	start, factor *big.Int
	first, most   int64 // of most and above the product with the factor, or the sum, may be too large
}

const room = 1 << 62

func newSum(o Dates, start *big.Int) sum {
	s := sum{Dates: o, start: start, factor: big.NewInt(o.Factor)}
	if first := start.Int64(); start.IsInt64() && first > -room && first < room {
		s.first, s.most = first, room/o.Factor
	}
	return s
}

func (s *sum) integer(to *int64, n int64) error {
	if *to = n*s.Factor + s.first; n > -s.most && n < s.most && (s.Least == 0 || *to >= s.Least) {
		return nil
	}
	v := big.NewInt(n)
	return s.put(to, v.Mul(v, s.factor), s.start)
}

// float cuts off what is less than one.
func (s *sum) float(to *int64, f float64) error {
	if s.most > 0 && math.Abs(f) < room {
		if *to = int64(f) + s.first; s.Least == 0 || *to >= s.Least {
			return nil
		}
	}
	if !(math.Abs(f) < 1e37) {
		return s.beyond()
	}
	v, _ := big.NewFloat(f).Int(nil)
	return s.put(to, v, s.start)
}

// put stores a number of units after the first date.
func (o Dates) put(to *int64, v, start *big.Int) error {
	v.Add(v, start)
	if !v.IsInt64() || v.Int64() == math.MinInt64 {
		return o.beyond()
	}
	*to = v.Int64()
	if o.Least != 0 && *to < o.Least {
		return errors.New("a date is before 1582-10-15, where the calendar standard is not proleptic_gregorian: set the attribute calendar to the one that is meant")
	}
	return nil
}

// beyond is the error of a date that has no number in the unit.
func (o Dates) beyond() error {
	if o.Unit == "ns" {
		return errors.New("a date is before 1678 or after 2262, which have no number in ns: decode in us, ms or s")
	}
	return fmt.Errorf("a date is too far from 1970 for a number in %s: decode in s", o.Unit)
}

func init() { blockwise.Register("cf_field", Fields{}, blockwise.Exact, blockwise.KeepsAxes) }

// Fields tells a field of dates. Its input is int64 or float64.
type Fields struct {
	Encoding
	Field  Field
	Floats bool `json:",omitempty"`
}

// Requirements is the box of numbers, which take as much room as the result.
func (o Fields) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}, Scratch: int64(grid.Size(box) * 8)}
}

// Fill tells the fields of the box.
func (o Fields) Fill(ctx context.Context, t *blockwise.Task) error {
	in := t.Scratch[:t.Box.Size()*8]
	return t.ComputeFrom(ctx, 0, t.Box, in, func() error {
		return o.tell(dtype.Slice[int64](t.Dst), in)
	})
}

func (o Fields) tell(out []int64, in []byte) error {
	for i := range out {
		var at Instant
		var err error
		if o.Floats {
			at, err = o.InstantOfFloat(dtype.Slice[float64](in)[i])
		} else {
			at, err = o.Instant(dtype.Slice[int64](in)[i])
		}
		if err != nil {
			return err
		}
		out[i] = int64(o.Field.Of(at, o.Calendar))
	}
	return nil
}
