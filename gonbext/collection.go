package gonbext

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// showCollection reads the headers of all arrays. Where they are many, those stand in one line that are
// alike but for numbers in their names, and of many lines those at the ends.
func showCollection(c *oocore.Collection) {
	if err := c.Err(); err != nil {
		fail("Show", err)
	}
	const ends = 12 // lines of each end
	card := &record.Card{}
	bytes, counts := map[string]int64{}, map[string]int64{} // by type
	var rows [][]string                                     // whose names are those of their groups
	for _, a := range c.All() {
		if err := a.Err(); err != nil {
			rows = append(rows, []string{"", clipped(err.Error()), "", ""})
			continue
		}
		dtype := a.DType().String()
		rows = append(rows, []string{"", units.Shape(a.Shape()), dtype, units.Bytes(a.Bytes())})
		bytes[dtype] += a.Bytes()
		counts[dtype]++
		card.Bytes += a.Bytes()
	}
	groups := names.Fold(c.Names(), func(i int) string {
		if len(rows) <= 2*ends {
			return strconv.Itoa(i) // each by itself
		}
		return strings.Join(rows[i][1:], " ")
	})
	for k, g := range groups {
		row := rows[g.Members[0]]
		row[0] = clipped(g.Name)
		if n := len(g.Members); n > 1 {
			row[3] = units.Count(int64(n)) + " × " + row[3]
		}
		switch n := len(groups); {
		case n <= 2*ends+1 || k < ends || k >= n-ends:
			card.Arrays = append(card.Arrays, row)
		case k == ends:
			card.Arrays = append(card.Arrays, []string{"… " + units.Count(int64(n-2*ends)) + " more", "", "", ""})
		}
	}
	types := slices.SortedFunc(maps.Keys(bytes), func(a, b string) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), strings.Compare(a, b))
	})
	for i, dtype := range types {
		types[i] = fmt.Sprintf("%s of %s, %s", units.Count(counts[dtype]), dtype, units.Bytes(bytes[dtype]))
	}
	card.Title = strings.Join(append([]string{units.Count(int64(len(rows))) + " arrays, " + units.Both(card.Bytes)}, types...), " · ")
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

// clipped is a text of a file in one line that is not too long, and that steers no terminal.
func clipped(s string) string { return fmt.Sprintf("%.200s", units.Line(s)) }
