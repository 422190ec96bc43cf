package main

import (
	"os"
	"strings"
	"testing"
)

func TestPageIsCurrent(t *testing.T) {
	want, err := page(figures)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../BENCHMARKS.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Error("oocore/BENCHMARKS.md is stale: run go generate ./oocore/internal/benchmarks")
	}
}

func TestPageRejectsRowsWithoutOrigin(t *testing.T) {
	const whole = `{"machines": {"A": "one"}, "tables": [{"title": "T", "columns": ["what"], "rows": [{"cells": ["x"], "machine": "A", "date": "2026-11-21", "command": "c"}]}]}`
	if _, err := page([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"machine": "A"`, `"machine": "B"`},
		{`"2026-11-21"`, `"yesterday"`},
		{`"command": "c"`, `"command": ""`},
		{`["x"]`, `["x", "y"]`},
		{`"cells"`, `"cell"`},
	} {
		if text, err := page([]byte(strings.Replace(whole, c[0], c[1], 1))); err == nil {
			t.Errorf("%s: the page is\n%s", c[1], text)
		}
	}
}
