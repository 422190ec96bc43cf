package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/flock"
	"github.com/gonbext/gonbext/oocore/store"
)

// Appended is a new file in which chunks lie in the order in which they come, and an index that is written when all have. A journal beside
// it in the staging folder says where each chunk is: it serves a writer that resumes the file, and other processes that write to it.
type Appended struct {
	*flatWriter
	mu      sync.Mutex // of the ends of both files
	journal disk.Handle
}

// AppendedChunk is where a chunk lies in an Appended.
type AppendedChunk struct {
	Array, Chunk  int64 // numbers: of an array of the file, and of a chunk of it
	Offset, Bytes int64
}

// recordBytes is the length of an AppendedChunk in the journal, with its checksum.
const recordBytes = 40

// CreateAppended begins a file whose first chunk lies at an offset. Where an older version of the file is kept, old is that version, and finish
// is given its bytes. Commit calls finish, which writes what is not chunks.
func CreateAppended(path, file, id string, offset int64, old store.FileVersion, m store.Meta, finish func(ctx context.Context, w File, old Source) error) (_ *Appended, err error) {
	a := &Appended{flatWriter: newFlatWriter(path, m, 0)}
	w := a.flatWriter
	w.grows = true
	w.finishBy(file, old, finish)
	if _, err := w.begin(file, offset, id, m); err != nil || w.placed {
		return a, err
	}
	if !w.resumed {
		if err = disk.Remove(a.journalName()); err != nil {
			return nil, errors.Join(err, a.Abort())
		}
	}
	if a.journal, err = disk.OpenFile(a.journalName(), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, errors.Join(err, w.Suspend())
	}
	return a, nil
}

func (a *Appended) journalName() string { return a.temp + ".chunks" }

// locked calls do while no other process reserves room.
func (a *Appended) locked(do func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := flock.Wait(a.journal.OS()); err != nil {
		if errors.Is(err, errors.ErrUnsupported) && !a.ws.attached { // nobody else writes there
			return do()
		}
		return err
	}
	return errors.Join(do(), flock.Unlock(a.journal.OS()))
}

// Append stores a chunk at the end of the file.
func (a *Appended) Append(ctx context.Context, array, chunk int64, p []byte) (AppendedChunk, error) {
	c := AppendedChunk{array, chunk, 0, int64(len(p))}
	err := a.locked(func() error {
		st, err := a.out.Stat()
		if err != nil {
			return err
		}
		c.Offset = st.Size()
		return a.out.Truncate(c.Offset + c.Bytes)
	})
	if err == nil {
		err = a.out.WriteAll(ctx, p, c.Offset)
	}
	if err != nil {
		return c, err
	}
	return c, a.locked(func() error {
		st, err := a.journal.Stat()
		if err != nil {
			return err
		}
		var b []byte
		for _, v := range []int64{c.Array, c.Chunk, c.Offset, c.Bytes} {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(crc32.ChecksumIEEE(b)))
		_, err = a.journal.WriteAt(b, st.Size()/recordBytes*recordBytes)
		return err
	})
}

// Chunks calls each with the chunks that were stored. Of several of one number the last is meant. A record that a
// machine which stopped has left half is of a chunk that was not synced.
func (a *Appended) Chunks(each func(c AppendedChunk)) error {
	if a.journal == nil { // the file is in its place
		return nil
	}
	st, err := a.journal.Stat()
	if err != nil {
		return err
	}
	b := make([]byte, 1024*recordBytes)
	for at := int64(0); at+recordBytes <= st.Size(); {
		b := b[:min(int64(len(b)), (st.Size()-at)/recordBytes*recordBytes)]
		if err := disk.ReadAll(context.Background(), a.journal, b, at); err != nil {
			return err
		}
		at += int64(len(b))
		for ; len(b) > 0; b = b[recordBytes:] {
			var v [5]int64
			for i := range v {
				v[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
			}
			if v[4] == int64(crc32.ChecksumIEEE(b[:recordBytes-8])) {
				each(AppendedChunk{v[0], v[1], v[2], v[3]})
			}
		}
	}
	return nil
}

// ReadChunk fills p from a place in the file.
func (a *Appended) ReadChunk(ctx context.Context, p []byte, at int64) error {
	return disk.ReadAll(ctx, a.out, p, at)
}

// Sync makes durable what was stored before the call, and the journal that says where.
func (a *Appended) Sync(ctx context.Context) error {
	if err := a.flatWriter.Sync(ctx); err != nil || a.journal == nil {
		return err
	}
	return PathError("sync", a.path, a.journal.Sync())
}

func (a *Appended) Commit(ctx context.Context) error {
	err := a.flatWriter.Commit(ctx)
	if err == nil {
		err = a.end(true)
	}
	return err
}

func (a *Appended) Suspend() error { return errors.Join(a.flatWriter.Suspend(), a.end(false)) }

func (a *Appended) Abort() error {
	if a.ended {
		return nil
	}
	return errors.Join(a.flatWriter.Abort(), a.end(!a.ws.attached))
}

// end closes the journal.
func (a *Appended) end(remove bool) (err error) {
	if a.journal != nil {
		err = a.journal.Close()
	}
	if a.journal = nil; remove {
		err = errors.Join(err, disk.Remove(a.journalName()))
	}
	return err
}
