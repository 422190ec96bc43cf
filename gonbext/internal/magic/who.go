package magic

import (
	"fmt"
	"go/token"
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

// explainCarried says what is known of a name, where that is a variable of an earlier cell.
func (s *Session) explainCarried(name string, names *scope) (text, markdown string) {
	v := s.carried[name]
	if _, at := names.find(name); at == nil || at.outer != nil || v.section == nil {
		return "", ""
	}
	declared, from := fmt.Sprintf("var %s %s", name, plainType(v.typ)), "of "+v.cell
	for _, more := range []string{v.size, units.Bytes(v.bytes)} {
		if more != "" {
			from += ", " + more
		}
	}
	return declared + "\n\n" + from, "```go\n" + declared + "\n```\n" + from
}

// declareCarried declares the variables of earlier cells that a text mentions, for gopls. Below imports it would not be Go.
func (s *Session) declareCarried(all []goToken) string {
	if slices.ContainsFunc(all, func(t goToken) bool { return t.Token == token.IMPORT }) {
		return ""
	}
	var imports, variables string
	named := func(path string) string {
		if one := fmt.Sprintf("import %s %q; ", packageName(path), path); !strings.Contains(imports, one) {
			imports += one
		}
		return packageName(path)
	}
	done := map[string]bool{}
	for _, t := range all {
		if v := s.carried[t.text]; t.Token == token.IDENT && v.section != nil && !done[t.text] {
			done[t.text] = true
			variables += fmt.Sprintf("var %s %s; ", t.text, inGo(v.typ, named))
		}
	}
	if variables == "" {
		return ""
	}
	return imports + variables + "\n"
}
