package magic

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
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
)

// callable is a function or another name of a package of this module's, or a method of an
// array.
type callable struct {
	in, name, signature, doc string // in: oocore, oocore.Array or oocore.Collection
	deprecated               bool
}

// does is the first sentence of what the module says of it.
func (c callable) does() string { return new(doc.Package).Synopsis(c.doc) }

// help is what the module says of it, as text and as Markdown.
func (c callable) help() (text, markdown string) {
	name := c.in + "." + c.name
	if _, method, ok := strings.Cut(c.in, "."); ok {
		name = "(*" + method + ")." + c.name
	}
	head := name
	if c.signature != "" {
		head = "func " + name + c.signature
	}
	parsed := new(comment.Parser).Parse(c.doc)
	printer := &comment.Printer{HeadingLevel: 4}
	return head + "\n\n" + string(printer.Text(parsed)), "```go\n" + head + "\n```\n" + string(printer.Markdown(parsed))
}

// packages are those whose names the kernel knows by itself.
var packages = []string{"gonbext", "oocore", "oocore/linalg", "oocore/fft", "oocore/filter", "oocore/decomp", "oocore/nn"}

// readAPI reads what programs call from the module's source, which cells import too; of a
// folder that cannot be read it is nothing.
func readAPI(source string) (all []callable) {
	for _, dir := range packages {
		all = append(all, readPackage(filepath.Join(source, dir), path.Base(dir))...)
	}
	return all
}

// readPackage reads what programs call of the package in a folder.
func readPackage(dir, name string) (all []callable) {
	files := token.NewFileSet()
	var parsed []*ast.File
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.Type() != fs.FileMode(0) {
			continue
		}
		if ours, err := build.Default.MatchFile(dir, e.Name()); err != nil || !ours {
			continue
		}
		if f, err := parser.ParseFile(files, filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
			parsed = append(parsed, f)
		}
	}
	p, err := doc.NewFromFiles(files, parsed, name)
	if err != nil {
		return nil
	}
	add := func(c callable) {
		c.deprecated = strings.Contains("\n"+c.doc, "\nDeprecated: ")
		all = append(all, c)
	}
	functions := func(in string, functions []*doc.Func) {
		for _, f := range functions {
			var signature bytes.Buffer
			_ = printer.Fprint(&signature, files, f.Decl.Type) // to memory
			add(callable{in: in, name: f.Name, signature: strings.TrimPrefix(signature.String(), "func"), doc: f.Doc})
		}
	}
	values := func(groups []*doc.Value) {
		for _, v := range groups {
			for _, n := range v.Names {
				if ast.IsExported(n) {
					add(callable{in: name, name: n, doc: v.Doc})
				}
			}
		}
	}
	functions(name, p.Funcs)
	values(p.Consts)
	values(p.Vars)
	for _, t := range p.Types {
		add(callable{in: name, name: t.Name, doc: t.Doc})
		functions(name, t.Funcs)
		values(t.Consts)
		values(t.Vars)
		functions(name+"."+t.Name, t.Methods)
		for _, spec := range t.Decl.Specs {
			if fields, ok := spec.(*ast.TypeSpec).Type.(*ast.StructType); ok {
				for _, f := range fields.Fields.List {
					for _, n := range f.Names {
						add(callable{in: name + "." + t.Name, name: n.Name, doc: f.Doc.Text()})
					}
				}
			}
		}
	}
	return all
}

// standard are the packages of Go's library that cells use without importing them, as goimports
// finds them.
var standard = []string{
	"bufio", "bytes", "cmp", "context", "encoding/binary", "encoding/csv", "encoding/json", "errors", "fmt", "io", "iter", "log", "maps", "math",
	"math/big", "math/bits", "math/cmplx", "math/rand", "net/http", "os", "os/exec", "path", "path/filepath", "reflect", "regexp", "runtime",
	"slices", "sort", "strconv", "strings", "sync", "sync/atomic", "time", "unicode", "unicode/utf8", "unsafe",
}

// standardOf is the folder, below Go's own source, of the package of Go's library that an
// expression names; "" where it names none.
func (s *scope) standardOf(e ast.Expr) string {
	name, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	if m, at := s.find(name.Name); at != nil {
		if first, _, _ := strings.Cut(m.path, "/"); m.kind == token.IMPORT && !strings.Contains(first, ".") {
			return m.path
		}
		return ""
	}
	if i := slices.IndexFunc(standard, func(p string) bool { return path.Base(p) == name.Name }); i >= 0 {
		return standard[i]
	}
	return ""
}

// folderOf is where the source of a package lies: with Go's library, or in the newest module of the cache that has it.
func (s *Session) folderOf(at string) string {
	if first, _, _ := strings.Cut(at, "/"); !strings.Contains(first, ".") {
		return filepath.Join(s.goSource(), filepath.FromSlash(at))
	}
	cache := cmp.Or(os.Getenv("GOMODCACHE"), filepath.Join(build.Default.GOPATH, "pkg", "mod"))
	escaped := regexp.MustCompile("[A-Z]").ReplaceAllStringFunc(at, func(letter string) string { return "!" + strings.ToLower(letter) })
	for module, rest := escaped, ""; module != "."; module, rest = path.Dir(module), path.Join(path.Base(module), rest) {
		found, _ := filepath.Glob(filepath.Join(cache, filepath.FromSlash(module)) + "@*") // the pattern is well formed
		if len(found) > 0 {
			return filepath.Join(found[len(found)-1], filepath.FromSlash(rest))
		}
	}
	return ""
}

// standardPrefix begins what stands for a package of Go's library, or of another module, by its path; a colon and the
// name of a type of it may follow.
const standardPrefix = "std:"

// called are the callables in a package or of a type, without deprecated ones.
func (s *Session) called(in string) []callable {
	if all, read := s.library[in]; read {
		return all
	}
	all, key := s.api(), in
	if dir, ok := strings.CutPrefix(in, standardPrefix); ok {
		dir, of, _ := strings.Cut(dir, ":")
		all = readPackage(s.folderOf(dir), packageName(dir))
		in = strings.TrimSuffix(packageName(dir)+"."+of, ".")
	}
	s.library[key] = slices.DeleteFunc(slices.Clone(all), func(c callable) bool { return c.deprecated || c.in != in })
	return s.library[key]
}

// results are the types of the values that a function returns, as its source names them.
func (c *callable) results() (types []ast.Expr) {
	if c.signature == "" { // a type, which converts, or a value
		return []ast.Expr{anyValue}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f"+c.signature, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	if list := file.Decls[0].(*ast.FuncDecl).Type.Results; list != nil {
		for _, r := range list.List {
			types = append(types, slices.Repeat([]ast.Expr{r.Type}, max(1, len(r.Names)))...)
		}
	}
	return types
}

// standardResult returns the type of what a function of Go's library returns, nil where that is nothing or
// several values.
func standardResult(all []callable, name string) []ast.Expr {
	i := slices.IndexFunc(all, func(c callable) bool { return c.name == name && c.signature != "" && !strings.Contains(c.in, ".") })
	if i < 0 {
		return nil
	}
	results := all[i].results()
	if len(results) != 1 {
		return nil
	}
	if t, ok := results[0].(*ast.Ident); ok && slices.Contains(basicTypes, t.Name) {
		return []ast.Expr{t}
	}
	return []ast.Expr{anyValue} // a type of that package's own, or a parameter's
}

// completeName completes what stands behind a package of this module's or Go's, or an array, and
// names by themselves, without asking gopls.
func (s *Session) completeName(lines []line, specials []special) (word string, matches []string) {
	in, word, names := s.member(lines, specials)
	if names != nil && word != "" {
		matches = names.all()
	}
	for _, c := range s.called(in) {
		matches = append(matches, c.name)
	}
	slices.Sort(matches)
	return word, withPrefix(slices.Compact(matches), word)
}

// predeclared are what Go declares, and what statements begin with.
var predeclared = strings.Fields(`append any bool byte cap clear close complex128 complex64 copy defer delete else error false
	float32 float64 func import int int16 int32 int64 int8 interface iota len make map max min new nil panic package print println range
	recover return rune string struct switch true type uint uint16 uint32 uint64 uint8 uintptr`)

// all are the names of a scope and those outside of it, with those of packages.
func (s *scope) all() []string {
	names := slices.Clone(predeclared)
	for _, p := range slices.Concat(packages, standard) {
		names = append(names, path.Base(p))
	}
	for ; s != nil; s = s.outer {
		for name := range s.names {
			if !strings.Contains(name, ".") { // a method
				names = append(names, name)
			}
		}
	}
	return names
}

// lookUp is the function or other name of this module's that a text of a cell ends with.
func (s *Session) lookUp(lines []line, specials []special) (callable, bool) {
	in, name, _ := s.member(lines, specials)
	all := s.called(in)
	i := slices.IndexFunc(all, func(c callable) bool { return c.name == name })
	if i < 0 {
		return callable{}, false
	}
	return all[i], true
}

// member is what stands behind the last dot of a text of a cell that ends there, and what that
// is a member of: a package, oocore.Array, oocore.Collection, or "" for all else. Of a name behind no dot it is
// that, with what names mean there.
func (s *Session) member(lines []line, specials []special) (in, name string, names *scope) {
	all := tokens(lines)
	n := len(all) - 1
	if n >= 0 && all[n].Token == token.SEMICOLON && all[n].text == "\n" { // of the end
		n--
	}
	last := position{len(lines) - 1, len(lines[len(lines)-1].text)}
	if n < 0 || all[n].end() != last {
		return "", "", nil
	}
	if all[n].Token == token.IDENT || all[n].Token.IsKeyword() {
		name = cmp.Or(all[n].text, all[n].Token.String())
		n--
	}
	if n < 0 || all[n].Token != token.PERIOD {
		return "", name, s.scopeBefore(lines, specials, items(all))
	}
	if n == 0 {
		return "", name, nil
	}
	first := receiver(all[:n])
	e, err := parser.ParseExpr(textBetween(lines, all[first].position, all[n].position))
	if err != nil {
		return "", name, nil
	}
	scope := s.scopeBefore(lines, specials, items(all))
	if in = scope.packageOf(e); in == "" {
		t := scope.typeOf(e)
		for _, known := range []*ast.StarExpr{arrayType, collectionType} {
			if scope.isPointer(t, known) {
				in = "oocore." + typeOfOocore(known)
			}
		}
	}
	if dir := scope.standardOf(e); in == "" && dir != "" {
		in = standardPrefix + dir
	}
	return in, name, nil
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
	if to.line >= len(lines) { // of a text that is not closed, which Go's scanner shortens too
		to = position{len(lines) - 1, len(lines[len(lines)-1].text)}
	}
	if from.line >= len(lines) {
		return ""
	}
	from.column, to.column = min(from.column, len(lines[from.line].text)), min(to.column, len(lines[to.line].text))
	if !from.before(to) {
		return ""
	}
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
