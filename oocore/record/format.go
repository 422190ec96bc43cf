package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// A record file is, little-endian throughout:
//
//	magic                     "gonbrun" and the version of the format, a byte
//	uint32 n, n bytes         the Header as JSON
//	rows                      a kind byte, then a body of that kind's fixed size
//	End                       kind byte, uint32 n, n bytes of JSON, uint32 n, endMagic
//
// A file cut anywhere is whole up to the last whole row. The End repeats its
// length behind itself so that it is found from the file's end, without a walk
// over a million rows. A zero kind byte, which a power cut may leave, ends the
// rows. Rows of version 1 end earlier: what they lack is zero. Rows of lines came with
// version 3, those of stacks with version 4.
const (
	magic    = "gonbrun"
	endMagic = "gonbend\x01"

	kindTask   = 1
	kindSample = 2
	kindEnd    = 3
	kindEvent  = 4
	kindLine   = 5
	kindStack  = 6 // a Line, with more text

	firstTaskSize   = 1 + 8 + 8*(1+5+3+2*int(Classes)) + 8
	firstSampleSize = 1 + 8*(1+int(Classes)+9)
	taskSize        = firstTaskSize + 8*2
	sampleSize      = firstSampleSize + 8*3
	eventSize       = 1 + 8*4
	lineText        = 128 // bytes for the place of a line and its code
	lineSize        = 1 + 8*3 + lineText
	stackSize       = lineSize + 384

	// A header carries a plan's figures, an End less: neither comes near this.
	maxJSON = 16 << 20
	// What is read at first of a record's header and of its End: all of those of a run of few stages.
	headBytes, endBytes = 4 << 10, 1 << 10
)

// version is a version of the format. Those from 1 to latest are read, and latest is
// written.
type version byte

const latest version = 4

// errTorn is of a file that ends within its header: it is being created, or
// its writer was killed just then.
var errTorn = errors.New("the header is incomplete")

// entry is what a row holds.
type entry interface {
	// fields writes the fields, or reads them.
	fields(r *cursor)
}

// encode writes a row of the latest version's size.
func (r *cursor) encode(b []byte, kind byte, e entry) {
	b[0] = kind
	*r = cursor{b: b[:latest.rowSize(kind)], at: 1, writing: true}
	e.fields(r)
}

// decode reads a row of its version's size.
func (r *cursor) decode(b []byte, e entry) {
	*r = cursor{b: b, at: 1}
	e.fields(r)
}

// cursor goes through the words of a row, little-endian, that are written or read. What a row that
// is read does not have is zero. Many rows share one.
type cursor struct {
	b       []byte
	at      int
	writing bool
}

// word writes a word, or reads one in its place.
func (r *cursor) word(v uint64) uint64 {
	switch {
	case r.writing:
		binary.LittleEndian.PutUint64(r.b[r.at:], v)
	case r.at < len(r.b):
		v = binary.LittleEndian.Uint64(r.b[r.at:])
	default:
		v = 0
	}
	r.at += 8
	return v
}

func words[T ~int64](r *cursor, all ...*T) {
	for _, v := range all {
		if x := r.word(uint64(*v)); !r.writing { // others may read what is written meanwhile
			*v = T(x)
		}
	}
}

func (r *cursor) bytes(b *Bytes) {
	for c := range b {
		words(r, &b[c])
	}
}

func (t *Task) fields(r *cursor) {
	v := r.word(uint64(t.Stage) | uint64(t.Slot)<<16 | uint64(t.Device)<<32 | uint64(t.Retries)<<40 | uint64(t.Splits)<<48)
	if !r.writing {
		t.Stage, t.Slot = uint16(v), uint16(v>>16)
		t.Device, t.Retries, t.Splits = uint8(v>>32), uint8(v>>40), uint8(v>>48)
	}
	words(r, &t.Chunk)
	words(r, &t.Start, &t.Duration, &t.Reading, &t.Computing, &t.Writing)
	words(r, &t.Read, &t.Written, &t.Moved)
	r.bytes(&t.Requested)
	r.bytes(&t.Reserved)
	v = r.word(uint64(t.Allocations) | uint64(t.Reuses)<<32)
	if !r.writing {
		t.Allocations, t.Reuses = uint32(v), uint32(v>>32)
	}
	words(r, &t.Upload, &t.Download)
}

func (s *Sample) fields(r *cursor) {
	words(r, &s.At)
	r.bytes(&s.Arena)
	words(r, &s.Device, &s.Anonymous, &s.Mapped, &s.Cached, &s.GoHeap, &s.GoRuntime, &s.Done, &s.Read, &s.Written)
	words(r, &s.Kept, &s.Context, &s.Others)
}

func (e *Event) fields(r *cursor) {
	words(r, &e.At)
	v := r.word(uint64(e.Stage) | uint64(e.Action)<<16)
	if !r.writing {
		e.Stage, e.Action = uint16(v), Action(v>>16)
	}
	words(r, &e.Bytes, &e.Free)
}

// fields cuts the texts to what a row has room for.
func (l *Line) fields(r *cursor) {
	words(r, &l.At)
	words(r, &l.Live, &l.Allocated)
	text := r.b[r.at:]
	if r.writing {
		clear(text)
		n := copy(text, strings.ReplaceAll(l.Site, "\x00", ""))
		copy(text[min(n+1, len(text)):], l.Code)
		return
	}
	site, code, _ := bytes.Cut(text, []byte{0})
	code, _, _ = bytes.Cut(code, []byte{0})
	l.Site, l.Code = strings.ToValidUTF8(string(site), ""), strings.ToValidUTF8(string(code), "")
}

// encodeHeader is the file's beginning, up to the first row.
func encodeHeader(h *Header) ([]byte, error) {
	j, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, len(magic)+5+len(j)), magic...)
	b = append(b, byte(latest))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(j)))
	return append(b, j...), nil
}

// decodeHeader reads the file's beginning and returns where the rows start, and their
// version.
func decodeHeader(f io.ReaderAt, h *Header) (rows int64, v version, err error) {
	const fixed = len(magic) + 5
	head := make([]byte, headBytes)
	n, err := f.ReadAt(head, 0)
	if got := min(n, len(magic)); string(head[:got]) != magic[:got] {
		return 0, 0, errors.New("not a run record")
	}
	switch v = version(head[len(magic)]); {
	case n > len(magic) && v > latest:
		return 0, 0, fmt.Errorf("it has version %d of the format, and this gonbext reads up to %d: a newer gonbext reads it", v, latest)
	case n > len(magic) && v < 1:
		return 0, 0, errors.New("not a run record")
	}
	if n < fixed {
		return 0, 0, tornOr(err)
	}
	size := int(binary.LittleEndian.Uint32(head[len(magic)+1:]))
	if size > maxJSON {
		return 0, 0, fmt.Errorf("its header claims %d bytes", size)
	}
	j := head[fixed:n]
	if size <= len(j) {
		j = j[:size]
	} else {
		j = append(make([]byte, 0, size), j...)
		rest := j[len(j):size]
		if n, err := f.ReadAt(rest, int64(fixed+len(j))); n < len(rest) {
			return 0, 0, tornOr(err)
		}
		j = j[:size]
	}
	if err := json.Unmarshal(j, h); err != nil {
		return 0, 0, fmt.Errorf("its header: %w", err)
	}
	return int64(fixed + size), v, nil
}

func tornOr(err error) error {
	if err == io.EOF {
		return errTorn
	}
	return err
}

// encodeEnd is the End's row.
func encodeEnd(e *End) ([]byte, error) {
	j, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32([]byte{kindEnd}, uint32(len(j)))
	b = append(b, j...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(j)))
	return append(b, endMagic...), nil
}

// decodeEnd finds the End, and where its row is, from the end of a file of
// size bytes whose rows begin at rows; nil where there is none.
func decodeEnd(f io.ReaderAt, rows, size int64) (*End, int64) {
	const tail = 4 + len(endMagic)
	if size < rows+5+int64(tail) {
		return nil, 0
	}
	last := make([]byte, min(size-rows, endBytes))
	if n, _ := f.ReadAt(last, size-int64(len(last))); n < len(last) || string(last[n-len(endMagic):]) != endMagic {
		return nil, 0
	}
	n := int64(binary.LittleEndian.Uint32(last[len(last)-tail:]))
	at := size - int64(tail) - n - 5
	if n > maxJSON || at < rows {
		return nil, 0
	}
	b := make([]byte, 5+n)
	if from := at - (size - int64(len(last))); from >= 0 {
		copy(b, last[from:])
	} else if got, _ := f.ReadAt(b, at); got < len(b) {
		return nil, 0
	}
	if b[0] != kindEnd || int64(binary.LittleEndian.Uint32(b[1:])) != n {
		return nil, 0
	}
	e := new(End)
	if json.Unmarshal(b[5:], e) != nil {
		return nil, 0
	}
	return e, at
}

// rowSize is the length of the row that begins with kind; 0 for an End and
// for what is no row.
func (v version) rowSize(kind byte) int {
	switch {
	case kind == kindTask && v == 1:
		return firstTaskSize
	case kind == kindSample && v == 1:
		return firstSampleSize
	case kind == kindTask:
		return taskSize
	case kind == kindSample:
		return sampleSize
	case kind == kindEvent && v > 1:
		return eventSize
	case kind == kindLine && v > 2:
		return lineSize
	case kind == kindStack && v > 3:
		return stackSize
	}
	return 0
}

// Rows are the rows of tasks in the form that a record's file has them, to be carried
// from one process to another. The zero value has none.
type Rows []byte

// Add appends the row of a task.
func (r *Rows) Add(t *Task) {
	if r == nil || t == nil {
		return
	}
	var row [taskSize]byte
	var c cursor
	c.encode(row[:], kindTask, t)
	*r = append(*r, row[:]...)
}

// Check returns an error for bytes that are not rows of tasks.
func (r Rows) Check() error {
	if len(r)%taskSize != 0 {
		return fmt.Errorf("%d bytes are no rows of tasks: each has %d", len(r), taskSize)
	}
	for at := 0; at < len(r); at += taskSize {
		if r[at] != kindTask {
			return fmt.Errorf("row %d is not that of a task", at/taskSize)
		}
	}
	return nil
}

// All iterates over rows that Check has passed. The task is valid until the next.
func (r Rows) All() iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		var t Task
		var c cursor
		for at := 0; at+taskSize <= len(r); at += taskSize {
			c.decode(r[at:at+taskSize], &t)
			if !yield(&t) {
				return
			}
		}
	}
}
