package gguf

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// writePart writes a file of a model, an architecture and a name, with tensors of one element, as gguf-split does.
func writePart(t *testing.T, path string, no, count, all int, model string, tensors ...string) {
	t.Helper()
	architecture, name, _ := strings.Cut(model, " ")
	b := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	text := func(s string) { b = append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...) }
	b = binary.LittleEndian.AppendUint64(b, uint64(len(tensors)))
	b = binary.LittleEndian.AppendUint64(b, 5)
	for _, pair := range [][2]string{{"general.architecture", architecture}, {"general.name", name}} {
		text(pair[0])
		b = binary.LittleEndian.AppendUint32(b, 8)
		text(pair[1])
	}
	for i, key := range []string{"split.no", "split.count"} {
		text(key)
		b = binary.LittleEndian.AppendUint32(b, 2)
		b = binary.LittleEndian.AppendUint16(b, uint16([]int{no, count}[i]))
	}
	text("split.tensors.count")
	b = binary.LittleEndian.AppendUint32(b, 5)
	b = binary.LittleEndian.AppendUint32(b, uint32(all))
	for i, name := range tensors {
		text(name)
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint64(b, 1)
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint64(b, uint64(32*i))
	}
	b = append(b, make([]byte, -len(b)&31+32*len(tensors))...)
	testcases.WriteFile(t, path, b, 0o666)
}

func TestSplitModelIsOneFromAnyOfItsFiles(t *testing.T) {
	dir := t.TempDir()
	part := func(i int) string { return filepath.Join(dir, fmt.Sprintf("m-%05d-of-00003.gguf", i)) }
	for i := range 3 {
		writePart(t, part(i+1), i, 3, 6, "llama", fmt.Sprintf("t%d", 2*i), fmt.Sprintf("t%d", 2*i+1))
	}
	names := func(path string) (names []string) {
		all, err := storage.Members(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			names = append(names, m.Name)
		}
		return names
	}
	want := []string{"t0", "t1", "t2", "t3", "t4", "t5"}
	for i := range 3 {
		if got := names(part(i + 1)); !slices.Equal(got, want) {
			t.Errorf("from part %d: %v", i+1, got)
		}
		a, err := store.Open(part(i+1) + "#t5")
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		if _, err := store.Open(part(i+1) + "#t6"); err == nil || !strings.Contains(err.Error(), `"t0", "t1", "t2", "t3", "t4", "t5"`) {
			t.Errorf("a tensor that no part has: %v", err)
		}
	}
	if got := names(dir); !slices.Equal(got, []string{"m/t0", "m/t1", "m/t2", "m/t3", "m/t4", "m/t5"}) {
		t.Errorf("of the folder: %v", got)
	}
}

func TestSplitModelRejectsWhatDoesNotFitTogether(t *testing.T) {
	for want, change := range map[string]func(first, second string){
		"m-00002-of-00002.gguf is missing":       func(_, second string) { os.Remove(second) },
		`"a" is in m-00001-of-00002.gguf and in`: func(_, second string) { writePart(t, second, 1, 2, 2, "llama", "a") },
		`of architecture "qwen"`:                 func(_, second string) { writePart(t, second, 1, 2, 2, "qwen", "b") },
		`of name "B c", and those before it of "A"`: func(first, second string) {
			writePart(t, first, 0, 2, 2, "llama A", "a")
			writePart(t, second, 1, 2, 2, "llama B c", "b")
		},
		"it says that it is part 1 of 2":           func(_, second string) { writePart(t, second, 0, 2, 2, "llama", "b") },
		"it says that it is part 2 of 3":           func(_, second string) { writePart(t, second, 1, 3, 2, "llama", "b") },
		"have 3 tensors, and say that they have 2": func(_, second string) { writePart(t, second, 1, 2, 2, "llama", "b", "c") },
		"name it NAME-00001-of-00002.gguf":         func(first, _ string) { os.Rename(first, filepath.Join(filepath.Dir(first), "x.gguf")) },
	} {
		dir := t.TempDir()
		first, second := filepath.Join(dir, "m-00001-of-00002.gguf"), filepath.Join(dir, "m-00002-of-00002.gguf")
		writePart(t, first, 0, 2, 2, "llama", "a")
		writePart(t, second, 1, 2, 2, "llama", "b")
		change(first, second)
		if _, err := os.Stat(first); err != nil {
			first = filepath.Join(dir, "x.gguf")
		}
		if _, err := storage.Members(t.Context(), first); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if a, err := store.Open(first + "#a"); err != nil { // which this file has
			t.Error(err)
		} else {
			a.Close()
		}
		if _, err := store.Open(first); err == nil {
			t.Errorf("%s: a part with one tensor is opened as the whole", want)
		}
	}
}

func TestTemplateOfASplitModelIsNotSplit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m-00001-of-00002.gguf")
	writePart(t, path, 0, 2, 2, "llama", "a")
	f, id, err := storage.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	l := fileLayout{template: &storage.Template{Path: path, Version: id}}
	h, pairs, err := l.from()
	if err != nil || h.Keys != 2 || strings.Contains(string(pairs), "split.") || !strings.Contains(string(pairs), "llama") {
		t.Errorf("%d keys, %q, %v", h.Keys, pairs, err)
	}
}
