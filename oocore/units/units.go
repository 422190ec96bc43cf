// Package units writes and reads sizes, counts and times as people do.
//
// This is the one place that decides on units. Memory, and arrays and files that
// could lie in it, are rounded in binary units (5.87 GiB), as kernels and containers
// count it: Bytes, and Both with the exact figure. Traffic, what is read, written
// and moved, is rounded in decimal units (6.3 GB), as disks, networks and their tools
// do: Traffic, Rate, and Moved with the exact figure. Nothing else divides bytes.
package units

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Line makes a text of a user or a file fit for a line: ends of lines become blanks, and
// control characters, which could steer a terminal, become visible.
func Line(s string) string {
	return Text(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}

// Text returns what may come from a file, or anybody, as text for a terminal: lines and tabs stay, and what a terminal
// obeys, or what turns text around, is replaced.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// Bytes rounds n to three figures in binary units: "5.87 GiB", "512 MiB",
// "17 bytes".
func Bytes(n int64) string { return scaled(n, 1024, "KiB", "MiB", "GiB", "TiB", "PiB", "EiB") }

// Traffic rounds n to three figures in decimal units: "6.3 GB".
func Traffic(n int64) string { return scaled(n, 1000, "kB", "MB", "GB", "TB", "PB", "EB") }

// Rate returns Traffic by second: "1.13 GB/s"; "–" where no time has passed.
func Rate(bytes int64, d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return Traffic(clamp(float64(bytes)/d.Seconds())) + "/s"
}

// clamp converts x to an int64, the nearest one where it is out of range.
func clamp(x float64) int64 {
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(x)
}

// scaled writes n in the first unit that leaves fewer than four figures before
// the point.
func scaled(n int64, base float64, names ...string) string {
	x := math.Abs(float64(n))
	if x < base {
		if n == 1 || n == -1 {
			return fmt.Sprintf("%d byte", n)
		}
		return fmt.Sprintf("%d bytes", n)
	}
	sign := ""
	if n < 0 {
		sign = "-"
	}
	for i, name := range names {
		x /= base
		// What would round up to the base belongs to the next unit.
		if x < base-0.5 || i == len(names)-1 {
			return sign + figures(x) + " " + name
		}
	}
	panic("unreachable: the last unit takes whatever is left")
}

// figures writes x with three figures, or all of those before the point, and
// without zeros at the end.
func figures(x float64) string {
	decimals := 2
	if x >= 99.95 {
		decimals = 0
	} else if x >= 9.995 {
		decimals = 1
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if decimals > 0 {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Exact returns n in full: "6,298,009,600 bytes".
func Exact(n int64) string {
	if n == 1 || n == -1 {
		return Count(n) + " byte"
	}
	return Count(n) + " bytes"
}

// Both returns memory in full and rounded, where these differ: "6,298,009,600 bytes, 5.87 GiB".
func Both(n int64) string { return both(n, Bytes(n)) }

// Moved returns traffic in full and rounded, where these differ: "6,298,009,600 bytes, 6.3 GB".
func Moved(n int64) string { return both(n, Traffic(n)) }

func both(n int64, rounded string) string {
	if exact := Exact(n); exact != rounded {
		return exact + ", " + rounded
	}
	return rounded
}

// Count returns n with its thousands set apart: "3,075,200".
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Duration returns d to three figures: "840 µs", "11.2 s", "2 min 05 s", "3 h 20 min".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		if d == math.MinInt64 {
			d++
		}
		return "-" + Duration(-d)
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < 999500*time.Nanosecond:
		return figures(float64(d)/float64(time.Microsecond)) + " µs"
	case d < 999500*time.Microsecond:
		return figures(float64(d)/float64(time.Millisecond)) + " ms"
	case d < 59950*time.Millisecond:
		return figures(d.Seconds()) + " s"
	}
	if s := int64(d.Round(time.Second) / time.Second); s < 3600 {
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	m := int64(d.Round(time.Minute) / time.Minute)
	return fmt.Sprintf("%s h %02d min", Count(m/60), m%60)
}

// Shape returns a shape or a chunk shape as people write it: "3,075,200 × 512";
// "scalar" for one without dimensions.
func Shape(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	s := make([]string, len(shape))
	for i, n := range shape {
		s[i] = Count(int64(n))
	}
	return strings.Join(s, " × ")
}

// sizes are the units that ParseSize takes, in lower case.
var sizes = map[string]int64{
	"": 1, "b": 1, "byte": 1, "bytes": 1,
	"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15,
}

// ParseSize reads a size of one byte at least: "512MiB", "1.5 GB", "64M",
// "1048576". A unit with an i, or of one letter, is binary; capitals do not
// matter; a fraction of a byte is dropped. The error is one sentence for the
// person who wrote the size.
func ParseSize(s string) (int64, error) {
	number := strings.TrimSpace(s)
	at := strings.LastIndexAny(number, "0123456789.") + 1
	unit, ok := sizes[strings.ToLower(strings.TrimSpace(number[at:]))]
	number = number[:at]
	// big.Rat would take more: fractions, exponents, underscores.
	plain := len(number) <= 32 && strings.Trim(number, "0123456789.") == "" && strings.Trim(number, ".") != ""
	value, fine := new(big.Rat).SetString(number)
	if !ok || !plain || !fine {
		return 0, fmt.Errorf("%q is not a size: write a positive number and a unit, like 512MiB, 1.5GB or 64M", s)
	}
	value.Mul(value, new(big.Rat).SetInt64(unit))
	n := new(big.Int).Quo(value.Num(), value.Denom())
	switch {
	case n.Sign() == 0:
		return 0, fmt.Errorf("%q is not a size: it has to be one byte at least, like 512MiB, 1.5GB or 64M", s)
	case !n.IsInt64():
		return 0, fmt.Errorf("%q is not a size: it is more than 8 EiB, which no machine has", s)
	}
	return n.Int64(), nil
}
