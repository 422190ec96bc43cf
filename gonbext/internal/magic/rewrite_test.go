package magic

import (
	"cmp"
	goflag "flag"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/gonbext/gonbext/oocore/testcases"
)

var update = goflag.Bool("update", false, "rewrite golden files")

func newSession() *Session {
	s := NewSession()
	s.notebook, s.newID, s.api = "", func() string { return "ID" }, moduleAPI
	return s
}

var moduleAPI = sync.OnceValue(func() []callable { return readAPI("../../..") })

// asGoNB drops what GoNB drops from a cell and makes a file of the rest.
func asGoNB(code string) string {
	var b strings.Builder
	b.WriteString("package main\n")
	for _, l := range strings.Split(code, "\n") {
		if !isSpecial(l) && !strings.HasPrefix(l, "package") {
			b.WriteString(l)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Each testdata/NAME.cell is a cell; NAME.golden is what GoNB gets.
func TestRewriteGolden(t *testing.T) {
	cells, err := filepath.Glob("testdata/*.cell")
	if err != nil || len(cells) == 0 {
		t.Fatalf("no cells in testdata: %v", err)
	}
	for _, path := range cells {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".cell"), func(t *testing.T) {
			source := testcases.ReadFile(t, path)
			code := strings.TrimSuffix(string(source), "\n")
			cell, err := newSession().Rewrite(code)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.ParseFile(token.NewFileSet(), "main.go", asGoNB(cell.Code), parser.AllErrors); err != nil {
				t.Errorf("generated text is not Go: %v\n%s", err, cell.Code)
			}
			checkLines(t, code, cell.Code)
			golden := strings.TrimSuffix(path, ".cell") + ".golden"
			if *update {
				testcases.WriteFile(t, golden, []byte(cell.Code+"\n"), 0o644)
			}
			want := testcases.ReadFile(t, golden)
			if cell.Code+"\n" != string(want) {
				t.Errorf("got\n%s\nwant\n%s", cell.Code, want)
			}
		})
	}
}

// generatedLast is what stands before the value of a cell's last line.
var generatedLast = regexp.MustCompile(`gonbext_*\.Last = `)

// checkLines holds a rewritten cell to the promise that the user's lines keep
// their numbers: a line that is not a magic's ends as it did.
func checkLines(t *testing.T, code, rewritten string) {
	t.Helper()
	before, specials := readCell(code)
	after := strings.Split(rewritten, "\n")
	if len(after) < len(before) || len(after) > len(before)+1 {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	ours := map[int]bool{}
	for _, c := range specials {
		if !isOurs(c) {
			continue
		}
		ours[c.at] = true
		for i := c.at + 1; i < len(before) && before[i].kind == continuation; i++ {
			ours[i] = true
		}
	}
	for i, l := range before {
		if !ours[i] && !strings.HasSuffix(generatedLast.ReplaceAllString(after[i], ""), l.text) {
			t.Errorf("line %d: %q became %q", i+1, l.text, after[i])
		}
	}
}

func TestRewriteLeavesOtherCells(t *testing.T) {
	for _, code := range []string{
		"",
		"var x = 1",
		"// only a comment",
		"%%\nfmt.Println(1)",
		"%%bash\n%%memory\necho",
		"%%script python3\n%budget 1MiB",
		"%%writefile a.go\n%%memory --wrong",
		"%args --budget lots",
		"!echo \\\n%%memory",
	} {
		cell, err := newSession().Rewrite(code)
		if err != nil || cell.Code != code || cell.Watch || len(cell.Displays) > 0 {
			t.Errorf("%q became %+v, %v", code, cell, err)
		}
	}
}

// GoNB takes lines of strings and comments for commands, so they are hidden from it in
// cells without a magic too.
func TestRewriteHidesTextThatLooksLikeACommand(t *testing.T) {
	for code, want := range map[string]string{
		"var s = `\n%%memory --wrong\n`": "var s = `\n`+`%%memory --wrong\n`",
		"%%\ns := `\n%%\n`\nprintln(s)":  "%%\ns := `\n`+`%%\n`\nprintln(s)",
		"/*\n%%memory --wrong\n*/":       "/*\n %%memory --wrong\n*/",
		"// a comment with ` in it\nvar s = \"`\"\nvar c = '`'\nvar t = `\n%budget lots\n`": "// a comment with ` in it\nvar s = \"`\"\nvar c = '`'\nvar t = `\n`+`%budget lots\n`",
	} {
		cell, err := newSession().Rewrite(code)
		if err != nil || cell.Code != want || cell.Watch || len(cell.Displays) > 0 {
			t.Errorf("%q became %+v, %v", code, cell, err)
		}
	}
}

// A shell line's quotes and comments are not Go's.
func TestRewriteIgnoresShellQuotes(t *testing.T) {
	cell, err := newSession().Rewrite("!echo ` /* '\n%%memory\nf()")
	if err != nil || !cell.Watch {
		t.Errorf("got %+v, %v", cell, err)
	}
}

// GoNB takes any line that begins with % or ! for its own, and would drop it
// from the string.
func TestRewriteKeepsStrings(t *testing.T) {
	cell, err := newSession().Rewrite("%%memory\ns := `a\n%budget lots\n!ls` /*\n!ls\n*/")
	want := "\ns := `a\n`+`%budget lots\n`+`!ls` /*\n !ls\n*/\n}}"
	if err != nil || !strings.HasSuffix(cell.Code, want) {
		t.Errorf("%q, %v", cell.Code, err)
	}
}

func TestRewriteUsageErrors(t *testing.T) {
	for code, want := range map[string]string{
		"%%memory --buget 1GiB":                      `%%memory: there is no flag --buget, did you mean --budget?`,
		"%%memory --on pbs":                          `%%memory: --on: there is no batch system "pbs": take slurm, gridengine or dask://HOST:PORT`,
		"%%memory --processes 0":                     `%%memory: --processes: "0" is no number of processes: give one or more`,
		"%%memory -fresh":                            `%%memory: there is no flag -fresh, did you mean --fresh?`,
		"%%memory --budget":                          `%%memory: --budget needs a value, such as --budget 512MiB`,
		"%%memory 512MiB":                            `%%memory: 512MiB is not a flag, did you mean --budget 512MiB?`,
		"%%memory fresh":                             `%%memory: "fresh" is not a flag, did you mean --fresh?`,
		"%%memory --fresh=yes":                       `%%memory: --fresh takes no value: write --fresh alone`,
		"%help matmull":                              `%help: there is no operation matmull, did you mean matmul?`,
		"%%memory --device gpu":                      `%%memory: --device: there is no device "gpu", did you mean cpu?`,
		"%%memory --device cuda":                     `%%memory: --device: there is no device "cuda", did you mean cuda:0?`,
		"%%memory --chart sgv":                       `%%memory: --chart: there is no chart "sgv", did you mean svg?`,
		"%%memory --chunks 0x512":                    `%%memory: --chunks: "0x512" is not a chunk shape: each length is at least 1, as in 1024x512`,
		"%%memory\n%%footprint":                      `%%footprint: %%memory stands in this cell too, and a cell has one of them`,
		"%%memory\n%%":                               `%%: %%memory stands in this cell too, and a cell has one of them`,
		"%test\n%%memory":                            `%%memory: %test stands in this cell too, and a cell has one of them`,
		"%%memory\nimport \"fmt\"":                   `%%memory: line 2 has an import, but it makes the lines below it a func main: imports and other functions go above it`,
		"%%memory\n\nfunc f() {}":                    `%%memory: line 3 has func f, but it makes the lines below it a func main: imports and other functions go above it`,
		"func main() {}\n%%memory":                   `%%memory: line 1 has func main, and it makes one of the lines below it: move the statements there, without the func`,
		"%%memory\nfunc main() {}":                   `%%memory: line 2 has func main, and it makes one of the lines below it: move the statements there, without the func`,
		"%budget 1GiB 2GiB":                          `%budget: it takes one size, and got "1GiB" and "2GiB"`,
		"%budget --size 1GiB":                        `%budget: it takes no flags, such as --size`,
		"%device tpu":                                `%device: there is no device "tpu", did you mean cpu?`,
		"%chunks":                                    `%chunks: it takes one path, as in %chunks acts.zarr, and got 0; one with spaces goes in "quotes"`,
		"%chunks a.zarr b.zarr":                      `%chunks: it takes one path, as in %chunks acts.zarr, and got 2; one with spaces goes in "quotes"`,
		"%chunks a.zarr --chart svg":                 `%chunks: it takes no flags, such as --chart`,
		"%runs some":                                 `%runs: "some" is not a number of runs, as in %runs 50`,
		"%runs 0":                                    `%runs: "0" is not a number of runs, as in %runs 50`,
		"%runs 1 2":                                  `%runs: it takes one number, and got "1" and "2"`,
		"%compare last":                              `%compare: it takes two runs, as in %compare last-1 last, and got 1`,
		"%%memoy\nf()":                               `there is no magic %%memoy, did you mean %%memory? %help lists all`,
		"%footpirnt 3x4":                             `there is no magic %footpirnt, did you mean %footprint? %help lists all`,
		"%auotget":                                   `there is no magic %auotget, did you mean %autoget? %help lists all`,
		"%%memory --budget 64 MiB":                   `%%memory: write the size in one word: --budget 64MiB`,
		"%%memory --budget=64 MiB":                   `%%memory: write the size in one word: --budget 64MiB`,
		"%budget 1.5 GB":                             `%budget: write the size in one word: %budget 1.5GB`,
		"%%memory --budget 512":                      `%%memory: --budget: 512 has no unit, did you mean 512MiB?`,
		"%gonbext me":                                `%gonbext: it takes no words, and got "me"`,
		"%footprint":                                 `%footprint: it needs a shape, as in %footprint 3075200x512 float32`,
		"%footprint 3x4 flaot32":                     `%footprint: there is no dtype "flaot32", did you mean float32?`,
		"%footprint 3x4 --chunks 1024":               "%footprint: chunks (1024,) have 1 dimensions, the shape (3, 4) has 2",
		"%footprint 3y4":                             `%footprint: "3y4" is not a shape: write lengths such as 3075200x512`,
		"%footprint 3x4 --budget 1GiB":               `%footprint: there is no flag --budget, did you mean --chunks?`,
		"%budget 1GiB\n%%memory --budgte=1GiB\nf()":  `%%memory: there is no flag --budgte, did you mean --budget?`,
		"%%memory --budget 1GiB --budget 2GiB":       `%%memory: --budget stands twice: it is given once`,
		"%%memory --fresh --fresh":                   `%%memory: --fresh stands twice: it is given once`,
		"%%memory --budget --fresh":                  `%%memory: --budget needs a value, such as --budget 512MiB`,
		"%chunks \"my data.zarr":                     `%chunks: a quote is not closed; within quotes, \" is a quote`,
		"%chunks my data.zarr":                       `%chunks: it takes one path, as in %chunks acts.zarr, and got 2; one with spaces goes in "quotes"`,
		"x := 1\n  %%memory\nf()":                    `%%memory has to begin its line: take away what stands before it`,
		"\ufeff%budget 1GiB":                         `%budget has to begin its line: take away what stands before it`,
		"func f() {\n%%memory\ng()\n}":               `%%memory: line 1 opens a bracket that is not closed above it: it stands below declarations, not within one`,
		"type t int\n%%memory\nfunc (t) f() {}":      `%%memory: line 3 has method f, but it makes the lines below it a func main: imports and other functions go above it`,
		"%%memory\nfunc f[T any](x T) {}":            `%%memory: line 2 has func f, but it makes the lines below it a func main: imports and other functions go above it`,
		"%%memory --fr\x1b[31m":                      `%%memory: there is no flag --fr\x1b[31m, did you mean --fresh?`,
		"%%memory \u202e":                            `%%memory: "\u202e" is not a flag, did you mean --on?`,
		"%%memory --chunks 1024x":                    `%%memory: --chunks: "1024x" is not a shape: write lengths such as 3075200x512`,
		"%report -1 2":                               `%report: it takes one run, and got "-1" and "2"`,
		"%runs -5":                                   `%runs: "-5" is not a number of runs, as in %runs 50`,
		"%footprint -1x2":                            `%footprint: "-1x2" is not a shape: write lengths such as 3075200x512`,
		"%%\nf()\n%%\ng()":                           `%%: %% stands in this cell too, and a cell has one of them`,
		"%wasm\n%main\n%exec f":                      `%exec: %main stands in this cell too, and a cell has one of them`,
		"%exec":                                      `%exec: it takes the name of a function, as in %exec f`,
		"%exec\tf":                                   `%exec: it takes the name of a function, as in %exec f`,
		"%%script\necho":                             `%%script: it takes the program that runs the cell, as in %%script python3`,
		"//gonb:%%memory --chart\n":                  `%%memory: --chart needs a value, such as --chart auto`,
		"%%memory --budget 1GiB \\\n--chnuks 1024x1": `%%memory: there is no flag --chnuks, did you mean --chunks?`,
	} {
		_, err := newSession().Rewrite(code)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v\nwant %s", code, err, want)
		}
	}
	for _, size := range []string{"lots", "0", "-1", "", "MiB", "1.2.3GiB"} {
		for _, code := range []string{"%%memory --budget=" + size, "%%footprint --budget=" + size, `%budget "` + size + `"`} {
			if _, err := newSession().Rewrite(code); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: got %v", code, err)
			}
		}
	}
	if _, err := newSession().Rewrite("%%memory --budget 1KiB"); err != nil {
		t.Errorf("a small budget is the run's to reject, and got %v", err)
	}
}

// What was pasted may be of any length: an error repeats some of it, and comes at once.
func TestRewriteCutsLongErrors(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, code := range []string{"%" + long, "%%memory --" + long, "%%memory --budget " + long, "%%memory " + long, "%device " + long, "%footprint 3x4 " + long} {
		if _, err := newSession().Rewrite(code); err == nil || len(err.Error()) > 2*errorMost {
			t.Errorf("%.30s: %.100v", code, err)
		}
	}
}

// Whatever stands before a function and is no declaration stays: the compiler judges it.
func TestRewriteTakesLiterals(t *testing.T) {
	for _, body := range []string{"func() { f() }()", "f := func(x int) int { return x }\nf(1)", "go func(x int) {}(1)", "var f func(int) string", "x := []func(){\n\tfunc() {},\n}"} {
		if cell, err := newSession().Rewrite("%%memory\n" + body); err != nil || !strings.Contains(generatedLast.ReplaceAllString(cell.Code, ""), body) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// Spaces that look like spaces separate words, as in what was copied from a page.
func TestRewriteSplitsAtEverySpace(t *testing.T) {
	cell, err := newSession().Rewrite("%%memory\u00a0--budget\u20031GiB\r\nf()")
	if err != nil || !strings.Contains(cell.Code, `gonbext.Budget("1GiB")`) {
		t.Errorf("%+v, %v", cell, err)
	}
}

func TestSplitArgsTakesQuotesInQuotes(t *testing.T) {
	for text, want := range map[string][]string{
		`%chunks "a b.zarr"`:         {"%chunks", "a b.zarr"},
		`%chunks "a \"b\".zarr"`:     {"%chunks", `a "b".zarr`},
		`%chunks "C:\data\\a b.npy"`: {"%chunks", `C:\data\a b.npy`},
		`%chunks it's.zarr`:          {"%chunks", "it's.zarr"},
		`%chunks "ä 数.zarr"`:         {"%chunks", "ä 数.zarr"},
		`%chunks ""`:                 {"%chunks", ""},
	} {
		if got, open := splitArgs(text); open || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %t", text, got, open)
		}
	}
}

func TestSettingsCarryOver(t *testing.T) {
	s := newSession()
	rewrite := func(code string) string {
		t.Helper()
		cell, err := s.Rewrite(code)
		if err != nil {
			t.Fatal(err)
		}
		return cell.Code
	}
	has := func(code, part string) {
		t.Helper()
		if !strings.Contains(code, part) {
			t.Errorf("no %s in %s", part, code)
		}
	}
	rewrite("%budget 256MiB\n%device model:1GiB")
	has(rewrite("%%memory"), `gonbext.Memory(gonbext.Cell("ID", 1), gonbext.Budget("256MiB"), gonbext.Device("model:1GiB"))()`)
	has(rewrite("%%footprint --budget 1GiB"), `gonbext.Footprint(gonbext.Cell("ID", 1), gonbext.Budget("1GiB"), gonbext.Device("model:1GiB"))()`)
	has(rewrite("%budget 64MiB\n%%memory"), `gonbext.Budget("64MiB")`)
	if _, err := s.Rewrite("%budget 1GiB\n%%memory --wrong"); err == nil {
		t.Fatal("a wrong flag passed")
	}
	has(rewrite("%%memory"), `gonbext.Budget("64MiB")`)
}

func TestPlanOnlySessionPlansCellsForAnyMachine(t *testing.T) {
	s := newSession()
	s.PlanOnly("1000000", "2")
	for code, want := range map[string]string{
		"%%memory":                   `gonbext.Footprint(gonbext.Cell("ID", 1), gonbext.Budget("1000000"), gonbext.Nominal("2"))()`,
		"%%memory --budget 1GiB":     `gonbext.Footprint(gonbext.Cell("ID", 1), gonbext.Budget("1GiB"), gonbext.Nominal("2"))()`,
		"%%footprint --chunks 10x10": `gonbext.Footprint(gonbext.Cell("ID", 1), gonbext.Chunks("10x10"), gonbext.Budget("1000000"), gonbext.Nominal("2"))()`,
		"%budget 64MiB\n%%memory":    `gonbext.Footprint(gonbext.Cell("ID", 2), gonbext.Budget("64MiB"), gonbext.Nominal("2"))()`,
	} {
		s.inherited = inherited{}
		cell, err := s.Rewrite(code)
		if err != nil || !strings.Contains(cell.Code, want) {
			t.Errorf("%s: %v\n%s\nlacks %s", code, err, cell.Code, want)
		}
	}
	if cell, err := s.Rewrite("%%\nprintln(1)"); err != nil || cell.Code != "%%\nprintln(1)" {
		t.Errorf("a plain cell becomes %q (%v)", cell.Code, err)
	}
	if cell, err := s.Rewrite("%%\nx := oocore.Open(\"a.npy\")\nx"); err != nil || cell.Code != "%%\nx := oocore.Open(\"a.npy\")\n_ = x" {
		t.Errorf("a plain cell with an array becomes %q (%v)", cell.Code, err)
	}
}

func TestShow(t *testing.T) {
	for code, want := range map[string]string{
		"%budget": "No budget is set",
		"%footprint [384, 192] float32 --device 1KiB --chunks 10x10": "294,912",
		"%footprint 3075200x512":                                     "6,298,009,600",
		"%footprint 3075200 x 512 float32":                           "6,298,009,600",
		"%budget 256MiB":                                             "256 MiB (268,435,456 bytes)",
		"%device":                                                    "cpu",
		"%gonbext":                                                   "%%memory [--budget SIZE]",
	} {
		cell, err := newSession().Rewrite(code)
		if err != nil || len(cell.Displays) != 1 {
			t.Fatalf("%s: %+v, %v", code, cell, err)
		}
		if text, _ := cell.Displays[0].Data["text/plain"].(string); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in %q", code, want, text)
		}
		if cell.Code != "" || cell.Watch {
			t.Errorf("%s left %q to run", code, cell.Code)
		}
	}
}

func TestDeviceThatIsNotThere(t *testing.T) {
	for _, code := range []string{"%device cuda:99", "%%memory --device cuda:99\nf()"} {
		if _, err := newSession().Rewrite(code); err == nil || !strings.Contains(err.Error(), "there is no cuda:99") {
			t.Errorf("%q: %v", code, err)
		}
	}
}

func TestSettingsAreTakenBack(t *testing.T) {
	s := newSession()
	for _, code := range []string{"%budget 64MiB\n%device model:1GiB", "%budget none\n%device none"} {
		if _, err := s.Rewrite(code); err != nil {
			t.Fatal(err)
		}
	}
	cell, err := s.Rewrite("%%memory\nf()")
	if err != nil || strings.Contains(cell.Code, "Budget") || strings.Contains(cell.Code, "Device") {
		t.Errorf("%s, %v", cell.Code, err)
	}
}

func TestFootprintObeysSettings(t *testing.T) {
	s := newSession()
	cell, err := s.Rewrite("%budget 64MiB\n%device model:1GiB\n%footprint 100000x1000 float32")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := cell.Displays[len(cell.Displays)-1].Data["text/plain"].(string)
	for _, want := range []string{"64 MiB (set by %budget)", "fits a device of 1 GiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	for _, row := range strings.Split(text, "\n") { // 400,000,000 bytes: no to the budget, yes to the device
		if f := strings.Fields(row); strings.HasPrefix(row, "float32") && (f[len(f)-2] != "no" || f[len(f)-1] != "yes") {
			t.Errorf("row %q", row)
		}
	}
}

func TestHelpIsAskedForInManyWays(t *testing.T) {
	for code, want := range map[string]string{
		"%%memory --help\nf()":          "--budget SIZE",
		"%%memory -h":                   "--budget SIZE",
		"%%memory?":                     "--budget SIZE",
		"%%memory ?":                    "--budget SIZE",
		"?%%memory":                     "--budget SIZE",
		"%%memory --budget 1GiB --help": "--budget SIZE",
		"%compare?":                     "%compare A B",
		"%report --help":                "--chart",
		"%help TopK":                    "TopK returns the k largest",
		"%help matmul":                  "Held at once: ",
		"%lsmagic":                      "%with_password",
		"%help":                         "%writefile",
		"%disk --help":                  "clean WHAT",
		"%gonbext":                      "%%memory --help",
	} {
		cell, err := newSession().Rewrite(code)
		if err != nil || len(cell.Displays) != 1 || cell.Watch || strings.TrimSpace(cell.Code) != "" {
			t.Errorf("%q: %+v, %v", code, cell, err)
			continue
		}
		if text, _ := cell.Displays[0].Data["text/plain"].(string); !strings.Contains(text, want) {
			t.Errorf("%q shows %s", code, text)
		}
	}
}

func TestHelpStandsBesideWhatMagicsAnswer(t *testing.T) {
	cell, err := newSession().Rewrite("%disk\n%%memory --help")
	if err != nil || len(cell.Displays) != 1 || len(cell.Late) != 1 {
		t.Errorf("%+v, %v", cell, err)
	}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct{ code, want string }{ // | is the cursor; ‸ is where GoNB is asked
		{"%%mem|ory --budget 1GiB\nf()", "--budget SIZE"},
		{"%%memory --budget \\\n1G|iB\nf()", "--budget SIZE"},
		{"%%memory?|", "--budget SIZE"},
		{"x := 1\n%chunks| a.zarr", "%chunks PATH"},
		{"%%memroy|", "did you mean %%memory"},
		{"%%memory\nzzz.Prin|tln(1)", "%%      \nzzz.Prin‸tln(1)"},
		{"%%memory\nf(x, |)", "%%      \n‸f(x, )"},
		{"oocore.Eval(\"sum(arg|topk(x, 3))\")", "ArgTopK returns the positions"},
		{"oocore.Eval(`around(x, |", "around is another name of round"},
		{"%%memory\n  |", ""},
		{"|", ""},
		{"  |  ", ""},
		{"(|", ""},
		{", )|", ""},
		{"%cd /\n(|", ""},
		{"%cd| /", "%cd‸ /"},
		{"s := \"🙂\"; f|(s)", "s := \"🙂\"; ‸f(s)"},
		{"%%bash\nec|ho", ""},
	} {
		before, after, _ := strings.Cut(c.code, "|")
		i := newSession().Inspect(before+after, len([]rune(before)))
		got, _ := i.Help["text/plain"].(string)
		if i.Pass {
			units := utf16.Encode([]rune(i.Code))
			got = string(utf16.Decode(units[:i.Cursor])) + "‸" + string(utf16.Decode(units[i.Cursor:]))
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.code, got, c.want)
		}
	}
}

func TestLastExpressionIsShown(t *testing.T) {
	for body, want := range map[string]string{
		"x := oocore.Open(\"a.npy\")\nx": "\ngonbext.Last = x\n",
		"x":                              "\ngonbext.Last = x\n",
		"x := oocore.Open(\"a.npy\")\nx.Sqrt() // shown": "\ngonbext.Last = x.Sqrt() // shown\n",
		"x := gonbext.Save(y, \"a.npy\")\nx.Mean(0)":     "\ngonbext.Last = x.Mean(0)\n",
		"oocore.Open(\"a.npy\").\n\tMean(0)":             "\ngonbext.Last = oocore.Open(\"a.npy\").\n\tMean(0)\n",
		"x[0]":                                           "\ngonbext.Last = x[0]\n",
		"1 + 2":                                          "\ngonbext.Last = 1 + 2\n",
		"f(x)":                                           "",
		"fmt.Println(x)":                                 "",
		"gonbext.Save(x, \"a.npy\")":                     "",
		"oocore.Open(\"a.npy\").Save(ctx, \"b.npy\")": "",
		"x := 1":     "",
		"if x { y }": "",
	} {
		cell, err := newSession().Rewrite("%%memory\n" + body)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && strings.Contains(cell.Code, "Last") || !strings.Contains(cell.Code, want) {
			t.Errorf("%q became %q", body, cell.Code)
		}
	}
}

var (
	plainBegin  = regexp.MustCompile(`func main\(\) \{ gonbext_?\.Plain\(gonbext_?\.Cell\("ID", \d+\)\); \{`)
	plainImport = regexp.MustCompile(`^import gonbext_? "\S+"; (import oocore "\S+"; )?`)
)

// A cell of GoNB's own shows what it ends with: an array, a value of oocore's, that of a call whose
// function the notebook declares, and what Go would not compile alone on a line. Calls of
// anything else stay statements.
func TestLastValueOfPlainCellIsShown(t *testing.T) {
	for body, want := range map[string]string{
		"x := oocore.Open(\"a.npy\")\nx":                     "x := oocore.Open(\"a.npy\")\ngonbext.Show(x)",
		"x := oocore.Open(\"a.npy\")\nx.\n\tSqrt() // shown": "x := oocore.Open(\"a.npy\")\ngonbext.Show(x.\n\tSqrt()) // shown",
		"x := oocore.Open(\"a.npy\"); x":                     "x := oocore.Open(\"a.npy\"); gonbext.Show(x)",
		"_, s, _ := linalg.SVD(y)\ns.Sqrt()":                 "_, s, _ := linalg.SVD(y)\ngonbext.Show(s.Sqrt())",
		"linalg.Inv(y)":                                      "gonbext.Show(linalg.Inv(y))",
		"linalg.Norm(y)":                                     "gonbext.Show(linalg.Norm(y))",
		"linalg.PCA(y, 2)":                                   "gonbext.Show(linalg.PCA(y, 2))",
		"oocore.Full[float32](1, 2)":                         "gonbext.Show(oocore.Full[float32](1, 2))",
		"x := oocore.Open(\"a.npy\")\nx.Shape()":             "x := oocore.Open(\"a.npy\")\ngonbext.Show(x.Shape())",
		"x := oocore.Open(\"a.npy\")\nn := x.Size()\nn":      "x := oocore.Open(\"a.npy\")\nn := x.Size()\ngonbext.Show(n)",
		"x := 1\nx":               "x := 1\ngonbext.Show(x)",
		"x[0]":                    "gonbext.Show(x[0])",
		"len(x) // of it":         "gonbext.Show(len(x)) // of it",
		"float64(n)":              "gonbext.Show(float64(n))",
		"x := []int{1}\nx[0] + 1": "x := []int{1}\nfmt.Println(x[0] + 1)",
		"[]int{\n\t1,\n}":         "gonbext.Show([]int{\n\t1,\n})",
		"f(x)":                    "",
		"<-done":                  "",
		"(f(x))":                  "",
		"f := func(n int) int { return n }\nf(2)":         "f := func(n int) int { return n }\nfmt.Println(f(2))",
		"f := func() []int { return nil }\n(f())":         "f := func() []int { return nil }\ngonbext.Show((f()))",
		"f := func() (int, error) { return 1, nil }\nf()": "",
		"f := func() { println() }\nf()":                  "",
		"copy(x, y)":                                      "",
		"len := func(x int) {}\nlen(1)":                   "",
		"linalg.SVD(x)":                                   "",
		"x := oocore.Open(\"a.npy\")\nx.Shape":            "",
		"x := oocore.Open(\"a.npy\")\nx == x":             "",
		"x := oocore.Open(\"a.npy\")\n(2 * x)":            "",
		"f := func() {}\nf":                               "",
		"gonbext := oocore.Open(\"a.npy\")\ngonbext":      "",
		"gonbext.Save(x, \"a.npy\")":                      "",
		"filter := pipeline()\nfilter.Run()":              "",
		"x := oocore.Open(\"a.npy\")\nif true { x }":      "",
		"x := oocore.Open(\"a.npy\")\nx.Print(ctx)":       "",
		"oocore.Open(\"a.npy\")\n}\nfunc g() {\nrun()":    "",
	} {
		for _, program := range []string{"%%", "%main -v", "import \"os\"\n%%"} {
			code := program + "\n" + body
			cell, err := newSession().Rewrite(code)
			if err != nil {
				t.Fatal(err)
			}
			got := cell.Code
			if cell.Plain {
				if !plainBegin.MatchString(got) || strings.Contains(program, "-v") {
					t.Errorf("%q became %q", code, cell.Code)
				}
				got = plainBegin.ReplaceAllString(strings.TrimSuffix(got, "\n}}"), "%%")
				got = plainImport.ReplaceAllString(got, "")
			}
			if want := program + "\n" + cmp.Or(want, body); got != want || cell.Watch != cell.Plain {
				t.Errorf("%q became %q", code, cell.Code)
			}
		}
	}
	for _, code := range []string{
		"import \"example.com/dsp/filter\"\n%%\nfilter.Run()",
		"import \"example.com/filter/v2\"\n%%\nfilter.Run()",
		"import filter \"example.com/dsp\"\n%%\nfilter.Run()",
		"import \"example.com/gonbext\"\n%%\nx := oocore.Open(\"a.npy\")\nx",
	} {
		if cell, err := newSession().Rewrite(code); err != nil || cell.Code != code {
			t.Errorf("%q became %q, %v", code, cell.Code, err)
		}
	}
	code := "import oc \"" + corePath + "\"\n%%\noc.Open(\"a.npy\")"
	if cell, err := newSession().Rewrite(code); err != nil || !strings.Contains(cell.Code, "gonbext.Show(oc.Open") {
		t.Errorf("%q became %q, %v", code, cell.Code, err)
	}
}

// What functions and methods return is read from the module's sources.
func TestResultsAreThoseOfTheSources(t *testing.T) {
	for name, want := range map[string]string{
		"oocore.Open": "*oocore.Array", "oocore.OpenAll": "*oocore.Collection", "oocore.Array.Sum": "*oocore.Array", "oocore.Array.Shape": "value", "oocore.Array.Save": "*oocore.Array value", "oocore.Array.Print": "",
		"oocore.Collection.Get": "*oocore.Array", "oocore.Meshgrid": "[]*oocore.Array", "oocore.FromSlice": "*oocore.Array", "linalg.QR": "*oocore.Array *oocore.Array", "gonbext.Plot": "", "oocore.None": "",
	} {
		in, of, _ := strings.Cut(name, ".")
		if kind, method, ok := strings.Cut(of, "."); ok {
			in, of = in+"."+kind, method
		}
		var got []string
		for _, r := range newSession().declared().resultsOf(in, of) {
			if r == oocoreValue {
				got = append(got, "value")
			} else {
				got = append(got, types.ExprString(r))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s returns %q, want %q", name, got, want)
		}
	}
}

func TestChartReachesTheReport(t *testing.T) {
	cell, err := newSession().Rewrite("%%memory --chart=svg")
	if err != nil || cell.Chart != "svg" || cell.ID != "ID" {
		t.Errorf("%+v, %v", cell, err)
	}
}

func FuzzRewrite(f *testing.F) {
	cells, _ := filepath.Glob("testdata/*.cell")
	for _, path := range cells {
		source, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(source))
	}
	f.Add(centred + "\n%%memory\ny := centred(x); y.Sqrt() // shown")
	f.Add("type t struct{ f []t }\n%%\nx := t{}\nx.f[0]")
	f.Add("%%memory --budget \\\n1GiB\nx := `\n%budget")
	f.Fuzz(func(t *testing.T, code string) {
		s := newSession()
		cell, err := s.Rewrite(code)
		s.Pad(code)
		s.Complete(code, len([]rune(code)), "")
		for at := range len([]rune(code)) + 1 {
			if i := s.Inspect(code, at); i.Pass && i.Cursor > 2*len([]rune(i.Code)) {
				t.Errorf("%q, %d: %+v", code, at, i)
			}
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		if cell.Code == "" && len(cell.Displays) > 0 {
			return // help
		}
		lines, specials := readCell(code)
		hidden := slices.ContainsFunc(lines, func(l line) bool { return l.kind == insideLine && isSpecial(l.text) })
		shows := strings.Contains(cell.Code, "gonbext.Show(") || strings.Contains(cell.Code, "defer ")
		if (!slices.ContainsFunc(specials, isOurs) && !hidden && !shows || isForeign(specials)) && cell.Code != code {
			t.Errorf("%q became %q", code, cell.Code)
		}
		if !isForeign(specials) && !shows {
			checkLines(t, code, cell.Code)
		}
	})
}
