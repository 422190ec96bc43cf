package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

func TestMethodsAreCurrent(t *testing.T) {
	want, err := all()
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range want {
		if text, err := os.ReadFile(filepath.Join("../..", folder, file)); err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s of oocore/%s is stale (%v): run go generate ./oocore", file, folder, err)
		}
	}
}

func TestMethodsRejectWhatDoesNotFollow(t *testing.T) {
	for _, c := range []struct{ signature, doc, want string }{
		{"(a *Array) F(k float64)", "F is.", "row f: k is float64, and the builder's field for k takes another"},
		{"(a *Array) F(k, n int)", "F is.", "row f: f(x, k) has no argument for n"},
		{"(a *Array) F(k int", "F is.", "is no signature"},
		{"Array.F", "", "row f: Array.F has no signature, and byHand does not say why"},
		{"(a *Array) F(k int)", "f is.", "row f: its Doc does not begin with F"},
		{"(a *Array) F(k int) = a, k, k", "F is.", "row f: f(x, k) has no argument for k"},
		{"(a *Array) F(k int) = a,, k", "F is.", "row f: a,, k are no arguments"},
	} {
		all, err := op.Read(op.Row{Name: "f", Names: "x k", Go: c.signature, Doc: c.doc, Build: op.Build(shape.Diag)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = methods([]*op.Operation{all["f"]}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.signature, err, c.want)
		}
	}
}
