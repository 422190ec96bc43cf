package arraytext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bools writes bools at one width.
func Bools(values []bool) []string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = " True"
		if !v {
			words[i] = "False"
		}
	}
	return words
}

// Integers writes integers at one width.
func Integers[T int64 | uint64](values []T) []string {
	words, width := make([]string, len(values)), 0
	for i, v := range values {
		words[i] = fmt.Sprint(v)
		width = max(width, len(words[i]))
	}
	for i, w := range words {
		words[i] = strings.Repeat(" ", width-len(w)) + w
	}
	return words
}

// Floats writes floats at one width, with as few digits as tell one number from the next and
// at most 8 behind the point.
func Floats(values []float64, t Precision) []string {
	f := newFormat(values, t, false)
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = f.word(v)
	}
	return words
}

// Complexes writes complex numbers likewise. The precision is that of their parts.
func Complexes(values []complex128, t Precision) []string {
	re, im := make([]float64, len(values)), make([]float64, len(values))
	for i, v := range values {
		re[i], im[i] = real(v), imag(v)
	}
	left, right := newFormat(re, t, false), newFormat(im, t, true)
	words := make([]string, len(values))
	for i := range values {
		w := right.word(im[i])
		digits := strings.TrimRight(w, " ")
		words[i] = left.word(re[i]) + digits + "j" + w[len(digits):]
	}
	return words
}

// Float writes one float by itself, with as many digits as tell it from others of its type.
func Float(v float64, t Precision) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
	}
	f := format{t: t}
	most := math.Pow10(t.Digits)
	if t.Digits == 15 {
		most = 1e16
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= most) {
		return f.shortest(v, 'e')
	}
	text := f.shortest(v, 'f')
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// Complex writes one complex number by itself.
func Complex(v complex128, t Precision) string {
	imaginary := strings.TrimSuffix(Float(imag(v), t), ".0")
	if imaginary[0] != '-' {
		imaginary = "+" + imaginary
	}
	if real(v) == 0 && !math.Signbit(real(v)) {
		return strings.TrimPrefix(imaginary, "+") + "j"
	}
	return "(" + strings.TrimSuffix(Float(real(v), t), ".0") + imaginary + "j)"
}

// Precision is that of a type of floats.
type Precision struct {
	// Round is the number of the type that is nearest to a number.
	Round func(float64) float64
	// Digits is how many decimal digits every number of the type has.
	Digits int
}

// digits are NumPy's default.
const digits = 8

// format is how all numbers of an array are written.
type format struct {
	t           Precision
	sign        bool // also of positive numbers
	scientific  bool
	precision   int // behind the point
	exponent    int // digits of it
	left, right int // of the point
}

func newFormat(values []float64, t Precision, sign bool) *format {
	f := &format{t: t, sign: sign}
	finite, low, high := 0, math.Inf(1), 0.0
	negative := sign
	for _, v := range values {
		negative = negative || math.IsInf(v, -1)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		finite++
		if a := math.Abs(v); a != 0 {
			low, high = min(low, a), max(high, a)
		}
	}
	if high > 0 {
		f.scientific = high >= math.Pow10(min(digits, t.Digits)) || low < t.Round(0.0001) || t.Round(high/low) > 1000
	}
	for _, v := range values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		whole, fraction, exp := f.split(v)
		f.left, f.precision, f.exponent = max(f.left, len(whole)), max(f.precision, len(fraction)), max(f.exponent, len(exp)-1)
	}
	f.right = f.precision
	if f.scientific {
		f.right = f.exponent + 2 + f.precision
	}
	if finite < len(values) {
		inf := 3
		if negative {
			inf++
		}
		f.left = max(f.left, 3-(f.right+1), inf-(f.right+1))
	}
	return f
}

// split writes a finite number: what stands before the point, behind it, and the exponent.
func (f *format) split(v float64) (whole, fraction, exp string) {
	verb := byte('f')
	if f.scientific {
		verb = 'e'
	}
	if whole, fraction, exp = f.cut(f.shortest(v, verb)); len(fraction) > digits {
		whole, fraction, exp = f.cut(strconv.FormatFloat(v, verb, digits, 64))
		fraction = strings.TrimRight(fraction, "0")
	}
	return whole, fraction, exp
}

// cut takes the text of a number apart.
func (f *format) cut(text string) (whole, fraction, exp string) {
	mantissa, exp, _ := strings.Cut(text, "e")
	whole, fraction, _ = strings.Cut(mantissa, ".")
	if f.sign && !strings.HasPrefix(whole, "-") {
		whole = "+" + whole
	}
	return whole, fraction, exp
}

// shortest has as few digits as tell the number from others of its type.
func (f *format) shortest(v float64, verb byte) string {
	for n := range 17 {
		text := strconv.FormatFloat(v, 'e', n, 64)
		if back, err := strconv.ParseFloat(text, 64); err == nil && f.t.Round(back) == v {
			exact, _ := strconv.ParseFloat(text, 64)
			return strconv.FormatFloat(exact, verb, -1, 64)
		}
	}
	return strconv.FormatFloat(v, verb, -1, 64)
}

func (f *format) word(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		text := "nan"
		if math.IsInf(v, 0) {
			text = "inf"
		}
		switch {
		case math.IsInf(v, -1):
			text = "-" + text
		case f.sign:
			text = "+" + text
		}
		return strings.Repeat(" ", max(f.left+f.right+1-len(text), 0)) + text
	}
	whole, fraction, exp := f.split(v)
	if f.scientific { // with all digits that there is room for
		whole, fraction, exp = f.cut(strconv.FormatFloat(v, 'e', f.precision, 64))
	}
	text := strings.Repeat(" ", max(f.left-len(whole), 0)) + whole + "."
	if f.scientific {
		return text + fraction + "e" + exp[:1] + strings.Repeat("0", f.exponent+1-len(exp)) + exp[1:]
	}
	return text + fraction + strings.Repeat(" ", f.precision-len(fraction))
}
