package gonbext

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// corner is how many elements along each of the last two axes Show prints.
const corner = 6

// most is the length of the slices that Show prints whole, as NumPy's threshold is.
const most = 1000

// Last is what the kernel sets to the value of a cell's last line, where that is
// an expression by itself. The end of the cell shows it.
var Last any

// showLast shows what the cell's last line left.
func showLast() {
	v := Last
	Last = nil
	Show(v)
}

// Show shows a value. An array is shown by its expression, shape, type, bytes and chunks, and
// the elements in its first corner, for which it computes only what they need: in a
// notebook that is a card, elsewhere text. Under %%footprint it shows no elements.
// Any other value is printed, of a long slice its ends, of a function its type, and of nil
// nothing is shown.
func Show(v any) {
	switch v := v.(type) {
	case nil:
	case *oocore.Array:
		showArray(v)
	default:
		switch s := reflect.ValueOf(v); {
		case s.Kind() == reflect.Slice && s.Len() > most:
			fmt.Printf("%v … %v: %s values\n", s.Slice(0, corner), s.Slice(s.Len()-corner, s.Len()), units.Count(int64(s.Len())))
		case s.Kind() == reflect.Func: // forgotten brackets; its address says nothing
			fmt.Printf("%T\n", v)
		default:
			fmt.Println(v)
		}
	}
}

func showArray(a *oocore.Array) {
	if err := a.Err(); err != nil {
		fail("Show", err)
	}
	shape := a.Shape()
	card := &record.Card{Title: fmt.Sprint(a), Shape: shape, Chunks: a.Chunks(), DType: a.DType().String(), Bytes: a.Bytes()}
	if !current.planOnly && a.Size() > 0 {
		first := a
		if len(shape) > 0 {
			first = a.Slice(firstCorner(shape))
		}
		values, columns := texts(first), 1
		if len(shape) > 0 {
			columns = min(corner, shape[len(shape)-1])
		}
		for i := 0; i < len(values); i += columns {
			card.Corner = append(card.Corner, values[i:i+columns])
		}
	}
	card.Text = card.Title + "\n" + cornerText(card)
	display(card)
}

// display shows a card: the kernel draws it, where that does not watch the cell the command
// does, and without either its text is printed.
func display(card *record.Card) {
	if !drawn(card) && !drawnByCommand(card) {
		fmt.Print(card.Text)
	}
}

// drawn leaves a card for the kernel, which draws it; false where nobody does.
func drawn(card *record.Card) bool {
	if current.report || current.id == "" {
		return false
	}
	dir, err := record.Dir()
	if err != nil {
		return false
	}
	card.Cell = current.id
	_, err = record.WriteCard(dir, card)
	return err == nil
}

// drawnByCommand has the gonbext command draw a card in the notebook; false where there
// is no notebook or no command.
func drawnByCommand(card *record.Card) bool {
	if os.Getenv("GONB_PIPE") == "" {
		return false
	}
	dir, err := os.MkdirTemp("", "gonbext-figure-*")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	path, err := record.WriteCard(dir, card)
	return err == nil && current.show(path)
}

// cornerText is the elements in columns.
func cornerText(c *record.Card) string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	n := len(c.Shape)
	for _, values := range c.Corner {
		row := strings.Join(values, "\t") + "\t"
		if n > 0 && c.Shape[n-1] > len(values) {
			row += "…\t"
		}
		fmt.Fprintln(table, row)
	}
	table.Flush()
	if n > 1 && len(c.Corner) > 0 && c.Shape[n-2] > corner {
		out.WriteString("  ⋮\n")
	}
	return out.String()
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
	unreported := host.Cell(record.Unreported)
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
