package surface

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gonbext/gonbext/"

// public are the packages whose signatures programs read.
var public = []string{
	"oocore", "oocore/linalg", "oocore/fft", "oocore/filter", "oocore/decomp", "oocore/nn", "oocore/cloud", "oocore/cluster", "oocore/adapters/arrow", "oocore/adapters/csv", "oocore/adapters/gomlx", "oocore/adapters/gonum", "oocore/adapters/images",
	"oocore/record", "oocore/store", "oocore/dtype", "oocore/types", "oocore/units", "oocore/machine", "gonbext", "cuda",
}

// doors are packages whose names stand for types of the engine: for devices and hosts, which
// change with it.
var doors = []string{"oocore/device", "oocore/host"}

// goTool returns what a go command prints.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	var says bytes.Buffer
	c.Stderr = &says
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &says)
	}
	return string(out)
}

// load returns packages as their importers see them.
func load(t *testing.T, paths []string) (all []*types.Package) {
	t.Helper()
	files := map[string]string{}
	for line := range strings.Lines(goTool(t, append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)...)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for _, path := range paths {
		p, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// finder looks for types that programs cannot name.
type finder struct {
	from  *types.Package
	found []string
}

// name notes a type that a signature names, where programs cannot.
func (f *finder) name(where string, o *types.TypeName) {
	p := o.Pkg()
	if p == nil { // of the language
		return
	}
	path, ours := strings.CutPrefix(p.Path(), module)
	hidden := ours && !slices.Contains(public, path) && !slices.Contains(doors, path) ||
		slices.ContainsFunc(strings.Split(p.Path(), "/"), func(s string) bool { return s == "internal" || s == "vendor" })
	if hidden || !o.Exported() {
		f.found = append(f.found, fmt.Sprintf("%s names %s.%s", where, p.Path(), o.Name()))
	}
}

// visit looks through a type as far as its own text goes: what a name stands for is the
// matter of the name's package.
func (f *finder) visit(where string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		f.name(where, t.Obj())
		f.arguments(where, t.TypeArgs())
	case *types.Named:
		f.name(where, t.Obj())
		f.arguments(where, t.TypeArgs())
	case *types.Pointer:
		f.visit(where, t.Elem())
	case *types.Slice:
		f.visit(where, t.Elem())
	case *types.Array:
		f.visit(where, t.Elem())
	case *types.Chan:
		f.visit(where, t.Elem())
	case *types.Map:
		f.visit(where, t.Key())
		f.visit(where, t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			f.visit(where, v.Type())
		}
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			f.visit(where, p.Constraint())
		}
		f.visit(where, t.Params())
		f.visit(where, t.Results())
	case *types.Struct:
		for v := range t.Fields() {
			if v.Exported() {
				f.visit(where+"."+v.Name(), v.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				f.visit(where+"."+m.Name(), m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			f.visit(where, e)
		}
	case *types.Union:
		for term := range t.Terms() {
			f.visit(where, term.Type())
		}
	}
}

func (f *finder) arguments(where string, list *types.TypeList) {
	for t := range list.Types() {
		f.visit(where, t)
	}
}

// object looks through the declaration of an exported name.
func (f *finder) object(o types.Object) {
	where := f.from.Name() + "." + o.Name()
	named, ok := o.Type().(*types.Named)
	if _, isType := o.(*types.TypeName); !isType || !ok {
		if alias, ok := o.Type().(*types.Alias); ok && isType {
			f.visit(where, alias.Rhs())
			return
		}
		f.visit(where, o.Type())
		return
	}
	f.visit(where, named.Underlying())
	for m := range named.Methods() {
		if m.Exported() {
			f.visit(where+"."+m.Name(), m.Type())
		}
	}
}

func TestSignaturesNameOnlyTypesThatProgramsReach(t *testing.T) {
	checked := 0
	paths := make([]string, len(public))
	for i, p := range public {
		paths[i] = module + p
	}
	for _, p := range load(t, paths) {
		f := &finder{from: p}
		for _, name := range p.Scope().Names() {
			if token.IsExported(name) {
				f.object(p.Scope().Lookup(name))
				checked++
			}
		}
		for _, found := range f.found {
			t.Errorf("%s, which is no type of a public package", found)
		}
	}
	if checked < 100 {
		t.Errorf("only %d names were checked", checked)
	}
}

func TestFinderFindsUnreachableTypes(t *testing.T) {
	p := types.NewPackage("example.com/p", "p")
	hidden := types.NewNamed(types.NewTypeName(token.NoPos, p, "hidden", nil), types.Typ[types.Int], nil)
	inside := types.NewPackage("example.com/p/internal/q", "q")
	engine := types.NewNamed(types.NewTypeName(token.NoPos, types.NewPackage(module+"oocore/internal/plan", "plan"), "Sized", nil), types.Typ[types.Int], nil)
	internal := types.NewNamed(types.NewTypeName(token.NoPos, inside, "Q", nil), types.Typ[types.Int], nil)
	shown := types.NewNamed(types.NewTypeName(token.NoPos, p, "Shown", nil), types.Typ[types.Int], nil)
	for _, c := range []struct {
		of   types.Type
		want int
	}{
		{shown, 0},
		{hidden, 1},
		{types.NewPointer(internal), 1},
		{types.NewPointer(engine), 1},
		{types.NewMap(hidden, types.NewSlice(internal)), 2},
		{types.NewStruct([]*types.Var{types.NewField(token.NoPos, p, "a", hidden, false)}, nil), 0},
		{types.NewStruct([]*types.Var{types.NewField(token.NoPos, p, "A", hidden, false)}, nil), 1},
	} {
		f := &finder{from: p}
		f.visit("x", c.of)
		if len(f.found) != c.want {
			t.Errorf("%s: %d found, want %d: %v", c.of, len(f.found), c.want, f.found)
		}
	}
}

// The documentation of package oocore lists each method of an array, by its kind.
func TestDocumentationListsEveryMethod(t *testing.T) {
	text := goTool(t, "doc", module+"oocore")
	array := load(t, []string{module + "oocore"})[0].Scope().Lookup("Array").Type()
	methods := types.NewMethodSet(types.NewPointer(array))
	for m := range methods.Methods() {
		if name := m.Obj().Name(); m.Obj().Exported() && !regexp.MustCompile(`\bArray\.`+name+`\b`).MatchString(text) {
			t.Errorf("Array.%s is in no section of the package's documentation", name)
		}
	}
}
