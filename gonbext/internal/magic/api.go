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

// callable is a function of a package of this module's, or a method of an array.
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
		add(name, p.Funcs)
		for _, t := range p.Types {
			add(name, t.Funcs)
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
