package cf

import (
	"testing"
	"time"
)

// TestDaysOfCalendars compares with Go's own calendar, and with facts of the others.
func TestDaysOfCalendars(t *testing.T) {
	for n := -800_000; n < 800_000; n += 7 {
		at := time.Unix(int64(n)*86400, 0).UTC()
		want := Date{at.Year(), int(at.Month()), at.Day()}
		if got := Gregorian.Date(n); got != want || Gregorian.number(want) != n || Gregorian.DayOfYear(n) != at.YearDay() {
			t.Fatalf("day %d is %v of day %d, and Go says %v", n, got, Gregorian.DayOfYear(n), want)
		}
	}
	for _, c := range []Calendar{Standard, Gregorian, Julian, NoLeap, AllLeap, Days360} {
		before := c.Date(-1_000_000)
		for n := -1_000_000 + 1; n < 200_000; n++ {
			d := c.Date(n)
			next := d.Day == before.Day+1 && d.Month == before.Month && d.Year == before.Year
			first := d.Day == 1 && (d.Month == before.Month+1 && d.Year == before.Year || d.Month == 1 && before.Month == 12 && d.Year == before.Year+1)
			reform := c == Standard && d == Date{1582, 10, 15} && before == Date{1582, 10, 4}
			if got, err := c.Number(d); err != nil || got != n || !next && !first && !reform {
				t.Fatalf("%s: day %d is %v after %v, whose number is %d, %v", c, n, d, before, got, err)
			}
			before = d
		}
	}
	for _, one := range []struct {
		c    Calendar
		n    int
		want Date
	}{
		{Julian, 0, Date{1969, 12, 19}}, {Standard, -141428, Date{1582, 10, 4}}, {NoLeap, 365*4 + 59, Date{1974, 3, 1}},
		{AllLeap, 59, Date{1970, 2, 29}}, {Days360, 59, Date{1970, 2, 30}},
	} {
		if got := one.c.Date(one.n); got != one.want {
			t.Errorf("%s: day %d is %v, want %v", one.c, one.n, got, one.want)
		}
	}
	for n, want := range map[int]int{reformed - 1: 277, reformed: 288, reformed + 77: 365, reformed + 78: 1} { // as cftime has them
		if got := Standard.DayOfYear(n); got != want {
			t.Errorf("%v is day %d of the year, want %d", Standard.Date(n), got, want)
		}
	}
	for _, text := range []string{"0000-01-01", "-0500-01-01"} {
		for c, fails := range map[Calendar]bool{Standard: true, Julian: true, Gregorian: false, NoLeap: false} {
			if _, err := instantOf(text, c); (err != nil) != fails {
				t.Errorf("%s in %s: %v", text, c, err)
			}
		}
	}
	for c, d := range map[Calendar]Date{NoLeap: {2000, 2, 29}, Days360: {2000, 1, 31}, Standard: {1582, 10, 10}, Gregorian: {2001, 2, 29}, Julian: {2001, 13, 1}} {
		if n, err := c.Number(d); err == nil {
			t.Errorf("%s has a day %v, %d", c, d, n)
		}
	}
}
