package main

import (
	"os"
	"strings"
	"testing"
)

func TestPageIsCurrent(t *testing.T) {
	want, files, err := page(figures)
	if err != nil {
		t.Fatal(err)
	}
	files["../../BENCHMARKS.md"] = want
	for name, want := range files {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s is stale: run go generate ./oocore/internal/benchmarks (%v)", name, err)
		}
	}
}

func TestPageRejectsRowsWithoutOrigin(t *testing.T) {
	const whole = `{"machines": {"A": "one"}, "tables": [{"title": "T", "columns": ["what"], "rows": [{"cells": ["x"], "machine": "A", "date": "2026-11-21", "command": "c"}]}]}`
	if _, _, err := page([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"machine": "A"`, `"machine": "B"`},
		{`"2026-11-21"`, `"yesterday"`},
		{`"command": "c"`, `"command": ""`},
		{`["x"]`, `["x", "y"]`},
		{`"cells"`, `"cell"`},
		{`"title"`, `"picture": "p.svg", "title"`},
	} {
		if text, _, err := page([]byte(strings.Replace(whole, c[0], c[1], 1))); err == nil {
			t.Errorf("%s: the page is\n%s", c[1], text)
		}
	}
}
