package main

import (
	"io/fs"
	"os"
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
	root["oocore/silent/a.go"] = &fstest.MapFile{Data: []byte("package silent")}
	if _, err := tables(root); err == nil || !strings.Contains(err.Error(), "oocore/silent") {
		t.Errorf("a package without a comment: %v", err)
	}
	delete(root, "oocore/silent/a.go")
	root["README.md"] = &fstest.MapFile{Data: []byte("no place")}
	if _, err := tables(root); err == nil {
		t.Error("a README without a place for the table is accepted")
	}
}

// README.md is to be read in minutes.
func TestReadmeIsShort(t *testing.T) {
	text := testcases.ReadFile(t, "../../../README.md")
	if n := len(strings.Fields(string(text))); n > 1500 {
		t.Errorf("README.md has %d words, and 1,500 at most", n)
	}
}
