package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"syscall"
)

// Run is a record that was read. Its rows stay on disk: each walk over them
// streams the file again, in the same memory for ten rows and for a million.
type Run struct {
	Path   string
	Header Header
	End    *End // nil while the run lasts, and for good if it was killed
	Alive  bool // its process was writing when the record was read
	start  int64
	format version
}

// Read opens a record. A record that was cut short anywhere behind its header
// is no error: it holds the rows up to there. One that still grows holds, at
// each walk, the rows written by then.
func Read(path string) (*Run, error) {
	return readIf(path, nil)
}

// readIf is Read, and nil of a record whose header is not wanted; nil wants each.
func readIf(path string, wanted func(*Header) bool) (*Run, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("run record: %w", err)
	}
	defer f.Close()
	r := &Run{Path: path}
	if r.start, r.format, err = decodeHeader(f, &r.Header); err == nil {
		if wanted != nil && !wanted(&r.Header) {
			return nil, nil
		}
		err = r.loadEnd(f)
	}
	if err == nil && r.End == nil {
		if r.Alive = locked(f); !r.Alive { // it may have ended since
			err = r.loadEnd(f)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("run record %s: %w", path, err)
	}
	return r, nil
}

// open opens a file of the log. The flag spares package os four system calls, by which it looks whether it
// could wait for the file.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// load reads the header and the End, if there is one.
func (r *Run) load(f *os.File) (err error) {
	if r.start, r.format, err = decodeHeader(f, &r.Header); err != nil {
		return err
	}
	return r.loadEnd(f)
}

func (r *Run) loadEnd(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	r.End, _ = decodeEnd(f, r.start, st.Size())
	return nil
}

// Status is how the run ended, or Running or Killed where it has no End.
func (r *Run) Status() Status {
	switch {
	case r == nil:
	case r.End != nil:
		return r.End.Status
	case r.Alive:
		return Running
	}
	return Killed
}

// walk walks over the rows of a kind.
func walk[T any, P interface {
	*T
	entry
}](r *Run, kind byte) iter.Seq[P] {
	return func(yield func(P) bool) {
		at, c := P(new(T)), new(cursor)
		r.rows(func(row []byte) bool {
			if row[0] != kind {
				return true
			}
			c.decode(row, at)
			return yield(at)
		})
	}
}

// Tasks walks over the rows of tasks, in the order in which they finished. The
// pointer is the caller's until the next step only. A file that has become
// unreadable ends the walk.
func (r *Run) Tasks() iter.Seq[*Task] { return walk[Task](r, kindTask) }

// Samples walks over the samples of the process's memory, as Tasks does over tasks.
func (r *Run) Samples() iter.Seq[*Sample] { return walk[Sample](r, kindSample) }

// Events walks over what happened to the run's device, as Tasks does over tasks.
func (r *Run) Events() iter.Seq[*Event] { return walk[Event](r, kindEvent) }

// Lines walks over what lines of the cell held of the Go heap, as Tasks does over tasks.
func (r *Run) Lines() iter.Seq[*Line] { return walk[Line](r, kindLine) }

// Stacks iterates over what lines held by the calls that allocated it: the Code of each is a line of text for each call, the
// outermost first. The value is valid until the next.
func (r *Run) Stacks() iter.Seq[*Line] { return walk[Line](r, kindStack) }

// rows calls f with each whole row.
func (r *Run) rows(f func(row []byte) bool) {
	if r == nil {
		return
	}
	file, err := open(r.Path)
	if err != nil {
		return
	}
	defer file.Close()
	in := bufio.NewReaderSize(io.NewSectionReader(file, r.start, 1<<62), bufferSize)
	for {
		kind, err := in.Peek(1)
		if err != nil || r.format.rowSize(kind[0]) == 0 {
			return
		}
		row, err := in.Peek(r.format.rowSize(kind[0]))
		if err != nil || !f(row) {
			return
		}
		in.Discard(len(row))
	}
}

// IsTorn reports whether Read or Follow failed because the header is incomplete
// yet: the run has just begun, or was killed just then.
func IsTorn(err error) bool { return errors.Is(err, errTorn) }
