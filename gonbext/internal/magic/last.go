package magic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// severalResults are the functions and methods of oocore that give no value, or
// more than one: a cell whose last line calls one has nothing to show.
var severalResults = []string{
	"Save", "SaveAll", "Plan", "PlanAll", "Explain", "Collect", "Item", "Print", "Append", "Axis", "UniqueCounts", "UniqueAll", "Frexp", "Modf", "TriangleIndices", "GroupBy", "Histogram", "Histogram2D", "HistogramDD", "EinsumPath",
}

// arrayPackages are packages whose functions make arrays.
var arrayPackages = []string{"oocore", "fft", "filter"}

// last puts an assignment in front of the cell's last statement, where that is an
// expression with an array's value: gonbext.Last = x.Sqrt(). Go would not compile a
// name alone, and would drop the value of a call.
func (r *rewriting) last(face string, at int) {
	var body strings.Builder
	body.WriteString("package p; func _() {\n")
	for _, l := range r.lines[at+1:] {
		if l.kind == goLine || l.kind == insideLine {
			body.WriteString(l.text)
		}
		body.WriteByte('\n')
	}
	body.WriteString("}")
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", body.String(), parser.SkipObjectResolution)
	if err != nil || len(file.Decls) != 1 {
		return // the compiler explains it
	}
	statements := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(statements) == 0 {
		return
	}
	e, ok := statements[len(statements)-1].(*ast.ExprStmt)
	if !ok || !hasValue(e.X, arrayNames(statements)) {
		return
	}
	place := files.Position(e.Pos())
	l := &r.lines[at+place.Line-1]
	if before := l.text[:place.Column-1]; strings.TrimSpace(before) == "" && l.kind == goLine {
		l.text = face + ".Last = " + l.text
	}
}

// arrayNames are the names that statements give to arrays.
func arrayNames(statements []ast.Stmt) map[string]bool {
	known := map[string]bool{}
	for _, s := range statements {
		if a, ok := s.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			name, ok := a.Lhs[0].(*ast.Ident)
			call, calls := a.Rhs[0].(*ast.CallExpr)
			if ok && calls && (hasValue(call, known) || calledAs(call, "gonbext", "Save")) {
				known[name.Name] = true
			}
		}
	}
	return known
}

// hasValue reports whether e alone on a line is meant to be shown: it is no call,
// or one that begins with an array or a package of arrays, and gives one value.
func hasValue(e ast.Expr, known map[string]bool) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return true
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || slices.Contains(severalResults, f.Sel.Name) {
		return false
	}
	switch x := f.X.(type) {
	case *ast.Ident:
		return known[x.Name] || slices.Contains(arrayPackages, x.Name)
	case *ast.CallExpr:
		return hasValue(x, known)
	}
	return false
}

func calledAs(call *ast.CallExpr, of, name string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != name {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && x.Name == of
}
