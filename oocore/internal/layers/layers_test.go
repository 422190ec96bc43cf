// Package layers holds the direction of imports: downwards only.
package layers

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/testkit/sources"
)

const module = "github.com/gonbext/gonbext/"

// layers are the packages from the bottom up. A package may import those of
// layers below its own. Folders within a package's folder are part of it.
var layers = [][]string{
	{"oocore/internal/flock", "oocore/internal/dl", "oocore/internal/arraytext", "oocore/internal/simd", "oocore/internal/storage/door", "oocore/internal/testkit/sources"},
	{"oocore/units", "oocore/dtype", "oocore/internal/suggest", "oocore/testcases"},
	{"oocore/types"},
	{"oocore/internal/grid"},
	{"oocore/machine", "oocore/record"},
	{"oocore/internal/disk", "oocore/internal/requests"},
	{"oocore/internal/kernel", "oocore/internal/arena", "oocore/internal/blob", "oocore/internal/meter", "oocore/internal/testkit/disktest"},
	{"oocore/internal/strided", "oocore/internal/unpack"},
	{"oocore/internal/blockwise"},
	{"oocore/store", "oocore/internal/testkit/blockwisetest", "oocore/internal/plan/cost"},
	{"oocore/internal/storage", "oocore/internal/codec"},
	{"oocore/internal/format", "oocore/internal/memstore"},
	{"oocore/store/storetest", "oocore/cloud", "oocore/internal/graph", "oocore/internal/rates", "oocore/internal/plan"},
	{"oocore/internal/op", "oocore/internal/omezarr", "oocore/internal/plan/shapes", "oocore/internal/plan/device"},
	{"oocore/internal/plan/compile", "oocore/internal/plan/size", "oocore/internal/expr", "oocore/internal/testkit/graphtest"},
	{"oocore/internal/vm", "oocore/internal/plan/bill"},
	{"oocore/internal/exec/checkpoint"},
	{"oocore/internal/exec/slots"},
	{"oocore/internal/exec/device"},
	{"oocore/internal/exec/matmul"},
	{"oocore/internal/exec", "oocore/internal/resultcache", "oocore/internal/budget"},
	{"oocore/internal/exec/remote", "oocore/internal/receipt"},
	{"oocore/internal/door", "oocore/internal/testkit/exectest", "oocore/internal/hook", "oocore/internal/ptx"},
	{"oocore/device"},
	{"oocore/internal/run", "oocore/internal/output", "oocore/internal/lora"},
	{"oocore"},
	{"oocore/host"},
	{"oocore/adapters", "oocore/linalg", "oocore/fft", "oocore/filter", "oocore/device/devicetest"},
	{"oocore/decomp", "oocore/nn", "oocore/internal/testkit/iterations"},
	{"cuda"},
	{"gonbext/carry", "gonbext/internal/watchdog", "gonbext/internal/chart", "gonbext/internal/cards", "gonbext/internal/setup", "gonbext/internal/names"},
	{"gonbext/internal/footprint", "gonbext/internal/chunking", "gonbext/internal/relay", "gonbext/internal/inspect"},
	{"gonbext/internal/magic"},
	{"gonbext"},
	{"gonbext/cmd/gonbext"},
	{"oocore/internal"}, // tests of the whole
}

// only are the packages that may import less than their layer allows.
var only = map[string][]string{
	"gonbext/internal/chart": {"oocore/record", "oocore/units"}, // charts draw from records alone
}

// layer finds the package in layers that a folder belongs to.
func layer(dir string) (name string, level int) {
	level = -1
	for i, names := range layers {
		for _, n := range names {
			if (dir == n || strings.HasPrefix(dir, n+"/")) && len(n) > len(name) {
				name, level = n, i
			}
		}
	}
	return name, level
}

func TestImportsPointDownwards(t *testing.T) {
	root := os.DirFS(filepath.Join("..", "..", ".."))
	seen := 0
	err := sources.Walk(root, []string{".go"}, func(file string, text []byte) error {
		if strings.HasSuffix(file, "_test.go") {
			return nil
		}
		seen++
		dir := filepath.ToSlash(filepath.Dir(file))
		from, level := layer(dir)
		if level < 0 {
			t.Errorf("%s: package %s has no layer: give it one in this test", file, dir)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imported, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			to, below := layer(imported)
			if to != from && below >= level {
				t.Errorf("%s imports %s, which is not below %s", file, imported, from)
			}
			if allowed, ok := only[from]; ok && to != from && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s; %s may import %v only", file, imported, from, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Errorf("only %d files were looked at", seen)
	}
}
