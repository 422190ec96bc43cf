package resultcache

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

type state struct{ Values []float64 }

func TestGetStateReturnsWhatPutStateStored(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	var got state
	if GetState("a", &got) {
		t.Fatal("there is a state before any was kept")
	}
	want := state{[]float64{1.5, math.Inf(1), math.Copysign(0, -1)}}
	if err := PutState("a", want); err != nil {
		t.Fatal(err)
	}
	if !GetState("a", &got) || len(got.Values) != 3 || got.Values[0] != 1.5 || !math.IsInf(got.Values[1], 1) || !math.Signbit(got.Values[2]) {
		t.Errorf("got %v, want %v", got, want)
	}
	if GetState("b", &state{}) {
		t.Error("a state of another key")
	}
	name, err := stateFile("a")
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

// Whatever byte is damaged, or wherever the file is cut, there is no state.
func TestGetStateIgnoresDamagedState(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	if err := PutState("a", state{[]float64{1, 2, 3}}); err != nil {
		t.Fatal(err)
	}
	name, err := stateFile("a")
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
			if GetState("a", &state{}) {
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
	evict(dir, 0, 4, 1000)
	if n, oldest := left(); n != 4 || oldest != "1" {
		t.Errorf("%d left, the oldest %s", n, oldest)
	}
	evict(dir, 0, 4, 25)
	if n, oldest := left(); n != 2 || oldest != "3" {
		t.Errorf("%d left, the oldest %s", n, oldest)
	}
}

// The files of testdata were written by the version before states and outputs were of one package.
func TestFilesOfEarlierVersionsAreRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GONBEXT_RUNS", dir)
	want := Entry{Path: "/data/out.zarr", Region: "0:2", Fingerprint: plan.Fingerprint{Output: "zarr", Expression: "sqrt"}, Version: storage.Version{Objects: "some digest"}}
	e, ok := Lookup("/data/out.zarr", "0:2")
	e.file = ""
	if !ok || !reflect.DeepEqual(e, want) {
		t.Errorf("entry %+v, %t, want %+v", e, ok, want)
	}
	var s state
	if !GetState(`["a key",1]`, &s) || !slices.Equal(s.Values, []float64{1.5, -2}) {
		t.Errorf("state %v", s)
	}
}
