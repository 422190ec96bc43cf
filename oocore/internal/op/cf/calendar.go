package cf

import (
	"fmt"
	"strings"
)

// Calendar is how days make months and years, by CF's name.
type Calendar string

// The calendars. In Standard the day after 4 October 1582 is 15 October, and those before are Julian; Gregorian goes on
// as it is for ever.
const (
	Standard  Calendar = "standard"
	Gregorian Calendar = "proleptic_gregorian"
	Julian    Calendar = "julian"
	NoLeap    Calendar = "noleap"
	AllLeap   Calendar = "all_leap"
	Days360   Calendar = "360_day"
)

// calendarOf reads an attribute; "" is the standard one.
func calendarOf(name string) (Calendar, error) {
	switch c := Calendar(strings.ToLower(name)); c {
	case "", "gregorian":
		return Standard, nil
	case "365_day":
		return NoLeap, nil
	case "366_day":
		return AllLeap, nil
	case Standard, Gregorian, Julian, NoLeap, AllLeap, Days360:
		return c, nil
	}
	return "", fmt.Errorf("the calendar %q is none of standard, proleptic_gregorian, julian, noleap, all_leap and 360_day", name)
}

// Date is a day of a calendar.
type Date struct{ Year, Month, Day int }

// daysBefore are those of the year before each month, of a year that has no leap day.
var daysBefore = [...]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// reformed is the number of the first Gregorian day, 15 October 1582, of the standard calendar.
const reformed = -141427

// Number counts days from 1970-01-01 of the calendar on. A day that the calendar does not have is an error.
func (c Calendar) Number(d Date) (int, error) {
	if n := c.number(d); c.Date(n) == d {
		return n, nil
	}
	return 0, fmt.Errorf("the calendar %s has no day %d-%02d-%02d", c, d.Year, d.Month, d.Day)
}

func (c Calendar) number(d Date) int {
	y, m, day := d.Year, min(max(d.Month, 1), 12), d.Day
	switch c {
	case Days360:
		return (y-1970)*360 + (m-1)*30 + day - 1
	case NoLeap:
		return (y-1970)*365 + daysBefore[m-1] + day - 1
	case AllLeap:
		n := (y-1970)*366 + daysBefore[m-1] + day - 1
		if m > 2 {
			n++
		}
		return n
	case Standard:
		if n := Gregorian.number(d); n >= reformed {
			return n
		}
		return Julian.number(d)
	}
	// Years begin in March, so that a leap day is the last of one.
	if m <= 2 {
		y, m = y-1, m+12
	}
	n := 365*y + FloorDiv(y, 4) + (153*(m-3)+2)/5 + day - 1
	if c == Julian {
		return n - 719470
	}
	return n - FloorDiv(y, 100) + FloorDiv(y, 400) - 719468
}

// Date is the day of a number.
func (c Calendar) Date(n int) Date {
	switch c {
	case Days360:
		of := n - 360*FloorDiv(n, 360)
		return Date{1970 + FloorDiv(n, 360), of/30 + 1, of%30 + 1}
	case NoLeap, AllLeap:
		length := 365
		if c == AllLeap {
			length = 366
		}
		of := n - length*FloorDiv(n, length)
		d := Date{1970 + FloorDiv(n, length), 12, 0}
		for d.Month > 1 && c.number(Date{1970, d.Month, 1}) > of {
			d.Month--
		}
		d.Day = of - c.number(Date{1970, d.Month, 1}) + 1
		return d
	case Standard:
		if n >= reformed {
			return Gregorian.Date(n)
		}
		return Julian.Date(n)
	}
	var year, of int // from March on
	if c == Julian {
		n += 719470
		year = FloorDiv(4*n+3, 1461)
		of = n - (365*year + FloorDiv(year, 4))
	} else {
		n += 719468
		era := FloorDiv(n, 146097)
		in := n - era*146097
		years := (in - in/1460 + in/36524 - in/146096) / 365
		year = 400*era + years
		of = in - (365*years + years/4 - years/100)
	}
	m := (5*of + 2) / 153
	d := Date{year, m + 3, of - (153*m+2)/5 + 1}
	if d.Month > 12 {
		d.Year, d.Month = year+1, d.Month-12
	}
	return d
}

// First is the number of a day that every calendar has: the first of a month.
func (c Calendar) First(d Date) int { return c.number(d) }

// Counts is the calendar whose days these are from 1582-10-15 on.
func (c Calendar) Counts() Calendar {
	if c == Standard {
		return Gregorian
	}
	return c
}

// DayOfYear counts from 1 on; in 1582 of the standard calendar as if it had the days that it has not, as cftime does.
func (c Calendar) DayOfYear(n int) int {
	if c == Standard && n >= reformed {
		c = Gregorian
	}
	return n - c.number(Date{c.Date(n).Year, 1, 1}) + 1
}

// FloorDiv is the quotient, rounded down.
func FloorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
