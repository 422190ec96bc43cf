package magic

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// meaning is what a declaration says of a name. A type is kept as it is written, which is
// all that a cell's last line needs: no other package is read for it.
type meaning struct {
	kind  token.Token // FUNC, VAR, CONST, TYPE or IMPORT; ILLEGAL where that is not certain
	typ   ast.Expr    // a value's type, or what a type is defined as; nil where it is not known
	alias bool
	path  string // an import's
}

// scope holds the names of a block. A method's name is T.m.
type scope struct {
	names map[string]meaning
	outer *scope
	local bool // a function's block
	// library has the functions of a package of Go's library; nil where calls of it are not looked at
	library func(in string) []callable
	module  func() []callable // of the outermost scope: what programs call of this module
}

// find returns what name means, and the scope that says so: nil where none does.
func (s *scope) find(name string) (meaning, *scope) {
	for ; s != nil; s = s.outer {
		if m, ok := s.names[name]; ok {
			return m, s
		}
	}
	return meaning{}, nil
}

// Types that stand for those of this module's sources.
var (
	arrayType      = pointerTo("Array")
	collectionType = pointerTo("Collection")
	oocoreValue    = &ast.InterfaceType{} // one value of oocore, which is neither
	anyValue       = &ast.InterfaceType{} // one value of any type
)

func pointerTo(name string) *ast.StarExpr {
	return &ast.StarExpr{X: &ast.SelectorExpr{X: ast.NewIdent("oocore"), Sel: ast.NewIdent(name)}}
}

// typeOfOocore is the name of what such a pointer is to.
func typeOfOocore(p *ast.StarExpr) string { return p.X.(*ast.SelectorExpr).Sel.Name }

// declare adds what a declaration says.
func (s *scope) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		s.names[functionName(d)] = meaning{kind: token.FUNC, typ: d.Type}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ImportSpec:
				s.imports(spec)
			case *ast.TypeSpec:
				s.names[spec.Name.Name] = meaning{kind: token.TYPE, typ: spec.Type, alias: spec.Assign.IsValid()}
			case *ast.ValueSpec:
				for i, t := range s.typesOf(len(spec.Names), spec.Type, spec.Values) {
					s.names[spec.Names[i].Name] = meaning{kind: d.Tok, typ: t}
				}
			}
		}
	}
}

func (s *scope) imports(spec *ast.ImportSpec) {
	at, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return
	}
	name := packageName(at)
	if spec.Name != nil {
		name = spec.Name.Name
	}
	s.names[name] = meaning{kind: token.IMPORT, path: at}
}

// packageName is the name of the package at a path, by the path alone.
func packageName(at string) string {
	name := path.Base(at)
	if version := strings.TrimPrefix(name, "v"); version != name && strings.Trim(version, "0123456789") == "" {
		name = path.Base(path.Dir(at))
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// run adds what a statement of the scope's own block declares.
func (s *scope) run(statement ast.Stmt) {
	switch statement := statement.(type) {
	case *ast.LabeledStmt:
		s.run(statement.Stmt)
	case *ast.DeclStmt:
		s.declare(statement.Decl)
	case *ast.AssignStmt:
		if statement.Tok != token.DEFINE {
			return
		}
		for i, t := range s.typesOf(len(statement.Lhs), nil, statement.Rhs) {
			name, ok := statement.Lhs[i].(*ast.Ident)
			if !ok {
				continue
			}
			if _, declared := s.names[name.Name]; !declared {
				s.names[name.Name] = meaning{kind: token.VAR, typ: t}
			}
		}
	}
}

// typesOf returns the types of n variables with the declared type, or else with values.
func (s *scope) typesOf(n int, declared ast.Expr, values []ast.Expr) []ast.Expr {
	types := make([]ast.Expr, n)
	if len(values) == 1 && n > 1 {
		if call, ok := ast.Unparen(values[0]).(*ast.CallExpr); ok {
			copy(types, s.results(call))
		}
	}
	for i := range types {
		switch {
		case declared != nil:
			types[i] = declared
		case len(values) == n:
			types[i] = s.typeOf(values[i])
		}
	}
	return types
}

// typeOf returns the type of an expression with one value, nil where it is not known.
func (s *scope) typeOf(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.typeOf(e.X)
	case *ast.Ident:
		if m, _ := s.find(e.Name); m.kind != token.TYPE {
			return m.typ
		}
	case *ast.FuncLit:
		return e.Type
	case *ast.CompositeLit:
		return e.Type
	case *ast.UnaryExpr:
		if t := s.typeOf(e.X); t != nil && e.Op == token.AND {
			return &ast.StarExpr{X: t}
		}
	case *ast.StarExpr:
		if t, ok := s.underlying(s.typeOf(e.X)).(*ast.StarExpr); ok {
			return t.X
		}
	case *ast.IndexExpr:
		switch t := s.underlying(s.typeOf(e.X)).(type) {
		case *ast.ArrayType:
			return t.Elt
		case *ast.MapType:
			return t.Value
		case *ast.FuncType: // for the types that e names
			return t
		}
	case *ast.SliceExpr:
		return s.typeOf(e.X)
	case *ast.SelectorExpr:
		return s.memberOf(s.typeOf(e.X), e.Sel.Name)
	case *ast.CallExpr:
		if results := s.results(e); len(results) == 1 {
			return results[0]
		}
	}
	return nil
}

// memberOf returns the type of a method or a field of a value of type t.
func (s *scope) memberOf(t ast.Expr, name string) ast.Expr {
	if s.isArray(t) {
		return signature(s.resultsOf("oocore.Array", name))
	}
	if s.isPointer(t, collectionType) {
		return signature(s.resultsOf("oocore.Collection", name))
	}
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if m, at := s.find(typeName(t)); at != nil && !at.local && m.kind == token.TYPE {
		if method, _ := s.find(typeName(t) + "." + name); method.typ != nil {
			return method.typ
		}
	}
	if fields, ok := s.underlying(t).(*ast.StructType); ok {
		for _, f := range fields.Fields.List {
			if slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return n.Name == name }) {
				return f.Type
			}
		}
	}
	return nil
}

// results returns the types of a call's values, nil where it has none or they are not known.
func (s *scope) results(call *ast.CallExpr) []ast.Expr {
	if s.converts(call.Fun) {
		if t, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
			if _, at := s.find(t.Name); at != nil {
				return []ast.Expr{t}
			}
		}
		return []ast.Expr{anyValue}
	}
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	if f, ok := fun.(*ast.SelectorExpr); ok {
		if name := s.packageOf(f.X); name != "" {
			return s.resultsOf(name, f.Sel.Name)
		}
		if dir := s.standardOf(f.X); dir != "" && s.library != nil {
			return standardResult(s.library(standardPrefix+dir), f.Sel.Name)
		}
	}
	f, ok := s.underlying(s.typeOf(call.Fun)).(*ast.FuncType)
	if !ok || f.Results == nil {
		return nil
	}
	var types []ast.Expr
	for _, r := range f.Results.List {
		t := r.Type
		if f.TypeParams != nil && !s.isArray(t) { // the type may be a parameter's
			t = anyValue
		}
		types = append(types, slices.Repeat([]ast.Expr{t}, max(1, len(r.Names)))...)
	}
	return types
}

// basicTypes are Go's types of numbers, texts and truth values, and valueFunctions its own
// functions that may not stand alone, and all of its types.
var (
	basicTypes = strings.Fields("bool byte complex64 complex128 float32 float64 int int8 int16 int32 int64 rune string" +
		" uint uint8 uint16 uint32 uint64 uintptr")
	valueFunctions = append(strings.Fields("append cap complex imag len make max min new real any error"), basicTypes...)
)

// converts reports whether f, called, is a conversion or one of valueFunctions: such a call
// has one value, and Go compiles it nowhere alone on a line.
func (s *scope) converts(f ast.Expr) bool {
	switch f := ast.Unparen(f).(type) {
	case *ast.Ident:
		m, at := s.find(f.Name)
		return m.kind == token.TYPE || at == nil && slices.Contains(valueFunctions, f.Name)
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType:
		return true
	}
	return false
}

// packageOf returns the name of the package of arrays, or of gonbext, that e is; "" where it
// is none.
func (s *scope) packageOf(e ast.Expr) string {
	name, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	own := name.Name
	switch m, at := s.find(own); {
	case at == nil: // goimports finds it
	case m.path == facePath || m.path == corePath || strings.HasPrefix(m.path, corePath+"/"):
		own = path.Base(m.path)
	default:
		return ""
	}
	if !slices.ContainsFunc(packages, func(p string) bool { return path.Base(p) == own }) {
		return ""
	}
	return own
}

// isArray reports whether t is *oocore.Array.
func (s *scope) isArray(t ast.Expr) bool { return s.isPointer(t, arrayType) }

// isPointer reports whether t is one of the pointers to types of oocore, which arrayType and collectionType are.
func (s *scope) isPointer(t ast.Expr, to *ast.StarExpr) bool {
	for range maxDepth {
		name, ok := t.(*ast.Ident)
		if !ok {
			break
		}
		m, _ := s.find(name.Name)
		if !m.alias {
			return false
		}
		t = m.typ
	}
	p, ok := t.(*ast.StarExpr)
	if !ok || p == to {
		return ok
	}
	x, ok := p.X.(*ast.SelectorExpr)
	return ok && x.Sel.Name == typeOfOocore(to) && s.packageOf(x.X) == "oocore"
}

// underlying returns what the named type t is defined as, and any other t itself.
func (s *scope) underlying(t ast.Expr) ast.Expr {
	for range maxDepth {
		m, _ := s.find(typeName(t))
		if _, pointer := t.(*ast.StarExpr); pointer || m.kind != token.TYPE {
			break
		}
		t = m.typ
	}
	return t
}

// maxDepth ends types that are defined by each other, which do not compile.
const maxDepth = 10

// typeName returns the name of a type, of the one that a pointer is to, or of the generic
// one; "" where it has none.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.ParenExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	}
	return ""
}

// functionName is the name of a function, T.m of a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv != nil && len(f.Recv.List) > 0 {
		return typeName(f.Recv.List[0].Type) + "." + f.Name.Name
	}
	return f.Name.Name
}

// signature returns the type of a function with these results.
func signature(results []ast.Expr) *ast.FuncType {
	f := &ast.FuncType{Results: &ast.FieldList{}}
	for _, t := range results {
		f.Results.List = append(f.Results.List, &ast.Field{Type: t})
	}
	return f
}

// ofOocore are the types that this module's sources name in these ways. Any other type is oocoreValue.
var ofOocore = map[string]ast.Expr{
	"*Array": arrayType, "*oocore.Array": arrayType, "*Collection": collectionType, "*oocore.Collection": collectionType,
	"[]*Array": &ast.ArrayType{Elt: arrayType}, "[]*oocore.Array": &ast.ArrayType{Elt: arrayType},
}

// resultsOf are the types of the values that a function of one of this module's packages returns, or a method of an array or
// a collection; nil where it has none, or is not known.
func (s *scope) resultsOf(in, name string) (all []ast.Expr) {
	for s.outer != nil {
		s = s.outer
	}
	module := s.module()
	i := slices.IndexFunc(module, func(c callable) bool { return c.in == in && c.name == name })
	if i < 0 {
		return nil
	}
	results := module[i].results()
	if len(results) == 1 && types.ExprString(results[0]) == "error" && name != "Err" { // it was called for what it does
		return nil
	}
	for _, r := range results {
		t := ofOocore[types.ExprString(r)]
		if t == nil {
			t = oocoreValue
		}
		all = append(all, t)
	}
	return all
}
