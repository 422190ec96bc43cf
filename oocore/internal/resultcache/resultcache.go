// Package resultcache remembers what the user's runs have made: which version of an output was
// committed and what it holds, and the states of iterative algorithms, so that one that was done
// is not computed again and one that was killed resumes. All of it lies in the run log, none
// next to an output. What is lost or damaged costs a computation.
package resultcache

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// Entry says that one version of an output holds what a fingerprint stands for. It begins the output's receipt,
// behind a line with the checksum of all that follows.
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
	Growing string    `json:"growing,omitempty"` // the plan's, of an expression of arrays that may grow
	Inputs  []Input   `json:"inputs,omitempty"`
	Sum     string    `json:"sha256,omitempty"` // with Folded, where the receipt has cryptographic digests
	Length  int       `json:"plan,omitempty"`   // of Plan, which follows the entry; 0 for none

	Plan []byte `json:"-"` // as it is encoded, of an entry that is to be written
	file string // that the entry was read from
}

// Input is a stored array that a run has read. The plan is followed by the versions of units, input by input, and these by the traces
// of tasks.
type Input struct {
	Array   int             `json:"array"` // index into the plan's arrays
	Path    string          `json:"path"`  // absolute
	Version storage.Version `json:"version"`
	Shape   []int           `json:"shape"`
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

// A receipt's first line is the mark, its version, and a checksum of all that follows.
const (
	mark    = "gonbext receipt "
	version = 1
	head    = "%s%d, sha256 %x\n"
)

// Lookup returns the entry of an output, if there is one. It reads no more of the receipt.
func Lookup(path, region string) (e Entry, ok bool) {
	name, err := entryFile(path, region)
	if err != nil {
		return e, false
	}
	f, _, e, err := open(name)
	if err != nil {
		return Entry{}, false
	}
	return e, f.Close() == nil
}

// Read reads the entry of a receipt, all of which it compares with its checksum.
func Read(name string) (e Entry, err error) {
	f, first, e, err := open(name)
	if err != nil {
		return e, err
	}
	defer f.Close()
	if _, err := f.Seek(int64(len(first)), io.SeekStart); err != nil {
		return e, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return e, err
	}
	if first != "" && first != fmt.Sprintf(head, mark, version, sum.Sum(nil)) {
		return e, fmt.Errorf("%s: %w", name, errDamaged)
	}
	return e, nil
}

// ReadOf is Read of the receipt of an output of this user's runs.
func ReadOf(path string) (Entry, error) {
	name, err := entryFile(path, "")
	if err != nil {
		return Entry{}, err
	}
	return Read(name)
}

// Is reports a file that begins as receipts do.
func Is(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(mark))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == mark
}

var errDamaged = errors.New("the receipt is damaged: its checksum differs")

// open opens a receipt behind its entry. first is its first line; "" of one that earlier versions wrote, which has none.
func open(name string) (f *os.File, first string, e Entry, err error) {
	if f, err = os.Open(name); err != nil {
		return nil, "", e, err
	}
	fail := func(err error) (*os.File, string, Entry, error) {
		return nil, "", Entry{}, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	start := make([]byte, len(mark))
	if _, err := io.ReadFull(f, start); err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return fail(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fail(err)
	}
	b, at := bufio.NewReader(f), 0
	if bytes.HasPrefix(start, []byte(mark)) {
		if first, err = b.ReadString('\n'); err != nil {
			return fail(errDamaged)
		}
		var made int
		if _, err := fmt.Sscanf(first, mark+"%d", &made); err != nil {
			return fail(errDamaged)
		}
		if made > version {
			return fail(fmt.Errorf("the receipt was written by a later version of gonbext"))
		}
		at = len(first)
	} else if start[0] != '{' {
		return fail(errors.New("this is not a receipt"))
	}
	line, err := b.ReadBytes('\n')
	if err != nil && err != io.EOF {
		return fail(err)
	}
	if json.Unmarshal(line, &e) != nil {
		return fail(errDamaged)
	}
	e.file = name
	_, err = f.Seek(int64(at+len(line)), io.SeekStart)
	if err != nil {
		return fail(err)
	}
	return f, first, e, nil
}

// Rest opens what follows the plan of an entry that was read.
func (e *Entry) Rest() (io.ReadCloser, error) {
	f, _, now, err := open(e.file)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(int64(now.Length), io.SeekCurrent); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadPlan reads the plan of an entry that was read; nil for none.
func (e *Entry) ReadPlan() ([]byte, error) {
	f, _, now, err := open(e.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, min(max(now.Length, 0), mostPlan))
	_, err = io.ReadFull(f, b)
	return b, err
}

// mostPlan bounds a plan in a receipt: one that is larger is left out.
const mostPlan = 16 << 20

// Put stores an entry, and what rest writes after it, in place of an earlier one of the same output. A run goes on
// where that fails: the next one computes.
func Put(e Entry, rest func(io.Writer) error) error {
	name, err := entryFile(e.Path, e.Region)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if _, err := os.Lstat(name); err != nil { // one that is replaced adds none
		evict(dir, mostEntries, mostEntries*9/10, mostKept)
	}
	return write(name, 0o600, e, rest)
}

// Write writes a receipt as a file that others can read.
func Write(name string, e Entry, rest func(io.Writer) error) error {
	return write(name, 0o666, e, rest)
}

func write(name string, mode fs.FileMode, e Entry, rest func(io.Writer) error) error {
	if e.Length = len(e.Plan); e.Length > mostPlan {
		e.Length, e.Plan = 0, nil
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return replace(name, mode, func(f *os.File) error {
		sum := sha256.New()
		first := fmt.Appendf(nil, head, mark, version, sum.Sum(nil))
		if _, err := f.Write(first); err != nil {
			return err
		}
		w := bufio.NewWriter(io.MultiWriter(f, sum))
		for _, part := range [][]byte{b, {'\n'}, e.Plan} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		if rest != nil {
			if err := rest(w); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := f.WriteAt(fmt.Appendf(nil, head, mark, version, sum.Sum(nil)), 0)
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

// replace writes a file, and renames it to its name when it is whole. The folder of one that only its user can read is
// made where there is none.
func replace(name string, mode fs.FileMode, write func(*os.File) error) error {
	dir := filepath.Dir(name)
	if mode == 0o600 {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	temp, err := os.OpenFile(filepath.Join(dir, ".new-"+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
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
