package main

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestTablesAreCurrent(t *testing.T) {
	root := os.DirFS("../../..")
	files, err := tables(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != want {
			t.Errorf("the packages of %s are stale: run go generate ./oocore/internal/packages", name)
		}
	}
}

func TestPackagesWithoutCommentAreRejected(t *testing.T) {
	place := &fstest.MapFile{Data: []byte(begin + end)}
	root := fstest.MapFS{"README.md": place, "oocore/CONTRIBUTING.md": place}
	for _, dir := range imported {
		root[dir+"/doc.go"] = &fstest.MapFile{Data: []byte("// Package x does\n// one thing: this. And more.\npackage x")}
	}
	files, err := tables(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"README.md": "| `oocore/fft` | does one thing |\n", "oocore/CONTRIBUTING.md": "| `oocore/fft` | does one thing: this |\n"} {
		if !strings.Contains(files[name], want) {
			t.Errorf("no row %q in\n%s", want, files[name])
		}
	}
	root["oocore/internal/silent/a.go"] = &fstest.MapFile{Data: []byte("package silent")}
	if _, err := tables(root); err == nil || !strings.Contains(err.Error(), "oocore/internal/silent has no comment") {
		t.Errorf("a package without a comment: %v", err)
	}
	delete(root, "oocore/internal/silent/a.go")
	root["oocore/other/a.go"] = &fstest.MapFile{Data: []byte("// Package other is forgotten.\npackage other")}
	if _, err := tables(root); err == nil || !strings.Contains(err.Error(), "oocore/other can be imported") {
		t.Errorf("a package that can be imported and is not in README.md: %v", err)
	}
	root["oocore/other/go.mod"] = &fstest.MapFile{Data: []byte("module other")}
	if _, err := tables(root); err != nil {
		t.Errorf("a package of another module: %v", err)
	}
	delete(root, "oocore/other/go.mod")
	delete(root, "oocore/other/a.go")
	root["README.md"] = &fstest.MapFile{Data: []byte("no place")}
	if _, err := tables(root); err == nil {
		t.Error("a README without a place for the table is accepted")
	}
}

func TestPackagesOfReadmeHaveExamples(t *testing.T) {
	for _, dir := range imported {
		if dir == "gonbext/cmd/gonbext" { // a command, whose --help has some
			continue
		}
		tests, err := filepath.Glob(filepath.Join("../../..", dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(file string) bool { return strings.Contains(string(testcases.ReadFile(t, file)), "\nfunc Example") }) {
			t.Errorf("package %s has no example", dir)
		}
	}
}

// README.md is to be read in minutes.
func TestReadmeIsShort(t *testing.T) {
	text := testcases.ReadFile(t, "../../../README.md")
	words := strings.Fields(strings.ReplaceAll(string(text), "|", " ")) // the bars of tables are none
	if n := len(words); n > 1500 {
		t.Errorf("README.md has %d words, and 1,500 at most", n)
	}
}

// A file that a comment or a document names is there: of this folder, of the repository, or of any package.
func TestFilesThatTextsNameExist(t *testing.T) {
	root := os.DirFS("../../..")
	named := regexp.MustCompile(`(?:^|[^\w/.*-])((?:[\w-]+/)*[\w-]+\.go)\b|((?:oocore|gonbext|cuda|notebooks|\.ci)/[\w./-]*\.\w+)`)
	example := regexp.MustCompile(`[A-Z]{4,}(\.|/.*\.)(go|json|ipynb)$|^notebook\.go$`) // FAMILY/rows.go stands for many
	var texts []string
	files := map[string]bool{}
	for _, top := range []string{"README.md", "oocore", "gonbext", "cuda", "notebooks", ".ci"} {
		err := fs.WalkDir(root, top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			for at := name; at != "."; at = path.Dir(at) { // also under each end of its path
				files[strings.TrimPrefix(name, at+"/")] = true
			}
			files[name], files[path.Base(name)] = true, true
			if ext := path.Ext(name); (ext == ".go" || ext == ".md") && path.Base(name) != "CHANGELOG.md" {
				texts = append(texts, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range texts {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if path.Ext(name) == ".go" {
				_, comment, ok := strings.Cut(line, "// ")
				if line = comment; !ok || strings.Contains(line, `"`) {
					continue
				}
			}
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				file := cmp.Or(m[1], m[2])
				if !example.MatchString(file) && !files[file] && !files[path.Join(path.Dir(name), file)] {
					t.Errorf("%s:%d names %s, which is not there", name, i+1, file)
				}
			}
		}
	}
}
