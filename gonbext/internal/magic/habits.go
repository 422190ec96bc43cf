package magic

import (
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
)

// pythonLine is a statement of a cell, with what it is in Go.
type pythonLine struct {
	first, last int      // lines of the cell
	indent      string   // as it is written
	own, text   string   // as it is written, and in Go
	block       bool     // one begins behind it, indented
	example     string   // in place of text, where the form knows no more
	changed     []*piece // that a form has written; none where it is Go
}

// python reads a cell as statements of Python's or Go's, one after another. Names have the types that scope knows, and
// those that the compiler tells of.
func (s *Session) python(code, fault string) (all []*pythonLine, names *scope) {
	lines, _ := readCell(asGoText(code))
	names = &scope{names: map[string]meaning{}, outer: s.declared(), local: true}
	for _, m := range regexp.MustCompile(`(\w+) \(variable of (?:\w+ )?type ([^()]+)\)`).FindAllStringSubmatch(fault, -1) {
		if e, err := parser.ParseExpr(m[2]); err == nil {
			names.names[m[1]] = meaning{kind: token.VAR, typ: e}
		}
	}
	given, rest := strings.Split(code, "\n"), slices.DeleteFunc(tokens(lines), func(t goToken) bool { return t.text == "\n" })
	for at := 0; at < len(lines); at++ {
		n, first := 0, at
		for n < len(rest) && (rest[n].line <= at || n > 0 && unfinished(rest[:n])) {
			at = min(max(at, rest[n].end().line), len(lines)-1)
			n++
		}
		run := rest[:n]
		rest = rest[n:]
		own, as := strings.Join(given[first:at+1], "\n"), ""
		for _, l := range lines[first : at+1] {
			as += "\n" + l.text
		}
		l := &pythonLine{first: first, last: at, indent: own[:len(own)-len(strings.TrimLeft(own, " \t"))], own: strings.TrimSpace(own), text: strings.TrimSpace(as)}
		if n > 0 && n <= tokensMost {
			w := &writer{forms: readForms(), session: s, scope: names, lines: lines, known: map[span]*piece{}}
			w.runes = strings.Contains(fault, "rune") || !looksLikeGo.MatchString(code)
			p := w.statement(run)
			l.changed, l.block = p.changed(), wordOf(run[n-1]) == ":" && p.form != nil
			if l.changed != nil {
				l.text = p.text
			}
		}
		if l.changed == nil && l.text != l.own && lines[first].kind == goLine {
			l.changed = []*piece{{form: readForms().special[map[bool]string{true: "comments", false: "texts"}[strings.Contains(l.own, "#")]]}}
		}
		if i := slices.IndexFunc(l.changed, func(p *piece) bool { return p.example != "" }); i >= 0 {
			l.example, l.changed = l.changed[i].example, l.changed[i:]
		}
		names.learn(l.text)
		if n > 0 || l.changed != nil {
			all = append(all, l)
		}
	}
	return all, names
}

// tokensMost are those of a statement that is read: a longer one is a table of numbers.
const tokensMost = 120

// looksLikeGo is what is in no cell of Python's, in which a letter between single quotes is a text.
var looksLikeGo = regexp.MustCompile(`(?m):=|\b(func|var|type|switch|case) |[;{]\s*$`)

// unfinished reports whether a statement goes on in the next line: a bracket is open that begins no block, or an operator
// ends the line.
func unfinished(run []goToken) bool {
	open, last := unbalanced(run), &run[len(run)-1]
	if open != nil && (open.Token == token.LPAREN || open.Token == token.LBRACK || open.Token == token.LBRACE && open != last) {
		return true
	}
	return wordOf(*last) == `\` || len(wordOf(*last)) == 1 && strings.Contains(",.+-*/%&|^=", wordOf(*last)) && run[0].text != "from"
}

// statement is a whole statement in Go.
func (w *writer) statement(run []goToken) *piece {
	p := &piece{start: run[0].position, end: run[len(run)-1].end(), text: w.source(run)}
	if !w.apply(w.statements, run, p) {
		return w.write(run)
	}
	return p
}

// asGo is a statement or a declaration of Go's, or the beginning of one with a block; nil where text is none.
func asGo(text string) *ast.File {
	for _, around := range [][2]string{{"func _() {\n", "\n}"}, {"func _() {\n", "\n}}"}, {"", ""}, {"", "}"}} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+around[0]+text+around[1], parser.SkipObjectResolution)
		if err == nil {
			return f
		}
	}
	return nil
}

// learn notes what a statement of Go's declares.
func (s *scope) learn(text string) {
	file := asGo(text)
	if file == nil {
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name != "_" {
				s.declare(n)
			}
		case *ast.Field:
			for _, name := range n.Names {
				s.names[name.Name] = meaning{kind: token.VAR, typ: n.Type}
			}
		case *ast.RangeStmt:
			for i, e := range []ast.Expr{n.Key, n.Value} {
				if name, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					m := meaning{kind: token.VAR}
					if t, ok := s.typeOf(n.X).(*ast.ArrayType); ok && i == 1 {
						m.typ = t.Elt
					}
					s.names[name.Name] = m
				}
			}
		case ast.Stmt:
			s.run(n)
		case *ast.GenDecl:
			s.declare(n)
		}
		return true
	})
}

// says is the sentence on a line that is Python, with the Go that does the same.
func (l *pythonLine) says() string {
	says := l.changed[0].form.says
	if inner := slices.IndexFunc(l.changed, func(p *piece) bool { return p.form.says != says }); inner > 0 && l.example == "" && slices.Contains(readForms().statements, l.changed[0].form) {
		says += ", and " + l.changed[inner].form.says
	}
	if text := cmp.Or(l.example, l.text); text != "" {
		says += ": " + text
	}
	return says
}

// explainPython is the sentence for a line of a cell where the compiler has found a fault; "" where that is none of Python's.
func (s *Session) explainPython(code string, line, column int, fault string) string {
	all, names := s.python(code, fault)
	for _, l := range all {
		if line-1 < l.first || line-1 > l.last || l.changed == nil {
			continue
		}
		at := position{line - 1, column - 1}
		name, undefined := strings.CutPrefix(fault, "undefined: ")
		mentioned := regexp.MustCompile(`(^|[^.\w])` + regexp.QuoteMeta(name) + `\b(\s*(,[^=]*)?:=)?`).FindStringSubmatch(cmp.Or(l.example, l.text))
		within := func(p *piece) bool { return p.start.before(at) && at.before(p.end) }
		_, known := names.find(name)
		switch {
		case undefined && (mentioned == nil || mentioned[2] != ""):
		case undefined && known == nil:
			continue
		case column == 0 || slices.ContainsFunc(l.changed, within):
		default:
			continue
		}
		return l.says()
	}
	return ""
}

// before reports whether a place is not behind another.
func (p position) before(q position) bool {
	return p.line < q.line || p.line == q.line && p.column <= q.column
}

// inGo is what is wrong with a cell that is not Go, said of Python where it is that.
func (s *Session) inGo(code string, bad error) error {
	faults, ok := errors.AsType[relay.Faults](bad)
	if !ok {
		return bad
	}
	all, _ := s.python(code, "")
	text, whole := written(code, all)
	whole = whole && s.isGo(text)
	var blamed *pythonLine
	count := 0
	for _, l := range all {
		if l.changed == nil {
			continue
		}
		count++
		at := faults[0].Line - 1
		here := at >= l.first && at <= l.last
		if asGo(l.own) == nil && (whole && (here || blamed == nil) || here && (l.example != "" || asGo(l.text) != nil)) {
			blamed = l
		}
	}
	if blamed == nil {
		return bad
	}
	f := relay.Fault{Line: blamed.first + 1, Column: len(blamed.indent) + 1, Text: blamed.says()}
	if whole && (count > 1 || blamed.block) {
		f.Hint = "The cell in Go:\n    " + strings.ReplaceAll(text, "\n", "\n    ")
	}
	return relay.Faults{f}
}

// written is a cell in Go, with braces around what Python indents; whole where each line of it is known.
func written(code string, all []*pythonLine) (text string, whole bool) {
	var lines, open []string // the indents of blocks
	source, next := strings.Split(code, "\n"), 0
	whole = true
	for _, l := range all {
		between := source[next:max(next, l.first)]
		next = l.last + 1
		for len(open) > 0 && len(l.indent) <= len(open[len(open)-1]) {
			if indent := open[len(open)-1]; !strings.HasPrefix(l.text, "} else") || len(l.indent) < len(indent) {
				lines = append(lines, indent+"}")
			}
			open = open[:len(open)-1]
		}
		lines = append(lines, between...)
		whole = whole && l.example == ""
		if l.text == "" {
			continue
		}
		if l.block {
			open = append(open, l.indent)
		}
		lines = append(lines, l.indent+l.text)
	}
	for _, indent := range slices.Backward(open) {
		lines = append(lines, indent+"}")
	}
	text = strings.Trim(strings.Join(append(lines, source[min(next, len(source)):]...), "\n"), "\n")
	return pythonFunction.ReplaceAllStringFunc(text, func(f string) string {
		if strings.Contains(f, "return ") {
			return f
		}
		return strings.Replace(f, ") float64 {", ") {", 1)
	}), whole
}

// pythonFunction is one with its block.
var pythonFunction = regexp.MustCompile(`(?m)^func .* float64 \{\n([ \t].*\n|\n)*\}`)

// isGo reports whether a cell parses.
func (s *Session) isGo(code string) bool {
	lines, specials := readCell(code)
	r := &rewriting{session: s, lines: lines}
	if main, ok := r.bare(specials); ok {
		r.main = &main
	}
	return parseSource(r.lines, specials, r.main).err == nil
}

// asGoText has comments and long texts of Python's as Go's scanner takes them, each line in its place.
func asGoText(code string) string {
	return pythonText.ReplaceAllStringFunc(code, func(text string) string {
		switch {
		case strings.HasPrefix(text, "#"):
			return "//" + text[1:]
		case len(text) > 5 && (text[:3] == `"""` || text[:3] == "'''"):
			return "`" + strings.ReplaceAll(text[3:len(text)-3], "`", "'") + "`"
		}
		return text
	})
}

// pythonText are texts and comments, of Go's too.
var pythonText = regexp.MustCompile("(?s:\"\"\".*?\"\"\"|'''.*?'''|`[^`]*`)|\"(\\\\.|[^\"\\\\\n])*\"|'(\\\\.|[^'\\\\\n])*'|(//|#).*")
