package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// nameAxes puts the axis's number in the place of each text that is the name of a dimension
// of the first argument, where the function takes axes. A word of the function's usage, such
// as "keepdims", stays what it is.
func (c *call) nameAxes() {
	names := c.dimNames()
	for i := 1; names != nil && i < len(c.values); i++ {
		if text := c.values[i].Text; text != nil && !c.isOption(*text) && occurrences(names, *text) == 1 {
			c.values[i] = value{Number: int64(slices.Index(names, *text))}
		}
	}
}

// dimNames are the names of the first argument's dimensions; nil where it has none, or the
// function takes no axes.
func (c *call) dimNames() []string {
	if !strings.Contains(c.f.Usage, "ax") || len(c.values) == 0 || c.values[0].Node == nil {
		return nil
	}
	return c.values[0].Node.DimNames()
}

func (c *call) isOption(text string) bool { return strings.Contains(c.f.Usage, `"`+text+`"`) }

func occurrences(names []string, name string) (n int) {
	for _, s := range names {
		if s == name && name != "" {
			n++
		}
	}
	return n
}

// explainNames adds the names that there are to an error, where a text of the arguments
// could have been meant as one.
func (c *call) explainNames(err error) {
	names := c.dimNames()
	e, ok := errors.AsType[*Error](err)
	if names == nil || !ok {
		return
	}
	for _, v := range c.values[1:] {
		if v.Text == nil || c.isOption(*v.Text) || strings.Contains(*v.Text, "=") {
			continue
		}
		if occurrences(names, *v.Text) > 1 {
			e.Reason += fmt.Sprintf("; %q names several dimensions", *v.Text)
		} else {
			e.Reason += fmt.Sprintf("; %q is not found in the dimensions %q", *v.Text, names)
		}
	}
}
