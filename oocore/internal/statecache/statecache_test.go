package statecache

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

type state struct{ Values []float64 }

func TestPutGet(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	var got state
	if Get("a", &got) {
		t.Fatal("there is a state before any was kept")
	}
	want := state{[]float64{1.5, math.Inf(1), math.Copysign(0, -1)}}
	if err := Put("a", want); err != nil {
		t.Fatal(err)
	}
	if !Get("a", &got) || len(got.Values) != 3 || got.Values[0] != 1.5 || !math.IsInf(got.Values[1], 1) || !math.Signbit(got.Values[2]) {
		t.Errorf("got %v, want %v", got, want)
	}
	if Get("b", &state{}) {
		t.Error("a state of another key")
	}
	name, err := file("a")
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

// Whatever byte is damaged, or wherever the file is cut, there is no state.
func TestGetIgnoresDamagedState(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	if err := Put("a", state{[]float64{1, 2, 3}}); err != nil {
		t.Fatal(err)
	}
	name, err := file("a")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		flipped := append([]byte{}, whole...)
		flipped[i] ^= 4
		for _, b := range [][]byte{flipped, whole[:i]} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if Get("a", &state{}) {
				t.Fatalf("a state is read of a file that is damaged at byte %d", i)
			}
		}
	}
}

func TestEvictRemovesOldest(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, make([]byte, 10), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (n int, oldest string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), entries[0].Name()
	}
	evict(dir, 4, 1000)
	if n, oldest := left(); n != 4 || oldest != "1" {
		t.Errorf("%d left, the oldest %s", n, oldest)
	}
	evict(dir, 4, 25)
	if n, oldest := left(); n != 2 || oldest != "3" {
		t.Errorf("%d left, the oldest %s", n, oldest)
	}
}
