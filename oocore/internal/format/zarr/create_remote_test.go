package zarr

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// memory is an object store, whose objects are written from front to back only. It
// remembers in which order they came and went.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	stored  map[string]time.Time
	log     []string
	fail    string        // a key that cannot be written
	keep    string        // a key that cannot be deleted
	later   time.Duration // by which the store's clock has moved on
	blind   bool          // it knows no conditions
}

var stores = map[string]*memory{} // by the host of their address

var memoryCan = blob.Capabilities{List: true, Conditional: true, Network: true}

func init() {
	blob.Register("memory", memoryCan, func(url string) (blob.Bucket, error) {
		host, prefix, _ := strings.Cut(strings.TrimPrefix(url, "memory://"), "/")
		if prefix != "" {
			prefix = strings.TrimSuffix(prefix, "/") + "/"
		}
		return &memoryBucket{stores[host], prefix, &[]*memoryUpload{}}, nil
	})
}

type memoryBucket struct {
	*memory
	prefix string
	closed *[]*memoryUpload
}

func (b *memoryBucket) String() string         { return "memory" }
func (b *memoryBucket) Can() blob.Capabilities { return memoryCan }
func (b *memoryBucket) Join(p string) blob.Bucket {
	return &memoryBucket{b.memory, b.prefix + p, b.closed}
}
func (b *memoryBucket) entry(key string) blob.Entry {
	data := b.objects[b.prefix+key]
	age := time.Since(b.stored[b.prefix+key]) + b.later
	return blob.Entry{Key: key, Size: int64(len(data)), Version: fmt.Sprintf(`"%x"`, sha256.Sum256(data)), Age: age}
}

// PutIf stores an object at once.
func (b *memoryBucket) PutIf(_ context.Context, key string, p []byte, version string) (blob.Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != "" && strings.Contains(key, b.fail) {
		return blob.Entry{}, &fs.PathError{Op: "put", Path: key, Err: errors.New("the bucket rejects")}
	}
	_, ok := b.objects[b.prefix+key]
	if !b.blind && (ok != (version != "") || ok && b.entry(key).Version != version) {
		return blob.Entry{}, blob.ErrReplaced
	}
	b.set(b.prefix+key, p)
	return b.entry(key), nil
}

func (m *memory) set(key string, data []byte) {
	m.objects[key] = slices.Clone(data)
	m.stored[key] = time.Now().Add(m.later)
	m.log = append(m.log, "put "+key)
}

func (b *memoryBucket) Open(_ context.Context, key string) (blob.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.objects[b.prefix+key]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	return &memoryObject{data, b.entry(key)}, nil
}

func (b *memoryBucket) Create(_ context.Context, key string) (blob.Upload, error) {
	return &memoryUpload{b: b, key: b.prefix + key}, nil
}

func (b *memoryBucket) Sync(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	closed := *b.closed
	*b.closed = nil
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, u := range closed {
		if b.fail != "" && strings.Contains(u.key, b.fail) {
			return &fs.PathError{Op: "put", Path: u.key, Err: errors.New("the bucket rejects")}
		}
		b.set(u.key, u.data)
	}
	return nil
}

func (b *memoryBucket) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keep != "" && strings.Contains(key, b.keep) {
		return &fs.PathError{Op: "delete", Path: key, Err: fs.ErrPermission}
	}
	delete(b.objects, b.prefix+key)
	b.log = append(b.log, "delete "+b.prefix+key)
	return nil
}

func (b *memoryBucket) List(_ context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		for _, key := range b.keys() {
			if rest, ok := strings.CutPrefix(key, b.prefix); ok && strings.HasPrefix(rest, prefix) {
				b.mu.Lock()
				e := b.entry(rest)
				b.mu.Unlock()
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

type memoryObject struct {
	data  []byte
	entry blob.Entry
}

func (o *memoryObject) Entry() blob.Entry { return o.entry }
func (o *memoryObject) Close() error      { return nil }

func (o *memoryObject) ReadAt(_ context.Context, p []byte, at int64) error {
	if at+int64(len(p)) > int64(len(o.data)) {
		return io.ErrUnexpectedEOF
	}
	copy(p, o.data[at:])
	return nil
}

type memoryUpload struct {
	b    *memoryBucket
	key  string
	data []byte
}

func (u *memoryUpload) Write(_ context.Context, p []byte) error {
	u.data = append(u.data, p...)
	return nil
}

func (u *memoryUpload) WriteAt(context.Context, []byte, int64) error { return blob.ErrRandom }
func (u *memoryUpload) Abort()                                       {}

// Entry is that of the object once it is there.
func (u *memoryUpload) Entry() blob.Entry {
	return blob.Entry{Size: int64(len(u.data)), Version: fmt.Sprintf(`"%x"`, sha256.Sum256(u.data))}
}

func (u *memoryUpload) Close(context.Context) error {
	u.b.mu.Lock()
	defer u.b.mu.Unlock()
	*u.b.closed = append(*u.b.closed, u)
	return nil
}

// newMemory makes an empty object store.
func newMemory(t testing.TB) (*memory, string) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	host := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
	stores[host] = &memory{objects: map[string][]byte{}, stored: map[string]time.Time{}}
	return stores[host], "memory://" + host + "/a.zarr"
}

// TestRemote writes to an object store, and replaces what is there.
func TestRemote(t *testing.T) {
	for _, codec := range writtenCodecs {
		for _, shards := range [][]int{nil, {4, 10}} {
			t.Run(fmt.Sprint(codec, shards), func(t *testing.T) {
				m := store.Meta{Shape: []int{6, 5}, DType: dtype.Int32, Chunks: []int{2, 5}, Shards: shards, Codec: codec}
				memory, path := newMemory(t)
				layout, err := storage.LayoutOf(path, m)
				if err != nil {
					t.Fatal(err)
				}
				if layout.Open {
					t.Error("objects cannot be written in place")
				}
				for round := range 3 {
					data := storetest.Elements(dtype.Int32, 30+round)[:120]
					w, err := store.Create(path, m)
					if err != nil {
						t.Fatal(err)
					}
					defer w.Abort()
					s, err := w.(storage.CodedWriter).Session(make([]byte, layout.Work.Stream))
					if err != nil {
						t.Fatal(err)
					}
					if _, err := feed(t.Context(), s, layout, data, m.Shape, 4, grid.Whole(m.Shape).Box(0), 20); err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(s.Close(), w.Sync(t.Context())); err != nil {
						t.Fatal(err)
					}
					if round > 0 {
						if got, _ := readAll(t, path); !bytes.Equal(got, storetest.Elements(dtype.Int32, 30+round-1)[:120]) {
							t.Error("the array that is to be replaced was changed")
						}
					}
					if err := w.Commit(t.Context()); err != nil {
						t.Fatal(err)
					}
					if got, _ := readAll(t, path); !bytes.Equal(got, data) {
						t.Error("other elements were stored")
					}
					objects := 4
					if shards != nil {
						objects = 3
					}
					if keys := memory.keys(); len(keys) != objects {
						t.Errorf("there is %v", keys)
					}
				}
			})
		}
	}
}

// TestRemoteOrder wants the metadata to come after the chunks, and the old chunks to
// go after them.
func TestRemoteOrder(t *testing.T) {
	memory, path := newMemory(t)
	saveAll(t, path, smallMeta, smallData())
	memory.log = nil
	saveAll(t, path, smallMeta, smallData())
	const mark = "a.zarr/" + ownerKey
	want := []string{"put " + mark, "put a.zarr/c.0.0", "put a.zarr/c.1.0", "put a.zarr/c.2.0", "put a.zarr/zarr.json",
		"delete a.zarr/c/0/0", "delete a.zarr/c/1/0", "delete a.zarr/c/2/0", "delete " + mark}
	got := memory.log
	if len(got) == len(want) {
		slices.Sort(got[5:8]) // what is deleted at once goes in any order
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRemoteAbort wants nothing of an array that was given up.
func TestRemoteAbort(t *testing.T) {
	memory, path := newMemory(t)
	for range 2 {
		before := memory.keys()
		w, err := store.Create(path, smallMeta)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), smallData(), grid.Whole(smallMeta.Shape).Box(0)); err != nil {
			t.Fatal(err)
		}
		if err := w.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		if after := memory.keys(); !slices.Equal(before, after) {
			t.Errorf("there is %v, was %v", after, before)
		}
		saveAll(t, path, smallMeta, smallData())
	}
}

// TestRemoteResume resumes what was put before, also where the metadata were
// the last that was put.
func TestRemoteResume(t *testing.T) {
	memory, path := newMemory(t)
	saveAll(t, path, smallMeta, make([]byte, 120))
	ws, err := storage.NewStagingDir(path)
	if err != nil {
		t.Fatal(err)
	}
	m := smallMeta
	m.StagingDir = ws
	write := func(w store.Writer, from, to int) {
		t.Helper()
		b := grid.Box{Start: []int{from, 0}, Shape: []int{to - from, 5}}
		if err := w.Write(t.Context(), smallData()[from*20:to*20], b); err != nil {
			t.Fatal(err)
		}
	}
	create := func() store.Writer {
		t.Helper()
		w, err := store.Create(path, m)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := create()
	write(w, 0, 2)
	if err := w.Suspend(); err != nil {
		t.Fatal(err)
	}
	m.Resume = true
	w = create()
	write(w, 2, 6)
	if err := w.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	target := w.(*writer).target.(*remoteTarget)
	defer target.owner.end(t.Context(), false)                                  // it was killed
	if err := target.publish(t.Context(), target.made.encodeV3()); err != nil { // and no more of Commit
		t.Fatal(err)
	}
	w = create()
	if err := errors.Join(w.Commit(t.Context()), ws.Remove()); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAll(t, path); !bytes.Equal(got, smallData()) {
		t.Error("other elements were stored")
	}
	if keys := memory.keys(); len(keys) != 4 {
		t.Errorf("there is %v", keys)
	}
}

// TestRemoteRejected wants a bucket's rejection to name the object.
func TestRemoteRejected(t *testing.T) {
	memory, path := newMemory(t)
	saveAll(t, path, smallMeta, smallData())
	for _, key := range []string{"c.1.0", v3File} {
		memory.fail = key
		w, err := store.Create(path, smallMeta)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write(t.Context(), make([]byte, 120), grid.Whole(smallMeta.Shape).Box(0))
		if err == nil {
			err = w.Commit(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s is rejected: %v", key, err)
		}
		memory.fail = ""
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		if got, _ := readAll(t, path); !bytes.Equal(got, smallData()) {
			t.Error("the array that was there is damaged")
		}
	}
	region := smallMeta
	region.Region = &grid.Box{Start: []int{0, 0}, Shape: []int{1, 1}}
	if _, err := store.Create(path, region); err == nil || !strings.Contains(err.Error(), "this machine") {
		t.Errorf("a region: %v", err)
	}
}

// A chunk of the array before whose deletion is rejected costs a warning, and the next save that may deletes it, at once and
// from any machine.
func TestRemoteChunkThatCannotBeDeletedGoesWithTheNextSave(t *testing.T) {
	memory, path := newMemory(t)
	var said bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(before)
	saveAll(t, path, smallMeta, smallData())
	first := memory.keys()
	memory.keep = "c/" // of the first array
	for range 2 {
		said.Reset()
		saveAll(t, path, smallMeta, smallData())
		if !strings.Contains(said.String(), "could not be deleted") {
			t.Errorf("it says %q", said.String())
		}
		if got, _ := readAll(t, path); !bytes.Equal(got, smallData()) {
			t.Error("the new array is damaged")
		}
		memory.keep = "c"
	}
	memory.keep = ""
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // another machine
	said.Reset()
	saveAll(t, path, smallMeta, smallData())
	if now := memory.keys(); len(now) != len(first) || said.Len() > 0 {
		t.Errorf("%d objects and then %v, and %q", len(first), now, said.String())
	}
}

// TestRemoteGroups makes the groups that are missing.
func TestRemoteGroups(t *testing.T) {
	memory, path := newMemory(t)
	saveAll(t, path+"/g/b", smallMeta, smallData())
	saveAll(t, path+"/g/c", smallMeta, smallData())
	for _, name := range []string{"a.zarr/zarr.json", "a.zarr/g/zarr.json"} {
		if string(memory.objects[name]) != groupText {
			t.Errorf("%s is %q", name, memory.objects[name])
		}
	}
	for _, name := range []string{path, path + "/g", path + "/g/b/x"} {
		if w, err := store.Create(name, smallMeta); err == nil {
			w.Abort()
			t.Errorf("%s was created", name)
		}
	}
}
