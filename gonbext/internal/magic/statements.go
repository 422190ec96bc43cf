package magic

import (
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
)

// item is a declaration or a statement outside of all brackets of a cell.
type item struct {
	tokens     []goToken
	start, end position
	statement  bool
}

// items are what a cell has outside of all brackets, in its order.
func items(all []goToken) (list []item) {
	var one item
	for _, t := range all {
		end := t.Token == token.SEMICOLON && t.depth == 0
		if !end {
			one.tokens = append(one.tokens, t)
		}
		if end && len(one.tokens) > 0 {
			if one = one.read(); t.text == ";" {
				one.end = t.end()
			}
			list = append(list, one)
			one = item{}
		}
	}
	if len(one.tokens) > 0 {
		list = append(list, one.read())
	}
	return list
}

func (m item) read() item {
	last := m.tokens[len(m.tokens)-1]
	m.start, m.end = m.tokens[0].position, last.end()
	switch m.tokens[0].Token {
	case token.IMPORT, token.TYPE, token.CONST, token.VAR:
	case token.FUNC:
		m.statement = declared(m.tokens[1:]) == ""
	default:
		m.statement = true
	}
	return m
}

// declares are the names that a variable outside of functions declares.
func (m item) declares() (names []string) {
	depth := m.tokens[0].depth
	group := len(m.tokens) > 1 && m.tokens[1].Token == token.LPAREN
	if group {
		depth++
	}
	listing := true
	for i, t := range m.tokens[1:] {
		switch {
		case t.depth != depth:
		case t.Token == token.SEMICOLON:
			listing = true
		case t.Token == token.IDENT && listing:
			names = append(names, t.text)
			listing = m.tokens[1:][min(i+1, len(m.tokens)-2)].Token == token.COMMA
		}
	}
	return names
}

// mentions reports a name that an item has.
func (m item) mentions(names []string) bool {
	return slices.ContainsFunc(m.tokens, func(t goToken) bool { return t.Token == token.IDENT && slices.Contains(names, t.text) })
}

// statements are a cell's items, and the index of the first statement where no command and no
// func main makes the cell a program; else that is -1.
func statements(lines []line, specials []special) (all []item, first int) {
	all = items(tokens(lines))
	if slices.ContainsFunc(specials, func(c special) bool { return slices.Contains(programs, c.name()) || beginsMain(c) }) || slices.ContainsFunc(all, item.isMain) {
		return all, -1
	}
	return all, slices.IndexFunc(all, func(m item) bool { return m.statement })
}

// bare makes a cell of statements a program: main begins before the first of them. Variables are statements then,
// unless a function of the cell needs them. Declarations stay what they are, and stay in their place where none comes
// after a statement. Else the lines come twice, first the declarations and then, each as many lines below itself as
// the cell has, the statements. It returns where main begins.
func (r *rewriting) bare(specials []special) (main position, ok bool) {
	all, first := statements(r.lines, specials)
	if first < 0 {
		return main, false
	}
	for i := range all {
		m := &all[i]
		if m.tokens[0].Token != token.VAR {
			continue
		}
		needed := slices.ContainsFunc(all, func(f item) bool {
			return f.tokens[0].Token == token.FUNC && !f.statement && f.mentions(m.declares())
		})
		if m.statement = !needed; needed {
			r.layer.locals = append(r.layer.locals, m.declares()...)
		}
	}
	first = slices.IndexFunc(all, func(m item) bool { return m.statement })
	main = all[first].start
	twice := slices.ContainsFunc(all[first:], func(m item) bool { return !m.statement })
	if !twice || unbalanced(tokens(r.lines)) != nil { // which is not Go
		return main, true
	}
	n := len(r.lines)
	r.Lines = n
	below := slices.Clone(r.lines)
	for i := range below {
		if below[i].text = strings.Repeat(" ", len(below[i].text)); below[i].kind != insideLine {
			below[i].kind = goLine
		}
	}
	for _, m := range all {
		if !m.statement {
			continue
		}
		for at := m.start.line; at <= min(m.end.line, n-1); at++ { // a string that is not closed goes on
			from, to := 0, len(below[at].text)
			if at == m.end.line {
				to = min(to, m.end.column)
			}
			if at == m.start.line {
				from = min(to, m.start.column)
			}
			here, there := r.lines[at].text, below[at].text
			r.lines[at].text = here[:from] + there[from:to] + here[to:]
			below[at].text = there[:from] + here[from:to] + there[to:]
		}
	}
	r.lines = append(r.lines, below...)
	return position{main.line + n, main.column}, true
}

func (m item) isMain() bool {
	return len(m.tokens) > 1 && m.tokens[0].Token == token.FUNC && m.tokens[1].text == "main"
}

// locals are the variables of main's own block.
func (s source) locals() (names []string) {
	add := func(e ast.Expr) {
		if n, ok := e.(*ast.Ident); ok && n.Name != "_" && !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	for _, statement := range s.body {
		for label, ok := statement.(*ast.LabeledStmt); ok; label, ok = statement.(*ast.LabeledStmt) {
			statement = label.Stmt
		}
		switch statement := statement.(type) {
		case *ast.AssignStmt:
			if statement.Tok == token.DEFINE {
				for _, e := range statement.Lhs {
					add(e)
				}
			}
		case *ast.DeclStmt:
			d, _ := statement.Decl.(*ast.GenDecl)
			if d == nil || d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				for _, n := range spec.(*ast.ValueSpec).Names {
					add(n)
				}
			}
		}
	}
	return names
}

// fault is an error at a place of the cell, by its own lines.
func (r *rewriting) fault(at position, text string) error {
	if r.Lines > 0 && at.line >= r.Lines {
		at.line -= r.Lines
	}
	return relay.Faults{{Line: at.line + 1, Column: at.column + 1, Text: text}}
}

// syntaxError is what is wrong with a cell that is not Go, or has C, by its own lines; nil where nothing is.
func (r *rewriting) syntaxError() error {
	for _, d := range r.source.declarations {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, spec := range g.Specs {
				if i, ok := spec.(*ast.ImportSpec); ok && i.Path.Value == `"C"` {
					return r.fault(r.source.place(i.Path.Pos()), "GoNB drops the comment above an import, and import \"C\" finds no C code without it: put the code into a package of a Go module, and import that below %env CGO_ENABLED 1")
				}
			}
		}
	}
	var list scanner.ErrorList
	if !errors.As(r.source.err, &list) || len(list) == 0 {
		return r.source.err
	}
	all := tokens(r.lines)
	at := r.source.own(position{list[0].Pos.Line - 2, list[0].Pos.Column - 1})
	whole := items(all)
	first := slices.IndexFunc(whole, func(m item) bool { return m.statement })
	switch t := unbalanced(all); {
	case strings.Contains(list[0].Msg, "not terminated"):
	case t != nil && closing[t.Token] != 0:
		return r.fault(t.position, fmt.Sprintf("syntax error: %s is not closed", t.Token))
	case t != nil:
		return r.fault(t.position, fmt.Sprintf("syntax error: %s closes nothing", t.Token))
	case r.main == nil && r.program == "" && first >= 0 && slices.ContainsFunc(whole, item.isMain):
		return r.fault(whole[first].start, "a statement beside func main: move it there, or leave func main out, which a cell of statements needs none of")
	case at.line >= len(r.lines): // in what follows the cell's own
		at = all[len(all)-1].position
	}
	return r.fault(at, "syntax error: "+list[0].Msg)
}

// closing are the brackets that close others.
var closing = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

// unbalanced is the first bracket that closes none, or that is not closed; nil where all are.
func unbalanced(all []goToken) *goToken {
	var open []*goToken
	for i := range all {
		t := &all[i]
		switch t.Token {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			open = append(open, t)
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(open) == 0 {
				return t
			}
			if last := open[len(open)-1]; closing[last.Token] != t.Token {
				return last
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}
