// Package resultcache remembers which outputs the user's runs have made: what each
// holds, and which version of it was committed. It lies in the run log, so that nothing
// lies beside an output itself.
package resultcache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Entry says that one version of an output holds what a fingerprint stands for.
type Entry struct {
	Path        string           `json:"path"`   // the output's, absolute
	Region      string           `json:"region"` // of it; "" is the whole
	Fingerprint plan.Fingerprint `json:"fingerprint"`
	Version     store.Version    `json:"version"`
}

// most bounds the entries that are kept. A lost one costs a computation.
const most = 1000

// Lookup returns the entry of an output, if there is one.
func Lookup(path, region string) (e Entry, ok bool) {
	name, err := file(path, region)
	if err != nil {
		return e, false
	}
	b, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(b, &e) != nil {
		return Entry{}, false
	}
	return e, true
}

// Put keeps an entry in place of an earlier one of the same output. That it may fail
// is no error of a run: the next one computes.
func Put(e Entry) error {
	name, err := file(e.Path, e.Region)
	if err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil { // one that is replaced adds none
		evict(dir)
	}
	temp, err := os.CreateTemp(dir, ".entry-")
	if err != nil {
		return err
	}
	_, err = temp.Write(b)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// Drop removes the entry of an output.
func Drop(path, region string) {
	if name, err := file(path, region); err == nil {
		os.Remove(name)
	}
}

// evict removes the oldest entries where there are too many.
func evict(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < most {
		return
	}
	age := map[string]int64{}
	for _, e := range entries {
		if st, err := e.Info(); err == nil {
			age[e.Name()] = st.ModTime().UnixNano()
		}
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		return cmp.Or(cmp.Compare(age[a.Name()], age[b.Name()]), strings.Compare(a.Name(), b.Name()))
	})
	for _, e := range entries[:len(entries)-most*9/10] {
		os.Remove(filepath.Join(dir, e.Name()))
	}
}

// file is where the entry of an output lies.
func file(path, region string) (string, error) {
	dir, err := record.Dir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(path + "\x00" + region))
	return filepath.Join(dir, "outputs", hex.EncodeToString(sum[:16])+".json"), nil
}
