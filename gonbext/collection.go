package gonbext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// showCollection reads the headers of all arrays, and shows those at the ends.
func showCollection(c *oocore.Collection) {
	if err := c.Err(); err != nil {
		fail("Show", err)
	}
	const ends = 12 // arrays of each end
	card := &record.Card{}
	bytes, counts := map[string]int64{}, map[string]int64{} // by type
	n, i := c.Len(), 0
	for name, a := range c.All() {
		row := []string{name, "", "", ""}
		if err := a.Err(); err != nil {
			row[1] = err.Error()
		} else {
			dtype := a.DType().String()
			row = []string{name, units.Shape(a.Shape()), dtype, units.Bytes(a.Bytes())}
			bytes[dtype] += a.Bytes()
			counts[dtype]++
			card.Bytes += a.Bytes()
		}
		switch {
		case n <= 2*ends+1 || i < ends || i >= n-ends:
			card.Arrays = append(card.Arrays, row)
		case i == ends:
			card.Arrays = append(card.Arrays, []string{"… " + units.Count(int64(n-2*ends)) + " more", "", "", ""})
		}
		i++
	}
	types := slices.SortedFunc(maps.Keys(bytes), func(a, b string) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), strings.Compare(a, b))
	})
	for i, dtype := range types {
		types[i] = fmt.Sprintf("%s of %s, %s", units.Count(counts[dtype]), dtype, units.Bytes(bytes[dtype]))
	}
	card.Title = strings.Join(append([]string{units.Count(int64(n)) + " arrays, " + units.Both(card.Bytes)}, types...), " · ")
	var text strings.Builder
	fmt.Fprintln(&text, card.Title)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range card.Arrays {
		fmt.Fprintln(table, strings.TrimRight("  "+strings.Join(row, "\t"), "\t"))
	}
	table.Flush()
	card.Text = text.String()
	display(card)
}
