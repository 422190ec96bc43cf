package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/gonbext/chart"
	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/units"
)

// Description is what is said of what lies at a path: *Info of an array,
// *Contents of several.
type Description interface{ Text() string }

// Contents are the arrays of a group or a file that has several.
type Contents struct {
	Path   string   `json:"path"`
	Arrays []Member `json:"arrays"`
	Totals []Total  `json:"totals"` // by element type, the most bytes first
}

// Total is what the arrays of an element type have together.
type Total struct {
	DType  string `json:"dtype"`
	Arrays int    `json:"arrays"`
	Bytes  int64  `json:"bytes"` // of the elements
}

// Member is one of several arrays. One that cannot be read says why.
type Member struct {
	Name string `json:"name"` // what is behind the path of all
	*Info
	Error string `json:"error,omitempty"`
}

// Describe says what the array at path is or, of a group or a file with several,
// what each of its arrays is.
func Describe(ctx context.Context, path string, list bool) (Description, error) {
	i, err := Read(ctx, path, list)
	if err == nil {
		return i, nil
	}
	members, inside := store.Members(ctx, path)
	if inside != nil || len(members) == 0 || members[0].Path == path {
		return nil, err // which knows best what is wrong
	}
	slices.SortFunc(members, func(a, b store.Member) int { return strings.Compare(a.Name, b.Name) })
	c := &Contents{Path: path}
	for _, of := range members {
		m := Member{Name: of.Name}
		if m.Info, err = Read(ctx, of.Path, list); err != nil {
			m.Error = err.Error()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.Arrays = append(c.Arrays, m)
	}
	c.Totals = totals(c.Arrays)
	return c, nil
}

// totals are those of the arrays that could be read.
func totals(arrays []Member) (all []Total) {
	for _, m := range arrays {
		if m.Info == nil {
			continue
		}
		t := slices.IndexFunc(all, func(t Total) bool { return t.DType == m.DType.String() })
		if t < 0 {
			t = len(all)
			all = append(all, Total{DType: m.DType.String()})
		}
		all[t].Arrays++
		all[t].Bytes += m.Bytes
	}
	slices.SortFunc(all, func(a, b Total) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.DType, b.DType))
	})
	return all
}

// Text is a table for a terminal.
func (c *Contents) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", units.Line(c.Path))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	rows := slices.DeleteFunc(slices.Clone(c.Arrays), func(m Member) bool { return m.Info == nil }) // below, since it has no columns
	listed := slices.ContainsFunc(rows, func(m Member) bool { return m.Listing != nil })
	head := "  array\tshape\tdtype\tchunks\tcodec\tbytes"
	groups := grouped(rows, listed)
	folded := len(groups) < len(rows)
	switch {
	case listed:
		head += "\tstored\tratio\tmissing"
	case folded:
		head = "  arrays\tname" + strings.TrimPrefix(head, "  array") + " of each"
	}
	fmt.Fprintln(w, head)
	for _, g := range groups {
		m := rows[g.Members[0]]
		chunks := "–"
		if m.Chunks != nil {
			chunks = units.Shape(m.Chunks)
		}
		if folded {
			fmt.Fprintf(w, "  %s\t%s", units.Count(int64(len(g.Members))), oneLine(g.Name))
		} else {
			fmt.Fprintf(w, "  %s", oneLine(g.Name))
		}
		fmt.Fprintf(w, "\t%s\t%s\t%s\t%s\t%s", units.Shape(m.Shape), m.DType, chunks, m.Codec, units.Bytes(m.Bytes))
		if l := m.Listing; l != nil {
			fmt.Fprintf(w, "\t%s\t%s\t%s of %s", units.Bytes(l.Bytes), chart.Ratio(l.Ratio), units.Count(l.Missing), units.Count(l.Chunks))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	for _, m := range c.Arrays {
		if m.Info == nil {
			fmt.Fprintf(&b, "  %s\n", oneLine(m.Error))
		}
	}
	for _, t := range c.Totals {
		fmt.Fprintf(&b, "%s of %s: %s\n", counted(t.Arrays), t.DType, units.Exact(t.Bytes))
	}
	return b.String()
}

// counted is a number of arrays.
// grouped puts arrays that are alike but for numbers in their names in one line each, where they are many and
// not listed one by one.
func grouped(rows []Member, listed bool) []names.Group {
	const few = 40
	all := make([]string, len(rows))
	for i, m := range rows {
		all[i] = m.Name
	}
	return names.Fold(all, func(i, j int) bool {
		a, b := rows[i].Info, rows[j].Info
		return len(rows) > few && !listed && slices.Equal(a.Shape, b.Shape) && a.DType == b.DType && slices.Equal(a.Chunks, b.Chunks) && a.Codec == b.Codec
	})
}

func counted(n int) string {
	if n == 1 {
		return "1 array"
	}
	return units.Count(int64(n)) + " arrays"
}
