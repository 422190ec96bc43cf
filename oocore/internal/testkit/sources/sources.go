// Package sources reads the files of this module, for the tests and generators that look at
// them.
package sources

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Walk visits the files with one of the extensions, ".go", in the order of their names. It
// leaves out hidden folders and test data.
func Walk(root fs.FS, extensions []string, visit func(file string, text []byte) error) error {
	return fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(extensions, path.Ext(file)):
			return nil
		}
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		return visit(file, text)
	})
}
