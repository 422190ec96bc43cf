package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/op"
)

// nameAxes puts the axis's number in the place of each text that is the name of a dimension
// of the first argument, where the function takes axes. A word of the function's usage, such
// as "keepdims", stays what it is.
func nameAxes(c *op.Call) {
	if !takesAxes(c.Operation) || len(c.Values) == 0 || c.Values[0].Node == nil {
		return
	}
	if c.Names = c.Values[0].Node.DimNames(); c.Names == nil {
		return
	}
	for i, v := range c.Values[1:] {
		if i+1 < len(c.Params) && c.Params[i+1].Kind == op.Any {
			continue // which may be text
		}
		if v.Text != nil && !isOption(c, *v.Text) && occurrences(c.Names, *v.Text) == 1 {
			c.Values[1+i] = value{Number: int64(slices.Index(c.Names, *v.Text))}
		}
	}
}

// takesAxes reports whether arguments of an operation are axes.
func takesAxes(o *op.Operation) bool {
	return strings.Contains(strings.TrimPrefix(o.Usage, o.Name), "ax")
}

func isOption(c *op.Call, text string) bool { return strings.Contains(c.Usage, `"`+text+`"`) }

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
func explainNames(err error, c *op.Call, values []value) {
	e, ok := errors.AsType[*Error](err)
	if c.Names == nil || !ok {
		return
	}
	for _, v := range values[1:] {
		if v.Text == nil || isOption(c, *v.Text) || strings.Contains(*v.Text, "=") {
			continue
		}
		if occurrences(c.Names, *v.Text) > 1 {
			e.Reason += fmt.Sprintf("; %q names several dimensions", *v.Text)
		} else {
			e.Reason += fmt.Sprintf("; %q is not found in the dimensions %q", *v.Text, c.Names)
		}
	}
}
