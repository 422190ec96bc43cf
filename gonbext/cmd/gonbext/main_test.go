package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// call runs the command in this process; what it says is one string.
func call(t *testing.T, args ...string) (said string, exit int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, stdout := os.Stderr, os.Stdout
	os.Stderr, os.Stdout = w, w
	defer func() { os.Stderr, os.Stdout = stderr, stdout }()
	all := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		all <- string(b)
	}()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(w)
	exit = status(root.ExecuteContextC(t.Context()))
	w.Close()
	said = <-all
	r.Close()
	return said, exit
}

func TestBrowserIsLedByAPrivateFile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	page, err := redirectPage("http://localhost:8888/lab?token=A&b=<c>")
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(page)
	if err != nil || st.Mode().Perm() != 0o600 || strings.Contains(page, "token") {
		t.Errorf("%s: %v, %v", page, st.Mode(), err)
	}
	data, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(data), `content="0;url=http://localhost:8888/lab?token=A&amp;b=&lt;c&gt;"`) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"instal"}, "the nearest is install"},
		{[]string{"quite-another-thing"}, "gonbext --help"},
		{[]string{"lab", "a", "b"}, "gonbext lab --help"},
		{[]string{"lab", "--prot", "1"}, "--prot"},
		{[]string{"lab", "--port", "x"}, `"x" for "--port" flag: give a whole number; see`},
		{[]string{"compute", "x", "--workers", "NaN"}, `"NaN" for "--workers" flag: give a whole number; see`},
		{[]string{"compute", "x", "--workers", "99999999999999999999"}, `"--workers" flag: give a whole number; see`},
		{[]string{"compute", "x", "--fresh=maybe"}, `"--fresh" flag: give true or false; see`},
		{[]string{"compute", strings.Repeat("-", 30000) + "x"}, "-…; see gonbext compute --help"},
		{[]string{"run"}, "gonbext run --help"},
		{[]string{"kernel"}, "gonbext kernel --help"},
		{[]string{"doctor", "x"}, "gonbext doctor --help"},
		{[]string{"--flag"}, "--flag"},
	} {
		said, exit := call(t, c.args...)
		if exit != exitUsage || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%v: exit status %d, said %q", c.args, exit, said)
		}
	}
}

func TestFailure(t *testing.T) {
	said, exit := call(t, "kernel", "/does/not/exist.json")
	if exit != exitFailure || strings.Count(said, "\n") != 1 {
		t.Errorf("exit status %d, said %q", exit, said)
	}
}

func TestHelpShowsAnExample(t *testing.T) {
	said, exit := call(t)
	if exit != 0 || !strings.Contains(said, "gonbext lab") {
		t.Errorf("exit status %d, said %q", exit, said)
	}
	for _, c := range newRoot().Commands() {
		if !strings.Contains(c.Example, "gonbext "+c.Name()) && c.Name() != "kernel" {
			t.Errorf("%s has no example of its own", c.Name())
		}
		said, exit := call(t, c.Name(), "--help")
		if exit != 0 || !strings.Contains(said, "Examples:") {
			t.Errorf("%s --help: exit status %d, said %q", c.Name(), exit, said)
		}
	}
}

// A cell's figures in stock GoNB are drawn by the command, each with an answer; outside of a
// notebook they are text.
func TestReportCommandShowsFigures(t *testing.T) {
	figure, err := record.WriteCard(t.TempDir(), &record.Card{Title: "x", Figure: &record.Figure{Kind: record.PlotFigure}, Text: "x as text"})
	if err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	testcases.WriteFile(t, none, []byte("no card"), 0o600)
	var out strings.Builder
	root := newRoot()
	root.SetArgs([]string{gonbext.ReportCommand, ""})
	root.SetIn(strings.NewReader(figure + "\n" + none + "\n" + figure + "\n"))
	root.SetOut(&out)
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	want := "x as text\n" + gonbext.ShownLine + "\ncard " + none + ": invalid character 'o' in literal null (expecting 'u')\nx as text\n" + gonbext.ShownLine + "\n"
	if out.String() != want {
		t.Errorf("said %q, not %q", out.String(), want)
	}
}
