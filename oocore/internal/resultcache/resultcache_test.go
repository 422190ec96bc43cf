package resultcache_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/resultcache"
)

// The oldest tenth makes room for a new entry, where an entry that replaces one removes none.
func TestOldestEntriesMakeRoom(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONBEXT_RUNS", dir)
	path := func(i int) string { return fmt.Sprintf("/data/%d.npy", i) }
	put := func(i int) {
		t.Helper()
		if err := resultcache.Put(resultcache.Entry{Path: path(i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		put(i)
	}
	entries, err := filepath.Glob(filepath.Join(dir, "outputs", "*.json"))
	if err != nil || len(entries) != 1000 {
		t.Fatalf("%d entries of 1000, %v", len(entries), err)
	}
	begin := time.Now().Add(-time.Hour)
	for _, name := range entries {
		var e resultcache.Entry
		var i int
		text, err := os.ReadFile(name)
		if err == nil {
			_, text, _ = bytes.Cut(text, []byte("\n")) // the checksum
			err = json.Unmarshal(text, &e)
		}
		if err == nil {
			_, err = fmt.Sscanf(e.Path, "/data/%d.npy", &i)
		}
		when := begin.Add(time.Duration(i) * time.Second)
		if err := errors.Join(err, os.Chtimes(name, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	has := func(i int) bool {
		_, ok := resultcache.Lookup(path(i), "")
		return ok
	}
	put(999)
	if !has(0) {
		t.Error("an entry that replaces one removed another")
	}
	put(1000)
	for i, want := range map[int]bool{0: false, 99: false, 100: true, 999: true, 1000: true} {
		if has(i) != want {
			t.Errorf("entry %d is there: %t", i, !want)
		}
	}
}
