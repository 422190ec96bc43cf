// Package resultcache remembers what the user's runs have made: which version of an output was
// committed and what it holds, and the states of iterative algorithms, so that one that was done
// is not computed again and one that was killed resumes. All of it lies in the run log, none
// next to an output. What is lost or damaged costs a computation.
package resultcache

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
)

// Entry says that one version of an output holds what a fingerprint stands for. It is the first line of the
// output's receipt.
type Entry struct {
	Path        string           `json:"path"`   // the output's, absolute
	Region      string           `json:"region"` // of it; "" is the whole
	Fingerprint plan.Fingerprint `json:"fingerprint"`
	Version     storage.Version  `json:"version"`
	// Of a run whose tasks have traces, which follow; others have none:
	Title   string    `json:"title,omitempty"`
	Grid    grid.Grid `json:"grid,omitzero"`     // of the parts that are compared, which tasks have written; nothing where there is no digest
	Stage   int       `json:"stage,omitempty"`   // whose tasks they are
	Folded  uint64    `json:"folded,omitempty"`  // of a reduction the digest of its only part
	Details string    `json:"details,omitempty"` // a digest of what the output is, apart from its elements
	Inputs  []Input   `json:"inputs,omitempty"`
}

// Input is a stored array that a run has read. The entry is followed by the versions of units, input by input, and then by the traces
// of tasks.
type Input struct {
	Array   int             `json:"array"` // index into the plan's arrays
	Path    string          `json:"path"`  // absolute
	Version storage.Version `json:"version"`
	Units   int             `json:"units,omitempty"`   // 0 where it has no versions but that of the whole
	Digests bool            `json:"digests,omitempty"` // follow the versions: what the input's own receipt says of its units
}

// What is stored is bounded by number, and when that is reached by size.
const (
	mostEntries = 1000
	mostKept    = 256 << 20
)

// Numbers is how many numbers of 64 bits follow the entry for an input: one for each unit and one for all else, and
// as many digests.
func (in *Input) Numbers() int {
	switch {
	case in.Units == 0:
		return 0
	case in.Digests:
		return 2 * (in.Units + 1)
	}
	return in.Units + 1
}

// Lookup returns the entry of an output, if there is one.
func Lookup(path, region string) (e Entry, ok bool) {
	name, err := entryFile(path, region)
	if err != nil {
		return e, false
	}
	f, err := os.Open(name)
	if err != nil {
		return e, false
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil && err != io.EOF || json.Unmarshal(line, &e) != nil {
		return Entry{}, false
	}
	return e, true
}

// Rest opens what follows an entry.
func Rest(path, region string) (io.ReadCloser, error) {
	name, err := entryFile(path, region)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(f)
	if _, err := b.ReadBytes('\n'); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{b, f}, nil
}

// Put stores an entry, and what rest writes after it, in place of an earlier one of the same output. A run goes on
// where that fails: the next one computes.
func Put(e Entry, rest func(io.Writer) error) error {
	name, err := entryFile(e.Path, e.Region)
	if err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil { // one that is replaced adds none
		evict(filepath.Dir(name), mostEntries, mostEntries*9/10, mostKept)
	}
	return replace(name, func(f *os.File) error {
		w := bufio.NewWriter(f)
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
		if rest != nil {
			if err := rest(w); err != nil {
				return err
			}
		}
		return w.Flush()
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
