package resultcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"hash"
	"os"
	"path/filepath"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Bounds on the stored states. A state that is larger than mostState is not stored, and none
// larger than mostInMemory where it would take memory that is no part of a budget, as in a tmpfs.
const (
	mostStates = 100
	mostBytes  = 1 << 30
	mostState  = 256 << 20

	mostInMemory = 1 << 20
)

// ErrTooLarge is returned by PutState for a state that is larger than what is stored.
var ErrTooLarge = errors.New("the state is too large to store")

// GetState decodes the state of a key. It reports whether there is a whole one.
func GetState(key string, state any) bool {
	name, err := stateFile(key)
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

// PutState makes a state durable in place of an earlier one of the key, which stays until then.
func PutState(key string, state any) error {
	name, err := stateFile(key)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	err = replace(name, 0o600, func(f *os.File) error {
		w := &bounded{f, sha256.New(), mostState}
		if disk.InMemory(dir) {
			w.left = mostInMemory
		}
		if _, err := f.Write(make([]byte, sha256.Size)); err != nil {
			return err
		}
		if err := gob.NewEncoder(w).Encode(state); err != nil {
			return err
		}
		if _, err := f.WriteAt(w.sum.Sum(nil), 0); err != nil {
			return err
		}
		return f.Sync()
	})
	if err != nil {
		return err
	}
	evict(dir, 0, mostStates, mostBytes)
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

func stateFile(key string) (string, error) { return file("states", key, ".state") }
