package magic

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gonbext/gonbext/oocore/units"
)

// who lists the variables that are carried from cell to cell.
func (r *rewriting) who(operands []string, s *Session, whole bool) error {
	if len(operands) > 0 {
		return fmt.Errorf("it takes no words, and got %q", operands[0])
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.carried)) {
		if s.carried[name].section != nil {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
		r.say("No values are carried over yet: what a cell of statements declares at its top is there in later cells.")
		return nil
	case !whole:
		r.say(strings.Join(names, "   "))
		return nil
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Name\tType\tShape\tBytes\tFrom")
	for _, name := range names {
		v := s.carried[name]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", name, plainType(v.typ), v.size, units.Bytes(v.bytes), v.cell)
	}
	_ = w.Flush() // to memory
	r.say(strings.TrimSuffix(text.String(), "\n"))
	return nil
}
