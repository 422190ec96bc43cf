// Package journal is the file in which an unfinished run keeps what it has done, so
// that the next one goes on there.
//
// It begins with a line of JSON, which says what the run is, and goes on with
// entries that are only ever appended: chunks that are done, stages that are
// finished, sums so far. Each entry has its length and a checksum, so that a tail
// that was torn off is found and forgotten.
package journal

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
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

const (
	maxHeader = 64 << 10
	maxEntry  = 16 << 20 // also bounds what reading a damaged file allocates
	maxStages = 1 << 16
	maxFile   = 64 << 20 // at which a journal is written anew, without what no longer holds
)

// ErrDamaged is returned for a file that is no journal: nothing can be taken from it,
// now or later. Other errors of opening say nothing of what the journal holds.
var ErrDamaged = errors.New("this is not a run's journal: it has no header")

// kinds of entries.
const (
	tasksKind byte = iota + 1
	stageKind
	foldKind
	forgetKind
)

// State is what a journal says.
type State struct {
	Header   json.RawMessage
	Done     map[int]*Set // tasks of a stage whose results are durable
	Finished map[int]bool // stages, all of whose results are
	Folds    map[int]Fold // sums so far
}

// Fold is a reduction that has taken in its first Next chunks.
type Fold struct {
	Next  int64
	State []byte
}

// Journal is an open journal. One goroutine at a time appends.
type Journal struct {
	path string
	file disk.Handle
	end  int64
	most int64 // of end, until the journal is written anew
	buf  []byte
}

// Create begins a journal for a run that header, one JSON value, describes.
func Create(path string, header any) (*Journal, error) {
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
	return &Journal{path: path, file: f, end: int64(len(b)) + 1, most: maxFile}, nil
}

// Open reads a journal and goes on with it. What follows its last whole entry is cut
// off. The error is ErrDamaged where the file is no journal, and fs.ErrNotExist where
// there is none; after any other the journal is as it was.
func Open(path string) (*Journal, *State, error) {
	f, err := disk.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	s, end, err := Read(io.NewSectionReader(f, 0, math.MaxInt64))
	if err == nil {
		err = f.Truncate(end)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &Journal{path: path, file: f, end: end, most: maxFile}, s, nil
}

// Read reads a journal as far as its entries are whole, and says where they end. It
// holds one entry at a time, of at most 16 MiB.
func Read(r io.Reader) (s *State, end int64, err error) {
	b := bufio.NewReaderSize(r, maxHeader)
	line, err := b.ReadSlice('\n')
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, 0, err
	}
	if err != nil || !json.Valid(line) {
		return nil, 0, ErrDamaged
	}
	s = &State{Header: json.RawMessage(append([]byte{}, line[:len(line)-1]...)),
		Done: map[int]*Set{}, Finished: map[int]bool{}, Folds: map[int]Fold{}}
	end = int64(len(line))
	var payload []byte
	for {
		var head [8]byte
		if _, err := io.ReadFull(b, head[:]); err != nil {
			return s, end, failed(err)
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n > maxEntry {
			return s, end, nil
		}
		if payload, err = readPayload(b, payload, int(n)); err != nil {
			return s, end, failed(err)
		}
		if crc32.ChecksumIEEE(payload) != binary.LittleEndian.Uint32(head[4:]) || !s.apply(payload) {
			return s, end, nil
		}
		end += 8 + int64(n)
	}
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
	if len(payload) == 0 {
		return false
	}
	kind, rest := payload[0], payload[1:]
	next := func() (int64, bool) {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > 1<<48 {
			return 0, false
		}
		rest = rest[n:]
		return int64(v), true
	}
	stage, ok := next()
	if !ok || stage >= maxStages {
		return false
	}
	switch kind {
	case tasksKind:
		for len(rest) > 0 {
			from, ok := next()
			n, ok2 := next()
			if !ok || !ok2 {
				return false
			}
			if s.Done[int(stage)] == nil {
				s.Done[int(stage)] = &Set{}
			}
			s.Done[int(stage)].Add(from, n)
		}
	case stageKind:
		s.Finished[int(stage)] = true
	case foldKind:
		to, ok := next()
		if !ok {
			return false
		}
		s.Folds[int(stage)] = Fold{to, append(s.Folds[int(stage)].State[:0], rest...)}
	case forgetKind:
		s.Forget(int(stage))
	default:
		return false
	}
	return true
}

// Forget drops all that is said of a stage.
func (s *State) Forget(stage int) {
	delete(s.Done, stage)
	delete(s.Finished, stage)
	delete(s.Folds, stage)
}

// Tasks notes tasks of a stage that are durable.
func (j *Journal) Tasks(stage int, done *Set) error {
	j.begin(tasksKind, stage)
	for _, r := range done.ranges {
		j.buf = binary.AppendUvarint(j.buf, uint64(r.from))
		j.buf = binary.AppendUvarint(j.buf, uint64(r.to-r.from))
	}
	return j.append()
}

// Stage notes a stage all of whose results are durable.
func (j *Journal) Stage(stage int) error {
	j.begin(stageKind, stage)
	return j.append()
}

// Fold notes a reduction's sums after its first next chunks. Sums that are too long
// for an entry are not noted.
func (j *Journal) Fold(stage int, next int64, states ...[]byte) error {
	j.begin(foldKind, stage)
	j.buf = binary.AppendUvarint(j.buf, uint64(next))
	for _, s := range states {
		j.buf = append(j.buf, s...)
	}
	if len(j.buf) > maxEntry {
		return nil
	}
	return j.append()
}

// Forget notes that nothing of a stage is there any more.
func (j *Journal) Forget(stage int) error {
	j.begin(forgetKind, stage)
	return j.append()
}

func (j *Journal) begin(kind byte, stage int) {
	j.buf = append(j.buf[:0], make([]byte, 8)...)
	j.buf = append(j.buf, kind)
	j.buf = binary.AppendUvarint(j.buf, uint64(stage))
}

func (j *Journal) append() error {
	payload := j.buf[8:]
	binary.LittleEndian.PutUint32(j.buf, uint32(len(payload)))
	binary.LittleEndian.PutUint32(j.buf[4:], crc32.ChecksumIEEE(payload))
	n, err := j.file.WriteAt(j.buf, j.end)
	if err == nil {
		j.end += int64(n)
	}
	return err
}

// Sync makes what was noted durable. A journal that has grown long, as snapshots of
// sums make it, is replaced by one that says the same.
func (j *Journal) Sync() error {
	if j.end > j.most {
		return j.compact()
	}
	return j.file.Sync()
}

// compact writes what the journal says to a new file, and puts that in its place.
func (j *Journal) compact() error {
	s, _, err := Read(io.NewSectionReader(j.file, 0, j.end))
	if err != nil {
		return err
	}
	temp := j.path + ".new"
	next, err := Create(temp, s.Header)
	if err != nil {
		return err
	}
	for stage, done := range s.Done {
		err = errors.Join(err, next.Tasks(stage, done))
	}
	for stage := range s.Finished {
		err = errors.Join(err, next.Stage(stage))
	}
	for stage, f := range s.Folds {
		err = errors.Join(err, next.Fold(stage, f.Next, f.State))
	}
	err = errors.Join(err, next.file.Sync())
	if err == nil {
		err = disk.Rename(temp, j.path)
	}
	if err != nil {
		return errors.Join(err, next.Close(), disk.Remove(temp))
	}
	err = errors.Join(j.file.Close(), disk.SyncDir(filepath.Dir(j.path)))
	j.file, j.end, j.most = next.file, next.end, max(maxFile, 4*next.end)
	return err
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
