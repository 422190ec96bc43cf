package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	bufferSize = 64 << 10
	flushEvery = 200 * time.Millisecond
	// What an End takes at most, as a rule: see Writer.mark.
	endReserve = 4 << 10
)

// Writer streams a run's rows to its file. All methods are safe for concurrent
// use, and do nothing on a nil *Writer: a run without a record continues as one
// with. Rows are buffered and reach the file within 200 ms; memory is two
// buffers of 64 KiB, whatever the number of rows.
//
// A disk that is full never fails the run: rows that cannot be written are
// counted and left out, and the End says how many.
type Writer struct {
	path, run string

	mu     sync.Mutex // guards the buffer that rows are put into
	buf    []byte
	next   cursor      // of the row that is put there
	ticks  *time.Timer // that flushes
	closed bool

	out   sync.Mutex // guards what follows; taken before mu
	f     file
	spare []byte
	at    int64 // where the next row goes: behind the last whole one
	rows  int64 // whole rows in the file
	lost  int64
	why   error // the first failure
	// Two positions behind whole rows, at least endReserve bytes apart: on a
	// full disk the End is written over the last rows, where blocks exist.
	mark, older position
}

// buffers are those of ended records, each of bufferSize bytes.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

func newBuffer() []byte { return buffers.Get().(*[bufferSize]byte)[:0] }

// release gives a buffer to the records that come.
func release(buf []byte) {
	if buf != nil {
		buffers.Put((*[bufferSize]byte)(buf[:bufferSize]))
	}
}

// file is what a Writer needs of its *os.File; tests put a full disk in between.
type file interface {
	io.WriterAt
	io.Closer
	Truncate(int64) error
}

// position is a place between two rows: its offset and the rows before it.
type position struct{ at, rows int64 }

// counter tells apart the runs that a process begins in one microsecond.
var counter atomic.Uint32

// Create begins a record in dir, which is made if it does not exist, and
// removes the oldest ones beyond what the log keeps. It sets the header's Run,
// and Start and PID where they are not set, and writes the header before it
// returns. The caller ends the record with End.
func Create(dir string, h Header) (*Writer, error) {
	if h.Start.IsZero() {
		h.Start = time.Now()
	}
	if h.PID == 0 {
		h.PID = os.Getpid()
	}
	f, name, err := createUnique(dir, h.Start, suffix)
	if err != nil {
		return nil, fmt.Errorf("run log: %w", err)
	}
	h.Run = name
	// Held until the file is closed, by this process's death at the latest.
	lock(f)
	head, err := encodeHeader(&h)
	if err == nil {
		_, err = f.Write(head)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, fmt.Errorf("run log: %w", err)
	}
	start := position{at: int64(len(head))}
	w := &Writer{
		path: f.Name(), run: h.Run, f: f,
		buf: newBuffer(),
		at:  start.at, mark: start, older: start,
	}
	pruneNow(dir, counter.Load())
	w.mu.Lock()
	w.ticks = time.AfterFunc(flushEvery, w.tick)
	w.mu.Unlock()
	return w, nil
}

// stamp is what names of records begin with.
func stamp(start time.Time) string { return start.UTC().Format("20060102-150405.000000") }

// createUnique makes a file, and its folder where there is none, and returns its name without the
// suffix: by time, so that names sort as runs began, then by process and a counter. Processes in
// different containers may share both the log and a pid, hence the exclusive creation.
func createUnique(dir string, start time.Time, suffix string) (*os.File, string, error) {
	for made := false; ; {
		name := fmt.Sprintf("%s-%d-%04d", stamp(start), os.Getpid(), counter.Add(1))
		// The last flag spares package os four system calls, by which it looks whether it could wait for the file.
		f, err := os.OpenFile(filepath.Join(dir, name+suffix), os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, 0o600)
		switch {
		case os.IsExist(err):
		case os.IsNotExist(err) && !made:
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, "", err
			}
			made = true
		default:
			return f, name, err
		}
	}
}

// Path returns the path of the record's file.
func (w *Writer) Path() string {
	if w == nil {
		return ""
	}
	return w.path
}

// Run returns the run's name in the log.
func (w *Writer) Run() string {
	if w == nil {
		return ""
	}
	return w.run
}

// Task adds the row of a finished task. t is not kept.
func (w *Writer) Task(t *Task) { w.put(kindTask, t) }

// Sample adds a row of the process's memory.
func (w *Writer) Sample(s Sample) { w.put(kindSample, &s) }

// Event adds a row of what happened to the device.
func (w *Writer) Event(e Event) { w.put(kindEvent, &e) }

// Line adds a row of what a line of the cell holds.
func (w *Writer) Line(l *Line) { w.put(kindLine, l) }

// Stack adds what a line held by one stack of calls: see Run.Stacks.
func (w *Writer) Stack(l *Line) { w.put(kindStack, l) }

func (w *Writer) put(kind byte, e entry) {
	if w == nil {
		return
	}
	if row := w.row(latest.rowSize(kind)); row != nil {
		w.next.encode(row, kind, e)
		w.mu.Unlock()
	}
}

// row gives the next n bytes of the buffer and leaves mu locked, or gives nil
// after the End, and does not.
func (w *Writer) row(n int) []byte {
	w.mu.Lock()
	for !w.closed && w.f != nil && len(w.buf)+n > cap(w.buf) {
		w.mu.Unlock()
		w.flush(n)
		w.mu.Lock()
	}
	if w.closed || w.f == nil {
		w.mu.Unlock()
		return nil
	}
	at := len(w.buf)
	w.buf = w.buf[:at+n]
	return w.buf[at:]
}

// Flush writes what is buffered, for who may be ended at any moment.
func (w *Writer) Flush() {
	if w != nil {
		w.flush(0)
	}
}

// flush writes what is buffered, unless there is room for n more bytes: of
// several tasks that found the buffer full, the first has written it.
func (w *Writer) flush(n int) {
	w.out.Lock()
	defer w.out.Unlock()
	w.mu.Lock()
	if n > 0 && len(w.buf)+n <= cap(w.buf) {
		w.mu.Unlock()
		return
	}
	full := w.buf
	if len(full) == 0 {
		w.mu.Unlock()
		return
	}
	if w.buf, w.spare = w.spare, nil; w.buf == nil {
		w.buf = newBuffer()
	}
	w.mu.Unlock()
	w.write(full)
	w.spare = full[:0]
}

// write appends whole rows at w.at. After a failure the rows that got through
// stay, the rest are counted as lost, and the next write begins behind the last
// whole row: the file never holds a torn row in its midst.
func (w *Writer) write(rows []byte) {
	if len(rows) == 0 {
		return
	}
	n, err := w.f.WriteAt(rows, w.at)
	w.wrote(rows, n, err)
}

// wrote notes of rows that n of their bytes are in the file.
func (w *Writer) wrote(rows []byte, n int, err error) {
	for len(rows) > 0 {
		size := latest.rowSize(rows[0])
		if n >= size {
			w.at += int64(size)
			w.rows++
			if w.at-w.mark.at >= endReserve {
				w.older, w.mark = w.mark, position{w.at, w.rows}
			}
		} else {
			w.lost++
		}
		n -= size
		rows = rows[size:]
	}
	if err != nil && w.why == nil {
		w.why = err
	}
}

// tick flushes until the End.
func (w *Writer) tick() {
	w.flush(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.ticks.Reset(flushEvery)
	}
}

// End writes what is buffered, then the end, and closes the file; rows that
// come later are dropped, and a second End does nothing. It adds the rows that
// were lost to e.Lost. Its error says what the record lacks and why: something
// to tell the user, and no reason to fail the run.
func (w *Writer) End(e End) error {
	if w == nil || w.f == nil {
		return nil
	}
	w.mu.Lock()
	again := w.closed
	w.closed = true
	w.ticks.Stop()
	w.mu.Unlock()
	if again {
		return nil
	}

	w.out.Lock() // after a tick that goes on
	defer w.out.Unlock()
	err := w.last(e)
	release(w.buf)
	release(w.spare)
	w.buf, w.spare = nil, nil
	if cerr := w.f.Close(); err == nil {
		err = cerr
	}
	switch {
	case err != nil:
		return fmt.Errorf("run record %s: its end could not be written: %w", w.path, err)
	case w.lost > 0:
		return fmt.Errorf("run record %s: %d of its rows could not be written: %w", w.path, w.lost, w.why)
	}
	return nil
}

// last writes the rows that are buffered and the End, in one call where both fit into the buffer.
func (w *Writer) last(e End) error {
	one := e
	one.Lost += w.lost
	b, err := encodeEnd(&one)
	if err != nil {
		return err
	}
	rows := w.buf
	if w.why != nil || len(rows)+len(b) > cap(rows) {
		w.write(rows)
		return w.end(e)
	}
	all := append(rows, b...)
	n, err := w.f.WriteAt(all, w.at)
	w.wrote(rows, min(n, len(rows)), err)
	if err == nil {
		return nil
	}
	return w.end(e) // in the place of the End that was cut short
}

// end writes the End behind the last row, or over the last rows where the disk
// is full: the verdict is worth more than they are.
func (w *Writer) end(e End) error {
	lost := e.Lost
	var err error
	for _, p := range []position{{w.at, w.rows}, w.mark, w.older} {
		w.lost += w.rows - p.rows
		w.at, w.rows = p.at, p.rows
		e.Lost = lost + w.lost
		var b []byte
		if b, err = encodeEnd(&e); err != nil {
			return err
		}
		if _, err = w.f.WriteAt(b, w.at); err == nil {
			if w.why == nil {
				return nil // nothing is behind it
			}
			return w.f.Truncate(w.at + int64(len(b)))
		}
		if w.why == nil {
			w.why = err
		}
	}
	return err
}
