package main

import (
	"os"
	"testing"

	"github.com/gonbext/gonbext/oocore/expr"
)

func TestPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile("../../OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != page() {
		t.Error("oocore/OPERATIONS.md is stale: run go generate ./oocore/internal/operations")
	}
}

func TestEveryOperationIsDocumented(t *testing.T) {
	for _, f := range expr.Functions() {
		if f.Doc.NumPy == "" || f.Doc.Passes == "" || f.Doc.Working == "" {
			t.Errorf("%s has no NumPy name, passes or working set: document it where it is defined", f.Name)
		}
	}
}
