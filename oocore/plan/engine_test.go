package plan_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"go/scanner"
	"go/token"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/plan"
)

var update = flag.Bool("update", false, "write golden files and the engine's name anew")

// engineSources are the folders of oocore whose code decides the bits of results: what is
// computed, in which order it is added up, and how a chunk is cut.
var engineSources = []string{"blockwise", "dtype", "exec", "graph", "grid", "kernel", "op", "plan", "vm"}

func TestEngineIsThatOfTheSources(t *testing.T) {
	want := "gonbext-" + engineSum(t, "..")
	if plan.Engine == want {
		return
	}
	if !*update {
		t.Fatalf("the sources that decide bits have changed: run go generate ./oocore/plan, by which Engine becomes %s", want)
	}
	text, err := os.ReadFile("engine.go")
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`const Engine = ".*"`).ReplaceAll(text, []byte(`const Engine = "`+want+`"`))
	if err := os.WriteFile("engine.go", text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// engineSum is a digest of the sources below a folder, without comments, blanks and
// tests, which decide nothing.
func engineSum(t *testing.T, root string) string {
	var files []string
	for _, folder := range engineSources {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
			name := e.Name()
			switch {
			case err != nil:
				return err
			case e.IsDir() && name == "testdata":
				return filepath.SkipDir
			case e.IsDir(), strings.HasSuffix(name, "_test.go"), name == "engine.go" && folder == "plan":
			case strings.HasSuffix(name, ".go"), strings.HasSuffix(name, ".s"):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	h := sha256.New()
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h.Write([]byte(filepath.ToSlash(path) + "\n"))
		if strings.HasSuffix(path, ".s") {
			h.Write(text)
		} else {
			hashTokens(h, text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

func hashTokens(h hash.Hash, text []byte) {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0) // without comments
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return
		}
		if literal == "\n" { // a semicolon that the scanner has put there
			literal = ";"
		}
		h.Write([]byte(tok.String() + "\x00" + literal + "\x00"))
	}
}
