package cf

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/store"
)

// Instant is a day of a calendar, by its number, and the nanoseconds of it that have passed.
type Instant struct {
	Day  int
	Nano int64
}

const dayNanos = 86400 * 1e9

// Precision is how much of a date a text says, from the year on; to the second or less is the last.
type Precision int

const (
	ToYear Precision = iota + 1
	ToMonth
	ToDay
	ToHour
	ToMinute
	ToSecond
)

// Nanos are those of an hour, a minute or a second.
func (p Precision) Nanos() int64 {
	switch p {
	case ToHour:
		return 3600 * 1e9
	case ToMinute:
		return 60 * 1e9
	}
	return 1e9
}

// Compare is -1, 0 or 1.
func (at Instant) Compare(b Instant) int {
	return cmp.Or(cmp.Compare(at.Day, b.Day), cmp.Compare(at.Nano, b.Nano))
}

// Sub is how many days lie between.
func (at Instant) Sub(b Instant) float64 {
	return float64(at.Day-b.Day) + float64(at.Nano-b.Nano)/dayNanos
}

// instantOf reads a whole date, such as 2000-01-01 12:00:00 +01:00.
func instantOf(text string, c Calendar) (Instant, error) {
	at, p, err := ParseDate(text, c)
	if err == nil && p < ToDay {
		err = notDate(text)
	}
	return at, err
}

func notDate(text string) error {
	return fmt.Errorf("%q is not a date such as 2000-01-01 12:00:00", text)
}

// ParseDate reads a date as far as a text says one: 2000, 2000-01, 2000-01-01, 2000-01-01T12.
func ParseDate(text string, c Calendar) (at Instant, p Precision, err error) {
	m := dateForm().FindStringSubmatch(text)
	if m == nil {
		return at, 0, notDate(text)
	}
	for p = ToYear; p < ToSecond && m[int(p)+1] != ""; {
		p++
	}
	field := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	of := func(p Precision) int { return max(field(int(p)), 1) }
	d := Date{field(1), of(ToMonth), of(ToDay)}
	if p >= ToMonth && field(2) == 0 || p >= ToDay && field(3) == 0 || field(4) > 23 || field(5) > 59 || field(6) > 59 {
		return at, 0, fmt.Errorf("there is no date %q", text)
	}
	if d.Year < 1 && (c == Standard || c == Julian) { // which readers count differently: some have a year 0
		return at, 0, fmt.Errorf("there is no date %q: in the calendar %s years begin with 1: count from a later date, or in proleptic_gregorian", text, c)
	}
	if at.Day, err = c.Number(d); err != nil {
		return at, 0, fmt.Errorf("there is no date %q: %w", text, err)
	}
	shift := int64(3600*field(10) + 60*field(11))
	if m[9] == "-" {
		shift = -shift
	}
	nano, _ := strconv.ParseInt(m[7]+strings.Repeat("0", 9-len(m[7])), 10, 64)
	seconds := int64(3600*field(4)+60*field(5)+field(6)) - shift
	return at.plus(0, seconds*1e9+nano), p, nil
}

// plus adds days and nanoseconds of either sign.
func (at Instant) plus(days int, nanos int64) Instant {
	at.Day, at.Nano = at.Day+days+int(nanos/dayNanos), at.Nano+nanos%dayNanos
	switch {
	case at.Nano < 0:
		at.Day, at.Nano = at.Day-1, at.Nano+dayNanos
	case at.Nano >= dayNanos:
		at.Day, at.Nano = at.Day+1, at.Nano-dayNanos
	}
	return at
}

// after is the first Instant that a text with this Precision does not mean.
func (at Instant) After(p Precision, c Calendar) Instant {
	d := c.Date(at.Day)
	switch p {
	case ToYear:
		at.Day = c.number(Date{d.Year + 1, 1, 1})
	case ToMonth:
		if d.Month++; d.Month > 12 {
			d.Year, d.Month = d.Year+1, 1
		}
		at.Day = c.number(Date{d.Year, d.Month, 1})
	case ToDay:
		at.Day++
	case ToHour:
		return at.plus(0, 3600*1e9)
	case ToMinute:
		return at.plus(0, 60*1e9)
	case ToSecond:
		return at.plus(0, 1)
	}
	return at
}

// Encoding says how numbers are dates: a unit, counted from a date of a calendar.
type Encoding struct {
	Calendar Calendar
	Unit     int // of units
	Day      int
	Nano     int64
}

// EncodingOf reads the attributes units and calendar; nil where they are not those of dates.
func EncodingOf(d store.Details) (*Encoding, error) {
	all := map[string]json.RawMessage{}
	if d.Attributes != nil && json.Unmarshal(d.Attributes, &all) != nil {
		return nil, nil
	}
	return encodingOf(all)
}

func encodingOf(all map[string]json.RawMessage) (*Encoding, error) {
	var text, calendar string
	if json.Unmarshal(all["units"], &text) != nil {
		return nil, nil
	}
	parts := sinceForm().FindStringSubmatch(text)
	if parts == nil {
		return nil, nil
	}
	if raw, ok := all["calendar"]; ok && json.Unmarshal(raw, &calendar) != nil {
		return nil, fmt.Errorf("attribute calendar: %.40s is not a text", raw)
	}
	e, ok := &Encoding{}, false
	var err error
	if e.Calendar, err = calendarOf(calendar); err != nil {
		return nil, err
	}
	if e.Unit, ok = unitOf(parts[1]); !ok {
		return nil, fmt.Errorf("attribute units: %q counts in %q, which is not one of days, hours, minutes, seconds, milliseconds, microseconds and nanoseconds", text, parts[1])
	}
	at, err := instantOf(parts[2], e.Calendar)
	if err != nil {
		return nil, fmt.Errorf("attribute units: %w", err)
	}
	e.Day, e.Nano = at.Day, at.Nano
	return e, nil
}

// nanos are those of a unit.
func (e *Encoding) nanos() int64 {
	if each := units[e.Unit].each; each < 0 {
		return -each * 1e9
	}
	return 1e9 / units[e.Unit].each
}

// Text is a date as people write it: the day, and the time where it is not midnight.
func (e *Encoding) Text(at Instant) string {
	d := e.Calendar.Date(at.Day)
	text := fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
	if at.Nano == 0 {
		return text
	}
	text += fmt.Sprintf("T%02d:%02d:%02d", at.Nano/(3600*1e9), at.Nano/(60*1e9)%60, at.Nano/1e9%60)
	if rest := at.Nano % 1e9; rest > 0 {
		text += strings.TrimRight(fmt.Sprintf(".%09d", rest), "0")
	}
	return text
}

// Encode returns dates as integers that count the coarsest unit which says all of them since 1970-01-01, and the details that say so.
func Encode(dates []Instant, c Calendar) ([]int64, store.Details, error) {
	e := &Encoding{Calendar: c}
	for _, at := range dates {
		for e.Unit < len(units)-1 && at.Nano%e.nanos() != 0 {
			e.Unit++
		}
	}
	numbers, each := make([]int64, len(dates)), dayNanos/e.nanos()
	for i, at := range dates {
		if days := int64(at.Day); days > math.MaxInt64/each-1 || days < math.MinInt64/each+1 {
			return nil, store.Details{}, fmt.Errorf("%s is too far from 1970 for a number of %s", e.Text(at), units[e.Unit].name)
		}
		numbers[i] = int64(at.Day)*each + at.Nano/e.nanos()
	}
	attributes, err := json.Marshal(map[string]string{"units": units[e.Unit].name + " since " + e.Text(Instant{}), "calendar": string(c)})
	return numbers, store.Details{Attributes: attributes}, err
}

// Seconds are those of a unit, and from 1970-01-01 to the date that is counted from.
func (e *Encoding) Seconds() (unit, since float64) {
	return float64(e.nanos()) / 1e9, float64(e.Day)*86400 + float64(e.Nano)/1e9
}

// errMissing is the error of what no field can be told of.
var errMissing = errors.New("a date is missing, and has no year, month or day: leave it out")

// Instant returns the date of an integer.
func (e *Encoding) Instant(v int64) (Instant, error) {
	if v == math.MinInt64 {
		return Instant{}, errMissing
	}
	negative, size := v < 0, uint64(v)
	if negative {
		size = -size
	}
	high, low := bits.Mul64(size, uint64(e.nanos()))
	if high >= dayNanos {
		return Instant{}, fmt.Errorf("%d %s are too far from the date that they are counted from", v, units[e.Unit].name)
	}
	days, rest := bits.Div64(high, low, dayNanos)
	if days > 1<<40 {
		return Instant{}, fmt.Errorf("%d %s are too far from the date that they are counted from", v, units[e.Unit].name)
	}
	if negative {
		return Instant{e.Day, e.Nano}.plus(-int(days), -int64(rest)), nil
	}
	return Instant{e.Day, e.Nano}.plus(int(days), int64(rest)), nil
}

// InstantOfFloat returns the date of a number, to the microsecond: the least that floats of usual dates can tell.
func (e *Encoding) InstantOfFloat(v float64) (Instant, error) {
	if v != v {
		return Instant{}, errMissing
	}
	whole := math.Floor(v)
	if math.Abs(whole) > 1<<53 {
		return Instant{}, fmt.Errorf("%g %s are too far from the date that they are counted from", v, units[e.Unit].name)
	}
	at, err := e.Instant(int64(whole))
	return at.plus(0, int64(math.Round((v-whole)*float64(e.nanos())/1e3))*1e3), err
}

// Field is a part of a date.
type Field string

// The fields. A season is 0 to 3 for DJF, JJA, MAM and SON, which is xarray's order; a day of the week 0 to 6 from Monday on.
const (
	Year      Field = "year"
	Month     Field = "month"
	Day       Field = "day"
	Hour      Field = "hour"
	Minute    Field = "minute"
	Second    Field = "second"
	DayOfYear Field = "dayofyear"
	DayOfWeek Field = "dayofweek"
	Quarter   Field = "quarter"
	Season    Field = "season"
)

// AllFields are in the order of the documentation.
var AllFields = []Field{Year, Month, Day, Hour, Minute, Second, DayOfYear, DayOfWeek, Quarter, Season}

// Seasons are the names of seasons by their numbers.
var Seasons = []string{"DJF", "JJA", "MAM", "SON"}

func (f Field) Of(at Instant, c Calendar) int {
	switch f {
	case Hour:
		return int(at.Nano / (3600 * 1e9))
	case Minute:
		return int(at.Nano / (60 * 1e9) % 60)
	case Second:
		return int(at.Nano / 1e9 % 60)
	case DayOfYear:
		return c.DayOfYear(at.Day)
	case DayOfWeek:
		return at.Day + 3 - 7*FloorDiv(at.Day+3, 7)
	}
	switch d := c.Date(at.Day); f {
	case Year:
		return d.Year
	case Month:
		return d.Month
	case Quarter:
		return (d.Month-1)/3 + 1
	case Season:
		return [...]int{0, 2, 1, 3}[d.Month%12/3]
	default:
		return d.Day
	}
}

// DetailsOf are the details of an array, or of the one whose elements it has.
func DetailsOf(n *graph.Node) store.Details {
	for {
		switch {
		case n.Details != nil:
			return *n.Details
		case n.Kind == graph.Source:
			return n.Stored.Info.Details
		case n.Kind == graph.View, n.Kind == graph.Cast, n.Kind == graph.Blockwise && len(n.In) > 0 && (blockwise.Has(n.Blocks.Op, blockwise.Selects) || blockwise.Has(n.Blocks.Op, blockwise.Joins)):
			n = n.In[0]
		default:
			return store.Details{}
		}
	}
}

// DatesOf returns the numbers of dates, int64 or float64, without what packs them, and how they are dates; nil where they are none.
func DatesOf(site graph.Site, n *graph.Node) (*graph.Node, *Encoding, error) {
	d := DetailsOf(n)
	e, err := EncodingOf(d)
	if e == nil || err != nil || n.DType.Kind() == dtype.KindComplex || n.DType == dtype.Bool {
		return nil, nil, err
	}
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(d.Attributes, &all) // which EncodingOf has read
	a, err := attributesOf(all, d, n.DType)
	if err != nil {
		return nil, nil, err
	}
	m := &graph.Maker{Site: site}
	t := dtype.Int64
	out := a.numbers(m, n, true)
	if m.Err == nil && out.DType.Kind() == dtype.KindFloat {
		t = dtype.Float64
	}
	out = m.Cast(out, t)
	return out, e, m.Err
}

// BuildField returns a field of dates, as int64.
func BuildField(site graph.Site, a FieldArgs) (*graph.Node, error) {
	f, n := a.Field, a.X
	numbers, e, err := DatesOf(site, n)
	if err == nil && e == nil {
		err = errors.New(`takes dates: numbers whose attribute units is such as "days since 2000-01-01"`)
	}
	if err != nil {
		return nil, graph.Reject(site, string(f), err, n)
	}
	return graph.NewBlockwise(site, string(f), Fields{Encoding: *e, Field: f, Floats: numbers.DType == dtype.Float64}, n.Shape, dtype.Int64, []*graph.Node{numbers})
}
