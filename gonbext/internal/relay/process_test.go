package relay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLastWordsAreForPeople(t *testing.T) {
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := &process{log: log}
	if got := p.lastWords(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if _, err := log.WriteString(strings.Repeat("I1121 01:22:03 main.go:1] chatter\n", 1000) +
		"W1121 01:22:03 warning\n\nE1121 01:22:03 \x1b[7;39;32m[b2]\x1b[0m it broke\n  here\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.lastWords(), "E1121 01:22:03 [b2] it broke\n  here"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPreparingCellsAnswer(t *testing.T) {
	for printed, want := range map[string][2]string{
		"/tmp/gonb_0a\n":                     {"/tmp/gonb_0a", ""},
		"/tmp/gonb_0a\ngo: no such module\n": {"/tmp/gonb_0a", "go: no such module"},
		"bash: pwd: not found\n":             {"", "bash: pwd: not found"},
		"/home/me\n":                         {"", "/home/me"}, // never to be removed
		"":                                   {"", ""},
		"gonb_relative\n":                    {"", "gonb_relative"},
	} {
		h := newHidden()
		h.text.WriteString(printed)
		dir, complaint := h.folder()
		if got := [2]string{dir, complaint}; got != want {
			t.Errorf("%q: got %q, want %q", printed, got, want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	if got := shellQuote("it's $HOME"); got != `'it'\''s $HOME'` {
		t.Error(got)
	}
}
