package magic

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// read notes what the cell declares and what names mean in it.
func (r *rewriting) read(specials []special, earlier *scope) {
	r.layer.id = r.ID
	for _, c := range specials {
		r.layer.command(c)
	}
	r.layer.applyTo(earlier.names)
	r.source = parseSource(r.lines, specials, r.main)
	r.scope = &scope{names: map[string]meaning{}, outer: earlier}
	for _, d := range r.source.declarations { // which stand in any order
		if _, ok := d.(*ast.FuncDecl); ok {
			r.scope.declare(d)
		}
	}
	for _, d := range r.source.declarations {
		if _, ok := d.(*ast.GenDecl); ok {
			r.scope.declare(d)
		}
	}
	delete(r.scope.names, "main")
	r.layer.names = r.scope.names
}

// layer is what a cell changes of the declarations that GoNB keeps.
type layer struct {
	id      string
	reset   bool     // by %reset
	removed []string // by %rm
	names   map[string]meaning
}

// command notes what a command of GoNB's takes away.
func (l *layer) command(c special) {
	switch name := c.name(); {
	case name == "%reset" && len(c.args) == 1:
		l.reset = true
	case name == "%rm" || name == "%remove":
		for _, key := range c.args[1:] {
			l.removed = append(l.removed, strings.Replace(key, "~", ".", 1))
		}
	}
}

func (l *layer) applyTo(names map[string]meaning) {
	if l.reset {
		clear(names)
	}
	for _, name := range l.removed {
		delete(names, name)
	}
	maps.Copy(names, l.names)
}

// declared returns what the cells before the next one declare. A cell that waits for its turn
// may not compile, and a name then means what it did: it is not certain where a call of the
// one would have another number of values than a call of the other.
func (s *Session) declared() *scope {
	names := maps.Clone(s.kept)
	for _, l := range s.waiting {
		before := maps.Clone(names)
		l.applyTo(names)
		for name, m := range l.names {
			if b, ok := before[name]; ok && (values(b) != values(m) || b.path != m.path) {
				names[name] = meaning{}
			}
		}
	}
	return &scope{names: names, module: s.api}
}

// values is how many values a call of a function has; -1 for what is no function.
func values(m meaning) int {
	if f, ok := m.typ.(*ast.FuncType); ok {
		return f.Results.NumFields()
	}
	return -1
}

// wait keeps what a cell changes until it is known whether the cell compiles, and reports
// whether there is any.
func (s *Session) wait(l layer) bool {
	changes := l.reset || len(l.removed)+len(l.names) > 0
	if changes {
		s.waiting = append(s.waiting, l)
	}
	return changes
}

// Compiled says whether a cell did: GoNB keeps what it declares only then.
func (s *Session) Compiled(id string, ok bool) {
	i := slices.IndexFunc(s.waiting, func(l layer) bool { return l.id == id })
	if i < 0 {
		return
	}
	l := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	if !ok {
		l.names = nil
	}
	l.applyTo(s.kept)
}
