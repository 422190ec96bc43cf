package relay

import (
	"encoding/json"
	"strings"
	"testing"
)

// marking is what GoNB puts into a traceback for a line of the compiler's.
func marking(place, line string, column int) string {
	return place + "\nfunc main() {\n\tflag.Parse()\n" + line + "\n" + strings.Repeat(" ", column-1) + "^\n}\n\x1b[31mtext\x1b[0m"
}

// Faults have the cell's own lines, whatever the program is that GoNB makes of them, and no
// text that the user has not written.
func TestFaultsHaveTheUsersLines(t *testing.T) {
	generated := "import g \"g\"; func main() { defer g.Memory()(); {"
	for name, c := range map[string]struct {
		source, code string
		lines        int
		evalue       []string
		traceback    []any
		want         string
	}{
		"below a magic": {"%%memory\n\tx.Sqrt(1)", generated + "\n\tx.Sqrt(1)\n}}", 0,
			[]string{"# gonb_12", "./main.go:16:9: too many arguments\n\thave (number)\n\twant ()", ""},
			[]any{"", marking("Cell[7]: Line 2", "\tx.Sqrt(1)", 9), "", "", ""},
			"line 2: too many arguments\n\thave (number)\n\twant ()\n    \tx.Sqrt(1)\n    \t       ^"},
		"behind what is generated": {"y + 1", "func main() { {g.Show(y + 1)", 0,
			[]string{"./main.go:8:23: undefined: y"}, []any{marking("Cell[7]: Line 1", "func main() { {g.Show(y + 1)", 23)},
			"line 1: undefined: y\n    y + 1\n    ^"},
		"further down": {"println(y)\nfunc f() {}\nprintln(z)", "", 3,
			[]string{"./main.go:9:9: undefined: z"}, []any{marking("Cell[7]: Line 6", "println(z)", 9)},
			"line 3: undefined: z\n    println(z)\n            ^"},
		"of an earlier cell": {"f()", "f()", 0,
			[]string{"./main.go:4:5: undefined: y"}, []any{marking("Cell[3]: Line 2", "    y", 5)},
			"cell [3], line 2: undefined: y\n        y\n        ^"},
		"causes first and once": {"a := b\nc := b", "a := b\nc := b", 0,
			[]string{"./main.go:8:1: declared and not used: a", "./main.go:8:6: undefined: b", "./main.go:9:6: undefined: b", "./main.go:9:6: too many errors"},
			[]any{marking("Cell[7]: Line 1", "a := b", 1), marking("Cell[7]: Line 1", "a := b", 6), marking("Cell[7]: Line 2", "c := b", 6), ""},
			"line 1: undefined: b (also line 2)\n    a := b\n         ^"},
		"no module": {"import (\n\t\"a.b/c/d\"\n)", "", 0, []string{"package gonb_1a imports a.b/c/d from implicitly required module; to add missing requirements, run:\n\tgo get a.b/c"}, nil,
			"line 2: imports a.b/c/d from implicitly required module\n    \t\"a.b/c/d\""},
		"no module fetched": {"x()", "", 0, []string{"failed to run \"/usr/local/go/bin/go get\": exit status 1\n\ngo: module a.b/c: reading https://x: 404"}, nil,
			"go: module a.b/c: reading https://x: 404"},
		"not in any cell": {"f()", "f()", 0, []string{"main.go:3:1: \"x\" is not in std"}, []any{""}, "\"x\" is not in std"},
	} {
		j := &job{source: c.source, cell: Cell{Code: c.code, Lines: c.lines}}
		j.counted(map[string]any{"execution_count": json.Number("7")})
		faults := faultsOf(j, strings.Join(c.evalue, "\n"), c.traceback)
		got := strings.Join(faults.traceback(strings.Split(c.source, "\n")), "\n")
		got = strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(got)
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	if faultsOf(&job{}, "exit status 3", nil) != nil {
		t.Error("the end of a process is taken for a compile error")
	}
}

// What one line mends is said once, of the line's first fault, and hints may change what is blamed.
func TestHintsAreSaidOnceALine(t *testing.T) {
	explain := func(code string, line, column int, fault string) (text, hint string) {
		if fault == "undefined: linalg" {
			return "undefined: linalg.NormOptions", "Package linalg has no NormOptions."
		}
		return fault, map[int]string{1: "write x := y.Sin()", 2: ""}[line]
	}
	faults := Faults{{Line: 1, Text: "undefined: x"}, {Line: 1, Text: "undefined: np"}, {Line: 2, Text: "a"}, {Line: 2, Text: "b"}, {Line: 3, Text: "undefined: linalg"}}
	got := ""
	for _, f := range faults.explained("x = np.sin(y)\n", explain) {
		got += f.String() + " " + f.Hint + "\n"
	}
	if want := "line 1: undefined: x write x := y.Sin()\nline 2: a \nline 2: b \nline 3: undefined: linalg.NormOptions Package linalg has no NormOptions.\n"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

func TestPanicsHaveTheUsersLines(t *testing.T) {
	r := &relay{key: signer("k")}
	m := message{content: encode(map[string]any{"name": "stderr", "text": " [[ Cell [3] Line 9 ]] main.go:7, [[ Cell Line 2 ]]"})}
	got, err := fields(r.ownLines(m, &job{cell: Cell{Lines: 5}}).content)
	if err != nil || got["text"] != " [[ Cell [3] Line 4 ]] main.go:7, [[ Cell Line 2 ]]" {
		t.Errorf("%v, %v", got, err)
	}
}

// rejecting is a Rewriter for which no cell is Go.
type rejecting struct{ words }

func (rejecting) Rewrite(code string) (Cell, error) {
	return Cell{}, Faults{{Line: 2, Column: 3, Text: "syntax error: so it is", Hint: "Write Go."}}
}

func TestCellThatIsNotGoRunsNothing(t *testing.T) {
	x := start(t, rejecting{}, nil)
	reply, outputs := x.execute("one\ntwo")
	equal(t, outputs, "busy\ninput 1 \"one\\ntwo\"\nerror CompileError: line 2: syntax error: so it is\nidle\n")
	if said := reply["traceback"].([]any); len(said) != 1 || !strings.HasSuffix(said[0].(string), "\n    two\n      ^\nWrite Go.") {
		t.Errorf("%q", said)
	}
}

func TestCompileErrorIsExplained(t *testing.T) {
	x := start(t, words{}, nil)
	reply, outputs := x.execute("fail ./main.go:3:1: undefined: y")
	if !strings.Contains(outputs, "error CompileError: undefined: y\n") || !strings.HasSuffix(reply["traceback"].([]any)[0].(string), "\nfiles carry over") {
		t.Errorf("%s%q", outputs, reply)
	}
}
