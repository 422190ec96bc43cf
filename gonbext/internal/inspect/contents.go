package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/gonbext/internal/names"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
	"github.com/gonbext/gonbext/oocore/units"
)

// Description describes what lies at a path: *Info for an array, *Contents for
// several.
type Description interface{ Text() string }

// Contents are the arrays of a group or a file that has several.
type Contents struct {
	Path   string       `json:"path"`
	Arrays []Member     `json:"arrays"`
	Totals names.Totals `json:"totals"`
}

// Member is one of several arrays. One that cannot be read says why.
type Member struct {
	Name string `json:"name"` // what is behind the path of all
	*Info
	Error string `json:"error,omitempty"`
}

// Describe returns the description of the array at path or, for a group or a file with several,
// of each of its arrays.
func Describe(ctx context.Context, path string, list bool) (Description, error) {
	l := newListings(list)
	i, err := l.read(ctx, path)
	var small *types.MemoryError
	if err == nil {
		return i, nil
	} else if errors.As(err, &small) {
		return nil, err
	}
	members, inside := host.Members(ctx, path)
	if errors.As(inside, &small) {
		return nil, inside
	}
	if inside != nil || len(members) == 0 || members[0].Path == path {
		return nil, err // which knows best what is wrong
	}
	slices.SortFunc(members, func(a, b store.Member) int { return names.Natural(a.Name, b.Name) })
	c := &Contents{Path: path}
	err = host.Counted("the list of its arrays", func(take func(bytes int64) error) error {
		if err := take(int64(len(members)) * memberBytes); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, of := range members {
			m := Member{Name: of.Name}
			if m.Info, err = l.read(ctx, of.Path); err != nil {
				m.Error = err.Error()
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.Arrays = append(c.Arrays, m)
			if m.Info != nil {
				c.Totals.Add(m.DType.String(), m.Bytes)
				if err := take(int64(len(m.Attributes))); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// memberBytes is about how many bytes the description of an array and its line of text take.
const memberBytes = 1 << 10

// Text returns the table for a terminal.
func (c *Contents) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", units.Line(c.Path))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	t := c.table()
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintln(w, "  "+strings.Join(row, "\t"))
	}
	w.Flush()
	for _, line := range slices.Concat(c.failed(), c.missing(), c.together()) {
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// Output returns the same table for notebooks.
func (c *Contents) Output() (chart.Output, error) {
	out, err := chart.Tables(units.Line(c.Path), strings.Join(c.together(), " · "), strings.Join(slices.Concat(c.failed(), c.missing()), " "), c.table())
	out.Text = c.Text()
	return out, err
}

// table returns a row for each array, or for each group of arrays that differ only by numbers in their names.
func (c *Contents) table() chart.Table {
	rows := slices.DeleteFunc(slices.Clone(c.Arrays), func(m Member) bool { return m.Info == nil }) // which failed has
	listed := slices.ContainsFunc(rows, func(m Member) bool { return m.Listing != nil && m.asked })
	t := chart.Table{Head: []string{"array", "shape", "dtype", "chunks", "codec", "bytes"}, Texts: 5}
	groups := grouped(rows, listed)
	folded := len(groups) < len(rows)
	switch {
	case listed:
		t.Head = append(t.Head, "stored", "ratio", "missing")
	case folded:
		t.Head, t.Texts = []string{"arrays", "name", "shape", "dtype", "chunks", "codec", "bytes of each"}, 6
	}
	for _, g := range groups {
		m := rows[g.Members[0]]
		row := []string{names.Clip(g.Name), units.Shape(m.Shape), m.DType.String(), "–", m.Codec, units.Bytes(m.Bytes)}
		if m.Chunks != nil {
			row[3] = units.Shape(m.Chunks)
		}
		if l := m.Listing; l != nil && listed {
			row = append(row, units.Bytes(l.Bytes), chart.Ratio(l.Ratio), units.Count(l.Missing)+" of "+units.Count(l.Chunks))
		}
		if folded {
			row = append([]string{units.Count(int64(len(g.Members)))}, row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// failed says why arrays could not be opened, which have no columns.
func (c *Contents) failed() (lines []string) {
	for _, m := range c.Arrays {
		if m.Info == nil {
			lines = append(lines, "  "+names.Clip(m.Error))
		}
	}
	return lines
}

// missing names arrays with chunks that are not stored, the first ones of many.
func (c *Contents) missing() (lines []string) {
	const most = 10
	more := 0
	for _, m := range c.Arrays {
		switch {
		case m.Info == nil || m.Listing == nil || m.Listing.Missing == 0:
		case len(lines) < most:
			lines = append(lines, "  "+names.Clip(m.Name)+": "+m.Notes[len(m.Notes)-1])
		default:
			more++
		}
	}
	if more > 0 {
		lines = append(lines, "  and "+counted(int64(more))+" more with chunks that are not stored: --json has each")
	}
	return lines
}

// together returns what the arrays of each type have together.
func (c *Contents) together() (lines []string) {
	for _, t := range c.Totals {
		lines = append(lines, fmt.Sprintf("%s of %s: %s", counted(t.Arrays), t.DType, units.Exact(t.Bytes)))
	}
	return lines
}

// grouped puts arrays that are alike but for numbers in their names in one line each, where they are many and
// not listed one by one.
func grouped(rows []Member, listed bool) []names.Group {
	const few = 40
	all := make([]string, len(rows))
	for i, m := range rows {
		all[i] = m.Name
	}
	return names.Fold(all, func(i int) string {
		if len(rows) <= few || listed {
			return strconv.Itoa(i) // each by itself
		}
		m := rows[i].Info
		return fmt.Sprint(m.Shape, m.DType, m.Chunks, m.Codec)
	})
}

// counted writes a number of arrays.
func counted(n int64) string {
	if n == 1 {
		return "1 array"
	}
	return units.Count(n) + " arrays"
}
