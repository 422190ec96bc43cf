package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// expitTest holds the example to arithmetic on paper.
const expitTest = `package kernel

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

func TestExpit(t *testing.T) {
	for _, level := range levels() {
		restore := level.use()
		f, ok := Lookup(Expit, dtype.Float64)
		if !ok || Expit.String() != "expit" {
			t.Fatal("no expit of float64")
		}
		x := []float64{0, math.Log(3), -math.Log(3), math.Inf(1), math.Inf(-1), 0.5, -700, math.NaN()}
		want := []float64{0.5, 0.75, 0.25, 1, 0, 0.6224593312018546, 9.859676543759770e-305, math.NaN()}
		got := make([]float64, len(x))
		f(len(x), dtype.Bytes(got), dtype.Bytes(x), nil, nil)
		for i, w := range want {
			if offBy(dtype.Float64, got[i], w, 0) > Expit.Row().Units.Of(dtype.Float64)+0.5 {
				t.Errorf("%s: of %v it is %v, not %v", level.name, x[i], got[i], w)
			}
		}
		restore()
	}
}
`

// TestExampleOfContributing adds the function that CONTRIBUTING adds, by its two edits, and has the
// tests that go over all rows hold it to what they hold the others to.
func TestExampleOfContributing(t *testing.T) {
	if !testcases.Full() {
		t.Skip("generates and compiles for two minutes: GONBEXT_TEST=full runs it")
	}
	root, err := filepath.Abs("../../../../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) string {
		b := testcases.ReadFile(t, filepath.Join(root, path))
		return string(b)
	}
	contributing := read("oocore/CONTRIBUTING.md")
	example := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(contributing)
		if m == nil {
			t.Fatalf("CONTRIBUTING has no %s", pattern)
		}
		return m[1]
	}
	row, formula := example("(?m)^    (\\{Const: \"Expit\".*)$"), example("(?s)```go\n(package main\n.*?)```")

	folder, replaced := t.TempDir(), map[string]string{}
	write := func(path, text string) {
		file := filepath.Join(folder, strings.ReplaceAll(path, "/", "_"))
		testcases.WriteFile(t, file, []byte(text), 0o666)
		replaced[filepath.Join(root, path)] = file
	}
	overlay := filepath.Join(folder, "overlay.json")
	command := func(args ...string) {
		b, err := json.Marshal(map[string]any{"Replace": replaced})
		if err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, overlay, b, 0o666)
		c := exec.Command("go", append([]string{args[0], "-overlay", overlay}, args[1:]...)...)
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}

	rows := read("oocore/internal/kernel/rows.go")
	end := strings.Index(rows, "var rows")
	end += strings.Index(rows[end:], "\n}\n")
	write("oocore/internal/kernel/rows.go", rows[:end]+"\n\t"+row+rows[end:])
	write("oocore/internal/kernel/internal/asm/expit.go", formula)
	for target, path := range map[string]string{"cpu": "oocore/internal/kernel", "ptx": "oocore/internal/ptx"} {
		out := t.TempDir()
		command("run", "./oocore/internal/kernel/internal/asm", target, out)
		files, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			replaced[filepath.Join(root, path, f.Name())] = filepath.Join(out, f.Name())
		}
	}
	write("oocore/internal/kernel/expit_test.go", expitTest)
	command("test", "-vet=off", "-run", "TestExpit|TestRows|TestFloat32|TestLevels|TestPlace|TestResultOver|TestCapabilities|TestMapComputes|TestMapLeaves",
		"./oocore/internal/kernel", "./oocore/internal/ptx")
}
