package gonbext

import (
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestCellLines(t *testing.T) {
	program := filepath.Join(t.TempDir(), "main.go")
	source := "package main\n\nfunc (p *pair[T]) sum() int {\n\treturn 1\n}\n\nfunc twice[T any](x T) T {\n\t// why\n\treturn x\n}\n\nfunc other() {\n}\n\nvar kept = 1\n\nfunc main() {\n"
	testcases.WriteFile(t, program, []byte(source), 0o600)
	inCell := cellLines(host.Site{File: program, Line: 17}, 30, map[string]int{"twice": 3, "pair.sum": 10})
	for site, want := range map[host.Site]string{
		{File: program, Line: 19}:        "cell:32",
		{File: program, Line: 9}:         "cell:5",
		{File: program, Line: 4}:         "cell:11",
		{File: program, Line: 13}:        "main.go:13", // of another cell
		{File: "/gonb/lib.go", Line: 22}: "lib.go:22",
	} {
		if got := inCell(site).String(); got != want {
			t.Errorf("%v became %s, not %s", site, got, want)
		}
	}
}
