package magic

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// complete puts the cursor at the | in code.
func complete(code string) (matches []string, replaced string, ok bool) {
	before, after, _ := strings.Cut(code, "|")
	cursor := utf8.RuneCountInString(before)
	c, ok := newSession().Complete(before+after, cursor, "")
	if !ok {
		return nil, "", false
	}
	return c.Matches, string([]rune(before + after)[c.Start:c.End]), true
}

func TestCompleteMagics(t *testing.T) {
	for code, want := range map[string]struct {
		matches  string
		replaced string
	}{
		"%|":                              {"%%memory %%footprint %%time %footprint %chunks %runs %report %compare %budget %device %disk %who %whos %help %gonbext %lsmagic", "%"},
		"%%|":                             {"%%memory %%footprint %%time", "%%"},
		"x := 1\n%%me|":                   {"%%memory", "%%me"},
		"%b|\nx := 1":                     {"%budget", "%b"},
		"%%memory |":                      {"--budget --device --chunks --chart --fresh --on --processes", ""},
		"%%memory --budget 1GiB --ch|":    {"--chunks --chart", "--ch"},
		"%%memory --device |":             {"cpu cuda:0 model:8GiB model:H200", ""},
		"%%memory --device mo|":           {"model:8GiB model:H200", "mo"},
		"%%footprint --chart=s|":          {"svg", "s"},
		"%%memory \\\n--fr|":              {"--fresh", "--fr"},
		"s := \"é😀\"\n%%memory --bu|":     {"--budget", "--bu"},
		"%footprint 3x4 float|":           {"float16 float32 float64 float8_e4m3fn float8_e5m2", "float"},
		"%footprint 3x4 --device 2|":      {"24GiB", "2"},
		"%help topk|":                     {"topk", "topk"},
		"x := oocore.Eval(\"sum(nanme|":   {"nanmean nanmedian", "nanme"},
		"oocore.Eval(`topk(x, 3) + argt|": {"argtopk", "argt"},
		"%budget 1|":                      {"128MiB 1GiB", "1"},
		"//gonb:%%memory --fr|":           {"--fresh", "--fr"},
	} {
		matches, replaced, ok := complete(code)
		if !ok || strings.Join(matches, " ") != want.matches || replaced != want.replaced {
			t.Errorf("%q: %v for %q, %v", code, matches, replaced, ok)
		}
	}
	for _, code := range []string{"|", "x := 1 % y|", "%capture |", "%%bash\n%%me|", "s := `\n%%me|", "%%memory --nothing|", "zzz.|"} {
		if matches, _, ok := complete(code); ok {
			t.Errorf("%q: %v is not ours to say", code, matches)
		}
	}
	if _, ok := newSession().Complete("%", 7, ""); ok {
		t.Error("a cursor behind the end was accepted")
	}
}

func TestCompletePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("data/.hidden", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"mask.zarr/c", "group.zarr/layer"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"acts.npy", "actual.npy", "data/a.npy"} {
		testcases.WriteFile(t, name, nil, 0o644)
	}
	archive, err := os.Create("w.npz")
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(archive)
	for _, name := range []string{"bias.npy", "weight.npy", "words.txt"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), archive.Close()); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("data")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string][]string{
		`x := oocore.Open("a|")`:               {"acts.npy", "actual.npy"},
		`y := x.Add("s"); gonbext.Save(x, "d|`: {"data/"},
		`oocore.Open("data/|`:                  {"data/a.npy"},
		`oocore.Open("w.npz#|`:                 {"w.npz#bias", "w.npz#weight"},
		`oocore.Open("w.npz#w|`:                {"w.npz#weight"},
		"%chunks m|":                           {"mask.zarr"},
		`%chunks "group|`:                      {"group.zarr"},
		"%chunks group.zarr|":                  {"group.zarr/"},
		"%chunks group.zarr/|":                 {"group.zarr/layer/"},
		`oocore.Open("` + dir + `/|`:           {dir + "/a.npy"},
	} {
		if matches, _, _ := complete(code); !slices.Equal(matches, want) {
			t.Errorf("%s: got %v, want %v", code, matches, want)
		}
	}
	for _, code := range []string{`fmt.Println("a|`, `oocore.Open("x") // "a|`, "oocore.Open(`a|", `oocore.Open("missing/|`, `oocore.Open("missing.npz#|`} {
		if matches, _, ok := complete(code); ok {
			t.Errorf("%s: %v", code, matches)
		}
	}
}

// Paths that need quotes or escapes come with them, and lead to where cells are.
func TestCompletePathsThatNeedQuotes(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"in/my data.npy", `in/say "x".npy`, "in/ünter.npy", "in/two\nlines.npy", "in/plain.npy"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, name, nil, 0o644)
	}
	in, err := filepath.Abs("in")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]struct {
		matches  []string
		replaced string
	}{
		"%chunks |":              {[]string{`"my data.npy`, "plain.npy", `"say \"x\".npy`, "ünter.npy"}, ""},
		"%chunks m|":             {[]string{`"my data.npy`}, "m"},
		`%chunks "my d|`:         {[]string{"my data.npy"}, "my d"},
		`%chunks "say \"|`:       {[]string{`say \"x\".npy`}, `say \"`},
		"%chunks ü|":             {[]string{"ünter.npy"}, "ü"},
		`oocore.Open("my d|`:     {[]string{"my data.npy"}, "my d"},
		`oocore.Open("say \"|`:   {[]string{`say \"x\".npy`}, `say \"`},
		`oocore.Open("two|`:      {[]string{`two\nlines.npy`}, "two"},
		`oocore.Open("two\nli|`:  {[]string{`two\nlines.npy`}, `two\nli`},
		`%chunks "plain.npy" p|`: {},
		"%chunks plain.npy p|":   {},
	} {
		before, _, _ := strings.Cut(code, "|")
		c, _ := newSession().Complete(before, utf8.RuneCountInString(before), in)
		if replaced := string([]rune(before)[c.Start:c.End]); !slices.Equal(c.Matches, want.matches) || replaced != want.replaced {
			t.Errorf("%s: got %q for %q", code, c.Matches, replaced)
		}
	}
}

func TestPadKeepsPositions(t *testing.T) {
	for code, want := range map[string]string{
		"%%memory --fresh\nfmt.": "%%              \nfmt.",
		"%budget 1GiB\nx":        "%%\n            \nx",
		"%%memory \\\n--x é\nf":  "%%        \n     \nf",
		"%capture f\nvar x":      "%capture f\nvar x",
		"x.":                     "%%\nx.",
		"func f() {}":            "func f() {}",
		"%%bash\n%budget":        "%%bash\n%budget",
		"%%\nf()\n%%\ng()":       "%%\nf()\n  \ng()",
		"%%\n%%memory\ng()":      "%%\n        \ng()",
		"%%memory\n%main\ng()":   "%%      \n     \ng()",
		"%exec\tf\nx":            "       \nx",
		"s := `\n%%\n%%`":        "%%\ns := `\n %\n %`",
	} {
		got, before := newSession().Pad(code)
		if got != want {
			t.Errorf("%q became %q", code, got)
		}
		if utf8.RuneCountInString(got) != before+utf8.RuneCountInString(code) {
			t.Errorf("%q changed its length", code)
		}
	}
}
