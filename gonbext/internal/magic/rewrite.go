package magic

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
)

// rewriting is one cell on its way to Go.
type rewriting struct {
	relay.Cell
	session   *Session
	lines     []line
	main      *position // where the program of a cell of statements begins; nil for all others
	began     bool      // main is generated
	uses      string    // what uses its variables
	carrying  carrying
	globals   []string // variables of the cell that its functions need
	source    source
	scope     *scope // what names mean outside of functions
	layer     layer
	inherited inherited
	nominal   *nominal // nil where cells run
	notebook  string
	api       func() []callable
	called    func(in string) []callable // those of a package or a type
	program   string                     // the command that starts main, or ""
	imports   string                     // that the generated text needs
	shows     bool                       // the last line of a cell without a magic of ours is shown
	faced     bool                       // by package gonbext
	helped    bool                       // help was asked for in the place of a program, which then does not run
}

// programs are GoNB's own commands that make a cell a program or a test.
var programs = []string{"%%", "%main", "%exec", "%test", "%wasm"}

// mains are those that begin a func main each. A second one ends GoNB itself, in a cell and
// where a Tab or Shift-Tab comes with it.
var mains = []string{"%%", "%main", "%exec"}

// bareExec reports an %exec without its function, which GoNB, splitting at a space, does
// not survive either.
func bareExec(c special) bool {
	return c.name() == "%exec" && (len(c.args) < 2 || !strings.Contains(c.text, " "))
}

// rewrite puts Go in the place of a magic, or an empty line where it has none.
// GoNB's own commands stay.
func (r *rewriting) rewrite(c special) error {
	if m := asksHelp(c); m != nil {
		r.explain(m.help(), m.markdown())
		r.helped = r.helped || m.function != ""
		r.replace(c, "")
		return nil
	}
	m := find(c.name())
	startsMain := m != nil && m.function != "" || slices.Contains(programs, c.name())
	second := slices.Contains(mains, r.program) && slices.Contains(mains, c.name())
	if startsMain && r.program != "" && (second || m != nil || find(r.program) != nil) {
		return fmt.Errorf("%s stands in this cell too, and a cell has one of them", r.program)
	}
	if startsMain && !slices.Contains(mains, r.program) {
		r.program = c.name()
	}
	if bareExec(c) {
		return errors.New("it takes the name of a function, as in %exec f")
	}
	if m == nil {
		switch {
		case readForms().magics[c.name()] != nil: // a command of the shell's
			f := readForms().magics[c.name()]
			r.explain(f.says+": "+f.to, f.says+": `"+f.to+"`")
		case c.name() == "%rm" || c.name() == "%remove":
			r.forget(c)
		case c.name() != "%%" && c.name() != "%main":
		case len(c.args) == 1 && r.source.body != nil:
			r.begin(position{line: c.at})
		default: // GoNB gives the program arguments
			r.showLast("gonbext")
		}
		return nil
	}
	if c.open {
		return errors.New(`a quote is not closed; within quotes, \" is a quote`)
	}
	given, operands, err := parseFlags(c.args[1:], m.flags)
	if err != nil {
		return err
	}
	code := ""
	if m.function != "" {
		code, err = r.start(m, c.at, given, operands)
	} else {
		err = r.show(m, given, operands)
	}
	if err != nil {
		return err
	}
	r.replace(c, code)
	return nil
}

// replace puts Go in the place of a command.
func (r *rewriting) replace(c special, code string) {
	r.lines[c.at] = line{text: code, kind: goLine}
	for i := c.at + 1; i < len(r.lines) && r.lines[i].kind == continuation; i++ {
		r.lines[i] = line{kind: goLine}
	}
}

// asksHelp is the magic that a command asks for help on: %%memory --help,
// %%memory -h, %%memory? or ?%%memory. It is nil for all other commands.
func asksHelp(c special) *magic {
	name := strings.TrimPrefix(strings.TrimSuffix(c.name(), "?"), "?")
	m := find(name)
	if m == nil {
		return nil
	}
	asks := func(word string) bool { return word == "--help" || word == "-h" || word == "?" }
	if name != c.name() || slices.ContainsFunc(c.args[1:], asks) {
		return m
	}
	return nil
}

// start generates the beginning of main.
func (r *rewriting) start(m *magic, at int, given []setting, operands []string) (string, error) {
	if len(operands) > 0 {
		return "", stray(operands[0])
	}
	all := tokens(r.lines)
	above := slices.IndexFunc(all, func(t goToken) bool { return t.line >= at })
	if above < 0 {
		above = len(all)
	}
	if open := unbalanced(all[:above]); open != nil && closing[open.Token] != 0 {
		return "", fmt.Errorf("line %d opens a bracket that is not closed above it: it stands below declarations, not within one", open.line+1)
	}
	if what, line, found := misplaced(all, at); found {
		if what == "func main" {
			return "", fmt.Errorf("line %d has func main, and it makes one of the lines below it: move the statements there, without the func", line+1)
		}
		return "", fmt.Errorf("line %d has %s, but it makes the lines below it a func main: imports and other functions go above it", line+1, what)
	}
	given = r.inherit(given)
	function := m.function
	if r.nominal != nil {
		function = "Footprint"
		given = r.nominal.settings(given)
	}
	for _, s := range given {
		if s.name == chartFlag.name {
			r.Chart = s.value
		}
	}
	r.Watch, r.Plain = true, function == "Time"
	imports, face := readNames(all).imports()
	r.imports = imports + cloud(all)
	r.last(face)
	return r.opening(face, function, at+1, given), nil
}

// begin generates the beginning of main in a cell of statements, and in one of GoNB's own,
// whose command stands there. What computes arrays, or shows a value, has the kernel say what
// it saved.
func (r *rewriting) begin(at position) {
	all := tokens(r.lines)
	n := readNames(all)
	imports, face := n.imports()
	r.showLast(face)
	arrays := r.faced
	for name := range n.qualifies {
		arrays = arrays || !n.binds[name] && r.scope.packageOf(ast.NewIdent(name)) != ""
	}
	function := ""
	if arrays = arrays && r.nominal == nil && r.scope.packageOf(ast.NewIdent("gonbext")) != ""; arrays {
		function, r.Watch, r.Plain = "Plain", true, true
		r.imports = imports + cloud(all)
	}
	line := at.line + 1
	if r.Lines > 0 {
		line -= r.Lines
	}
	if names := r.source.locals(); r.main != nil && names != nil { // which Go would reject where nothing uses them
		r.uses = strings.Repeat("_, ", len(names)-1) + "_ = " + strings.Join(names, ", ")
	}
	first := &r.lines[at.line]
	if r.main == nil && !arrays && r.keep() == "" && r.displays() == "" {
		return // to GoNB
	}
	if r.main == nil {
		first.text, first.kind = "", goLine
	}
	first.text = first.text[:at.column] + r.opening(face, function, line, r.inherit(nil)) + first.text[at.column:]
}

// inherit adds the session's settings where the cell has none of its own.
func (r *rewriting) inherit(given []setting) []setting {
	for _, s := range []setting{{budgetFlag, r.inherited.budget}, {deviceFlag, r.inherited.device}} {
		own := slices.ContainsFunc(given, func(g setting) bool { return g.name == s.name })
		if s.value != "" && !own {
			given = append(given, s)
		}
	}
	return given
}

func stray(word string) error {
	if checkSize(word) == nil {
		return fmt.Errorf("%s is not a flag, did you mean --budget %s?", word, word)
	}
	return fmt.Errorf("%q is not a flag, did you mean %s?", word, nearest("--"+word, flagNames(runFlags)))
}

// text joins the cell again. Imports have to precede all other Go, so they
// share the first line that GoNB takes as Go: it drops its commands and package
// clauses.
func (r *rewriting) text() string {
	texts := make([]string, len(r.lines), len(r.lines)+1)
	imports := r.imports + r.carrying.imports
	if r.began && (r.keep() != "" || r.carrying.load != "") {
		imports += fmt.Sprintf("import %s %q; ", r.carrying.name, carryPath)
	}
	for i, l := range r.lines {
		texts[i] = l.text
		if l.kind == insideLine && isSpecial(l.text) {
			texts[i] = hide(l)
		}
		if l.isGo() {
			texts[i] = imports + l.text
			imports = ""
		}
	}
	if r.began {
		texts = append(texts, cmp.Or(r.keep(), r.uses)+ending)
	}
	if r.carrying.global != "" {
		texts[len(texts)-1] += r.carrying.global
	}
	return strings.Join(texts, "\n")
}

// hide keeps GoNB, which does not look for strings and comments, from taking a
// line within one for a command.
func hide(l line) string {
	if l.inString {
		return "`+`" + l.text
	}
	return " " + l.text
}
