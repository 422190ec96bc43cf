// Command packages writes the tables of packages, from their comments: those that
// programs import into README.md, all of them into oocore/CONTRIBUTING.md.
package main

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/testkit/sources"
)

//go:generate go run . ../../..

// imported are the packages of README.md, in its order: all that can be imported, and the command.
var imported = []string{"oocore", "oocore/linalg", "oocore/fft", "oocore/filter", "oocore/decomp", "oocore/nn",
	"oocore/adapters/arrow", "oocore/adapters/csv", "oocore/adapters/gomlx", "oocore/adapters/gonum", "oocore/adapters/images",
	"oocore/cloud", "oocore/cluster", "oocore/store", "oocore/record", "oocore/types", "oocore/dtype", "oocore/units", "oocore/machine",
	"gonbext", "gonbext/carry", "gonbext/cmd/gonbext", "cuda", "oocore/host", "oocore/device", "oocore/store/storetest", "oocore/device/devicetest", "oocore/testcases"}

// Lines around a table.
const (
	begin = "<!-- packages, by go generate ./oocore/internal/packages -->\n"
	end   = "<!-- end of packages -->\n"
)

func main() {
	files, err := tables(os.DirFS(os.Args[1]))
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(path.Join(os.Args[1], name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// tables returns the files that hold a table, with tables as they must be.
func tables(root fs.FS) (map[string]string, error) {
	about, err := comments(root)
	if err != nil {
		return nil, err
	}
	for dir := range about {
		_, err := fs.Stat(root, path.Join(dir, "go.mod")) // of a module of its own
		if err != nil && !slices.Contains(strings.Split(dir, "/"), "internal") && !slices.Contains(imported, dir) {
			return nil, fmt.Errorf("package %s can be imported, and README.md does not have it: move it to an internal folder, or add it to imported", dir)
		}
	}
	files := map[string]string{}
	for name, packages := range map[string][]string{"README.md": imported, "oocore/CONTRIBUTING.md": slices.Sorted(maps.Keys(about))} {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		before, rest, found := strings.Cut(string(text), begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			return nil, fmt.Errorf("%s has no place for the table of packages: the lines %s%s", name, begin, end)
		}
		table, err := rows(about, packages, name == "README.md")
		if err != nil {
			return nil, err
		}
		files[name] = before + begin + table + end + after
	}
	return files, nil
}

// aside is where a sentence has said what a package is, and goes on.
var aside = regexp.MustCompile(`: | \(|, and |, such as `)

// rows is the table of some packages; a brief one ends each sentence at its aside.
func rows(about map[string]string, packages []string, brief bool) (string, error) {
	var b strings.Builder
	b.WriteString("| package | |\n|---|---|\n")
	for _, dir := range packages {
		if about[dir] == "" {
			return "", fmt.Errorf("package %s has no comment that says what it is", dir)
		}
		said := about[dir]
		if brief {
			said = aside.Split(said, 2)[0]
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", dir, said)
	}
	return b.String(), nil
}

// comments returns what each package's comment says of it in its first sentence, by
// folder.
func comments(root fs.FS) (map[string]string, error) {
	about := map[string]string{}
	err := sources.Walk(root, []string{".go"}, func(file string, text []byte) error {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := path.Dir(file)
		if said := sentence(parsed.Doc.Text()); said != "" || about[dir] == "" {
			about[dir] = said
		}
		return nil
	})
	return about, err
}

// sentence is the first one of a package's comment without the package's name:
// "reads and writes stored arrays".
func sentence(comment string) string {
	words := strings.SplitN(new(doc.Package).Synopsis(comment), " ", 3)
	if len(words) < 3 || words[0] != "Package" && words[0] != "Command" {
		return ""
	}
	return strings.TrimRight(words[2], ".:")
}
