package magic

import (
	"go/ast"
	"go/token"
	"slices"
)

// last puts an assignment in front of the cell's last statement, where that is an
// expression with a value: gonbext.Last = x.Sqrt(). Go would not compile a name alone, and
// would drop the value of a call.
func (r *rewriting) last(face string) {
	e, _ := r.lastExpression()
	if e == nil {
		return
	}
	start := r.source.place(e.Pos())
	if l := &r.lines[start.line]; l.kind == goLine {
		l.text = l.text[:start.column] + face + ".Last = " + l.text[start.column:]
	}
}

// showLast wraps the last statement of a cell that has no magic of ours in gonbext's Show, or
// prints it.
func (r *rewriting) showLast(face string) {
	e, scope := r.lastExpression()
	if e == nil || scope.packageOf(ast.NewIdent("gonbext")) != "gonbext" {
		return
	}
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW { // it waits
		return
	}
	start, end := r.source.place(e.Pos()), r.source.place(e.End())
	first, final := &r.lines[start.line], &r.lines[end.line]
	if first.kind != goLine || final.kind != goLine {
		return
	}
	before, behind := face+".Show(", ")"
	r.shows, r.faced = true, !scope.isPlain(e)
	if !r.faced {
		before = "fmt.Println("
	}
	if r.nominal != nil { // nothing is computed
		before, behind = "_ = ", ""
	}
	final.text = final.text[:end.column] + behind + final.text[end.column:]
	first.text = first.text[:start.column] + before + first.text[start.column:]
}

// lastExpression is what main ends with, where that is an expression with one value, and what
// names mean there. It is nil where it is none, or a call that is not known to be one, and for a
// function without its brackets and an operator between arrays: the compiler says what is wrong
// there.
func (r *rewriting) lastExpression() (ast.Expr, *scope) {
	body := r.source.body
	if len(body) == 0 {
		return nil, nil
	}
	s := &scope{names: map[string]meaning{}, outer: r.scope, local: true}
	for _, statement := range body {
		s.run(statement)
	}
	if r.main != nil { // programs under %% end in calls for what they do
		s.library = r.called
	}
	last, ok := body[len(body)-1].(*ast.ExprStmt)
	if !ok {
		return nil, nil
	}
	e := last.X
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && (s.isArray(s.typeOf(b.X)) || s.isArray(s.typeOf(b.Y))) {
		return nil, nil // x == y would compare pointers
	}
	t := s.typeOf(e)
	if _, function := t.(*ast.FuncType); function {
		return nil, nil
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		f, ok := call.Fun.(*ast.SelectorExpr)
		if t == nil || ok && s.packageOf(f.X) == "gonbext" { // Save says itself what it has done
			return nil, nil
		}
	}
	return e, s
}

// isPlain reports an operation on numbers or texts, or a call that gives one, which needs nothing
// of package gonbext to be shown: that would have to be linked.
func (s *scope) isPlain(e ast.Expr) bool {
	if _, at := s.find("fmt"); at != nil {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit, *ast.BinaryExpr:
		return true
	case *ast.UnaryExpr:
		return e.Op != token.AND
	case *ast.CallExpr:
		t, ok := s.typeOf(e).(*ast.Ident)
		if !ok {
			return false
		}
		_, at := s.find(t.Name)
		return at == nil && slices.Contains(basicTypes, t.Name)
	}
	return false
}
