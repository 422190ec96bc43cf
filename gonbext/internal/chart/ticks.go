package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// rounded returns at most n + 1 ticks, of an axis of any kind.
func (a *axis) rounded(n int) []tick {
	switch a.kind {
	case "log":
		return logTicks(a.low, a.high, n)
	case "date":
		return dateTicks(a.low, a.high, n)
	}
	low, high := min(a.low, a.high), max(a.low, a.high)
	return roundTicks(low, high, n, a.step, numberLabel)
}

// logTicks returns powers of ten, with halves and fifths where there are few of them.
func logTicks(low, high float64, n int) (all []tick) {
	from, to := math.Log10(low), math.Log10(high)
	every := max(1, math.Ceil((to-from)/float64(n)))
	factors := []float64{1}
	if to-from < 3 {
		factors = []float64{1, 2, 5}
	}
	for e := every * math.Floor(from/every); e <= to; e += every {
		for _, k := range factors {
			if v := k * math.Pow(10, e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				all = append(all, tick{v, numberLabel(digits(v, 6))})
			}
		}
	}
	if len(all) < 2 {
		return roundTicks(low, high, n, 0, numberLabel)
	}
	return all
}

// dateSteps are those of ticks, by their unit: how many of it, in rising order.
var dateSteps = []struct {
	unit    time.Duration
	format  string
	numbers []int
}{
	{time.Second, "15:04:05", []int{1, 2, 5, 10, 20, 30}},
	{time.Minute, "15:04", []int{1, 2, 5, 10, 20, 30}},
	{time.Hour, "15:04", []int{1, 2, 3, 6, 12}},
	{24 * time.Hour, "Jan 2", []int{1, 2, 5, 10}},
	{month, "Jan 2006", []int{1, 2, 3, 6}},
	{12 * month, "2006", []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}},
}

const month = 30*24*time.Hour + 10*time.Hour + 29*time.Minute // 365.2425 days are twelve

// dateTicks returns at most n + 1 dates at the beginnings of seconds up to centuries. The first, and each that begins
// a day or a year where the others say less, say the date.
func dateTicks(low, high float64, n int) (all []tick) {
	moment := func(s float64) time.Time {
		const most = 250e9 // the years that time.Time writes in four digits, and some
		return time.Unix(int64(min(max(s, -most), most)), 0).UTC()
	}
	for _, s := range dateSteps {
		for _, k := range s.numbers {
			step := float64(k) * s.unit.Seconds()
			if (high-low)/step > float64(n) && !(s.unit == 12*month && k == 1000) {
				continue
			}
			at := moment(low)
			next := func(t time.Time) time.Time { return t.Add(time.Duration(k) * s.unit) }
			switch {
			case s.unit == 24*time.Hour:
				at = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
				next = func(t time.Time) time.Time {
					u := t.AddDate(0, 0, k)
					if last := time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC); !u.Before(last) || k > 1 && last.Sub(u) < time.Duration(k)*12*time.Hour {
						return last // months begin with a tick
					}
					return u
				}
			case s.unit == month:
				at = time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
				next = func(t time.Time) time.Time { return t.AddDate(0, k, 0) }
			case s.unit == 12*month:
				at = time.Date(at.Year()-(at.Year()%k+k)%k, 1, 1, 0, 0, 0, 0, time.UTC)
				next = func(t time.Time) time.Time { return t.AddDate(k, 0, 0) }
			default:
				at = at.Truncate(time.Duration(k) * s.unit)
			}
			for ; float64(at.Unix()) <= high && len(all) < mostTicks; at = next(at) {
				if float64(at.Unix()) < low {
					continue
				}
				format := s.format
				if s.unit < 24*time.Hour && at.Truncate(24*time.Hour).Equal(at) {
					format = "Jan 2"
				}
				all = append(all, tick{float64(at.Unix()), at.Format(format)})
			}
			if len(all) > 0 && s.unit < month { // which day or year it all is of
				first := &all[0]
				format := " Jan 2, 2006"
				if s.unit >= 24*time.Hour || strings.Contains(first.label, " ") {
					format = ", 2006"
				}
				first.label += moment(first.at).Format(format)
			}
			return all
		}
	}
	return nil
}

// placeLabel writes where element i is along an axis of blocks.
func placeLabel(a *record.Axis, i, block int) string {
	switch {
	case a != nil && i < len(a.Texts):
		return plain(a.Texts[i])
	case a != nil && i < len(a.At) && a.Time:
		return strings.TrimSuffix(time.Unix(int64(a.At[i]), 0).UTC().Format("2006-01-02 15:04"), " 00:00")
	case a != nil && i < len(a.At):
		return numberLabel(a.At[i])
	}
	return strconv.Itoa(i * max(block, 1))
}
