// Typecheck checks the types of packages as the compiler for GOOS and GOARCH does, and prints
// what is wrong. It takes seconds, where compiling them and all that they import takes a minute
// and more.
//
//	typecheck [-test] PACKAGES
//
// With -test the packages' tests are checked too.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // imports that mean another package here, as in a test
	DepOnly         bool              // it was not asked for
	Module          *struct{ GoVersion string }
	Error           *struct{ Err string }
}

// checked are the packages so far, under the names by which one of them imports them.
type checked struct {
	all map[string]*types.Package
	of  map[string]string
}

func (c checked) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p, ok := c.of[path]; ok {
		path = p
	}
	if p := c.all[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not among the packages", path)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	list := exec.Command("go", append([]string{"list", "-e", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly,Module,Error"}, os.Args[1:]...)...)
	list.Stderr = os.Stderr
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	wrong := 0
	files, all := token.NewFileSet(), map[string]*types.Package{}
	for d := json.NewDecoder(out); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if strings.HasSuffix(p.ImportPath, ".test") {
			continue // the main package of tests, which is generated
		}
		complain := func(err error) {
			if !p.DepOnly {
				wrong++
				fmt.Fprintln(os.Stderr, err)
			}
		}
		if p.Error != nil {
			complain(errors.New(p.Error.Err))
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				complain(err)
				continue
			}
			parsed = append(parsed, f)
		}
		c := types.Config{Importer: checked{all, p.ImportMap}, Error: complain, IgnoreFuncBodies: p.DepOnly, Sizes: types.SizesFor("gc", os.Getenv("GOARCH"))}
		if p.Module != nil && p.Module.GoVersion != "" {
			c.GoVersion = "go" + p.Module.GoVersion
		}
		all[p.ImportPath], _ = c.Check(p.ImportPath, files, parsed, nil) // complain has been told
	}
	if err := list.Wait(); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("errors for %s/%s: %d", os.Getenv("GOOS"), os.Getenv("GOARCH"), wrong)
	}
	return nil
}
