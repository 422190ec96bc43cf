package gonbext

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// showCollection reads the headers of all arrays and prints a table of them. Where there are many,
// arrays that differ only by the numbers in their names share a line, and of many lines the first and
// the last are printed.
func showCollection(c *oocore.Collection) {
	if err := c.Err(); err != nil {
		fail("Show", err)
	}
	const ends = 12 // lines of each end
	card := &record.Card{}
	var totals names.Totals
	var rows [][]string // whose names are those of their groups
	for _, a := range c.All() {
		if err := a.Err(); err != nil {
			rows = append(rows, []string{"", names.Clip(err.Error()), "", ""})
			continue
		}
		dtype := a.DType().String()
		rows = append(rows, []string{"", units.Shape(a.Shape()), dtype, units.Bytes(a.Bytes())})
		totals.Add(dtype, a.Bytes())
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
		row[0] = names.Clip(g.Name)
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
	title := []string{units.Count(int64(len(rows))) + " arrays, " + units.Both(card.Bytes)}
	for _, t := range totals {
		title = append(title, fmt.Sprintf("%s of %s, %s", units.Count(t.Arrays), t.DType, units.Bytes(t.Bytes)))
	}
	card.Title = strings.Join(title, " · ")
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
