package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/testkit/sources"
)

// askers are the folders whose files may look for a scheme in a text.
var askers = []string{
	"oocore/internal/blob",   // which says what the store of a path can do
	"oocore/cloud",           // which has addresses from there
	"gonbext/internal/chart", // which has the texts of records alone
	"gonbext/internal/relay", // whose addresses are those of sockets
}

// askings returns the expressions of a file that look at the text of a path for the kind of its store: calls of functions of
// package strings with "://".
func askings(file string, text []byte) (all []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
	if err != nil {
		return nil, err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, _ := f.X.(*ast.Ident)
		scheme := slices.ContainsFunc(call.Args, func(e ast.Expr) bool {
			l, ok := e.(*ast.BasicLit)
			return ok && l.Value == `"://"`
		})
		if of != nil && (of.Name == "strings" && scheme) {
			all = append(all, of.Name+"."+f.Sel.Name)
		}
		return true
	})
	return all, err
}

func TestPathsAreNotAskedForTheirStore(t *testing.T) {
	err := sources.Walk(os.DirFS(filepath.Join("..", "..", "..")), []string{".go"}, func(file string, text []byte) error {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(askers, filepath.ToSlash(filepath.Dir(file))) {
			return nil
		}
		all, err := askings(file, text)
		if len(all) > 0 {
			t.Errorf("%s asks the text of a path by %v: what its store can do is in blob.PlaceOf(path), in Can of a bucket, and in Store of an array of a plan", file, all)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := askings("x.go", []byte(`package x; func f(p string) bool { s, _, _ := strings.Cut(p, "://"); return s == "" || strings.Contains(p, "/") }`))
	if want := []string{"strings.Cut"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("of a file that asks %v is found, not %v: %v", found, want, err)
	}
}
