package magic

import (
	"go/ast"
	"go/token"
	"maps"
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
	// Of what is carried: the functions of cells, and the variables of main.
	functions map[string]function
	locals    []string
	globals   []string // of locals, those that functions need, which GoNB has
	runs      bool     // main
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

// declared returns what the cells before the next one declare, one that runs among them.
func (s *Session) declared() *scope {
	names := maps.Clone(s.kept)
	for name, v := range s.carried {
		names[name] = meaning{kind: token.VAR, typ: v.expr}
	}
	s.running.applyTo(names)
	return &scope{names: names, module: s.api}
}

// wait keeps what a cell changes until it is known whether the cell compiles, and reports
// whether there is any.
func (s *Session) wait(l layer) bool {
	s.running = l
	return l.reset || len(l.removed)+len(l.names) > 0 || l.runs
}

// Compiled says whether a cell did: GoNB keeps what it declares only then.
func (s *Session) Compiled(id string, count int64, ok bool) {
	l := s.running
	if l.id != id {
		return
	}
	s.running = layer{}
	if !ok {
		l.names, l.functions, l.locals, l.globals = nil, nil, nil, nil
	}
	l.applyTo(s.kept)
	s.ended(l, count)
}
