package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// What is there is not replaced, whatever kind of output it is, and of runs at once one wins.
func TestNoClobberKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3, 4)", 12)
	for _, out := range []string{"a.npy", "a.zarr", "a.npz#one", "a.safetensors#one", "a.bin"} {
		args := []string{"compute", "x*2", "x=x.npy", "-o", out, "--no-clobber"}
		succeed(t, dir, args...)
		for _, more := range []string{"--fresh", "--plan", "--json"} {
			if o := finish(t, command(dir, append(args, more)...)); o.status != 1 || !strings.Contains(o.stderr, "exists, and is not to be replaced") {
				t.Errorf("%s %s: %+v", out, more, o)
			}
		}
	}
	succeed(t, dir, "compute", "x*2", "x=x.npy", "-o", "a.npz#two", "--no-clobber")
	succeed(t, dir, "convert", "a.npz", "all", "--no-clobber")
	rejected(t, dir, command(dir, "convert", "a.npz", "all", "--no-clobber"), 1, "exists")
	rejected(t, dir, command(dir, "compute", "m = mean(x); c = x - m", "x=x.npy", "-o", "c=new.npy", "-o", "m=a.npy", "--no-clobber"), 1, "a.npy", "exists")
	testcases.WriteFile(t, filepath.Join(dir, "r.html"), []byte("mine"), 0o644)
	rejected(t, dir, command(dir, "compute", "sum(x)", "x=x.npy", "--report", "r.html", "--no-clobber"), 1, "--report r.html", "exists")
	for round := range 5 {
		out := "race" + string(rune('0'+round)) + ".npy"
		var all sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for _, e := range []string{"x + 1", "x + 2", "x + 3"} {
			c := command(dir, "compute", e, "x=x.npy", "-o", out, "--no-clobber")
			all.Go(func() {
				if c.Run() == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		if all.Wait(); won != 1 {
			t.Errorf("%d of three runs at once wrote %s", won, out)
		}
	}
}

func TestExpressionFromFile(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3, 4)", 12)
	testcases.WriteFile(t, filepath.Join(dir, "one"), []byte("# a sum\nsum(\n  x)\n"), 0o644)
	testcases.WriteFile(t, filepath.Join(dir, "two"), []byte("m = mean(x, 0)\n# centred\nc = x -\n  m;\n"), 0o644)
	if got := succeed(t, dir, "compute", "-f", "one", "x=x.npy"); got != "506\n" { // 0 + 1 + 4 + … + 121
		t.Errorf("the sum is %q", got)
	}
	succeed(t, dir, "compute", "-f", "two", "x=x.npy", "-o", "c=c.npy", "-o", "m=m.npy")
	if got := succeed(t, dir, "compute", "max(abs(mean(c, 0))) < 0.001", "c=c.npy"); got != "true\n" {
		t.Errorf("the means are %q", got)
	}
	c := command(dir, "compute", "--file", "-", "x=x.npy")
	c.Stdin = strings.NewReader("sum(x)")
	if o := finish(t, c); o.stdout != "506\n" {
		t.Errorf("%+v", o)
	}
	rejected(t, dir, command(dir, "compute", "-f", "none", "x=x.npy"), 1, "none: no such file")
}

func TestQuietPrintsResultsOnly(t *testing.T) {
	dir := t.TempDir()
	if got := succeed(t, dir, "compute", "arange(0, 3, 1)", "-o", "a.npy", "--quiet"); got != "" {
		t.Errorf("it says %q", got)
	}
	if got := succeed(t, dir, "compute", "-q", "sum(a)", "a=a.npy"); got != "3\n" {
		t.Errorf("it says %q", got)
	}
	rejected(t, dir, command(dir, "compute", "-q", "sum(a)", "a=none.npy"), 1, "none.npy")
}

func TestListsAreJSONWhereAsked(t *testing.T) {
	dir := t.TempDir()
	succeed(t, dir, "compute", "arange(0, 3, 1)", "-o", "a.npy")
	for _, args := range [][]string{{"compute", "--list"}, {"doctor"}, {"jobs"}, {"clean"}, {"info", "a.npy"}, {"fits", "sum(a)", "a=a.npy"},
		{"check", "sum(a)", "a=a.npy", "--against", "p.json", "--write"}, {"check", "sum(a)", "a=a.npy", "--against", "p.json"}} {
		if o := finish(t, command(dir, append(args, "--json")...)); !json.Valid([]byte(o.stdout)) || o.stderr != "" {
			t.Errorf("%v prints %.300q, %s", args, o.stdout, o.stderr)
		}
	}
	for line := range strings.Lines(succeed(t, dir, "compute", "--list")) {
		if strings.HasPrefix(line, " ") && len([]rune(line)) > 80 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	o := finish(t, command(dir, "info", "a.npy", "none.npy", "a.npy", "--json"))
	if lines := strings.Split(strings.TrimSpace(o.stdout), "\n"); o.status != 1 || len(lines) != 3 || !strings.Contains(lines[1], `"status":"failed"`) || strings.Count(o.stderr, "\n") != 1 {
		t.Errorf("%+v", o)
	}
	if o = finish(t, command(dir, "info", "a.npy", "none.npy", "a.npy")); o.status != 1 || strings.Count(o.stdout, "a.npy\n") != 2 || !strings.Contains(o.stderr, "none.npy") {
		t.Errorf("%+v", o)
	}
}

// Every command ends with exit status 2, one line and no output where it is called wrongly.
func TestWrongUsageOfEveryCommand(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3, 4)", 12)
	for _, c := range newRoot().Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		wrong := [][]string{{"--no-such-flag"}, {"-%"}}
		if c.Args(c, nil) != nil {
			wrong = append(wrong, nil)
		}
		if many := slices.Repeat([]string{"a"}, 50); c.Args(c, many) != nil {
			wrong = append(wrong, many)
		}
		for _, args := range wrong {
			o := finish(t, command(dir, append([]string{c.Name()}, args...)...))
			if o.status != 2 || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 {
				t.Errorf("%s %.40q: %+v", c.Name(), args, o)
			}
		}
	}
	values := map[string][]string{
		"memory": {"lots", "-1", "5 apples"}, "workers": {"0", "-2", "two", "1.5"}, "processes": {"0", "x"}, "chunks": {"0x1", "big", "1x", "-1"}, "shards": {"0", "a"},
		"codec": {"zip", "zstd:x"}, "region": {"a", "1:2:3", ":::"}, "attr": {"novalue", "k=text"}, "dims": {"a,a"}, "on": {"nowhere", "dask://"}, "dtype": {"float23"},
		"levels": {"0", "x"}, "json": {"maybe"}, "fresh": {"2"}, "plan": {"x"}, "device": {"gpu", "model:x"},
	}
	for _, call := range [][]string{{"compute", "x*2", "x=x.npy", "-o", "y.npy"}, {"convert", "x.npy", "y.zarr"}} {
		var c *cobra.Command
		for _, each := range newRoot().Commands() {
			if each.Name() == call[0] {
				c = each
			}
		}
		for flag, texts := range values {
			if c.Flags().Lookup(flag) == nil || flag == "dtype" && call[0] == "compute" {
				continue
			}
			for _, text := range texts {
				o := finish(t, command(dir, append(call, "--"+flag+"="+text)...))
				if o.status != 2 || strings.Count(o.stderr, "\n") != 1 {
					t.Errorf("%s --%s=%s: %+v", call[0], flag, text, o)
				}
			}
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "y*")); len(files) > 0 {
		t.Errorf("%v is left", files)
	}
}

// bash completes commands, flags, paths behind NAME= and functions.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash: its completion is not tried")
	}
	dir := t.TempDir()
	testcases.WriteFile(t, filepath.Join(dir, "acts.npy"), nil, 0o644)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if script := succeed(t, dir, "completion", shell); !strings.Contains(script, "__complete") {
			t.Errorf("%s: %.200s", shell, script)
		}
	}
	testcases.WriteFile(t, filepath.Join(dir, "script"), []byte(succeed(t, dir, "completion", "bash")), 0o644)
	for words, want := range map[string]string{
		"gonbext conv":               "convert",
		"gonbext compute --memo":     "--memory",
		"gonbext compute tan":        "tanh(",
		"gonbext compute x+tan":      "x+tanh(",
		"gonbext compute x x=ac":     "acts.npy",
		"gonbext completion ba":      "bash",
		"gonbext compute x --no-clo": "--no-clobber",
	} {
		text := `source ./script; gonbext() { "$TOOL" "$@"; }; COMP_WORDS=($WORDS); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); COMP_LINE="$WORDS"; COMP_POINT=${#COMP_LINE}
_get_comp_words_by_ref() { cur="${COMP_WORDS[COMP_CWORD]}"; prev="${COMP_WORDS[COMP_CWORD-1]}"; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
__ltrim_colon_completions() { :; }; compopt() { :; }
__start_gonbext; printf '%s\n' "${COMPREPLY[@]}"`
		c := exec.Command(bash, "-c", text)
		c.Dir, c.Env = dir, append(command(dir).Env, "TOOL="+os.Args[0], "WORDS="+words)
		if o := finish(t, c); !strings.Contains(o.stdout, want) {
			t.Errorf("%s is completed to %q, %s", words, o.stdout, o.stderr)
		}
	}
}

func TestManualHasEveryCommandAndFlag(t *testing.T) {
	dir := t.TempDir()
	page := succeed(t, dir, "man")
	for _, want := range []string{".SS gonbext compute", ".SS gonbext fits", `\-\-no\-clobber`, "EXIT STATUS", "130 and 143"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		c := exec.Command(groff, "-man", "-ww", "-z", "-K", "utf8")
		c.Stdin = strings.NewReader(page)
		if o := finish(t, c); o.status != 0 || strings.Contains(o.stderr, "macro") || strings.Contains(o.stderr, "escape") {
			t.Errorf("groff: %d, %s", o.status, o.stderr)
		}
	}
	if v := succeed(t, dir, "--version"); !strings.HasPrefix(v, "gonbext ") || !strings.Contains(v, "go1.") {
		t.Errorf("the version is %q", v)
	}
}

// A run writes its output and below the folders of the user's cache and of temporary files: what OPERATING.md lists.
func TestRunWritesWhereItIsDocumented(t *testing.T) {
	dir := t.TempDir()
	home, temporary := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{home, temporary} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"compute", "sort(random(1, 400, 500), 0)", "-o", "a.npy"}, {"compute", "a - mean(a, 0)", "a=a.npy", "-o", "a.zarr"}, {"compute", "sum(a)", "a=a.npy"}, {"info", "a.npy"}} {
		c := command(dir, args...)
		c.Env = append(c.Env, "HOME="+home, "XDG_CACHE_HOME=", "GONBEXT_RUNS=", "TMPDIR="+temporary)
		if o := finish(t, c); o.status != 0 {
			t.Fatalf("%v: %+v", args, o)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		known := d.IsDir() || rel == "a.npy" || strings.HasPrefix(rel, "a.zarr/") || strings.HasPrefix(rel, "home/.cache/gonbext/")
		if strings.HasPrefix(rel, "tmp/") || strings.HasSuffix(rel, ".gonbext") || !known {
			t.Errorf("%s is left", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
