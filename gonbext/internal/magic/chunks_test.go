package magic

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
)

func TestChunksListsArraysOfCollection(t *testing.T) {
	logged(t, 0, 1)
	path := filepath.Join(t.TempDir(), "c.npz")
	for _, name := range []string{"a", "b"} {
		if _, err := oocore.Ones(oocore.Int16, 3).Save(t.Context(), path+"#"+name); err != nil {
			t.Fatal(err)
		}
	}
	text, err := late(t, "%chunks "+path)
	if err != nil || !strings.Contains(text, "2 arrays of int16: 12 bytes") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := late(t, "%chunks "+path+"#none"); err == nil {
		t.Error("an array that is not there has chunks")
	}
}
