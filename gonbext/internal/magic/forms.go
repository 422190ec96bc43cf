package magic

import (
	"cmp"
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// pythonForms is the table of what people write who come from Python, and of what that is in Go. Its head says how.
//
//go:embed python.txt
var pythonForms string

// form is a row of the table.
type form struct {
	tokens   []goToken
	to, says string
}

// forms are the rows of the table.
type forms struct {
	statements, expressions []*form
	special                 map[string]*form    // what is written without a pattern, by its kind
	magics                  map[string]*form    // of IPython's, by name
	alias                   map[string][]string // other names of a name
}

var readForms = sync.OnceValue(func() *forms {
	f := &forms{special: map[string]*form{}, magics: map[string]*form{}, alias: map[string][]string{}}
	section, says := "", ""
	for row := range strings.Lines(pythonForms) {
		from, to, arrow := strings.Cut(strings.TrimSpace(row)+" ", " => ")
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		name, rest, _ := strings.Cut(from, " ")
		one := &form{tokens: lineTokens(from), to: to, says: says}
		switch {
		case from == "" || name == "#":
		case strings.HasPrefix(from, "["):
			section = from
		case name == "-":
			says = rest
		case section == "[names]":
			f.alias[name] = strings.Fields(rest)
		case section == "[magics]":
			for _, name := range strings.Fields(from) {
				f.magics[name] = one
			}
		case !arrow:
			f.special[from] = one
		case section == "[expressions]":
			f.expressions = append(f.expressions, one)
		default:
			f.statements = append(f.statements, one)
			if strings.HasSuffix(from, ":") && strings.HasSuffix(to, "{") { // the block in the same line
				f.statements = append(f.statements, &form{tokens: lineTokens(from + " $s"), to: to + " $s }", says: says})
			}
		}
	}
	return f
})

// lineTokens are those of text, without the semicolons that end lines.
func lineTokens(text string) []goToken {
	return slices.DeleteFunc(tokens([]line{{text: text}}), func(t goToken) bool { return t.text == "\n" })
}

func wordOf(t goToken) string { return cmp.Or(t.text, t.Token.String()) }

// piece is a part of a statement, with what it is in Go.
type piece struct {
	start, end position
	text       string
	example    string // where the form does not know the text
	form       *form  // that has written it; nil where it stands as it was
	parts      []*piece
}

// changed are the piece and the parts of it that a form has written, those outside first.
func (p *piece) changed() (all []*piece) {
	if p.form != nil {
		all = append(all, p)
	}
	for _, part := range p.parts {
		all = append(all, part.changed()...)
	}
	return all
}

// writer writes statements in Go.
type writer struct {
	*forms
	session *Session
	scope   *scope
	lines   []line
	runes   bool // a letter between single quotes is a text too
	known   map[span]*piece
}

type span struct{ start, end position }

func (w *writer) source(run []goToken) string {
	if len(run) == 0 {
		return ""
	}
	return textBetween(w.lines, run[0].position, run[len(run)-1].end())
}

// write is a part of a statement in Go.
func (w *writer) write(run []goToken) *piece {
	if len(run) == 0 {
		return &piece{}
	}
	p := &piece{start: run[0].position, end: run[len(run)-1].end(), text: w.source(run)}
	if known := w.known[span{p.start, p.end}]; known != nil {
		return known
	}
	w.known[span{p.start, p.end}] = p
	if !w.apply(w.expressions, run, p) && !w.writeLiteral(run, p) {
		p.text, p.parts = w.around(run)
	}
	return p
}

// apply writes by the first of some forms that fits, if any does.
func (w *writer) apply(forms []*form, run []goToken, p *piece) bool {
	for _, f := range forms {
		c := &caught{text: map[string]string{}}
		if len(f.tokens) > 2*len(run)+2 || !w.match(f.tokens, run, c, "") {
			continue
		}
		out, example := strings.CutPrefix(c.fill(f.to), "~ ")
		switch p.parts = c.parts; {
		case example:
			p.example, p.form = out, f
			p.text, _ = w.around(run)
		case out != p.text:
			p.text, p.form = out, f
		}
		return true
	}
	return false
}

// separators stand between parts, from those that bind least.
var separators = [][]string{
	{":=", "=", "+=", "-=", "*=", "/=", ";", "{", "}", "for", "if", "else", "return", "range", "case", "go", "defer", "var", "func", "switch"},
	{","}, {":"}, {"||", "or"}, {"&&", "and"}, {"!", "not"}, {"==", "!=", "<", ">", "<=", ">="}, {"|"}, {"^"}, {"&"}, {"+", "-"}, {"*", "/", "%"},
}

// split are the parts of a run between separators that stand in no brackets.
func split(run []goToken, at []string) (parts [][]goToken) {
	depth, from := 0, 0
	for i, t := range run {
		switch word := wordOf(t); {
		case word == "*" && (i > 0 && wordOf(run[i-1]) == "*" || i+1 < len(run) && wordOf(run[i+1]) == "*"): // a power
		case depth == 0 && slices.Contains(at, word):
			parts, from = append(parts, run[from:i]), i+1
		case word == "(" || word == "[" || word == "{" && at[0] != separators[0][0]:
			depth++
		case word == ")" || word == "]" || word == "}" && at[0] != separators[0][0]:
			depth--
		}
	}
	return append(parts, run[from:])
}

// around is what no form writes, with the parts of it in Go.
func (w *writer) around(run []goToken) (text string, parts []*piece) {
	add := func(part []goToken) {
		if len(part) > 0 && len(part) < len(run) {
			parts = append(parts, w.write(part))
		}
	}
	last := len(run) - 1
	all := [][]goToken{run}
	for i := 0; i < len(separators) && len(all) == 1; i++ {
		all = split(run, separators[i])
	}
	opens := opening(run)
	switch {
	case len(all) > 1:
		for _, part := range all {
			add(part)
		}
	case opens >= 0:
		add(run[:opens])
		add(run[opens+1 : last])
	case last > 1 && wordOf(run[last-1]) == ".":
		add(run[:last-1])
	}
	at := run[0].position
	for _, p := range parts {
		text += textBetween(w.lines, at, p.start) + p.text
		at = p.end
	}
	return text + textBetween(w.lines, at, run[last].end()), parts
}

// opening is where the bracket opens that closes at the end of a run, -1 where none does.
func opening(run []goToken) int {
	if last := run[len(run)-1].Token; last != token.RPAREN && last != token.RBRACK && last != token.RBRACE {
		return -1
	}
	for i := len(run) - 2; i >= 0; i-- {
		if closing[run[i].Token] != 0 && unbalanced(run[i:]) == nil {
			return i
		}
	}
	return -1
}

// caught is what a form's $names stand for.
type caught struct {
	text  map[string]string // in Go
	parts []*piece
}

var metavariable = regexp.MustCompile(`\$(\w+|\*)`)

// fill puts what is caught into a text, in brackets where an operator or a dot stands beside an operation.
func (c *caught) fill(to string) string {
	var b strings.Builder
	at, plain := 0, strings.NewReplacer("&&", "  ", "||", "  ").Replace(to)
	for _, m := range metavariable.FindAllStringSubmatchIndex(to, -1) {
		value := c.text[to[m[2]:m[3]]]
		b.WriteString(to[at:m[0]])
		before, behind := strings.TrimRight(plain[:m[0]], " "), strings.TrimLeft(plain[m[1]:], " ")
		e, _ := parser.ParseExpr(value)
		_, binary := e.(*ast.BinaryExpr)
		_, unary := e.(*ast.UnaryExpr)
		const operators = "*/%&|<>+-!"
		beside := behind != "" && strings.Contains(operators, behind[:1]) || before != "" && strings.Contains(operators, before[len(before)-1:])
		if dot := strings.HasPrefix(to[m[1]:], "."); binary && beside || dot && (binary || unary) {
			value = "(" + value + ")"
		}
		b.WriteString(value)
		at = m[1]
	}
	return strings.TrimSuffix(strings.NewReplacer(", )", ")", "(, ", "(").Replace(b.String()+to[at:]), ", ")
}

// match reports whether a run has a form's tokens, which stand behind a word of it. The longest part is caught that fits.
func (w *writer) match(pattern, run []goToken, c *caught, behind string) bool {
	if len(pattern) == 0 {
		return len(run) == 0
	}
	if isRest(pattern) && len(run) > 0 && wordOf(run[0]) == wordOf(pattern[3]) {
		return w.match(pattern[3:], run, c, "*") // there is no more
	}
	if word := wordOf(pattern[0]); word != "$" {
		if len(run) == 0 || word != wordOf(run[0]) && !slices.Contains(w.alias[word], wordOf(run[0])) {
			return false
		}
		_, own := w.scope.find(wordOf(run[0]))
		keyword := len(pattern) > 1 && wordOf(pattern[1]) == "="
		return (own == nil || behind == "." || keyword) && w.match(pattern[1:], run[1:], c, word)
	}
	name, rest := wordOf(pattern[1]), pattern[2:]
	follows := len(rest) > 0 && wordOf(rest[0]) != "$" && !isRest(rest)
	for n := len(run); n >= 0; n-- {
		if n == 0 && name != "*" || len(rest) == 0 && n < len(run) || follows && (n == len(run) || wordOf(run[n]) != wordOf(rest[0])) {
			continue
		}
		if unbalanced(run[:n]) == nil && w.match(rest, run[n:], c, name) && w.catch(name, run[:n], c) {
			return true
		}
	}
	return false
}

// isRest reports whether a pattern goes on with , $* and a bracket: further arguments, if there are any.
func isRest(pattern []goToken) bool {
	return len(pattern) > 3 && wordOf(pattern[0]) == "," && wordOf(pattern[2]) == "*"
}

// catch notes a part under a name, whose first letter says what it has to be.
func (w *writer) catch(name string, run []goToken, c *caught) bool {
	kind := name[0]
	if strings.ContainsRune("fghqr", rune(kind)) {
		c.text[name] = ""
		if len(run) == 1 && run[0].Token == token.IDENT {
			c.text[name] = w.function(kind, run[0].text)
		}
		return c.text[name] != ""
	}
	if kind != '*' && wordOf(run[0]) == "*" { // the rest of **
		return false
	}
	p := w.write(run)
	if kind == 's' {
		p = w.statement(run)
	}
	text := p.text
	e, err := parser.ParseExpr(text)
	t := w.scope.typeOf(e)
	ok := err == nil
	switch kind {
	case 's', '*':
		ok = true
	case 'p':
		_, binary := e.(*ast.BinaryExpr)
		ok = ok && !binary
	case 'a', 'b':
		ok = ok && w.scope.isArray(t)
	case 'c':
		ok = ok && w.scope.isPointer(t, collectionType)
	case 'l':
		_, ok = w.scope.underlying(t).(*ast.ArrayType)
	case 'm':
		_, ok = w.scope.underlying(t).(*ast.MapType)
	case 'n', 'v', 'u':
		_, declared := w.scope.find(text)
		ok = len(run) == 1 && run[0].Token == token.IDENT && (kind != 'u' || declared == nil && text != "_")
	case 't':
		id, _ := t.(*ast.Ident)
		ok = ok && (strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "`") || id != nil && id.Name == "string" || strings.HasPrefix(text, "fmt.Sprint"))
	case 'i':
		text, ok = w.region(run)
	case 'd':
		text, p = w.function(kind, strings.Trim(run[len(run)-1].text, `"'`)), &piece{}
		ok = text != ""
	case 'k':
		if opening(run) == 0 {
			text, ok = w.write(run[1:len(run)-1]).text, true
			text = strings.TrimSuffix(text, ",")
		}
	case 'e':
		text, ok = w.elements(run)
	}
	if c.text[name] = text; ok {
		c.parts = append(c.parts, p)
	}
	return ok
}

// function is the one of Go's that a name of Python's stands for: f a method of arrays, g a function of this module's, h
// one of package math, d a type of elements, r the method that is most alike, q the name itself; "" where there is none.
func (w *writer) function(kind byte, name string) string {
	for of, names := range w.alias {
		if kind == 'd' && slices.Contains(names, name) {
			name = of
		}
	}
	if kind == 'd' && !slices.Contains(typeNames(), name) {
		return ""
	}
	plain := strings.ReplaceAll(name, "_", "")
	in := map[byte][]string{'f': {"oocore.Array"}, 'r': {"oocore.Array"}, 'g': packages, 'h': {standardPrefix + "math"}, 'd': packages[1:2]}[kind]
	for _, dir := range in {
		dir = dir[strings.LastIndexByte(dir, '/')+1:]
		var names []string
		for _, one := range w.session.called(dir) {
			switch names = append(names, one.name); {
			case kind == 'r' || !strings.EqualFold(one.name, plain):
			case kind == 'f':
				return one.name
			default:
				return strings.TrimPrefix(dir, standardPrefix) + "." + one.name
			}
		}
		if kind == 'r' {
			return alike(plain, names, 1+len(name)/4)
		}
	}
	if kind == 'q' {
		return name
	}
	return ""
}

// region is what stands between the brackets of an array, as Slice takes it.
func (w *writer) region(run []goToken) (text string, ok bool) {
	var spec, given []string
	for _, part := range split(run, separators[1]) {
		var bounds []string
		for _, bound := range split(part, separators[2]) {
			text := w.write(bound).text
			if _, err := strconv.Atoi(strings.ReplaceAll(text, " ", "")); err != nil && text != "" && text != "..." && text != "nil" {
				e, err := parser.ParseExpr(text)
				if _, literal := e.(*ast.BasicLit); err != nil || literal || w.scope.isArray(w.scope.typeOf(e)) {
					return "", false
				}
				given, text = append(given, text), "%d"
			}
			bounds = append(bounds, text)
		}
		spec = append(spec, strings.Join(bounds, ":"))
	}
	text = strings.ReplaceAll(strconv.Quote(strings.Join(spec, ", ")), "nil", "newaxis")
	if given != nil {
		text = "fmt.Sprintf(" + strings.Join(append([]string{text}, given...), ", ") + ")"
	}
	return text, true
}

// elements are a list of numbers, or of lists of them, as FromSlice takes it.
func (w *writer) elements(run []goToken) (text string, ok bool) {
	var lengths []string
	for list := run; len(list) > 2 && opening(list) == 0; {
		all := split(list[1:len(list)-1], separators[1])
		lengths = append(lengths, strconv.Itoa(len(all)))
		list, ok = all[0], wordOf(run[0]) == "["
	}
	if text = "[]float64{" + strings.NewReplacer("[", "", "]", "").Replace(w.source(run)) + "}"; len(lengths) > 1 {
		text += ", " + strings.Join(lengths, ", ")
	}
	return text, ok
}

var (
	inBraces   = regexp.MustCompile(`\{([^{}:!]*)(?:![rs])?(?::([^{}]*))?\}`)
	formatting = regexp.MustCompile(`^[+]?\d*(\.\d+)?[dfegxs]$`)
)

// writeLiteral writes texts, lists and what stands in brackets without need.
func (w *writer) writeLiteral(run []goToken, p *piece) bool {
	own, last := p.text, len(run)-1
	if t := run[last].Token; (t == token.STRING || t == token.CHAR) && (last == 0 || last == 1 && run[0].end() == run[1].position) {
		p.text, p.form = w.quoted(own)
		return true
	}
	before := strings.TrimSpace(w.lines[p.start.line].text[:p.start.column])
	value := before == "" || strings.ContainsAny(before[len(before)-1:], "=(,[{:") || strings.HasSuffix(before, "return")
	if opening(run) != 0 || !value && wordOf(run[0]) != "(" {
		return false
	}
	inner := w.write(run[1:last])
	switch p.parts = []*piece{inner}; wordOf(run[0]) {
	case "(":
		e, err := parser.ParseExpr(inner.text)
		if _, binary := e.(*ast.BinaryExpr); err != nil || binary || inner.form == nil {
			return false
		}
		p.text, p.form = inner.text, inner.form
	case "[":
		p.text, p.form = "[]"+w.typeOfAll(run[1:last], 0)+"{"+inner.text+"}", w.special["lists"]
	default:
		p.text, p.form = "map["+w.typeOfAll(run[1:last], 0)+"]"+w.typeOfAll(run[1:last], 1)+"{"+inner.text+"}", w.special["lists"]
	}
	return true
}

// typeOfAll is the type that all elements of a list have, or the keys or values of a dictionary.
func (w *writer) typeOfAll(run []goToken, side int) (typ string) {
	for _, e := range split(run, separators[1]) {
		pair := split(e, separators[2])
		x, _ := parser.ParseExpr(w.write(pair[min(side, len(pair)-1)]).text)
		one := "any"
		if lit, ok := x.(*ast.BasicLit); ok {
			one = map[token.Token]string{token.INT: "int", token.FLOAT: "float64", token.STRING: "string"}[lit.Kind]
		} else if t := w.scope.typeOf(x); t != nil {
			one = types.ExprString(t)
		}
		switch numbers := typ + one; {
		case len(e) == 0:
		case typ == "" || typ == one || numbers == "intfloat64":
			typ = one
		case numbers != "float64int":
			return "any"
		}
	}
	return cmp.Or(typ, [2]string{"string", "float64"}[side])
}

// quoted is a text of Python's in Go.
func (w *writer) quoted(own string) (text string, by *form) {
	i := strings.IndexAny(own, "\"'`")
	if last := len(own) - 1; last == i || own[last] != own[i] { // it is not closed
		return own, nil
	}
	prefix, quote := strings.ToLower(own[:i]), own[i]
	body := own[i+1 : len(own)-1]
	_, _, tail, err := strconv.UnquoteChar(body, '\'')
	if prefix == "" && (quote != '\'' || err == nil && tail == "" && !w.runes) {
		return own, nil
	}
	if quote == '\'' {
		body = strings.ReplaceAll(strings.ReplaceAll(body, `\'`, `'`), `"`, `\"`)
	}
	switch prefix {
	case "r":
		return "`" + body + "`", w.special["texts"]
	case "f":
		given := ""
		format := inBraces.ReplaceAllStringFunc(strings.ReplaceAll(body, "%", "%%"), func(m string) string {
			parts := inBraces.FindStringSubmatch(m)
			inner := &writer{forms: w.forms, session: w.session, scope: w.scope, lines: []line{{text: parts[1]}}, known: map[span]*piece{}}
			given += ", " + inner.write(lineTokens(parts[1])).text
			if formatting.MatchString(parts[2]) {
				return "%" + parts[2]
			}
			return "%v"
		})
		return `fmt.Sprintf("` + format + `"` + given + ")", w.special["formats"]
	}
	return `"` + body + `"`, w.special["texts"]
}
