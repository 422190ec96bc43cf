package record

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Lines come back in their order between other rows, from a file that was cut off too; texts
// that are too long are cut between characters.
func TestLinesComeBackFromADeadRecord(t *testing.T) {
	w, err := Create(t.TempDir(), Header{Process: true})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ä", lineText)
	want := []Line{
		{At: time.Second, Site: "line 3", Code: "kept = append(kept, x)", Live: 5, Allocated: 7},
		{At: 2 * time.Second, Site: "line 4", Code: long, Live: 1 << 40},
		{Site: long},
		{},
	}
	for i := range want {
		w.Sample(Sample{At: time.Duration(i)})
		w.Line(&want[i])
	}
	if err := w.End(End{Status: Done}); err != nil {
		t.Fatal(err)
	}
	r, err := Read(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(w.Path(), r.start+int64(4*(sampleSize+lineSize)+2)); err != nil {
		t.Fatal(err)
	}
	if err := Conclude(w.Path(), End{Status: Exited, Error: "signal: killed"}); err != nil {
		t.Fatal(err)
	}
	if r, err = Read(w.Path()); err != nil || r.Status() != Exited {
		t.Fatal(err, r.Status())
	}
	want[1].Code, want[2].Site = long[:2*((lineText-len("line 4")-1)/2)], long[:lineText]
	var got []Line
	for l := range r.Lines() {
		got = append(got, *l)
	}
	calls := Line{At: time.Second, Site: "line 3", Code: strings.Repeat("f\n", 100), Live: 5}
	v, err := Create(t.TempDir(), Header{Process: true})
	if err != nil {
		t.Fatal(err)
	}
	v.Line(&want[0])
	v.Stack(&calls)
	v.End(End{Status: Done})
	if r, err = Read(v.Path()); err != nil {
		t.Fatal(err)
	}
	for l := range r.Stacks() {
		if *l != calls {
			t.Errorf("a stack: %+v", l)
		}
		calls.At = 0
	}
	if calls.At != 0 {
		t.Error("no stack")
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines", len(got))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("line %d: %+v", i, got[i])
		}
	}
}
