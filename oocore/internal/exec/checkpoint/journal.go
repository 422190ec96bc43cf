package checkpoint

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

const (
	maxHeader = 64 << 10
	maxEntry  = 4 << 20 // also bounds what reading a damaged file allocates
	maxStages = 1 << 16
)

// errDamaged is returned for a file that is no journal: nothing can be taken from it,
// now or later. Other errors of opening say nothing of what the journal holds.
var errDamaged = errors.New("this is not a run's journal: it has no header")

// kinds of entries.
const (
	tasksKind byte = iota + 1
	stageKind
	snapshotKind
	forgetKind
	formKind
	traceKind
	sumKind // a trace with a cryptographic digest
)

// State is what a journal says.
type State struct {
	Header    json.RawMessage
	Done      map[int]Tasks     // of a stage, whose results are durable
	Finished  map[int]bool      // stages, all of whose results are
	Snapshots map[int]*Snapshot // accumulators of a stage's unfinished results
}

// Snapshot is what a journal says of a snapshot's file.
type Snapshot struct {
	file int    // which of the stage's two
	Meta []byte // what the stage needs to read it
}

// journal is the file in which an unfinished run notes what it has done.
//
// It begins with a line of JSON, which says what the run is, and continues with
// entries that are only ever appended: tasks that are done, stages that are
// finished, snapshots. Each entry has its length and a checksum, so that a tail
// that was torn off is found and forgotten. One goroutine at a time appends, but for traces.
type journal struct {
	mu   sync.Mutex
	file disk.Handle
	end  int64
	buf  []byte // the present entry
	more []byte // entries that are not written yet
}

// createJournal begins a journal for a run that header, one JSON value, describes.
func createJournal(path string, header any) (*journal, error) {
	b, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	f, err := disk.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(append(b, '\n'), 0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &journal{file: f, end: int64(len(b)) + 1}, nil
}

// openJournal reads a journal and resumes it. What follows its last whole entry is cut
// off. The error is errDamaged where the file is no journal, and fs.ErrNotExist where
// there is none; after any other the journal is as it was.
func openJournal(path string) (*journal, *State, error) {
	f, err := disk.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	s, end, err := ReadJournal(io.NewSectionReader(f, 0, math.MaxInt64))
	if err == nil {
		err = f.Truncate(end)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &journal{file: f, end: end}, s, nil
}

// ReadJournal reads a journal as far as its entries are whole, and says where they end. It
// holds one entry at a time.
func ReadJournal(r io.Reader) (s *State, end int64, err error) {
	b := bufio.NewReaderSize(r, maxHeader)
	line, err := b.ReadSlice('\n')
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, 0, err
	}
	if err != nil || !json.Valid(line) {
		return nil, 0, errDamaged
	}
	s = newState()
	s.Header = append(s.Header, line[:len(line)-1]...)
	bytes, err := eachEntry(b, s.apply)
	return s, int64(len(line)) + bytes, err
}

// eachEntry reads entries as far as they are whole and each takes them, and returns how many bytes those have.
func eachEntry(b *bufio.Reader, each func(payload []byte) bool) (bytes int64, err error) {
	var payload []byte
	for {
		var head [8]byte
		if _, err := io.ReadFull(b, head[:]); err != nil {
			return bytes, failed(err)
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n > maxEntry {
			return bytes, nil
		}
		if payload, err = readPayload(b, payload, int(n)); err != nil {
			return bytes, failed(err)
		}
		if n == 0 || crc32.ChecksumIEEE(payload) != binary.LittleEndian.Uint32(head[4:]) || !each(payload) {
			return bytes, nil
		}
		bytes += 8 + int64(n)
	}
}

// appendEntry appends an entry as the journal has it.
func appendEntry(b, payload []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(payload))
	return append(b, payload...)
}

// failed is an error of the disk: that the file ends is none.
func failed(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return err
}

// readPayload reads n bytes, and allocates as they come: n may be a lie.
func readPayload(r io.Reader, buf []byte, n int) ([]byte, error) {
	buf = buf[:0]
	for len(buf) < n {
		at := len(buf)
		buf = append(buf, make([]byte, min(n-at, 1<<20))...)
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// apply takes in an entry. It reports one that makes no sense.
func (s *State) apply(payload []byte) bool {
	kind, e := payload[0], entry{rest: payload[1:]}
	stage := e.next()
	if e.bad || stage >= maxStages {
		return false
	}
	switch kind {
	case snapshotKind:
		file, n := e.next(), e.next()
		if e.bad || file > 1 || n > len(e.rest) {
			return false
		}
		s.Snapshots[stage] = &Snapshot{file, append([]byte{}, e.rest[:n]...)}
		e.rest = e.rest[n:]
		fallthrough
	case tasksKind:
		s.add(stage, e.tasks(math.MaxInt)...)
		return !e.bad
	case formKind, traceKind, sumKind: // for a later run
	case stageKind:
		s.Finished[stage] = true
	case forgetKind:
		s.forget(stage)
	default:
		return false
	}
	return true
}

// entry is what is left of an entry's numbers.
type entry struct {
	rest []byte
	bad  bool // it makes no sense
}

func (e *entry) next() int {
	v, n := binary.Uvarint(e.rest)
	if n <= 0 || v > min(1<<48, math.MaxInt/2) {
		e.bad, e.rest = true, nil
		return 0
	}
	e.rest = e.rest[n:]
	return int(v)
}

// tasks are as many ranges, or those that an entry ends with.
func (e *entry) tasks(most int) (all Tasks) {
	for i := 0; i < most && len(e.rest) > 0; i++ {
		if from, n := e.next(), e.next(); !e.bad {
			all.Add(from, n)
		}
	}
	return all
}

func newState() *State {
	return &State{Done: map[int]Tasks{}, Finished: map[int]bool{}, Snapshots: map[int]*Snapshot{}}
}

// add takes in tasks of a stage.
func (s *State) add(stage int, tasks ...Range) {
	done := s.Done[stage]
	for _, r := range tasks {
		done.Add(r.First, r.Len())
	}
	s.Done[stage] = done
}

// forget drops all that is said of a stage.
func (s *State) forget(stage int) {
	delete(s.Done, stage)
	delete(s.Finished, stage)
	delete(s.Snapshots, stage)
}

// tasks notes tasks of a stage that are durable and, where there is one, the snapshot
// that goes with them. It reports false for what is too long for an entry: that is not
// noted.
func (j *journal) tasks(stage int, done Tasks, snapshot *Snapshot) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if snapshot == nil {
		j.begin(tasksKind, stage)
	} else {
		j.begin(snapshotKind, stage)
		j.number(snapshot.file)
		j.number(len(snapshot.Meta))
		j.buf = append(j.buf, snapshot.Meta...)
	}
	if j.ranges(done); len(j.buf) > maxEntry {
		return false, nil
	}
	return true, j.append()
}

func (j *journal) ranges(all Tasks) {
	for _, r := range all {
		j.number(r.First)
		j.number(r.Len())
	}
}

func (j *journal) number(n int) { j.buf = binary.AppendUvarint(j.buf, uint64(n)) }

// stage notes a stage all of whose results are durable.
func (j *journal) stage(stage int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begin(stageKind, stage)
	return j.append()
}

// forget notes that nothing of a stage is there any more.
func (j *journal) forget(stage int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begin(forgetKind, stage)
	return j.append()
}

func (j *journal) begin(kind byte, stage int) {
	j.buf = append(j.buf[:0], kind)
	j.number(stage)
}

func (j *journal) append() error {
	j.gather()
	return j.flush()
}

// gather ends the present entry. It is written with the next flush.
func (j *journal) gather() { j.more = appendEntry(j.more, j.buf) }

func (j *journal) flush() error {
	n, err := j.file.WriteAt(j.more, j.end)
	if j.more = j.more[:0]; err == nil {
		j.end += int64(n)
	}
	return err
}

// sync makes what was noted durable.
func (j *journal) sync() error { return j.file.Sync() }

// close closes the file.
func (j *journal) close() error { return j.file.Close() }
