package magic

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// Without Jupyter at hand, lessons are at least held to be notebooks for our
// kernel whose cells rewrite to Go. The full tests execute them.
func TestLessonsRewriteToGo(t *testing.T) {
	paths, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b := testcases.ReadFile(t, path)
			var notebook struct {
				Cells []struct {
					Type   string   `json:"cell_type"`
					Source []string `json:"source"`
					Meta   struct {
						Tags []string `json:"tags"`
					} `json:"metadata"`
				} `json:"cells"`
				Metadata struct {
					Kernel struct {
						Name string `json:"name"`
					} `json:"kernelspec"`
				} `json:"metadata"`
			}
			if err := json.Unmarshal(b, &notebook); err != nil {
				t.Fatal(err)
			}
			if notebook.Metadata.Kernel.Name != "gonbext" {
				t.Errorf("its kernel is %q", notebook.Metadata.Kernel.Name)
			}
			s := newSession()
			for _, c := range notebook.Cells {
				if c.Type != "code" {
					continue
				}
				code := strings.Join(c.Source, "")
				cell, err := s.Rewrite(code)
				if err != nil && slices.Contains(c.Meta.Tags, "raises-exception") {
					continue // a device that this machine lacks
				}
				if err != nil {
					t.Errorf("%v\n%s", err, code)
					continue
				}
				source := asGoNB(strings.Replace(cell.Code, "%%\n", "func main() {\n", 1))
				if strings.Contains(cell.Code, "%%\n") {
					source += "}\n"
				}
				if _, err := parser.ParseFile(token.NewFileSet(), "main.go", source, parser.AllErrors); err != nil {
					t.Errorf("%v\n%s", err, source)
				}
			}
		})
	}
}
