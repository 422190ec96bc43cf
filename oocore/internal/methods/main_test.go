package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/expr"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
)

func TestMethodsAreCurrent(t *testing.T) {
	want, err := methods(expr.Functions())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile("../../methods_gen.go"); err != nil || !bytes.Equal(text, want) {
		t.Errorf("oocore/methods_gen.go is stale (%v): run go generate ./oocore", err)
	}
}

func TestMethodsRejectWhatDoesNotFollow(t *testing.T) {
	build := func(site graph.Site, x *graph.Node, k int) (*graph.Node, error) { return x, nil }
	for _, c := range []struct{ signature, doc, want string }{
		{"(a *Array) F(k float64)", "F is.", "row f: k is float64, and the builder's parameter for k takes another"},
		{"(a *Array) F(k, n int)", "F is.", "row f: f(x, k) has no argument for n"},
		{"(a *Array) F(k int", "F is.", "is no signature"},
		{"(a *Array) F(k int)", "f is.", "row f: its Doc does not begin with F"},
	} {
		all, err := op.Read(op.Row{Usage: "f(x, k)", Go: c.signature, Doc: c.doc, Build: build})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = methods([]*op.Operation{all["f"]}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.signature, err, c.want)
		}
	}
}
