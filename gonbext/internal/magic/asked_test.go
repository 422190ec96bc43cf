package magic

import (
	"strings"
	"testing"
)

func TestNamesWithAQuestionMarkAreExplained(t *testing.T) {
	s := newSession()
	s.ReadAPI("../../..")
	for code, want := range map[string]struct{ shown, left string }{
		"oocore.Open?":  {"func oocore.Open(path string) *Array", ""},
		"?oocore.Open":  {"func oocore.Open(path string) *Array", ""},
		"oocore.Open??": {"func oocore.Open(path string) *Array", ""},
		"x := oocore.Open(\"a.npy\")\nx.Sum?\nprintln(1)":     {"func (*Array).Sum(axes ...int) *Array", "println(1)"},
		"m := oocore.OpenAll(\"a.npz\")\nm.Match?":            {"func (*Collection).Match(pattern string) *Collection", ""},
		"func twice(n int) int { return 2 * n }\n\ntwice?":    {"twice(n int) int", "func twice"},
		"%%memory --budget 1GiB\nx := oocore.Full(1)\nx.Exp?": {"func (*Array).Exp() *Array", "x := oocore.Full(1)"},
	} {
		cell, err := s.Rewrite(code)
		if err != nil || len(cell.Displays) != 1 {
			t.Errorf("%q: %+v, %v", code, cell, err)
			continue
		}
		text, _ := cell.Displays[0].Data["text/plain"].(string)
		if !strings.HasPrefix(text, want.shown) || !strings.Contains(cell.Code, want.left) || strings.Contains(cell.Code, "?") {
			t.Errorf("%q shows %s and leaves %q", code, text, cell.Code)
		}
	}
	for _, code := range []string{"y := 1 // ok?\nprintln(y)", "println(`what\nfmt?\n`)", "%cd ?"} {
		if cell, err := s.Rewrite(code); err != nil || len(cell.Displays)+len(cell.Late) > 0 || !strings.Contains(cell.Code, "?") {
			t.Errorf("%q: %+v, %v", code, cell, err)
		}
	}
}

// What stands behind a package of this module's or an array is explained without gopls.
func TestInspectExplainsThisModule(t *testing.T) {
	s := newSession()
	s.ReadAPI("../../..")
	for _, code := range []string{"oocore.Op|en(\"a\")", "%%memory\nx := oocore.Open(|\"a\")", "x := 3\n_ = oocore.|Open"} {
		before, after, _ := strings.Cut(code, "|")
		i := s.Inspect(before+after, len(before))
		if text, _ := i.Help["text/plain"].(string); i.Pass || !strings.HasPrefix(text, "func oocore.Open(path") {
			t.Errorf("%q: %+v", code, i)
		}
	}
	if i := s.Inspect("zzz.Repeat", 6); !i.Pass {
		t.Errorf("another package: %+v", i)
	}
}
