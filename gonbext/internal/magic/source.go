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
	body         []ast.Stmt // of the main that a command begins
}

// parseSource reads a cell. One that is not Go has nothing in it: the compiler explains it.
func parseSource(lines []line, specials []special) source {
	main := slices.IndexFunc(specials, beginsMain)
	var b strings.Builder
	b.WriteString("package p\n") // so that line 1 of the cell is line 2
	for i, l := range lines {
		switch {
		case main >= 0 && i == specials[main].at:
			b.WriteString("func main() {")
		case l.kind == goLine && !strings.HasPrefix(l.text, "package") || l.kind == insideLine:
			b.WriteString(l.text)
		}
		b.WriteByte('\n')
	}
	if main >= 0 {
		b.WriteString("}")
	}
	src := source{files: token.NewFileSet()}
	file, err := parser.ParseFile(src.files, "", b.String(), parser.SkipObjectResolution)
	if err != nil {
		return src
	}
	src.declarations = file.Decls
	if main < 0 || len(file.Decls) == 0 {
		return src
	}
	last := file.Decls[len(file.Decls)-1]
	if f, ok := last.(*ast.FuncDecl); ok && f.Body != nil && src.place(f.Pos()).line == specials[main].at {
		src.body = f.Body.List
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
	return position{at.Line - 2, at.Column - 1}
}
