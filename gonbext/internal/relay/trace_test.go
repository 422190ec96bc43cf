package relay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

const tracedProgram = `package main

import "fmt"

func main() {
	x := 1
	fmt.Println(x)
	var p *int
	fmt.Println(x)
	fmt.Println(*p)
}
`

const tracedCell = "%%\nx := 1\nfmt.Println( x )\nvar p *int\nfmt.Println(x)\nfmt.Println(*p)"

// stderrOf is a cell's trace after it wrote fragments.
func stderrOf(fragments ...string) *trace {
	t := &trace{cell: "id", code: tracedCell}
	for _, f := range fragments {
		t.add("id", message{content: encode(map[string]any{"name": "stderr", "text": f})})
	}
	return t
}

func TestTraceInFragments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gonb_0a1b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(dir, "main.go")
	testcases.WriteFile(t, main, []byte(tracedProgram), 0o600)
	for line, want := range map[int]string{10: "Line 6 ", 9: "Line 5 ", 7: "Line 3 "} {
		got := stderrOf("panic: ", "nil\n", main, ":", fmt.Sprint(line), " +0x5f\n").missing("id")
		if !strings.Contains(got, want) {
			t.Errorf("main.go:%d: %q, want %q", line, got, want)
		}
	}
	if got := stderrOf(main, ":", "10 +0x5f\n\t[[ Cell [3] Line 3 ]] ", main+":7 +0x5f\n").missing("id"); !strings.Contains(got, "Line 6 ") {
		t.Errorf("where only a place after the first one is marked: %q", got)
	}
	for name, tr := range map[string]*trace{
		"marked by GoNB":    stderrOf("[[ Cell [3] Line 6 ]] " + main + ":10 +0x5f\n"),
		"no trace":          stderrOf("a warning\n"),
		"no such program":   stderrOf(filepath.Join(dir, "gonb_ff", "main.go") + ":10\n"),
		"beyond its end":    stderrOf(main + ":99\n"),
		"not of the cell":   stderrOf(main + ":3\n"),
		"an absurd number":  stderrOf(main + ":99999999999999999999\n"),
		"line number zero":  stderrOf(main + ":0\n"),
		"of another's cell": {cell: "other"},
	} {
		if got := tr.missing("id"); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTraceKeepsTheEnd(t *testing.T) {
	tr := stderrOf(strings.Repeat("x", traceBytes), "the end")
	if len(tr.stderr) != traceBytes || !strings.HasSuffix(string(tr.stderr), "the end") {
		t.Errorf("%d bytes are kept", len(tr.stderr))
	}
}
