package magic

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/suggest"
)

// callable is a function or another name of a package of this module's, or a method of an
// array.
type callable struct{ in, name, signature, does string } // in: oocore, or oocore.Array

// packages are those whose names the kernel knows by itself.
var packages = []string{"gonbext", "oocore", "oocore/linalg", "oocore/fft", "oocore/filter", "oocore/decomp", "oocore/nn"}

// readAPI reads what programs call from the module's source, which cells import too; of a
// folder that cannot be read it is nothing. Deprecated names are left out.
func readAPI(source string) (all []callable) {
	for _, dir := range packages {
		files := token.NewFileSet()
		var parsed []*ast.File
		entries, _ := os.ReadDir(filepath.Join(source, dir))
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.Type() != fs.FileMode(0) {
				continue
			}
			if f, err := parser.ParseFile(files, filepath.Join(source, dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
				parsed = append(parsed, f)
			}
		}
		p, err := doc.NewFromFiles(files, parsed, dir)
		if err != nil {
			continue
		}
		add := func(in string, functions []*doc.Func) {
			for _, f := range functions {
				if strings.Contains(f.Doc, "\nDeprecated: ") || strings.HasPrefix(f.Doc, "Deprecated: ") {
					continue
				}
				var signature bytes.Buffer
				_ = printer.Fprint(&signature, files, f.Decl.Type) // to memory
				all = append(all, callable{in, f.Name, strings.TrimPrefix(signature.String(), "func"), p.Synopsis(f.Doc)})
			}
		}
		name := path.Base(dir)
		values := func(groups []*doc.Value) {
			for _, v := range groups {
				for _, n := range v.Names {
					if ast.IsExported(n) {
						all = append(all, callable{in: name, name: n})
					}
				}
			}
		}
		add(name, p.Funcs)
		values(p.Consts)
		values(p.Vars)
		for _, t := range p.Types {
			all = append(all, callable{in: name, name: t.Name})
			add(name, t.Funcs)
			values(t.Consts)
			values(t.Vars)
			if t.Name == "Array" {
				add(name+".Array", t.Methods)
			}
		}
	}
	return all
}

// called are the callables in a package or of a type.
func (s *Session) called(in string) []callable {
	return slices.DeleteFunc(slices.Clone(s.api()), func(c callable) bool { return c.in != in })
}

// completeCall completes what stands behind a package of this module's, or an array, without
// asking gopls.
func (s *Session) completeCall(lines []line, specials []special) (word string, matches []string) {
	all := tokens(lines)
	n := len(all) - 1
	if n >= 0 && all[n].Token == token.SEMICOLON && all[n].text == "\n" { // of the end
		n--
	}
	last := position{len(lines) - 1, len(lines[len(lines)-1].text)}
	if n < 1 || all[n].end() != last {
		return "", nil
	}
	if all[n].Token == token.IDENT {
		word = all[n].text
		n--
	}
	if n < 1 || all[n].Token != token.PERIOD {
		return "", nil
	}
	first := receiver(all[:n])
	e, err := parser.ParseExpr(textBetween(lines, all[first].position, all[n].position))
	if err != nil {
		return "", nil
	}
	names := s.scopeBefore(lines, specials, items(all))
	in := names.packageOf(e)
	if in == "" && names.isArray(names.typeOf(e)) {
		in = "oocore.Array"
	}
	for _, c := range s.called(in) {
		matches = append(matches, c.name)
	}
	slices.Sort(matches)
	return word, withPrefix(slices.Compact(matches), word)
}

// receiver is where the operand begins that the tokens end with.
func receiver(all []goToken) int {
	i, depth := len(all)-1, 0
	for ; i >= 0; i-- {
		switch t := all[i]; t.Token {
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth++
			continue
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth--
		}
		if depth < 0 {
			break
		}
		if depth > 0 || all[i].Token == token.PERIOD || all[i].Token == token.LPAREN || all[i].Token == token.LBRACK || all[i].Token == token.LBRACE {
			continue
		}
		if i > 0 && all[i-1].Token == token.PERIOD {
			continue
		}
		return i
	}
	return i + 1
}

// textBetween is what a cell has between two places.
func textBetween(lines []line, from, to position) string {
	if from.line == to.line {
		return lines[from.line].text[from.column:to.column]
	}
	text := lines[from.line].text[from.column:]
	for i := from.line + 1; i < to.line; i++ {
		text += "\n" + lines[i].goText()
	}
	return text + "\n" + lines[to.line].text[:to.column]
}

// scopeBefore is what names mean behind all items of a cell but the last.
func (s *Session) scopeBefore(lines []line, specials []special, all []item) *scope {
	r := &rewriting{lines: slices.Clone(lines)}
	if len(all) > 0 {
		at := all[len(all)-1].start
		r.lines = r.lines[:at.line+1]
		r.lines[at.line].text = r.lines[at.line].text[:at.column]
		specials = slices.DeleteFunc(slices.Clone(specials), func(c special) bool { return c.at >= at.line })
	}
	if main, ok := r.bare(specials); ok {
		r.main = &main
	}
	r.read(specials, s.declared())
	in := &scope{names: map[string]meaning{}, outer: r.scope, local: true}
	for _, statement := range r.source.body {
		in.run(statement)
	}
	return in
}

var (
	undefinedName   = regexp.MustCompile(`^undefined: (\w+)$`)
	undefinedMember = regexp.MustCompile(`^undefined: (\w+)\.(\w+)$`)
	undefinedMethod = regexp.MustCompile(`undefined \(type \*?([\w.]+) has no field or method (\w+)`)
)

// Explain says what to do about a fault that the compiler has found.
func (s *Session) Explain(fault string) string {
	if m := undefinedName.FindStringSubmatch(fault); m != nil {
		if s.locals[m[1]] {
			return fmt.Sprintf("%s was a variable of another cell, and each cell is a program of its own. What carries over are files, such as Save writes, and declarations: a package-level var, above a cell's first statement, whose value each cell computes anew.", m[1])
		}
		return ""
	}
	m := undefinedMember.FindStringSubmatch(fault)
	if m == nil {
		m = undefinedMethod.FindStringSubmatch(fault)
	}
	if m == nil {
		return ""
	}
	best, least := callable{}, 1+len(m[2])/3
	for _, c := range s.called(m[1]) {
		if d := suggest.Distance(m[2], c.name); d <= least && (best.name == "" || d < least) {
			best, least = c, d
		}
	}
	if best.name == "" {
		return ""
	}
	return fmt.Sprintf("Did you mean %s%s? %s", best.name, best.signature, best.does)
}
