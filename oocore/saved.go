package oocore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// The run log keeps a note of each file that a run has made: what it holds, and
// which version of it. Nothing lies beside the file itself.

// note says that a version of a file holds what a fingerprint stands for.
type note struct {
	Path        string           `json:"path"`
	Fingerprint plan.Fingerprint `json:"fingerprint"`
	ID          store.Identity   `json:"id"`
	Digest      string           `json:"digest,omitempty"` // of its chunks, where they are stored by themselves
}

// maxNotes bounds the notes that are kept; a lost one costs a computation.
const maxNotes = 1000

// saved reports whether a file is there as a run with the fingerprint made it. Where a
// run has made it and that is no longer so, why says what is new.
func saved(ctx context.Context, path, region string, print plan.Fingerprint) (there bool, why string) {
	name, ok := noteOf(path, region)
	if !ok {
		return false, ""
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return false, ""
	}
	var n note
	id, digest, ok := identity(ctx, path)
	if json.Unmarshal(b, &n) != nil || !ok {
		return false, ""
	}
	if why = print.Difference(n.Fingerprint); why == "" && (!n.ID.Equal(id) || n.Digest != digest) {
		why = "what was saved there has been changed since"
	}
	return why == "", why
}

// remember notes what a run has made. It may fail: then the next run computes.
func remember(ctx context.Context, path, region string, print plan.Fingerprint) {
	name, ok := noteOf(path, region)
	if !ok || print == (plan.Fingerprint{}) {
		return
	}
	id, digest, ok := identity(ctx, path)
	if !ok {
		return
	}
	b, err := json.Marshal(note{path, print, id, digest})
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
func noteOf(path, region string) (string, bool) {
	dir, err := record.Dir()
	if err != nil {
		return "", false
	}
	whole, err := store.Absolute(path)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256([]byte(whole + "\x00" + region))
	return filepath.Join(dir, "outputs", hex.EncodeToString(sum[:16])+".json"), true
}

// identity is which version of an array is at a path.
func identity(ctx context.Context, path string) (id store.Identity, digest string, ok bool) {
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return id, "", false
	}
	if listed, ok := a.(store.Listed); ok {
		digest, err = listed.Digest(ctx)
	}
	return a.Info().ID, digest, errors.Join(err, a.Close()) == nil
}
