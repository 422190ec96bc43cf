package store

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Frame is a file around an array's elements.
type Frame struct {
	Offset int64 // of the first element
	Size   int64 // of the whole file
	// Old is the version of the file that is there already and whose other parts are
	// kept; empty where there is none. It must not change until Commit.
	Old FileVersion
	// Fill writes what stands around the elements. Commit calls it when these are all
	// written. old is nil where there was no file.
	Fill func(ctx context.Context, w File, old io.ReaderAt) error
}

// File is a file that is being written.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// settled is the file that is written, of which what Fill writes does not stay in
// the page cache.
type settled struct{ *disk.File }

func (f settled) WriteAt(p []byte, at int64) (int, error) {
	cached, err := f.File.Write(p, at)
	if err == nil {
		err = f.WritebackRange(at, at+int64(len(p)), cached)
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// CopyRange copies n bytes from one file to another, by windows.
func CopyRange(ctx context.Context, w io.WriterAt, to int64, r io.ReaderAt, from, n int64) error {
	window := make([]byte, min(n, copyBytes))
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		window = window[:min(n, copyBytes)]
		if got, err := r.ReadAt(window, from); got < len(window) {
			if err == io.EOF {
				err = ErrCutShort
			}
			return err
		}
		if _, err := w.WriteAt(window, to); err != nil {
			return err
		}
		done := int64(len(window))
		to, from, n = to+done, from+done, n-done
	}
	return nil
}

// copyBytes is the length of the windows in which files are copied.
const copyBytes = 1 << 20

// CreateExtent begins an array that is a part of a file, as Create does for a
// whole one. path is the array's name for people.
func CreateExtent(path, file string, m Meta, frame Frame) (Writer, error) {
	w, err := createExtent(path, file, m, frame)
	if err != nil {
		return nil, pathError("create", path, err)
	}
	return w, nil
}

// openOld opens the file that is replaced, if it is still the one that it was.
func openOld(file string, was FileVersion) (Source, error) {
	old, now, err := openFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && was == FileVersion{}:
		return nil, nil
	case err != nil:
		return nil, err
	case !now.Equal(was):
		old.Close()
		return nil, errors.New("the file was changed by another program since the writing began: run it again")
	}
	return old, nil
}
