// Package resultcache remembers what the user's runs have made: which version of an output was
// committed and what it holds, and the states of iterative algorithms, so that one that was done
// is not computed again and one that was killed resumes. All of it lies in the run log, none
// next to an output. What is lost or damaged costs a computation.
package resultcache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
)

// Entry says that one version of an output holds what a fingerprint stands for.
type Entry struct {
	Path        string           `json:"path"`   // the output's, absolute
	Region      string           `json:"region"` // of it; "" is the whole
	Fingerprint plan.Fingerprint `json:"fingerprint"`
	Version     storage.Version  `json:"version"`
}

// mostEntries bounds the entries that are stored.
const mostEntries = 1000

// Lookup returns the entry of an output, if there is one.
func Lookup(path, region string) (e Entry, ok bool) {
	name, err := entryFile(path, region)
	if err != nil {
		return e, false
	}
	b, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(b, &e) != nil {
		return Entry{}, false
	}
	return e, true
}

// Put stores an entry in place of an earlier one of the same output. A run goes on where that
// fails: the next one computes.
func Put(e Entry) error {
	name, err := entryFile(e.Path, e.Region)
	if err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil { // one that is replaced adds none
		evict(filepath.Dir(name), mostEntries, mostEntries*9/10, math.MaxInt64)
	}
	return replace(name, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// Drop removes the entry of an output.
func Drop(path, region string) {
	if name, err := entryFile(path, region); err == nil {
		os.Remove(name)
	}
}

func entryFile(path, region string) (string, error) {
	return file("outputs", path+"\x00"+region, ".json")
}

// file returns the path of a key's file in a folder of the run log.
func file(folder, key, suffix string) (string, error) {
	dir, err := record.Dir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, folder, hex.EncodeToString(sum[:16])+suffix), nil
}

// replace writes a file that only its user can read, and renames it to its name when it is whole.
func replace(name string, write func(*os.File) error) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".new-") // mode 0600
	if err != nil {
		return err
	}
	if err = errors.Join(write(temp), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// evict removes the oldest files of a folder beyond a count and a size, where it has so many
// as the limit. What a killed process left there is among them.
func evict(dir string, limit, count int, size int64) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < limit {
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
