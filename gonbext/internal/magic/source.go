package magic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// source is a cell as the Go that GoNB makes of it.
type source struct {
	files        *token.FileSet
	declarations []ast.Decl
	body         []ast.Stmt // of the main that begins in the cell
	mainFunc     *ast.FuncDecl
	open         []*ast.Ident        // names that no block of the cell declares
	qualifiers   map[*ast.Ident]bool // those that stand before a dot
	main         position            // where a bare cell's does
	err          error               // of a cell that is not Go
}

const mainBegins = "func main() {"

// parseSource reads a cell, whose main begins with a command or, where bare is not nil, at
// that place. One that is not Go has nothing in it but an error.
func parseSource(lines []line, specials []special, bare *position) source {
	src := source{files: token.NewFileSet(), main: position{line: -1}}
	main := position{line: -1}
	if i := slices.IndexFunc(specials, beginsMain); i >= 0 {
		main.line = specials[i].at
	} else if bare != nil {
		main, src.main = *bare, *bare
	}
	var b strings.Builder
	b.WriteString("package p\n") // so that line 1 of the cell is line 2
	for i, l := range lines {
		text := l.goText()
		if i == main.line {
			text = text[:main.column] + mainBegins + text[main.column:]
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	if main.line >= 0 {
		b.WriteString("}")
	}
	file, err := parser.ParseFile(src.files, "", b.String(), 0)
	if err != nil {
		src.err = err
		return src
	}
	src.declarations, src.open = file.Decls, file.Unresolved
	src.qualifiers = map[*ast.Ident]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if name, ok := s.X.(*ast.Ident); ok {
				src.qualifiers[name] = true
			}
		}
		if name, ok := n.(*ast.Ident); ok && name.Obj != nil && file.Scope.Lookup(name.Name) == name.Obj {
			src.open = append(src.open, name)
		}
		return true
	})
	if main.line < 0 || len(file.Decls) == 0 {
		return src
	}
	last := file.Decls[len(file.Decls)-1]
	if f, ok := last.(*ast.FuncDecl); ok && f.Body != nil && src.place(f.Pos()).line == main.line {
		src.body, src.mainFunc = f.Body.List, f
	}
	return src
}

// beginsMain reports whether the lines below a command are the body of main.
func beginsMain(c special) bool {
	m := find(c.name())
	return c.name() == "%%" || c.name() == "%main" || m != nil && m.function != ""
}

// position is a line of the cell and a byte of it, both from 0.
type position struct{ line, column int }

func (s source) place(p token.Pos) position {
	at := s.files.PositionFor(p, false) // wherever a //line comment says it is
	return s.own(position{at.Line - 2, at.Column - 1})
}

// own is a place without the beginning of main that parseSource puts before it.
func (s source) own(at position) position {
	if at.line == s.main.line && at.column > s.main.column {
		at.column = max(at.column-len(mainBegins), s.main.column)
	}
	return at
}
