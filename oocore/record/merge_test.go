package record

import (
	"slices"
	"testing"
)

// Stages of several runs are told apart: what reads a stage of its own run reads that one in the
// merged record, wherever it stands there.
func TestMergeKeepsWhatStagesRead(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, stages := range [][]Stage{
		{{Name: "a", Tasks: 1}},
		{{Name: "b", Tasks: 1}, {Name: "a", Tasks: 1}, {Name: "c", Tasks: 1, From: []int{0, 1, 7, -1}}},
	} {
		w, err := Create(dir, Header{Stages: stages, Result: &Result{Arrays: 1}})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, w.Path())
		if err := w.End(End{Status: Done}); err != nil {
			t.Fatal(err)
		}
	}
	path, err := Merge(dir, Header{Title: "both"}, paths, Done, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Header.Stages; len(s) != 3 || s[2].Name != "c" || !slices.Equal(s[2].From, []int{1, 0}) || r.Header.Result != nil {
		t.Errorf("%+v", r.Header)
	}
}
