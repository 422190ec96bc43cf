package gonbext

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// edge is how many elements Show prints at each end of an array's last two axes, as NumPy's
// edgeitems is.
const edge = 3

// maxTable is the most rows and columns of integers and bools that Show prints whole.
const maxTable = 20

// sample returns the elements at the ends of an array's last two axes, with "…" and "⋮" for those
// between; all of them where they are few integers or bools. within names the part that they are of: "[0]" in an array of three axes.
func sample(a *oocore.Array) (rows [][]string, within string) {
	shape := a.Shape()
	if lead := len(shape) - 2; lead > 0 {
		within = "[" + strings.Repeat("0, ", lead-1) + "0]"
		a = a.Slice(strings.Repeat("0, ", lead) + "..., :")
		shape = shape[lead:]
	}
	most := 2 * edge
	if t := a.DType(); slices.Max(shape) <= maxTable && !canBeMissing(t) && t != oocore.Complex64 && t != oocore.Complex128 {
		most = maxTable
	}
	for axis, n := range shape {
		if n > most {
			spec := strings.Repeat(":, ", axis)
			a = oocore.Concatenate(axis, a.Slice(fmt.Sprintf("%s:%d", spec, edge)), a.Slice(fmt.Sprintf("%s%d:", spec, n-edge)))
		}
	}
	texts, columns := texts(a), a.Shape()[a.Dims()-1]
	if len(shape) == 1 { // nothing stands below
		for i := range texts {
			texts[i] = strings.TrimSpace(texts[i])
		}
	}
	for i := 0; i < len(texts); i += columns {
		row := texts[i : i+columns : i+columns]
		if shape[len(shape)-1] > columns {
			row = append(append(row[:edge:edge], "…"), row[edge:]...)
		}
		rows = append(rows, row)
	}
	if len(shape) > 1 && shape[0] > len(rows) {
		gap := slices.Repeat([]string{"⋮"}, len(rows[0]))
		rows = append(append(rows[:edge:edge], gap), rows[edge:]...)
	}
	return rows, within
}

// The most that Show reads and computes for statistics.
const (
	cheapBytes   = 64 << 20
	cheapSeconds = 0.1
)

// stats returns an array's minimum, mean and maximum without NaN, and how many elements are NaN, if
// any; or nil where computing them would take too long.
func stats(a *oocore.Array) []string {
	if t := a.DType(); a.Bytes() > cheapBytes || t == oocore.Complex64 || t == oocore.Complex128 || t == oocore.Bool {
		return nil
	}
	var figures []*oocore.Array
	for _, r := range []oocore.Reduction{oocore.ReduceMin, oocore.ReduceMean, oocore.ReduceMax} {
		figures = append(figures, a.Reduce(r, oocore.ReduceOptions{SkipNaN: canBeMissing(a.DType())}).AsType(oocore.Float64))
	}
	if canBeMissing(a.DType()) {
		figures = append(figures, a.IsNaN().CountNonzero().AsType(oocore.Float64))
	}
	all := oocore.Stack(0, figures...)
	plan, err := all.Plan("")
	if err != nil {
		return nil
	}
	p := host.Sized(plan)
	if _, err := p.Encode(); err != nil { // a Go function: what it costs and does nobody knows
		return nil
	}
	read, seconds := int64(0), 0.0
	for i := range p.Stages {
		s, _ := p.Estimate(i)
		read, seconds = read+p.Placed(i).Read, seconds+s
	}
	if read > cheapBytes || seconds > cheapSeconds {
		return nil
	}
	ctx, stop := during()
	defer stop()
	values, err := oocore.Collect[float64](ctx, all, host.Shown("Show"))
	if err != nil {
		if ctx.Err() != nil {
			fail("Show", err)
		}
		return nil // of elements that are not shown
	}
	texts := make([]string, 3)
	for i, v := range values[:3] {
		texts[i] = short(v)
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 && !canBeMissing(a.DType()) {
			texts[i] = strconv.FormatFloat(v, 'f', 0, 64)
		}
	}
	if len(values) > 3 && values[3] > 0 {
		texts = append(texts, units.Count(int64(values[3])))
	}
	return texts
}

// Numbers from large on, and below small, are written with an exponent, as NumPy does.
const large, small = 1e8, 1e-4

// short writes a number with six significant digits.
func short(v float64) string {
	text := strconv.FormatFloat(v, 'g', 6, 64)
	if size := math.Abs(v); size < large && (size >= small || size == 0) {
		rounded, _ := strconv.ParseFloat(text, 64)
		return strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return text
}

// texts computes the few elements of a small array. Those of a float type are aligned at the
// decimal point.
func texts(a *oocore.Array) []string {
	switch a.DType() {
	case oocore.Complex64, oocore.Complex128:
		return format("%.6g", collected[complex128](a.AsType(oocore.Complex128)))
	case oocore.Float8E4M3FN, oocore.Float8E5M2, oocore.Float16, oocore.BFloat16, oocore.Float32, oocore.Float64:
		return aligned(collected[float64](a.AsType(oocore.Float64)))
	case oocore.Bool:
		return format("%t", collected[bool](a))
	case oocore.Uint64:
		return format("%d", collected[uint64](a))
	default:
		return format("%d", collected[int64](a.AsType(oocore.Int64)))
	}
}

// number returns the value of an array of no dimensions, with all digits that its type distinguishes.
func number(a *oocore.Array) string {
	switch a.DType() {
	case oocore.Float64:
		return strconv.FormatFloat(collected[float64](a)[0], 'g', -1, 64)
	case oocore.Float32:
		return strconv.FormatFloat(float64(collected[float32](a)[0]), 'g', -1, 32)
	}
	return strings.TrimSpace(texts(a)[0])
}

// collected computes a small array.
func collected[T oocore.Element](a *oocore.Array) []T {
	return Collect[T](a, host.Shown("Show"))
}

func format[T oocore.Element](verb string, values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprintf(verb, v)
	}
	return texts
}

// aligned writes numbers such that their decimal points stand below each other where they are
// set to the right: with as many places behind it, of which those that a number has no digits
// for are spaces. Where numbers are very large or very small, all are written with an exponent.
func aligned(values []float64) []string {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v = math.Abs(v); v > 0 && v <= math.MaxFloat64 {
			low, high = min(low, v), max(high, v)
		}
	}
	if high >= large || low < small {
		return format("%.5e", values)
	}
	texts, places := make([]string, len(values)), 0
	for i, v := range values {
		texts[i] = short(v)
		places = max(places, placesOf(texts[i]))
	}
	for i := range texts {
		if v := values[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			texts[i] += strings.Repeat(" ", places-placesOf(texts[i]))
		}
	}
	return texts
}

// placesOf returns how many characters follow the integer part of a number, the point included.
func placesOf(text string) int {
	if at := strings.IndexByte(text, '.'); at >= 0 {
		return len(text) - at
	}
	return 0
}

// sampleText returns a card's sample in columns, and its statistics.
func sampleText(c *record.Card) string {
	var out strings.Builder
	if c.Within != "" {
		fmt.Fprintf(&out, "%s:\n", c.Within)
	}
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range c.Sample {
		fmt.Fprintln(table, strings.Join(row, "\t")+"\t")
	}
	table.Flush()
	if len(c.Stats) > 0 {
		fmt.Fprintln(&out, c.StatsLine(", "))
	}
	return out.String()
}
