package gonbext

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// most is the length of the slices that Show prints whole, as NumPy's threshold is.
const most = 1000

// Last is what the kernel sets to the value of a cell's last line, where that is
// an expression by itself. The end of the cell shows it.
var Last any

// showLast shows the value of the cell's last line.
func showLast() {
	v := Last
	Last = nil
	Show(v)
}

// Show shows a value. An array is shown by its expression, shape, type, bytes and chunks, the
// labels and elements at its ends (all of up to 20 × 20 integers or bools), for which it computes only what they need, and its minimum, mean and
// maximum where they cost little: in a notebook that is a card, elsewhere text. Under
// %%footprint it shows no elements. An array of no dimensions is shown as its number, a
// collection as a table of its arrays and what those of each type have together.
// Any other value is printed, of a long slice its ends, of a function its type, and of nil
// nothing is shown.
func Show(v any) {
	switch v := v.(type) {
	case nil:
	case *oocore.Array:
		showArray(v)
	case *oocore.Collection:
		showCollection(v)
	default:
		switch s := reflect.ValueOf(v); {
		case s.Kind() == reflect.Slice && s.Len() > most:
			fmt.Printf("%v … %v: %s values\n", s.Slice(0, 2*edge), s.Slice(s.Len()-2*edge, s.Len()), units.Count(int64(s.Len())))
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
	if a.Dims() == 0 && !current.planOnly {
		fmt.Println(number(a))
		return
	}
	card := &record.Card{Title: nameOf(a), Shape: a.Shape(), Chunks: a.Chunks(), Dims: a.DimNames(), DType: a.DType().String(), Bytes: a.Bytes()}
	card.Text, card.Notes = fmt.Sprintln(a), host.Warnings(a)
	for _, note := range card.Notes {
		card.Text += "⚠ " + note + ".\n"
	}
	if !current.planOnly && a.Size() > 0 {
		ctx, stop := during()
		defer stop()
		card.Labels = labelRanges(func(a *oocore.Array) ([]float64, error) { return oocore.Collect[float64](ctx, a, host.Shown("Show")) }, a)
		if len(card.Labels) > 0 {
			card.Text += strings.Join(card.Labels, ", ") + "\n"
		}
		if card.Receipt = host.Receipt(ctx, a); card.Receipt == "changed since" {
			card.Text += "Changed since it was saved.\n"
		}
		card.Sample, card.Within = sample(a)
		card.Stats = stats(a)
		card.Text += sampleText(card)
	}
	display(card)
}

// display shows a card: the kernel draws it, where that does not watch the cell the command
// does, and without either its text is printed.
func display(card *record.Card) {
	if !drawn(card) && !drawnByCommand(card) {
		fmt.Print(units.Text(card.Text))
	}
}

// drawn leaves a card for the kernel to draw, and reports whether a kernel does.
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
