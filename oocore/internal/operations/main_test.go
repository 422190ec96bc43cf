package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/expr"
)

func TestPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile("../../OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := page()
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Error("oocore/OPERATIONS.md is stale: run go generate ./oocore/internal/operations")
	}
}

func TestArrayAPIPageIsCurrent(t *testing.T) {
	want, err := arrayAPI()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../ARRAY_API.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Error("oocore/ARRAY_API.md is stale: run go generate ./oocore/internal/operations")
	}
}

// What the page says that an expression is called must be there.
func TestStandardFunctionsExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range expr.Functions() {
		known[f.Name] = true
	}
	rows, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, name := range regexp.MustCompile(`[a-z_0-9]+\(`).FindAllString(r[2], -1) {
			if name = strings.TrimSuffix(name, "("); !known[name] {
				t.Errorf("%s: %s has no function %q", r[1], r[2], name)
			}
		}
		if r[2] == "" && !strings.HasPrefix(r[3], "not applicable: ") {
			t.Errorf("%s has no expression", r[1])
		}
	}
}

func TestEveryOperationIsDocumented(t *testing.T) {
	for _, f := range expr.Functions() {
		if f.Doc.NumPy == "" || f.Doc.Passes == "" || f.Doc.Working == "" {
			t.Errorf("%s has no NumPy name, passes or working set: document it where it is defined", f.Name)
		}
	}
}
