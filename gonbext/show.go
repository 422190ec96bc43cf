package gonbext

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

// corner is how many elements along each of the last two axes Show prints.
const corner = 6

// Show prints an array: its expression, shape, type and bytes, and the elements
// in its first corner, for which it computes only what they need. Under
// %%footprint it prints no elements.
func Show(a *oocore.Array) {
	if err := a.Err(); err != nil {
		fail("Show", err)
	}
	fmt.Println(a)
	if current.planOnly || a.Size() == 0 {
		return
	}
	first := a
	shape := a.Shape()
	if len(shape) > 0 {
		first = a.Slice(firstCorner(shape))
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	values := texts(first)
	columns := 1
	if len(shape) > 0 {
		columns = min(corner, shape[len(shape)-1])
	}
	for i := 0; i < len(values); i += columns {
		row := strings.Join(values[i:i+columns], "\t") + "\t"
		if len(shape) > 0 && shape[len(shape)-1] > columns {
			row += "…\t"
		}
		fmt.Fprintln(table, row)
	}
	table.Flush()
	if len(shape) > 1 && shape[len(shape)-2] > corner {
		out.WriteString("  ⋮\n")
	}
	fmt.Print(out.String())
}

// firstCorner is a slice of at most corner × corner elements.
func firstCorner(shape []int) string {
	parts := make([]string, len(shape))
	for i := range shape {
		parts[i] = "0"
		if i >= len(shape)-2 {
			parts[i] = fmt.Sprintf(":%d", min(corner, shape[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// texts computes the few elements of a small array.
func texts(a *oocore.Array) []string {
	unreported := oocore.Cell(record.Unreported)
	switch a.DType() {
	case oocore.Complex64, oocore.Complex128:
		return format("%.6g", Collect[complex128](a.AsType(oocore.Complex128), unreported))
	case oocore.Float16, oocore.BFloat16, oocore.Float32, oocore.Float64:
		return format("%.6g", Collect[float64](a.AsType(oocore.Float64), unreported))
	case oocore.Bool:
		return format("%t", Collect[bool](a, unreported))
	case oocore.Uint64:
		return format("%d", Collect[uint64](a, unreported))
	default:
		return format("%d", Collect[int64](a.AsType(oocore.Int64), unreported))
	}
}

func format[T oocore.Element](verb string, values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprintf(verb, v)
	}
	return texts
}
