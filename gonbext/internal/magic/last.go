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

// decompositions are the functions of package linalg that give several arrays.
var decompositions = []string{"QR", "SVD", "FullSVD", "LU", "RandomizedSVD", "SlogDet", "EigH"}

// arrayPackages are packages whose functions make arrays.
var arrayPackages = []string{"oocore", "fft", "filter", "linalg"}

// last puts an assignment in front of the cell's last statement, where that is an
// expression with an array's value: gonbext.Last = x.Sqrt(). Go would not compile a
// name alone, and would drop the value of a call.
func (r *rewriting) last(face string, at int) {
	e, _, place := r.lastExpression(at)
	if e == nil {
		return
	}
	start := place(e.Pos())
	l := &r.lines[start.line]
	if before := l.text[:start.column]; strings.TrimSpace(before) == "" && l.kind == goLine {
		l.text = face + ".Last = " + l.text
	}
}

// showLast wraps the last statement of a cell that has no magic of ours in gonbext.Show, where
// it is surely an array: a name that an array was given, or a call on one.
func (r *rewriting) showLast(at int) {
	e, known, place := r.lastExpression(at)
	if name, ok := e.(*ast.Ident); e == nil || ok && !known[name.Name] {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.CallExpr:
	default:
		return
	}
	if readNames(tokens(r.lines)).binds["gonbext"] {
		return
	}
	start, end := place(e.Pos()), place(e.End())
	first, final := &r.lines[start.line], &r.lines[end.line]
	if strings.TrimSpace(first.text[:start.column]) != "" || first.kind != goLine || final.kind != goLine {
		return
	}
	final.text = final.text[:end.column] + ")" + final.text[end.column:]
	first.text = "gonbext.Show(" + first.text
	r.shows = true
}

// position is a line of the cell and a byte of it, both from 0.
type position struct{ line, column int }

// lastExpression is what the statements below line at end with, where it is an expression
// to be shown, with the names that they give to arrays; nil where it is not.
func (r *rewriting) lastExpression(at int) (e ast.Expr, known map[string]bool, place func(token.Pos) position) {
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
		return nil, nil, nil // the compiler explains it
	}
	statements := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(statements) == 0 {
		return nil, nil, nil
	}
	known = arrayNames(statements)
	s, ok := statements[len(statements)-1].(*ast.ExprStmt)
	if !ok || !hasValue(s.X, known) {
		return nil, nil, nil
	}
	return s.X, known, func(p token.Pos) position {
		in := files.Position(p)
		return position{at + in.Line - 1, in.Column - 1}
	}
}

// arrayNames are the names that statements give to arrays.
func arrayNames(statements []ast.Stmt) map[string]bool {
	known := map[string]bool{}
	for _, s := range statements {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			continue
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || len(a.Lhs) == 1 && !hasValue(call, known) && !calledAs(call, "gonbext", "Save") || len(a.Lhs) > 1 && !decomposes(call) {
			continue
		}
		for _, e := range a.Lhs {
			if name, ok := e.(*ast.Ident); ok {
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
	if !ok || slices.Contains(severalResults, f.Sel.Name) || decomposes(call) {
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

func decomposes(call *ast.CallExpr) bool {
	return slices.ContainsFunc(decompositions, func(name string) bool { return calledAs(call, "linalg", name) })
}

func calledAs(call *ast.CallExpr, of, name string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != name {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && x.Name == of
}
