package oocore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// The run log keeps a note of each file that a run has made: what it holds, and
// which version of it. Nothing lies beside the file itself.

// note says that a version of a file holds what a fingerprint stands for.
type note struct {
	Path        string         `json:"path"`
	Fingerprint string         `json:"fingerprint"`
	ID          store.Identity `json:"id"`
}

// maxNotes bounds the notes that are kept; a lost one costs a computation.
const maxNotes = 1000

// saved reports whether a file is there as a run with the fingerprint made it.
func saved(path, fingerprint string) bool {
	id, ok := identity(path)
	name, ok2 := noteOf(path)
	if !ok || !ok2 || fingerprint == "" {
		return false
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	var n note
	return json.Unmarshal(b, &n) == nil && n.Fingerprint == fingerprint && n.ID.Equal(id)
}

// remember notes what a run has made. It may fail: then the next run computes.
func remember(path, fingerprint string) {
	id, ok := identity(path)
	name, ok2 := noteOf(path)
	if !ok || !ok2 || fingerprint == "" {
		return
	}
	b, err := json.Marshal(note{path, fingerprint, id})
	if err != nil || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return
	}
	forget(filepath.Dir(name))
	temp, err := os.CreateTemp(filepath.Dir(name), ".note-")
	if err != nil {
		return
	}
	_, err = temp.Write(b)
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), name) != nil {
		os.Remove(temp.Name())
	}
}

// forget drops all notes when they are too many.
func forget(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxNotes {
		return
	}
	for _, e := range entries {
		os.Remove(filepath.Join(dir, e.Name()))
	}
}

// noteOf is the file of the note of an output.
func noteOf(path string) (string, bool) {
	dir, err := record.Dir()
	if err != nil {
		return "", false
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256([]byte(whole))
	return filepath.Join(dir, "outputs", hex.EncodeToString(sum[:16])+".json"), true
}

func identity(path string) (store.Identity, bool) {
	a, err := store.Open(path)
	if err != nil {
		return store.Identity{}, false
	}
	return a.Info().ID, a.Close() == nil
}
