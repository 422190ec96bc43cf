package record

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/flock"
)

// The run log keeps this many records, this many bytes of them, and none that is older.
const (
	keepRuns  = 200
	keepBytes = 2 << 30
	keepFor   = 180 * 24 * time.Hour

	suffix = ".gonbrun"
)

// ErrOff is returned where GONBEXT_RUNS is off: runs leave no record, a save that was made
// before is made again, and algorithms do not resume in another process.
var ErrOff = errors.New("the run log is turned off by GONBEXT_RUNS=off")

// Asked reports whether the environment asks for records of runs, which programs leave without
// being asked only where they are a notebook's cell or the gonbext command.
func Asked() bool { return os.Getenv("GONBEXT_RUNS") != "" }

// Dir is the user's run log: $GONBEXT_RUNS, else gonbext/runs in the user's cache directory, also
// where $GONBEXT_RUNS is on. It may not exist yet.
func Dir() (string, error) {
	switch dir := os.Getenv("GONBEXT_RUNS"); dir {
	case "", "on":
	case "off":
		return "", ErrOff
	default:
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("run log: set GONBEXT_RUNS to a folder for the records of runs: %w", err)
	}
	return filepath.Join(cache, "gonbext", "runs"), nil
}

// Path is the file of a run in the log dir.
func Path(dir, run string) string { return filepath.Join(dir, run+suffix) }

// Summary is a run without its rows.
type Summary struct {
	Path   string
	Header Header
	Status Status
	End    *End // nil for Running and Killed
}

// List gives the runs in dir, newest first. Files that are not whole records
// are left out; a dir that does not exist holds none.
func List(dir string) ([]Summary, error) { return Latest(dir, math.MaxInt) }

// Latest is List for so many of the newest files only.
func Latest(dir string, most int) ([]Summary, error) {
	all, err := Newest(dir, most)
	if err != nil {
		return nil, err
	}
	return slices.Collect(all), nil
}

// Newest walks over what Latest gives. A record is read when the walk comes to it, so that no
// more than one has to be in memory.
func Newest(dir string, most int) (iter.Seq[Summary], error) {
	names, err := Names(dir)
	if err != nil {
		return nil, err
	}
	return func(yield func(Summary) bool) {
		for i := len(names) - 1; i >= max(len(names)-most, 0); i-- {
			r, err := Read(filepath.Join(dir, names[i]))
			if err != nil {
				continue
			}
			if !yield(Summary{r.Path, r.Header, r.Status(), r.End}) {
				return
			}
		}
	}, nil
}

// OfCell returns the runs of a cell that began at a time or later, in their order. A record
// that cannot be read is left out.
func OfCell(dir, cell string, since time.Time) ([]*Run, error) {
	names, err := Names(dir)
	if err != nil {
		return nil, err
	}
	var runs []*Run
	first, _ := slices.BinarySearch(names, stamp(since))
	for _, name := range names[first:] {
		r, err := readIf(filepath.Join(dir, name), func(h *Header) bool { return h.Cell == cell })
		if err == nil && r != nil {
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// Unreadable is a record that List leaves out, and why.
type Unreadable struct {
	Path string
	Err  error
}

// ListUnreadable gives the files in dir that are named as records and cannot be read,
// newest first: damaged ones, and those of a newer version of the format.
func ListUnreadable(dir string) ([]Unreadable, error) {
	names, err := Names(dir)
	if err != nil {
		return nil, err
	}
	var all []Unreadable
	for _, name := range slices.Backward(names) {
		path := filepath.Join(dir, name)
		_, err := Read(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) || IsTorn(err) && writing(path) {
			continue // a torn one that is being written has just begun
		}
		all = append(all, Unreadable{path, err})
	}
	return all, nil
}

// Names are the files of the records in dir, the oldest first.
func Names(dir string) ([]string, error) { return names(dir, suffix) }

// names are the names of the files with one of these suffixes, oldest first.
func names(dir string, suffixes ...string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run log: %w", err)
	}
	var all []string
	for _, e := range entries {
		named := slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(e.Name(), s) })
		if e.Type().IsRegular() && named {
			all = append(all, e.Name())
		}
	}
	return all, nil
}

// pruned is the log that this process has looked at last, and when it was pruned.
var pruned struct {
	sync.Mutex
	dir string
	at  time.Time
}

// pruneNow prunes every minute, and each 64th time: a log of many records takes longer to look
// at than a small run takes.
func pruneNow(dir string, n uint32) {
	pruned.Lock()
	defer pruned.Unlock()
	mark := filepath.Join(dir, ".pruned")
	if pruned.dir != dir || time.Since(pruned.at) >= time.Minute { // another process may have pruned it
		pruned.dir, pruned.at = dir, time.Time{}
		if st, err := os.Stat(mark); err == nil {
			pruned.at = st.ModTime()
		}
	}
	if time.Since(pruned.at) < time.Minute && n%64 != 0 {
		return
	}
	prune(dir, keepRuns, keepBytes)
	pruned.at = time.Now()
	_ = os.WriteFile(mark, nil, 0o600) // without it the next process prunes
}

// Clear removes the records in dir, but none whose run is continuing.
func Clear(dir string) { prune(dir, 0, 0) }

// prune removes the oldest records, and cards that nobody has shown, beyond count or size or
// older than keepFor, but none whose run is continuing. The log is a convenience: a record that
// cannot be removed stays.
func prune(dir string, count int, size int64) {
	all, _ := names(dir, suffix, cardSuffix)
	for i := len(all) - 1; i >= 0; i-- {
		path := filepath.Join(dir, all[i])
		beyond := len(all)-i > count
		if !beyond {
			st, err := os.Stat(path)
			if err != nil {
				continue
			}
			size -= st.Size()
			beyond = size < 0 || time.Since(st.ModTime()) > keepFor
		}
		if beyond && !writing(path) {
			os.Remove(path)
		}
	}
}

// writing reports whether the record at path has a living writer.
func writing(path string) bool {
	f, err := open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return locked(f)
}

// lock marks f as being written. A lock, unlike a pid, ends with its process
// and holds across containers. On a file system without locks a run without an
// End is taken for killed.
func lock(f *os.File) { _ = flock.Wait(f) } // a reader holds it for a moment

// locked reports whether a writer holds f's lock. f has no writer of its own.
func locked(f *os.File) bool {
	err := flock.Shared(f)
	if err == nil {
		_ = flock.Unlock(f)
	}
	return errors.Is(err, flock.ErrLocked)
}
