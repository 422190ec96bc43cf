package record

import (
	"os"
	"reflect"
	"testing"
	"time"
)

func TestWriteCardComesBackAndIsNoRun(t *testing.T) {
	dir := t.TempDir()
	want := &Card{Cell: "a-1", Title: "x", Shape: []int{2}, Chunks: []int{1}, DType: "int8", Bytes: 2, Sample: [][]string{{"1", "2"}}, Text: "x\n", Figure: &Figure{Kind: HistFigure, Counts: []int64{1}}}
	path, err := WriteCard(dir, want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadCard(path)
	if err != nil || !reflect.DeepEqual(got, want) || !IsCard(path) {
		t.Errorf("%+v, %v", got, err)
	}
	runs, err := List(dir)
	unreadable, _ := ListUnreadable(dir)
	if err != nil || len(runs)+len(unreadable) != 0 {
		t.Errorf("the log lists %d runs and %d unreadable files: %v", len(runs), len(unreadable), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files", len(entries))
	}
}

// Cards of kernels that ended before they showed them do not pile up.
func TestCreatePrunesCardsThatNobodyShowed(t *testing.T) {
	dir := t.TempDir()
	path, err := WriteCard(dir, &Card{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(dir, Header{Start: time.Now().Add(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.End(End{Status: Done}); err != nil {
		t.Fatal(err)
	}
	prune(dir, 1, keepBytes)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the card is still there: %v", err)
	}
	if _, err := os.Stat(w.Path()); err != nil {
		t.Error(err)
	}
}
