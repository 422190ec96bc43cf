package magic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// severalResults are the functions and methods of oocore that give no value, or
// more than one: a cell whose last line calls one has nothing to show.
var severalResults = []string{
	"Save", "SaveAll", "Plan", "PlanAll", "Explain", "Collect", "Item", "Print", "Append", "Axis", "UniqueCounts", "UniqueAll", "Frexp", "Modf", "TriangleIndices", "GroupBy", "Histogram", "Histogram2D", "HistogramDD", "EinsumPath",
}

// otherValues are the functions and methods of oocore and linalg that give one value, which is
// no array: Show does not take it.
var otherValues = []string{
	"Err", "Shape", "DimNames", "Dims", "DType", "Size", "Bytes", "Chunks", "String", "Nonzero", "UnravelIndex", "Split", "SplitAt", "Unstack", "Quantize",
	"Batches", "OpenQuantized", "At", "Meshgrid", "Indices", "Memory", "Shards", "Codec", "Attributes", "FillValue", "Region", "On", "Workers", "Processes", "Fresh", "Version", "OnProgress", "Report",
	"Length", "Lstsq", "PCA", "RandomizedPCA", "P",
}

// decompositions are the functions of package linalg that give several arrays.
var decompositions = []string{"QR", "SVD", "FullSVD", "LU", "RandomizedSVD", "SlogDet", "EigH"}

// arrayPackages are packages whose functions make arrays.
var arrayPackages = []string{"oocore", "fft", "filter", "linalg"}

// last puts an assignment in front of the cell's last statement, where that is an
// expression with an array's value: gonbext.Last = x.Sqrt(). Go would not compile a
// name alone, and would drop the value of a call.
func (r *rewriting) last(face string, at int) {
	e, _, place := r.lastExpression(at, severalResults)
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
	e, known, place := r.lastExpression(at, slices.Concat(severalResults, otherValues))
	if name, ok := e.(*ast.Ident); e == nil || ok && !known[name.Name] {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.CallExpr:
	default:
		return
	}
	all := tokens(r.lines)
	names := readNames(all)
	if slices.ContainsFunc(append([]string{"gonbext"}, arrayPackages...), func(name string) bool { return names.binds[name] || importsOther(all, name) }) {
		return // a name means something else here
	}
	start, end := place(e.Pos()), place(e.End())
	first, final := &r.lines[start.line], &r.lines[end.line]
	if strings.TrimSpace(first.text[:start.column]) != "" || first.kind != goLine || final.kind != goLine {
		return
	}
	r.shows = true
	if r.nominal != nil { // nothing is computed
		first.text = "_ = " + first.text
		return
	}
	final.text = final.text[:end.column] + ")" + final.text[end.column:]
	first.text = "gonbext.Show(" + first.text
}

// position is a line of the cell and a byte of it, both from 0.
type position struct{ line, column int }

// lastExpression is what the statements below line at end with, where it is an expression
// to be shown, with the names that they give to arrays; nil where it is not. Calls of the
// functions without give none.
func (r *rewriting) lastExpression(at int, without []string) (e ast.Expr, known map[string]bool, place func(token.Pos) position) {
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
	known = arrayNames(statements, without)
	s, ok := statements[len(statements)-1].(*ast.ExprStmt)
	if !ok || !hasValue(s.X, known, without) {
		return nil, nil, nil
	}
	return s.X, known, func(p token.Pos) position {
		in := files.Position(p)
		return position{at + in.Line - 1, in.Column - 1}
	}
}

// arrayNames are the names that statements give to arrays.
func arrayNames(statements []ast.Stmt, without []string) map[string]bool {
	known := map[string]bool{}
	for _, s := range statements {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			continue
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || len(a.Lhs) == 1 && !hasValue(call, known, without) && !calledAs(call, "gonbext", "Save") || len(a.Lhs) > 1 && !decomposes(call) {
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
// or one that begins with an array or a package of arrays, and is of none of the functions
// without.
func hasValue(e ast.Expr, known map[string]bool, without []string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return true
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || slices.Contains(without, f.Sel.Name) || decomposes(call) {
		return false
	}
	switch x := f.X.(type) {
	case *ast.Ident:
		return known[x.Name] || slices.Contains(arrayPackages, x.Name)
	case *ast.CallExpr:
		return hasValue(x, known, without)
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

// importsOther reports an import of a package of that name that is none of ours.
func importsOther(all []goToken, name string) bool {
	return slices.ContainsFunc(all, func(t goToken) bool {
		path, err := strconv.Unquote(t.text)
		return t.Token == token.STRING && err == nil && strings.HasSuffix(path, "/"+name) && !strings.HasPrefix(path, strings.TrimSuffix(corePath, "oocore"))
	})
}
