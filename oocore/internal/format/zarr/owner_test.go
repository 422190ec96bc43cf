package zarr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

// machine is one of several that write to one store: it has a workspace of its own.
type machine struct {
	t     *testing.T
	cache string
	path  string
}

func machines(t *testing.T) (m *memory, a, b *machine) {
	storetest.NoLeaks(t)
	m, path := newMemory(t)
	return m, &machine{t, t.TempDir(), path}, &machine{t, t.TempDir(), path}
}

// begin is a run's first step there. The run has to end by kill, Commit or Abort.
func (m *machine) begin(resume bool) (store.Writer, error) {
	m.t.Setenv("XDG_CACHE_HOME", m.cache)
	meta := smallMeta
	meta.Resume = resume
	ws, err := storage.NewStagingDir(m.path)
	if err != nil {
		return nil, err
	}
	meta.StagingDir = ws
	if resume {
		m.t.Cleanup(func() { ws.Remove() })
	} else if err := ws.Clear(); err != nil {
		return nil, err
	}
	w, err := store.Create(m.path, meta)
	switch {
	case err != nil && resume:
		return nil, errors.Join(err, ws.Close())
	case err != nil:
		return nil, errors.Join(err, ws.Remove())
	case resume:
		return w, nil
	}
	return staged{w.(*writer), ws}, nil
}

// staged is a writer whose run ends with it.
type staged struct {
	*writer
	ws *storage.StagingDir
}

func (s staged) Commit(ctx context.Context) error {
	err := s.writer.Commit(ctx)
	if err == nil {
		err = s.ws.Remove()
	}
	return err
}

func (s staged) Abort() error {
	err := s.writer.Abort()
	if _, gone := os.Lstat(s.ws.Path); gone == nil {
		err = errors.Join(err, s.ws.Remove())
	}
	return err
}

// remoteOf is the target of a machine's writer.
func remoteOf(w store.Writer) *remoteTarget {
	if s, ok := w.(staged); ok {
		w = s.writer
	}
	return w.(*writer).target.(*remoteTarget)
}

func (m *machine) must(resume bool) store.Writer {
	m.t.Helper()
	w, err := m.begin(resume)
	if err != nil {
		m.t.Fatal(err)
	}
	return w
}

// rows writes rows of a machine's own data.
func (m *machine) rows(w store.Writer, data []byte, from, to int) error {
	b := grid.Box{Start: []int{from, 0}, Shape: []int{to - from, 5}}
	err := w.Write(m.t.Context(), data[from*20:to*20], b)
	if err == nil {
		err = w.Sync(m.t.Context())
	}
	return err
}

// kill ends a run without a chance to say so.
func kill(t *testing.T, w store.Writer) {
	t.Helper()
	target := remoteOf(w)
	if err := errors.Join(target.owner.end(t.Context(), false), target.log.close(), target.ws.Close()); err != nil {
		t.Fatal(err)
	}
}

func dataOf(n int) []byte { return storetest.Elements(dtype.Int32, 40+n)[:120] }

// TestTwoMachinesDoNotMixChunks is two machines that save different data to one array,
// in every order in which the first can be cut off.
func TestTwoMachinesDoNotMixChunks(t *testing.T) {
	m, a, b := machines(t)
	first := a.must(false)
	if err := a.rows(first, dataOf(0), 0, 4); err != nil {
		t.Fatal(err)
	}
	if _, err := b.begin(false); err == nil || !strings.Contains(err.Error(), "it is being written by process") {
		t.Fatalf("while the first writes: %v", err)
	}
	kill(t, first)
	m.later = 2 * time.Minute
	second := b.must(false)
	if err := b.rows(second, dataOf(1), 0, 6); err != nil {
		t.Fatal(err)
	}
	// The first machine continues while the second has not ended.
	if _, err := a.begin(true); err == nil || !strings.Contains(err.Error(), "it is being written by process") {
		t.Fatalf("while the second writes: %v", err)
	}
	if err := second.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(1)) {
		t.Error("there are other elements than the second machine's")
	}
	third := a.must(true)
	if storage.Resumed(third) {
		t.Error("the first machine resumes what is not there any more")
	}
	if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(1)) {
		t.Error("beginning has damaged the array that is there")
	}
	kill(t, third)
	if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(1)) {
		t.Error("a killed run has damaged the array that is there")
	}
	fourth := a.must(true)
	if err := errors.Join(a.rows(fourth, dataOf(2), 0, 6), fourth.Commit(t.Context()), remoteOf(fourth).ws.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(2)) {
		t.Error("there are other elements than the first machine's")
	}
	if keys := m.keys(); len(keys) != 4 {
		t.Errorf("there is %v", keys)
	}
}

// TestRunThatWasTakenOverWritesNothing is a machine that slept while another took its
// array over.
func TestRunThatWasTakenOverWritesNothing(t *testing.T) {
	m, a, b := machines(t)
	first := a.must(false)
	if err := a.rows(first, dataOf(0), 0, 2); err != nil {
		t.Fatal(err)
	}
	m.later = 2 * time.Minute
	o := remoteOf(first).owner
	o.mu.Lock()
	o.renewed = o.renewed.Add(-m.later)
	o.mu.Unlock()
	second := b.must(false)
	if err := b.rows(second, dataOf(1), 0, 2); err != nil {
		t.Fatal(err)
	}
	before := m.keys()
	if err := a.rows(first, dataOf(0), 2, 4); !errors.Is(err, errTaken) {
		t.Errorf("a Write: %v", err)
	}
	if err := first.Commit(t.Context()); err == nil {
		t.Error("it was committed")
	}
	if err := first.Abort(); err != nil {
		t.Error(err)
	}
	if after := m.keys(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("there is %v, was %v", after, before)
	}
	if err := errors.Join(b.rows(second, dataOf(1), 2, 6), second.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(1)) {
		t.Error("there are other elements than the second machine's")
	}
}

// TestServerWithoutConditions lets two runs begin at once on a server that takes no
// notice of conditions: at most one of them may say that it has saved, and what it says
// has to be true.
func TestServerWithoutConditions(t *testing.T) {
	for name, order := range map[string][2]int{"first to begin": {0, 1}, "last to begin": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			m, a, b := machines(t)
			m.blind = true
			both := []*machine{a, b}
			runs := []store.Writer{a.must(false), nil}
			m.mu.Lock()
			delete(m.objects, "a.zarr/"+ownerKey) // which the second looked for before the first stored it
			m.mu.Unlock()
			runs[1] = b.must(false)
			for row := 0; row < 6; row += 2 {
				for i, r := range runs {
					_ = both[i].rows(r, dataOf(i), row, row+2)
				}
			}
			saved := -1
			for _, i := range order {
				if err := runs[i].Commit(t.Context()); err == nil {
					if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(i)) {
						t.Errorf("run %d says that it has saved, and there are other elements", i)
					}
					saved = i
				} else if !errors.Is(err, errTaken) && !errors.Is(err, errForeign) {
					t.Error(err)
				}
			}
			for _, r := range runs {
				if err := r.Abort(); err != nil {
					t.Error(err)
				}
			}
			if saved >= 0 {
				if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(saved)) {
					t.Error("the run that failed has damaged what the other saved")
				}
			}
		})
	}
}

// TestCommitRejectsArrayTakenOver commits while another run has the array, before its own lease has ended by
// its clock.
func TestCommitRejectsArrayTakenOver(t *testing.T) {
	m, a, _ := machines(t)
	w := a.must(false)
	if err := a.rows(w, dataOf(0), 0, 6); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.set("a.zarr/"+ownerKey, []byte(`{"run": "other", "host": "b", "pid": 1}`))
	m.mu.Unlock()
	if err := w.Commit(t.Context()); !errors.Is(err, errTaken) {
		t.Errorf("a commit: %v", err)
	}
	before := m.keys()
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if after := m.keys(); m.objects["a.zarr/zarr.json"] != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("there is %v, was %v", after, before)
	}
}

// meddled is a bucket in which something happens just before the first object is stored on a condition.
type meddled struct {
	*memoryBucket
	first *sync.Once
	do    func()
}

func (b meddled) PutIf(ctx context.Context, key string, p []byte, version string) (blob.Entry, error) {
	b.first.Do(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.do()
	})
	return b.memoryBucket.PutIf(ctx, key, p, version)
}

// TestTakeSeesWhatComesBeforeItsObject is a run that looks at an array which another changes before the run's
// own object is stored.
func TestTakeSeesWhatComesBeforeItsObject(t *testing.T) {
	take := func(t *testing.T, do func(m *memory)) (*memory, *remoteTarget, error) {
		m, path := newMemory(t)
		made, err := newMeta(smallMeta)
		if err != nil {
			t.Fatal(err)
		}
		b := meddled{&memoryBucket{m, "a.zarr/", &[]*memoryUpload{}}, new(sync.Once), func() { do(m) }}
		target := &remoteTarget{newArrayTarget: newArrayTarget{made: made}, bucket: b}
		return m, target, target.take(t.Context(), path, "")
	}
	t.Run("another's chunk", func(t *testing.T) {
		m, target, err := take(t, func(m *memory) { m.set("a.zarr/c/1/0", []byte("another's")) })
		if err != nil {
			t.Fatal(err)
		}
		if target.made.keys == keyForms[0] {
			t.Error("the chunks would lie where the other's does")
		}
		o, _, err := readOwner(t.Context(), target.bucket)
		if err != nil || !sameArray(o.Array, target.made.encodeV3()) {
			t.Errorf("the owner's object says %s of an array with keys %v: %v", o.Array, target.made.keys, err)
		}
		if string(m.objects["a.zarr/c/1/0"]) != "another's" {
			t.Error("the other's chunk is gone")
		}
	})
	t.Run("another run", func(t *testing.T) {
		_, _, err := take(t, func(m *memory) { m.set("a.zarr/"+ownerKey, []byte(`{"run": "other", "host": "b", "pid": 1}`)) })
		if err == nil || !strings.Contains(err.Error(), "it is being written by process 1 on b") {
			t.Error(err)
		}
	})
}

// TestTakeTellsOfLeftoversUntilTheyAreRemoved kills a run that takes an array over while it removes what the run before has
// left: the next one removes the rest.
func TestTakeTellsOfLeftoversUntilTheyAreRemoved(t *testing.T) {
	m, a, b := machines(t)
	first := a.must(false)
	if err := a.rows(first, dataOf(0), 0, 4); err != nil {
		t.Fatal(err)
	}
	left := remoteOf(first).made.encodeV3()
	kill(t, first)
	m.later = 2 * time.Minute
	target := &remoteTarget{newArrayTarget: newArrayTarget{made: remoteOf(first).made}, bucket: remoteOf(first).bucket}
	s, err := target.survey(t.Context(), a.path)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := target.claim(t.Context(), s, s.owner.Array); !ok || err != nil || !sameArray(target.owner.me.Array, left) {
		t.Fatal(ok, err, string(target.owner.me.Array)) // and no more
	}
	m.later = time.Hour
	second := b.must(false)
	if err := errors.Join(b.rows(second, dataOf(1), 0, 6), second.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	if keys := m.keys(); len(keys) != 4 {
		t.Errorf("there is %v", keys)
	}
}

// TestResumeVerifiesWhatIsStored continues only where all that was stored is still there.
func TestResumeVerifiesWhatIsStored(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(m *memory)
		resumes bool
	}{
		"nothing":           {func(*memory) {}, true},
		"a chunk put later": {func(m *memory) { m.set("a.zarr/c/2/0", []byte("put just before the kill")) }, true},
		"a chunk deleted":   {func(m *memory) { delete(m.objects, "a.zarr/c/1/0") }, false},
		"a chunk replaced": {func(m *memory) {
			p := bytes.Clone(m.objects["a.zarr/c/1/0"])
			p[len(p)-1]++
			m.set("a.zarr/c/1/0", p)
		}, false},
		"another server": {func(m *memory) { clear(m.objects) }, false},
		"another owner": {func(m *memory) {
			m.set("a.zarr/"+ownerKey, []byte(`{"run": "other", "host": "b", "pid": 1}`))
			m.later = time.Hour
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, a, _ := machines(t)
			w := a.must(true)
			if err := a.rows(w, dataOf(0), 0, 4); err != nil {
				t.Fatal(err)
			}
			kill(t, w)
			m.mu.Lock()
			c.change(m)
			m.mu.Unlock()
			w = a.must(true)
			if storage.Resumed(w) != c.resumes {
				t.Errorf("it continues: %v", storage.Resumed(w))
			}
			from := 0
			if c.resumes {
				from = 4
			}
			if err := errors.Join(a.rows(w, dataOf(0), from, 6), w.Commit(t.Context()), remoteOf(w).ws.Close()); err != nil {
				t.Fatal(err)
			}
			if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(0)) {
				t.Error("other elements were stored")
			}
			if keys := m.keys(); len(keys) != 4 && name != "another owner" { // what that has left is not known
				t.Errorf("there is %v", keys)
			}
		})
	}
}

// TestCommitFindsForeignChunks changes what a run has stored before it ends.
func TestCommitFindsForeignChunks(t *testing.T) {
	for name, change := range map[string]func(m *memory){
		"deleted":  func(m *memory) { delete(m.objects, "a.zarr/c/1/0") },
		"replaced": func(m *memory) { m.set("a.zarr/c/1/0", []byte("other")) },
		"added":    func(m *memory) { m.set("a.zarr/c/2/0", []byte("other")) },
		"metadata": func(m *memory) { m.set("a.zarr/zarr.json", []byte("{}")) },
	} {
		t.Run(name, func(t *testing.T) {
			m, a, _ := machines(t)
			w := a.must(false)
			if err := a.rows(w, append(dataOf(0)[:80:80], make([]byte, 40)...), 0, 6); err != nil { // the last chunk is not stored
				t.Fatal(err)
			}
			m.mu.Lock()
			change(m)
			m.mu.Unlock()
			if err := w.Commit(t.Context()); !errors.Is(err, errForeign) {
				t.Error(err)
			}
			if err := w.Abort(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSaveDeletesNothingOfOthers keeps what lies in an array's folder and is not its own.
func TestSaveDeletesNothingOfOthers(t *testing.T) {
	m, a, _ := machines(t)
	others := []string{"a.zarr/2024-notes.txt", "a.zarr/7", "a.zarr/c.txt", "a.zarr/c/readme", "a.zarr/c/9/9", "a.zarr/c.0", "a.zarr/0.0.0"}
	for _, key := range others {
		m.objects[key] = []byte("mine")
	}
	for round := range 4 {
		w := a.must(false)
		if err := a.rows(w, dataOf(round), 0, 6); err != nil {
			t.Fatal(err)
		}
		end := w.Commit
		if round == 1 {
			if err := w.Abort(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := end(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(round)) {
			t.Error("other elements were stored")
		}
	}
	for _, key := range others {
		if string(m.objects[key]) != "mine" {
			t.Errorf("%s is gone", key)
		}
	}
	if keys := m.keys(); len(keys) != len(others)+4 {
		t.Errorf("there is %v", keys)
	}

	// Chunks of nobody's are neither deleted nor taken for the array's own.
	m.objects["a.zarr/c/0/0"], m.objects["a.zarr/c.0.0"] = []byte("x"), []byte("x")
	saveAll(t, strings.Replace(a.path, "a.zarr", "b.zarr", 1), smallMeta, dataOf(0))
	m.objects["b.zarr/c.0.0"] = []byte("x")
	saveAll(t, strings.Replace(a.path, "a.zarr", "b.zarr", 1), smallMeta, make([]byte, 120))
	if got, _ := readAll(t, strings.Replace(a.path, "a.zarr", "b.zarr", 1)); !bytes.Equal(got, make([]byte, 120)) {
		t.Error("a chunk of nobody's is read as the array's")
	}
	if string(m.objects["b.zarr/c.0.0"]) != "x" {
		t.Error("a chunk of nobody's was deleted")
	}

	// An array in the folder of the chunks.
	m.objects["d.zarr/c/zarr.json"] = []byte(`{"zarr_format": 3, "node_type": "array"}`)
	if _, err := store.Create(strings.Replace(a.path, "a.zarr", "d.zarr", 1), smallMeta); err == nil || !strings.Contains(err.Error(), "another array or group lies in it, c") {
		t.Error(err)
	}
	if m.objects["d.zarr/c/zarr.json"] == nil || m.objects["d.zarr/"+ownerKey] != nil {
		t.Errorf("there is %v", m.keys())
	}
}

// TestRemoteConsolidatedMetadata saves into a consolidated group of an object store, also
// several arrays at once.
func TestRemoteConsolidatedMetadata(t *testing.T) {
	m, path := newMemory(t)
	saveAll(t, path+"/x", smallMeta, dataOf(0))
	saveAll(t, path+"/g/y", smallMeta, dataOf(0))
	nodes := map[string]json.RawMessage{"x": m.objects["a.zarr/x/zarr.json"], "g": m.objects["a.zarr/g/zarr.json"], "g/y": m.objects["a.zarr/g/y/zarr.json"]}
	text, _ := json.Marshal(map[string]any{"zarr_format": 3, "node_type": "group", "consolidated_metadata": map[string]any{"kind": "inline", "must_understand": false, "metadata": nodes}})
	m.set("a.zarr/zarr.json", text)
	names := []string{"x", "g/y", "g/h/new", "a1", "a2", "a3"}
	done := make(chan error)
	for _, name := range names {
		go func() { done <- trySave(path+"/"+name, smallMeta) }()
	}
	for range names {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	var group struct {
		C struct {
			Metadata map[string]json.RawMessage `json:"metadata"`
		} `json:"consolidated_metadata"`
	}
	if err := json.Unmarshal(m.objects["a.zarr/zarr.json"], &group); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "g/h") {
		entry, own := group.C.Metadata[name], m.objects["a.zarr/"+name+"/zarr.json"]
		if entry == nil || !isGroup(own) && !jsonEqual(t, entry, own) {
			t.Errorf("the entry of %s is %s", name, entry)
		}
	}
}

// TestAttachedProcessesWriteOneArray is worker processes that write chunks of an array, also the same ones, while the
// process that began it leaves and resumes it.
func TestAttachedProcessesWriteOneArray(t *testing.T) {
	m, a, _ := machines(t)
	t.Setenv("XDG_CACHE_HOME", a.cache)
	ws, err := storage.NewStagingDir(a.path)
	if err != nil {
		t.Fatal(err)
	}
	meta := smallMeta
	meta.StagingDir = ws
	w, err := store.Create(a.path, meta)
	if err != nil {
		t.Fatal(err)
	}
	attach := func() store.Writer {
		attached, err := storage.AttachStagingDir(ws.Path, a.path)
		if err != nil {
			t.Fatal(err)
		}
		meta := smallMeta
		meta.StagingDir = attached
		w, err := store.Create(a.path, meta)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	one, twin := attach(), attach()
	if err := errors.Join(w.Suspend(), a.rows(one, dataOf(0), 0, 4), a.rows(twin, dataOf(0), 2, 6)); err != nil {
		t.Fatal(err)
	}
	if err := twin.Commit(t.Context()); !errors.Is(err, storage.ErrAttachedCommit) {
		t.Errorf("a worker's Commit: %v", err)
	}
	if err := errors.Join(one.Suspend(), twin.Abort()); err != nil {
		t.Fatal(err)
	}
	meta.Resume = true
	if w, err = store.Create(a.path, meta); err != nil || !storage.Resumed(w) {
		t.Fatalf("it does not resume: %v", err)
	}
	m.mu.Lock()
	m.set("a.zarr/c/1/0", []byte("another's"))
	m.mu.Unlock()
	if err := w.Commit(t.Context()); !errors.Is(err, errForeign) {
		t.Errorf("with another's chunk: %v", err)
	}
	m.mu.Lock()
	delete(m.objects, "a.zarr/c/1/0")
	m.mu.Unlock()
	one = attach()
	if err := errors.Join(a.rows(one, dataOf(0), 2, 4), one.Suspend(), w.Suspend()); err != nil {
		t.Fatal(err)
	}
	if w, err = store.Create(a.path, meta); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Commit(t.Context()), ws.Remove()); err != nil {
		t.Fatal(err)
	}
	if got, _ := readAll(t, a.path); !bytes.Equal(got, dataOf(0)) {
		t.Error("other elements were stored")
	}
	if keys := m.keys(); len(keys) != 4 {
		t.Errorf("there is %v", keys)
	}
	attached, err := storage.AttachStagingDir(ws.Path, a.path)
	if err != nil {
		t.Fatal(err)
	}
	meta = smallMeta
	meta.StagingDir = attached
	if _, err := store.Create(a.path, meta); !errors.Is(err, storage.ErrNotStaged) {
		t.Errorf("a worker of a run that is over: %v", err)
	}
}

// interrupted is a bucket in which another process stores the owner's object just before each
// time that this one does.
type interrupted struct {
	*memoryBucket
	other func() owner
}

func (b interrupted) PutIf(ctx context.Context, key string, p []byte, version string) (blob.Entry, error) {
	text, err := json.Marshal(b.other())
	if err != nil {
		return blob.Entry{}, err
	}
	b.mu.Lock()
	b.set(b.prefix+key, text)
	b.mu.Unlock()
	return b.memoryBucket.PutIf(ctx, key, p, version)
}

// Processes of one run renew its object at the same time: none of them takes the array from
// another, as another run does.
func TestOwnerRenewedBySiblings(t *testing.T) {
	m, _ := newMemory(t)
	b := &memoryBucket{m, "a.zarr/", &[]*memoryUpload{}}
	first := &ownership{bucket: b, me: newOwner()}
	if err := first.put(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := 0
	sibling := func() owner { pid++; return owner{Run: first.me.Run, Host: "node", PID: pid} }
	if o, err := resumeOwner(t.Context(), interrupted{b, sibling}, first.me.Run); o == nil || err != nil {
		t.Errorf("beside processes of its own run: %v, %v", o, err)
	}
	if o, err := resumeOwner(t.Context(), interrupted{b, func() owner { return owner{Run: "another"} }}, first.me.Run); o != nil || err != nil {
		t.Errorf("beside another run: %v, %v", o, err)
	}
}
