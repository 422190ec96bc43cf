package record

import (
	"fmt"
	"io"
	"os"
)

// Tail follows a record while it grows. It is for one goroutine.
type Tail struct {
	Header Header
	f      *os.File
	start  int64
	rows   version
	at     int64
	buf    []byte
	now    Progress
	next   cursor
	Each   func(*Sample) // called by Poll for every sample, in their order, where it is set
}

// Progress is how far a run has come.
type Progress struct {
	Tasks         []int64 // finished by stage, as in Header.Stages
	Read, Written int64   // bytes, by the tasks that have finished
	Sample        Sample  // the latest
	Last          Task    // the task that finished last
	End           *End    // nil while the run lasts
}

// Done is the number of tasks that have finished, over all stages.
func (p *Progress) Done() int64 {
	var n int64
	if p == nil {
		return n
	}
	for _, t := range p.Tasks {
		n += t
	}
	return n
}

// Follow opens a record that may still grow. The caller closes the Tail.
func Follow(path string) (*Tail, error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("run record: %w", err)
	}
	t := &Tail{f: f, buf: make([]byte, bufferSize)}
	if t.at, t.rows, err = decodeHeader(f, &t.Header); err != nil {
		f.Close()
		return nil, fmt.Errorf("run record %s: %w", path, err)
	}
	t.start = t.at
	t.now.Tasks = make([]int64, len(t.Header.Stages))
	return t, nil
}

// Poll reads the rows that have come since the last Poll and returns the state
// that they add up to. The result is valid until the next Poll.
func (t *Tail) Poll() (*Progress, error) {
	if t == nil || t.f == nil {
		return nil, os.ErrInvalid
	}
	if t.now.End != nil {
		return &t.now, nil
	}
	st, err := t.f.Stat()
	if err != nil {
		return nil, fmt.Errorf("run record: %w", err)
	}
	// The End is looked for first: all rows that there will be are before it.
	end, endAt := decodeEnd(t.f, t.start, st.Size())
	for end == nil || t.at < endAt {
		n, err := t.f.ReadAt(t.buf, t.at)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("run record: %w", err)
		}
		used := t.take(t.buf[:n])
		if used == 0 {
			break
		}
		t.at += int64(used)
	}
	t.now.End = end
	return &t.now, nil
}

// take adds up the whole rows in b and returns the bytes that they take.
func (t *Tail) take(b []byte) int {
	p, at := &t.now, 0
	for at < len(b) {
		row := b[at:]
		size := t.rows.rowSize(row[0])
		if size == 0 || size > len(row) {
			break
		}
		switch row = row[:size]; row[0] {
		case kindSample:
			t.next.decode(row, &p.Sample)
			if t.Each != nil {
				t.Each(&p.Sample)
			}
		case kindTask:
			t.next.decode(row, &p.Last)
			if s := int(p.Last.Stage); s < len(p.Tasks) {
				p.Tasks[s]++
			}
			p.Read += p.Last.Read
			p.Written += p.Last.Written
		}
		at += size
	}
	return at
}

// Alive reports whether the run's process still writes the record.
func (t *Tail) Alive() bool { return t != nil && t.f != nil && locked(t.f) }

// Close releases the file.
func (t *Tail) Close() error {
	if t == nil {
		return os.ErrInvalid
	}
	return t.f.Close()
}
