package record

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
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
// rows. Rows of version 1 end earlier: what they lack is zero.
const (
	magic    = "gonbrun"
	endMagic = "gonbend\x01"

	kindTask   = 1
	kindSample = 2
	kindEnd    = 3
	kindEvent  = 4

	firstTaskSize   = 1 + 8 + 8*(1+5+3+2*int(Classes)) + 8
	firstSampleSize = 1 + 8*(1+int(Classes)+9)
	taskSize        = firstTaskSize + 8*2
	sampleSize      = firstSampleSize + 8*3
	eventSize       = 1 + 8*4

	// A header carries a plan's figures, an End less: neither comes near this.
	maxJSON = 16 << 20
)

// version is a version of the format. Those from 1 to latest are read, and latest is
// written.
type version byte

const latest version = 2

// errTorn is of a file that ends within its header: it is being created, or
// its writer was killed just then.
var errTorn = errors.New("the header is incomplete")

// put appends little-endian words to a row.
type put struct {
	b  []byte
	at int
}

func (p *put) u64(v uint64)        { binary.LittleEndian.PutUint64(p.b[p.at:], v); p.at += 8 }
func (p *put) i64(v int64)         { p.u64(uint64(v)) }
func (p *put) dur(v time.Duration) { p.u64(uint64(v)) }
func (p *put) two(lo, hi uint32)   { p.u64(uint64(lo) | uint64(hi)<<32) }
func (p *put) bytes(v *Bytes) {
	for _, n := range v {
		p.i64(n)
	}
}

// get takes little-endian words from a row.
type get struct {
	b  []byte
	at int
}

func (g *get) u64() uint64          { v := binary.LittleEndian.Uint64(g.b[g.at:]); g.at += 8; return v }
func (g *get) i64() int64           { return int64(g.u64()) }
func (g *get) dur() time.Duration   { return time.Duration(g.u64()) }
func (g *get) two() (lo, hi uint32) { v := g.u64(); return uint32(v), uint32(v >> 32) }
func (g *get) bytes(v *Bytes) {
	for c := range v {
		v[c] = g.i64()
	}
}

// encode writes t as a row of taskSize bytes.
func (t *Task) encode(row []byte) {
	row[0] = kindTask
	p := put{b: row[:taskSize], at: 1}
	p.u64(uint64(t.Stage) | uint64(t.Slot)<<16 | uint64(t.Device)<<32 | uint64(t.Retries)<<40 | uint64(t.Splits)<<48)
	p.i64(t.Chunk)
	p.dur(t.Start)
	p.dur(t.Duration)
	p.dur(t.Reading)
	p.dur(t.Computing)
	p.dur(t.Writing)
	p.i64(t.Read)
	p.i64(t.Written)
	p.i64(t.Moved)
	p.bytes(&t.Requested)
	p.bytes(&t.Reserved)
	p.two(t.Allocations, t.Reuses)
	p.dur(t.Upload)
	p.dur(t.Download)
}

// decode reads a row of its version's size.
func (t *Task) decode(row []byte) {
	g := get{b: row, at: 1}
	v := g.u64()
	t.Stage, t.Slot = uint16(v), uint16(v>>16)
	t.Device, t.Retries, t.Splits = uint8(v>>32), uint8(v>>40), uint8(v>>48)
	t.Chunk = g.i64()
	t.Start = g.dur()
	t.Duration = g.dur()
	t.Reading = g.dur()
	t.Computing = g.dur()
	t.Writing = g.dur()
	t.Read = g.i64()
	t.Written = g.i64()
	t.Moved = g.i64()
	g.bytes(&t.Requested)
	g.bytes(&t.Reserved)
	t.Allocations, t.Reuses = g.two()
	t.Upload, t.Download = 0, 0
	if len(row) > firstTaskSize {
		t.Upload = g.dur()
		t.Download = g.dur()
	}
}

// encode writes s as a row of sampleSize bytes.
func (s *Sample) encode(row []byte) {
	row[0] = kindSample
	p := put{b: row[:sampleSize], at: 1}
	p.dur(s.At)
	p.bytes(&s.Arena)
	p.i64(s.Device)
	p.i64(s.Anonymous)
	p.i64(s.Mapped)
	p.i64(s.Cached)
	p.i64(s.GoHeap)
	p.i64(s.GoRuntime)
	p.i64(s.Done)
	p.i64(s.Read)
	p.i64(s.Written)
	p.i64(s.Kept)
	p.i64(s.Context)
	p.i64(s.Others)
}

// decode reads a row of its version's size.
func (s *Sample) decode(row []byte) {
	g := get{b: row, at: 1}
	s.At = g.dur()
	g.bytes(&s.Arena)
	s.Device = g.i64()
	s.Anonymous = g.i64()
	s.Mapped = g.i64()
	s.Cached = g.i64()
	s.GoHeap = g.i64()
	s.GoRuntime = g.i64()
	s.Done = g.i64()
	s.Read = g.i64()
	s.Written = g.i64()
	s.Kept, s.Context, s.Others = 0, 0, 0
	if len(row) > firstSampleSize {
		s.Kept = g.i64()
		s.Context = g.i64()
		s.Others = g.i64()
	}
}

// encode writes e as a row of eventSize bytes.
func (e *Event) encode(row []byte) {
	row[0] = kindEvent
	p := put{b: row[:eventSize], at: 1}
	p.dur(e.At)
	p.u64(uint64(e.Stage) | uint64(e.Action)<<16)
	p.i64(e.Bytes)
	p.i64(e.Free)
}

func (e *Event) decode(row []byte) {
	g := get{b: row[:eventSize], at: 1}
	e.At = g.dur()
	v := g.u64()
	e.Stage, e.Action = uint16(v), Action(v>>16)
	e.Bytes = g.i64()
	e.Free = g.i64()
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
	var fixed [len(magic) + 5]byte
	n, err := f.ReadAt(fixed[:], 0)
	if got := min(n, len(magic)); string(fixed[:got]) != magic[:got] {
		return 0, 0, errors.New("not a run record")
	}
	switch v = version(fixed[len(magic)]); {
	case n > len(magic) && v > latest:
		return 0, 0, fmt.Errorf("it has version %d of the format, and this gonbext reads up to %d: a newer gonbext reads it", v, latest)
	case n > len(magic) && v < 1:
		return 0, 0, errors.New("not a run record")
	}
	if n < len(fixed) {
		return 0, 0, tornOr(err)
	}
	size := binary.LittleEndian.Uint32(fixed[len(magic)+1:])
	if size > maxJSON {
		return 0, 0, fmt.Errorf("its header claims %d bytes", size)
	}
	j := make([]byte, size)
	if n, err := f.ReadAt(j, int64(len(fixed))); n < len(j) {
		return 0, 0, tornOr(err)
	}
	if err := json.Unmarshal(j, h); err != nil {
		return 0, 0, fmt.Errorf("its header: %w", err)
	}
	return int64(len(fixed)) + int64(size), v, nil
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
	var t [tail]byte
	if size < rows+5+int64(tail) {
		return nil, 0
	}
	if n, _ := f.ReadAt(t[:], size-int64(tail)); n < tail || string(t[4:]) != endMagic {
		return nil, 0
	}
	n := int64(binary.LittleEndian.Uint32(t[:]))
	at := size - int64(tail) - n - 5
	if n > maxJSON || at < rows {
		return nil, 0
	}
	b := make([]byte, 5+n)
	if got, _ := f.ReadAt(b, at); got < len(b) || b[0] != kindEnd || int64(binary.LittleEndian.Uint32(b[1:])) != n {
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
	}
	return 0
}
