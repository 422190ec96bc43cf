package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/types"
)

// While a region of an array is written in place the array says so itself: a mark is
// the end of a file, or lies in the folder of a Zarr array. So it goes
// along where the array is renamed, linked or copied, on any file system. Open
// rejects an array with a mark until its region, or all of it, is written again.

const (
	// markName is the file in an array's folder. Listings of objects leave it out.
	markName = ".gonbext-region"
	// markBytes is the length of a mark at a file's end: a line for people, the region,
	// blanks, and a line's end.
	markBytes = 1024
	markLine  = "gonbext: a region of this array was begun to be written, and not finished.\n"
)

// encodeMark is the mark of a region.
func encodeMark(b types.Box) ([]byte, error) {
	text, err := json.Marshal(b)
	if err == nil && len(markLine)+len(text) >= markBytes {
		err = fmt.Errorf("the region %s is too long to be noted", b)
	}
	return fmt.Appendf(nil, "%s%-*s\n", markLine, markBytes-len(markLine)-1, text), err
}

// decodeMark reads the region of a mark; nil of what is none, or was not yet durable
// at a crash, before anything was written to the region.
func decodeMark(mark []byte) *types.Box {
	text, ok := strings.CutPrefix(string(mark), markLine)
	var b types.Box
	if !ok || json.Unmarshal([]byte(text), &b) != nil {
		return nil
	}
	return &b
}

// readMark reads the mark at the end of a file whose elements end at a place; nil
// where there is none.
func readMark(r io.ReaderAt, end, size int64) (*types.Box, error) {
	if size-markBytes < end {
		return nil, nil
	}
	mark := make([]byte, markBytes)
	if _, err := r.ReadAt(mark, size-markBytes); err != nil && err != io.EOF {
		return nil, err
	}
	return decodeMark(mark), nil
}

// lostMark reports the end of a file that a crash left instead of a mark that was
// not yet durable: the disk has the file's new size and not all of its bytes.
func lostMark(r io.ReaderAt, size int64) bool {
	mark := make([]byte, markBytes)
	if n, _ := r.ReadAt(mark, size-markBytes); n < len(mark) {
		return false
	}
	begun := strings.TrimRight(string(mark), "\x00")
	return strings.HasPrefix(markLine, begun[:min(len(begun), len(markLine))])
}

// MarkDirty says, durably, in the folder that the staging folder belongs to, that a box of its
// array is about to be written in place: until ClearDirty Open rejects the array. again
// reports that an earlier writer has left it so; then the box has to hold that
// writer's.
func (w *StagingDir) MarkDirty(b types.Box) (again bool, err error) {
	unfinished, err := folderMark(w.target)
	if err != nil {
		return true, err
	}
	if again, err = resumesBox(unfinished, b); err != nil {
		return again, err
	}
	if w.attached {
		if !again {
			err = ErrNotStaged
		}
		return true, err
	}
	mark, err := encodeMark(b)
	if err != nil {
		return again, err
	}
	return again, disk.WriteFile(filepath.Join(w.target, markName), mark)
}

// ClearDirty says that the array of the staging folder's folder is whole.
func (w *StagingDir) ClearDirty() error {
	if w.attached { // the owner's to say
		return nil
	}
	name := filepath.Join(w.target, markName)
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(disk.Remove(name), disk.SyncDir(w.target))
}

// resumesBox reports that the writing of a box resumes one that was not finished,
// and rejects one that would not finish it.
func resumesBox(unfinished *types.Box, b types.Box) (again bool, err error) {
	if unfinished != nil && !strided.Inside(*unfinished, b) {
		err = unfinishedError(*unfinished)
	}
	return unfinished != nil, err
}

// checkFolder rejects an array in a folder of this machine that has a mark.
func checkFolder(place string) error {
	b, err := folderMark(place)
	if err == nil && b != nil {
		err = unfinishedError(*b)
	}
	return err
}

// folderMark reads the mark of an array's folder; nil where there is none.
func folderMark(folder string) (*types.Box, error) {
	root, err := disk.OpenRoot(folder)
	if err != nil {
		return nil, nil // it is a file, or opening it says why
	}
	defer root.Close()
	st, err := root.Lstat(markName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case st.Mode().IsRegular() && st.Size() == markBytes:
		text, err := root.ReadFile(markName)
		if b := decodeMark(text); b != nil || err != nil {
			return b, err
		}
	}
	return nil, fmt.Errorf("%s cannot be read: save the whole array", filepath.Join(folder, markName))
}

func unfinishedError(b types.Box) error {
	return fmt.Errorf("the writing of its region %s was not finished: save that region again, or the whole array", b)
}
