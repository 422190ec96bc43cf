package zarr

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// objectLog is what a run has stored of an array in an object store: which version of
// which object. It is a file in the run's staging folder, by which the next run finds out
// whether all of that is still there, and the run itself, before it ends, whether
// nothing else is.
type objectLog struct {
	name string

	mu      sync.Mutex
	file    disk.Handle
	end     int64
	pending []byte
}

// storedObject is an entry of the log: hashes of a key and of its version.
type storedObject struct{ key, version uint64 }

const storedBytes = 16

// openObjectLog begins a log, or resumes the one that is there.
func openObjectLog(name string, resume bool) (*objectLog, error) {
	flag := os.O_CREATE | os.O_RDWR
	if !resume {
		flag |= os.O_TRUNC
	}
	f, err := disk.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &objectLog{name: name, file: f, end: st.Size() / storedBytes * storedBytes}, nil
}

func hashOf(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
}

// versionOf identifies what is stored. A server that tells no version when it stores an
// object is believed by the size.
func versionOf(e blob.Entry) uint64 {
	return hashOf(fmt.Sprintf("%d %s", e.Size, strings.Trim(e.Version, `"`)))
}

// add takes in an object that was stored.
func (l *objectLog) add(e blob.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = binary.LittleEndian.AppendUint64(l.pending, hashOf(e.Key))
	l.pending = binary.LittleEndian.AppendUint64(l.pending, versionOf(e))
}

// sync makes durable what was added.
func (l *objectLog) sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return nil
	}
	if _, err := l.file.WriteAt(l.pending, l.end); err != nil {
		return err
	}
	l.end += int64(len(l.pending))
	l.pending = l.pending[:0]
	return l.file.Sync()
}

func (l *objectLog) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// objectLogs are the files of an array's log: the owner's, and those of processes that write chunks for it.
func objectLogs(name string) ([]string, error) {
	all := []string{name}
	err := disk.List(filepath.Dir(name), func(e fs.DirEntry) bool {
		if strings.HasPrefix(e.Name(), filepath.Base(name)+"-") {
			all = append(all, filepath.Join(filepath.Dir(name), e.Name()))
		}
		return true
	})
	return all, err
}

// removeObjectLogs removes them. There may be none.
func removeObjectLogs(name string) error {
	all, err := objectLogs(name)
	for _, file := range all {
		if failed := disk.Remove(file); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// objects are the entries, by their keys: of each file and key the last.
func (l *objectLog) objects() (all []storedObject, err error) {
	files, err := objectLogs(l.name)
	for _, file := range files {
		b, failed := os.ReadFile(file)
		if failed != nil {
			return nil, failed
		}
		if file == l.name {
			l.mu.Lock()
			b = b[:min(int64(len(b)), l.end)]
			l.mu.Unlock()
		}
		all = append(all, lastOfEach(b)...)
	}
	slices.SortFunc(all, func(a, b storedObject) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.version, b.version))
	})
	return slices.Compact(all), err
}

// lastOfEach are a file's entries, of each key the last.
func lastOfEach(b []byte) []storedObject {
	list := make([]storedObject, len(b)/storedBytes)
	for i := range list {
		list[i] = storedObject{binary.LittleEndian.Uint64(b[storedBytes*i:]), binary.LittleEndian.Uint64(b[storedBytes*i+8:])}
	}
	slices.SortStableFunc(list, func(a, b storedObject) int { return cmp.Compare(a.key, b.key) })
	kept := list[:0]
	for i, o := range list {
		if i+1 == len(list) || list[i+1].key != o.key {
			kept = append(kept, o)
		}
	}
	return kept
}

// compare holds what is stored of an array to the log. Objects of the array that the
// log does not have are given to stray.
func (l *objectLog) compare(ctx context.Context, b blob.Bucket, m *meta, stray func(key string) error) error {
	logged, err := l.objects()
	if err != nil {
		return err
	}
	index := make([]int, len(m.shape))
	found, keys := 0, 0
	for i, o := range logged {
		if i == 0 || logged[i-1].key != o.key {
			keys++
		}
	}
	for e, err := range b.List(ctx, m.keyPrefix()) {
		if err != nil {
			return err
		}
		if !m.parseKey(e.Key, index) {
			continue
		}
		i, ok := slices.BinarySearchFunc(logged, hashOf(e.Key), func(o storedObject, key uint64) int { return cmp.Compare(o.key, key) })
		if !ok {
			if err := stray(e.Key); err != nil {
				return err
			}
			continue
		}
		key, same := logged[i].key, false // several processes may have stored it, each with the same bytes
		for ; i < len(logged) && logged[i].key == key; i++ {
			v := logged[i].version
			same = same || v == versionOf(e) || v == versionOf(blob.Entry{Size: e.Size})
		}
		if !same {
			return fmt.Errorf("%s is another object than this run has stored: %w", e.Key, errForeign)
		}
		found++
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if found < keys {
		return fmt.Errorf("%d of %d chunks that this run has stored are missing: %w", keys-found, keys, errForeign)
	}
	return nil
}

// errForeign is returned where an array's chunks are not those that a run has stored.
var errForeign = errors.New("someone else has written to this array meanwhile: save again")

// logged is the bucket of an array that a run makes. It stores nothing while the array is
// not the run's, and notes what it has stored.
type logged struct {
	blob.Bucket
	target *remoteTarget
}

// held makes sure that the array is still this run's, and that the run has not ended.
func (t *remoteTarget) held(ctx context.Context) error {
	if t.ws.Lost() {
		return errTaken
	}
	return t.owner.held(ctx)
}

// Put stores an object.
func (b *logged) Put(ctx context.Context, key string, p []byte) (blob.Entry, error) {
	if err := b.target.held(ctx); err != nil {
		return blob.Entry{}, err
	}
	e, err := blob.Put(ctx, b.Bucket, key, p)
	if err == nil {
		e.Key = key
		b.target.log.add(e)
	}
	return e, err
}

// Create begins an object.
func (b *logged) Create(ctx context.Context, key string) (blob.Upload, error) {
	if err := b.target.held(ctx); err != nil {
		return nil, err
	}
	u, err := b.Bucket.Create(ctx, key)
	if err != nil {
		return nil, err
	}
	return &loggedUpload{Upload: u, bucket: b, key: key}, nil
}

// Sync makes durable what was stored, and the notes of it.
func (b *logged) Sync(ctx context.Context) error {
	if err := b.Bucket.Sync(ctx); err != nil {
		return err
	}
	return b.target.log.sync()
}

type loggedUpload struct {
	blob.Upload
	bucket *logged
	key    string
}

func (u *loggedUpload) Close(ctx context.Context) error {
	if err := u.bucket.target.held(ctx); err != nil {
		return err
	}
	err := u.Upload.Close(ctx)
	if err == nil {
		e := u.Entry()
		e.Key = u.key
		u.bucket.target.log.add(e)
	}
	return err
}
