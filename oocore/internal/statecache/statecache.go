// Package statecache keeps the states of iterative algorithms in the user's run log, so
// that one that was done is not computed again, and one that was killed resumes. A state
// that is lost or damaged costs a computation.
package statecache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/record"
)

// Bounds on what is kept. A larger state than mostState is not kept at all, and none larger than mostInMemory where it would
// take memory, as in a tmpfs, that is no part of a budget.
const (
	mostStates = 100
	mostBytes  = 1 << 30
	mostState  = 256 << 20

	mostInMemory = 1 << 20
)

// ErrTooLarge is returned by Put for a state that is larger than what is kept.
var ErrTooLarge = errors.New("the state is too large to store")

// Get decodes the state of a key. It reports whether there is a whole one.
func Get(key string, state any) bool {
	name, err := file(key)
	if err != nil {
		return false
	}
	if st, err := os.Stat(name); err != nil || st.Size() > mostState+sha256.Size {
		return false
	}
	b, err := os.ReadFile(name)
	if err != nil || len(b) < sha256.Size {
		return false
	}
	sum := sha256.Sum256(b[sha256.Size:])
	if !bytes.Equal(sum[:], b[:sha256.Size]) || gob.NewDecoder(bytes.NewReader(b[sha256.Size:])).Decode(state) != nil {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(name, now, now) // the oldest are those that were not used
	return true
}

// Put makes a state durable in place of an earlier one of the key. Until then the earlier
// one stands.
func Put(key string, state any) error {
	name, err := file(key)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".state-") // mode 0600
	if err != nil {
		return err
	}
	w := &bounded{temp, sha256.New(), mostState}
	if disk.InMemory(dir) {
		w.left = mostInMemory
	}
	_, err = temp.Write(make([]byte, sha256.Size))
	if err == nil {
		err = gob.NewEncoder(w).Encode(state)
	}
	if err == nil {
		_, err = temp.WriteAt(w.sum.Sum(nil), 0)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
		return err
	}
	evict(dir, mostStates, mostBytes)
	return disk.SyncDir(dir)
}

// bounded writes to a file, and to a checksum, until that is too large.
type bounded struct {
	file *os.File
	sum  hash.Hash
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, ErrTooLarge
	}
	b.sum.Write(p)
	return b.file.Write(p)
}

// evict removes the oldest states beyond a count and a size. What a killed Put left is
// among them.
func evict(dir string, count int, size int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if st, err := e.Info(); err == nil && st.Mode().IsRegular() {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { // the newest first
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for i, st := range all {
		if size -= st.Size(); i >= count || size < 0 {
			os.Remove(filepath.Join(dir, st.Name()))
		}
	}
}

// file is where the state of a key lies.
func file(key string) (string, error) {
	dir, err := record.Dir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, "states", hex.EncodeToString(sum[:16])+".state"), nil
}
