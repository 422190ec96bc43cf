package magic

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/gonbext/carry"
)

const carryPath = "github.com/gonbext/gonbext/gonbext/carry"

// variable is what an earlier cell has left of a variable of its main.
type variable struct {
	section *carry.Section // nil where nothing was kept
	typ     string         // as package carry writes it
	size    string         // its shape, or its length
	bytes   int64
	expr    ast.Expr // the type, where something was kept
	cell    string   // how it is called: "cell [3]"
	why     string   // nothing was kept
}

// CarryIn has the session carry values from cell to cell, which lie in a folder.
func (s *Session) CarryIn(folder string) { s.folder = folder }

// mention is a name in a declaration that no block in it declares.
type mention struct {
	*ast.Ident
	qualifies bool // it stands before a dot, as a package does
}

// free are the names that a declaration mentions and no block in it declares.
func (s source) free(in ast.Node) (names []mention) {
	for _, name := range s.open {
		if in.Pos() <= name.Pos() && name.Pos() < in.End() {
			names = append(names, mention{name, s.qualifiers[name]})
		}
	}
	return names
}

// function is a function of cells that may mention carried variables.
type function struct {
	files       *token.FileSet
	declaration *ast.FuncDecl
	mentions    []mention
	types       map[string]string // of carried variables, with which it compiled
	out         bool              // GoNB has it without its body
}

// carrying is what a cell takes of earlier ones, and whether it leaves its own.
type carrying struct {
	name     string // of package carry in the cell
	imports  string
	load     string                  // in front of main's statements
	sections map[*carry.Section]bool // which that loads
	global   string                  // variables that functions mention
	left     string                  // functions without their bodies, or with them again
	keeps    bool
}

// carry finds what the cell mentions of earlier ones. The error is of what was not kept.
func (r *rewriting) carry() error {
	s := r.session
	if s.folder == "" {
		return nil
	}
	// carried is the variable of an earlier cell that a name stands for. Functions see what GoNB has outside of all
	// functions, not the variables of mains; and what stands before a dot may be a package.
	carried := func(at mention, inFunction bool) (variable, bool) {
		v, ok := s.carried[at.Name]
		_, own := r.scope.names[at.Name]
		kept, isKept := s.kept[at.Name]
		switch {
		case !ok || own || v.section == nil && s.initialised[at.Name]:
			return v, false
		case inFunction && isKept && !s.initialised[at.Name]:
			return v, false
		}
		return v, !at.qualifies || kept.kind != token.IMPORT && v.hasMembers()
	}
	n := readNames(tokens(r.lines))
	for r.carrying.name = "gonbext_carry"; n.binds[r.carrying.name] || n.qualifies[r.carrying.name]; r.carrying.name += "_" {
	}
	r.source.open = append(r.source.open, r.keys()...)
	functions := maps.Clone(s.functions)
	uses := r.source.mainFunc != nil
	for _, d := range r.source.declarations {
		f, is := d.(*ast.FuncDecl)
		if is && f != r.source.mainFunc {
			functions[functionName(f)] = function{files: r.source.files, declaration: f, mentions: r.source.free(f)}
		}
		for _, name := range r.source.free(d) {
			v, ok := carried(name, true)
			if uses = uses || ok; ok && !is {
				return r.fault(r.source.place(name.Pos()), fmt.Sprintf("%s is a value of %s, and a variable outside of statements is set before it is there: write it as a statement, with :=", name.Name, v.cell))
			}
		}
	}
	r.globals = r.layer.locals
	r.layer.functions, r.layer.globals, r.layer.locals = functions, r.globals, append(r.source.locals(), r.globals...)
	if !uses {
		return nil
	}
	global, needed := map[string]bool{}, map[string]bool{}
	var fault error
	seen := map[string]bool{}
	var visit func(names []mention, inFunction bool)
	visit = func(names []mention, inFunction bool) {
		for _, at := range names {
			name := at.Name
			if v, ok := carried(at, inFunction); ok && v.section != nil {
				needed[name] = true
			} else if ok {
				fault = cmp.Or(fault, r.fault(r.source.place(at.Pos()), v.explain(name)))
			} else if !seen[name] {
				seen[name] = true
				visit(functions[name].mentions, true)
			}
		}
	}
	if r.carrying.keeps = r.source.mainFunc != nil; r.carrying.keeps {
		r.layer.runs = true
		visit(r.source.free(r.source.mainFunc), false)
	}
	for name := range s.initialised { // which GoNB has with its first value
		if _, own := r.scope.names[name]; !own && s.carried[name].section != nil {
			global[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f, types := functions[name], map[string]string{}
		for _, at := range f.mentions {
			if v, ok := carried(at, true); ok && v.section != nil {
				global[at.Name], types[at.Name] = true, v.typ
			}
		}
		isMethod := strings.Contains(name, ".")
		if isMethod && r.carrying.keeps { // a value has it, which no name tells of
			visit(f.mentions, true)
		}
		functions[name] = r.withTypes(name, f, types, seen[name] || isMethod)
	}
	r.loads(needed, global)
	return fault
}

// withTypes is a function where carried variables have types, which it may have compiled without: the cell has it
// without its body as long as nothing calls it, since it might not compile, and as it was where something does.
func (r *rewriting) withTypes(name string, f function, types map[string]string, called bool) function {
	changed := ""
	for _, variable := range slices.Sorted(maps.Keys(types)) {
		if was := f.types[variable]; was != "" && was != types[variable] {
			changed = variable
		}
	}
	if changed != "" && called {
		v := r.session.carried[changed]
		r.Hint = fmt.Sprintf("Function %s was written for %s of type %s, which is a %s since %s: declare %s again.", name, changed, plainType(f.types[changed]), plainType(types[changed]), v.cell, name)
	}
	declaration, was := *f.declaration, f.out
	if f.out = !called && (f.out || changed != ""); f.out {
		body := &ast.CallExpr{Fun: ast.NewIdent("panic"), Args: []ast.Expr{ast.NewIdent("nil")}} // ends any function
		declaration.Body = &ast.BlockStmt{List: []ast.Stmt{&ast.ExprStmt{X: body}}}
	} else {
		f.types = types
	}
	if f.out == was {
		return f
	}
	var text bytes.Buffer
	_ = printer.Fprint(&text, f.files, &declaration) // to memory
	r.carrying.left += "\n" + text.String()
	return f
}

// keys are the names among the keys of maps that are written out, which Go's parser leaves open: they could be
// those of a struct's fields.
func (r *rewriting) keys() (names []*ast.Ident) {
	var in func(lit *ast.CompositeLit, typ ast.Expr)
	in = func(lit *ast.CompositeLit, typ ast.Expr) {
		m, isMap := r.scope.underlying(typ).(*ast.MapType)
		for _, e := range lit.Elts {
			pair, ok := e.(*ast.KeyValueExpr)
			if !ok || !isMap {
				continue
			}
			if name, ok := pair.Key.(*ast.Ident); ok && name.Obj == nil {
				names = append(names, name)
			}
			if inner, ok := pair.Value.(*ast.CompositeLit); ok && inner.Type == nil {
				in(inner, m.Value)
			}
		}
	}
	for _, d := range r.source.declarations {
		ast.Inspect(d, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok && lit.Type != nil {
				in(lit, lit.Type)
			}
			return true
		})
	}
	return names
}

// loads generates the variables of earlier cells that are needed, with all that share memory with them.
func (r *rewriting) loads(needed, global map[string]bool) {
	carried, imports := r.session.carried, map[string]string{}
	named := func(path string) string {
		imports[path] = r.carrying.name + "_" + strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(path)
		return imports[path]
	}
	var load, globals strings.Builder
	declare := func(name, typ string) {
		if global[name] {
			fmt.Fprintf(&globals, "\nvar %s %s", name, typ)
		} else {
			fmt.Fprintf(&load, "var %s %s; ", name, typ)
		}
	}
	done := map[*carry.Section]bool{}
	names := slices.Sorted(maps.Keys(needed))
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(valueFunctions, name) })
	for _, name := range append(others, names...) { // a variable that is called int stands behind those of type int
		section := carried[name].section
		if section == nil || done[section] {
			continue
		}
		done[section] = true
		var variables, held strings.Builder
		for i, member := range section.Names {
			typ := inGo(section.Types[i], named)
			if carried[member].section != section { // it was declared anew since
				member = fmt.Sprintf("%s_%s_%d", r.carrying.name, member, len(done))
			}
			declare(member, typ)
			fmt.Fprintf(&variables, ", %s.At(%q, &%s)", r.carrying.name, section.Names[i], member)
		}
		for i, typ := range section.Held {
			if i > 0 {
				held.WriteString(", ")
			}
			fmt.Fprintf(&held, "%s.Type[%s]()", r.carrying.name, inGo(typ, named))
		}
		fmt.Fprintf(&load, "%s.Load(%q, %d, %[1]s.Held(%[4]s)%s); ", r.carrying.name, section.File, section.At, &held, &variables)
	}
	for _, name := range slices.Sorted(maps.Keys(global)) {
		if v := carried[name]; !done[v.section] {
			declare(name, inGo(v.typ, named))
		}
	}
	r.carrying.load, r.carrying.global, r.carrying.sections = load.String(), globals.String()+r.carrying.left, done
	for _, at := range slices.Sorted(maps.Keys(imports)) {
		r.carrying.imports += fmt.Sprintf("import %s %q; ", imports[at], at)
		if at == corePath { // package gonbext knows how arrays are carried
			r.carrying.imports += fmt.Sprintf("import _ %q; ", facePath)
		}
	}
}

// keep generates what keeps the variables of main's own block.
func (r *rewriting) keep() string {
	if !r.carrying.keeps {
		return ""
	}
	return r.keepOf(append(r.source.locals(), r.globals...))
}

func (r *rewriting) keepOf(locals []string) string {
	var b strings.Builder
	for _, name := range locals {
		form := "%s.Of(%q, %s)"
		if slices.Contains(r.globals, name) || r.source.addressed(name) {
			form = "%s.At(%q, &%s)"
		}
		fmt.Fprintf(&b, ", "+form, r.carrying.name, name, name)
	}
	if b.Len() == 0 && r.carrying.load == "" {
		return ""
	}
	return fmt.Sprintf("%s.Keep(%q, %[1]s.Others{%[3]s}%s); ", r.carrying.name, r.ID, r.others(locals), &b)
}

// others generates what is carried besides what the cell declares or loads.
func (r *rewriting) others(locals []string) string {
	var all, most int64
	largest, seen := "", map[*carry.Section]bool{}
	for name, v := range r.session.carried {
		if v.section == nil || seen[v.section] || r.carrying.sections[v.section] || slices.Contains(locals, name) {
			continue
		}
		seen[v.section] = true
		all += v.section.Bytes
		if v.section.Bytes > most || v.section.Bytes == most && name < largest {
			most, largest = v.section.Bytes, name
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%d, %q, %d", all, largest, most)
}

// addressed reports whether something may have the address of a variable: it is not only read and set as a whole.
func (s source) addressed(name string) bool {
	found := false
	is := func(e ast.Expr) bool {
		n, ok := ast.Unparen(e).(*ast.Ident)
		return ok && n.Name == name
	}
	for _, statement := range s.body {
		ast.Inspect(statement, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.UnaryExpr:
				found = found || n.Op == token.AND && mentions(n.X, name)
			case *ast.SelectorExpr:
				found = found || is(n.X)
			case *ast.SliceExpr:
				found = found || mentions(n.X, name)
			case *ast.FuncLit:
				found = found || mentions(n, name)
			}
			return !found
		})
	}
	return found
}

func mentions(in ast.Node, name string) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// inGo writes a type with the names of its packages that a function gives to their paths.
func inGo(typ string, name func(path string) string) string {
	var b strings.Builder
	for typ != "" {
		i := strings.IndexAny(typ, "\"`")
		if i < 0 {
			break
		}
		b.WriteString(typ[:i])
		quoted, err := strconv.QuotedPrefix(typ[i:])
		if err != nil {
			break
		}
		typ = typ[i+len(quoted):]
		if path, _ := strconv.Unquote(quoted); strings.HasPrefix(typ, ".") { // else it is a field's tag
			quoted = name(path)
		}
		b.WriteString(quoted)
	}
	return b.String() + typ
}

// plainType is a type as people write it, with the names of packages in place of their paths.
func plainType(typ string) string { return inGo(typ, packageName) }

// hasMembers reports whether a dot may stand behind the variable: behind a number, a slice or a map none does.
func (v variable) hasMembers() bool {
	return !slices.Contains(basicTypes, v.typ) && !strings.HasPrefix(v.typ, "[") && !strings.HasPrefix(v.typ, "map[")
}

// explain says why a variable of an earlier cell is not there.
func (v variable) explain(name string) string {
	typ := v.typ
	if typ != "" {
		typ = " of type " + plainType(typ)
	}
	return fmt.Sprintf("%s%s is not carried over from %s: %s", name, typ, v.cell, v.why)
}

// ended notes what a cell has left: its values where it has run to its end.
func (s *Session) ended(l layer, count int64) {
	if s.folder == "" {
		return
	}
	defer s.sweep()
	if l.reset {
		clear(s.carried)
		clear(s.functions)
	}
	for _, name := range l.removed {
		delete(s.carried, name)
		delete(s.functions, name)
	}
	if l.functions != nil {
		s.functions = l.functions
	}
	cell := "an earlier cell"
	if count > 0 {
		cell = fmt.Sprintf("cell [%d]", count)
	}
	for name := range l.names {
		delete(s.carried, name)
		delete(s.initialised, name)
	}
	for _, name := range l.globals {
		s.initialised[name] = true
	}
	for _, name := range l.locals {
		if was, ok := s.carried[name]; !ok || was.section == nil {
			s.carried[name] = variable{cell: cell, why: "it did not run to its end"}
		}
	}
	sections, lost, ok := carry.Read(s.folder, l.id)
	if !ok {
		return
	}
	for _, section := range sections {
		for i, name := range section.Names {
			from := cell
			if was, ok := s.carried[name]; ok && was.section != nil && !slices.Contains(l.locals, name) {
				from = was.cell
			}
			s.carried[name] = s.known(variable{section: &section, typ: section.Types[i], size: section.Sizes[i], bytes: section.Takes[i], cell: from})
		}
	}
	for _, v := range lost {
		s.carried[v.Name] = variable{typ: v.Type, cell: cell, why: v.Why}
	}
}

// sweep removes the files of which no variable is left.
func (s *Session) sweep() {
	live := map[string]bool{}
	for _, v := range s.carried {
		if v.section != nil {
			live[v.section.File] = true
		}
	}
	files, _ := os.ReadDir(s.folder)
	for _, f := range files {
		if !live[f.Name()] {
			_ = os.Remove(filepath.Join(s.folder, f.Name())) // or it goes with the kernel
		}
	}
}

// known is a variable whose type later cells can name, or why it is not.
func (s *Session) known(v variable) variable {
	var err error
	if v.expr, err = parser.ParseExpr(plainType(v.typ)); err != nil {
		return variable{typ: v.typ, cell: v.cell, why: "its type cannot be written in another cell"}
	}
	for _, name := range namesOf(v.expr) {
		if s.kept[name].kind != token.TYPE && !slices.Contains(basicTypes, name) && name != "any" && name != "error" {
			return variable{typ: v.typ, cell: v.cell, why: fmt.Sprintf("its type %s is declared within its program: declare types above the statements", name)}
		}
	}
	return v
}

// namesOf are the names in a type that no package has.
func namesOf(e ast.Node) (names []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false
		case *ast.Field:
			names = append(names, namesOf(n.Type)...)
			return false
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names
}

// keepAtReturns has each return of a cell's main keep the variables that are declared by then.
func (r *rewriting) keepAtReturns() {
	if !r.carrying.keeps {
		return
	}
	body := r.source.body
	for i, statement := range slices.Backward(body) {
		var returns []*ast.ReturnStmt
		hidden := map[string]bool{}
		ast.Inspect(statement, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				returns = append(returns, n)
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					if name, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
						hidden[name.Name] = true
					}
				}
			case *ast.ValueSpec:
				for _, name := range n.Names {
					hidden[name.Name] = true
				}
			}
			return true
		})
		before := append(source{body: body[:i]}.locals(), r.globals...)
		before = slices.DeleteFunc(before, func(name string) bool { return hidden[name] })
		keep := r.keepOf(before)
		for _, n := range slices.Backward(returns) {
			at := r.source.place(n.Pos())
			if l := &r.lines[at.line]; keep != "" && l.kind == goLine {
				l.text = l.text[:at.column] + "{ " + keep + "return }" + l.text[at.column+len("return"):]
			}
		}
	}
}

// forget leaves the names to GoNB that it knows: of values that are carried it knows nothing.
func (r *rewriting) forget(c special) {
	names := slices.DeleteFunc(slices.Clone(c.args[1:]), func(name string) bool {
		_, carried := r.session.carried[name]
		_, kept := r.session.kept[strings.Replace(name, "~", ".", 1)]
		return carried && !kept
	})
	if len(names) == 0 {
		r.replace(c, "")
	} else if len(names) < len(c.args)-1 {
		r.replace(c, c.name()+" "+strings.Join(names, " "))
		r.lines[c.at].kind = specialLine
	}
}
