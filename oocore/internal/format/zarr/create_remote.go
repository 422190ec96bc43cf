package zarr

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
)

// createRemote begins a new array in an object store.
func createRemote(ctx context.Context, name string, made *meta, m store.Meta) (store.Writer, error) {
	bucket, err := bucketOf(name)
	if err != nil {
		return nil, err
	}
	t := &remoteTarget{bucket: bucket, made: made, ws: m.StagingDir}
	if !t.ws.Attached() {
		if err := t.find(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := t.begin(ctx, m.Resume); err != nil {
		return nil, errors.Join(err, t.owner.end(context.WithoutCancel(ctx), !m.Resume && !t.ws.Attached()), t.log.close())
	}
	d := newWriteLayout(made, bucket.Random())
	return &writer{
		base: base{path: name, target: t}, d: d, box: d.all(), bucket: &logged{bucket, t},
		elide: zero(made.fill), seed: maphash.MakeSeed(),
	}, nil
}

// remoteTarget puts an array under its name in an object store.
//
// There nothing can be moved. The chunks of the new array have keys of a form under which
// nothing lies yet, so that the old array stays whole until the new metadata take the
// place of its own, in one put. What lies there and is neither of the two is not touched.
type remoteTarget struct {
	ws      *store.StagingDir
	bucket  blob.Bucket
	made    *meta
	groups  []blob.Bucket
	copies  consolidatedGroups
	found   replaced // what was there when this run began
	owner   *ownership
	log     *objectLog
	resumes bool // with what an earlier writer left
	placed  bool // the metadata are, or may be, in their place
}

// replaced is an array that a new one takes the place of; its text is nil where there is
// none.
type replaced struct {
	Version string `json:"version"` // of its metadata, "" where they are of version 2 or missing
	V3      string `json:"v3,omitempty"`
	V2      string `json:"v2,omitempty"`
}

// meta is the old array; nil where there was none.
func (r replaced) meta() *meta {
	switch {
	case r.V3 != "":
		if m, err := parseV3([]byte(r.V3)); err == nil {
			return m
		}
	case r.V2 != "":
		if m, err := parseV2([]byte(r.V2), nil); err == nil {
			return m
		}
	}
	return nil
}

func (t *remoteTarget) resumed() bool { return t.resumes }

// find reads what is at the array's name and in the groups above it.
func (t *remoteTarget) find(ctx context.Context, name string) error {
	old, e, err := loadMeta(ctx, t.bucket)
	switch {
	case err == errGroup:
		return errors.New("it is a group: name an array in it, or remove it first")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil:
		text, now, err := readMetadata(ctx, t.bucket, e.Key)
		if err != nil {
			return err
		}
		if old.version == 2 {
			t.found.V2 = string(text)
		} else {
			t.found.V3, t.found.Version = string(text), now.Version
		}
	}
	name = strings.TrimRight(name, "/")
	_, array := split(name)
	made := array // the outermost node that comes with the array
	type above struct {
		bucket blob.Bucket
		node   string
	}
	var groups []above
	for {
		root, inner := split(name)
		if inner == "" {
			break
		}
		name = root
		parent := path.Dir(inner)
		if parent == "." {
			parent = ""
		} else {
			name += "/" + parent
		}
		group, err := bucketOf(name)
		if err != nil {
			return err
		}
		switch _, e, err := loadMeta(ctx, group); {
		case err == nil:
			return fmt.Errorf("%s is an array: there can be none in it", name)
		case errors.Is(err, fs.ErrNotExist):
			t.groups = append(t.groups, group)
			made = parent
		case err == errGroup && e.Key != v3File:
			return errV2Group(name)
		case err != errGroup:
			return fmt.Errorf("%s: %w", name, err)
		}
		groups = append(groups, above{group, parent})
	}
	for _, g := range groups {
		if below := strings.TrimPrefix(made, g.node); g.node == "" || strings.HasPrefix(below, "/") {
			t.copies = append(t.copies, remoteGroup(g.bucket, strings.TrimPrefix(array[len(g.node):], "/"), strings.TrimPrefix(below, "/")))
		}
	}
	return nil
}

// noteName is the file that says what is being written, with which keys.
func (t *remoteTarget) noteName() string { return t.ws.Join("out.zarr.id") }

func (t *remoteTarget) logName() string { return t.ws.Join("out.zarr.objects") }

// note is what that file has.
type note struct {
	Run   string   `json:"run"`
	Array string   `json:"array"` // its metadata
	Found replaced `json:"found"`
}

// begin takes the array, chooses the form of its keys, and removes what an earlier run
// has left, or resumes that.
func (t *remoteTarget) begin(ctx context.Context, resume bool) error {
	var earlier note
	if text, err := os.ReadFile(t.noteName()); err != nil || json.Unmarshal(text, &earlier) != nil {
		earlier = note{}
	}
	if t.ws.Attached() {
		return t.attach(ctx, earlier)
	}
	if resume {
		if ok, err := t.resume(ctx, earlier); ok || err != nil {
			t.resumes = ok
			return err
		}
	}
	var before *owner
	var err error
	if t.owner == nil {
		t.owner, before, err = own(ctx, t.bucket, earlier.Run)
		if err != nil {
			return err
		}
	} else { // what resume found was not what it had left
		before = &owner{Array: t.owner.me.Array}
	}
	if err := t.choose(ctx, before); err != nil {
		return err
	}
	text, err := json.Marshal(note{t.owner.me.Run, string(t.made.encodeV3()), t.found})
	if err != nil {
		return err
	}
	if err := removeObjectLogs(t.logName()); err != nil {
		return err
	}
	if t.log, err = openObjectLog(t.logName(), false); err != nil {
		return err
	}
	if err := disk.WriteFile(t.noteName(), text); err != nil {
		return err
	}
	return t.owner.says(ctx, t.made.encodeV3())
}

// attach lets a process write chunks of the array that the owner of the staging folder has begun. It keeps
// a log of its own, and renews the ownership too: the owner may have left.
func (t *remoteTarget) attach(ctx context.Context, begun note) (err error) {
	if !t.makes(begun) {
		return store.ErrNotStaged
	}
	if t.owner, err = resumeOwner(ctx, t.bucket, begun.Run); err != nil {
		return err
	}
	if t.owner == nil {
		return errTaken
	}
	if t.log, err = openObjectLog(t.logName()+"-"+rand.Text(), false); err != nil {
		return err
	}
	t.owner.keep()
	return nil
}

// makes chooses the form of keys of the array that a note has, and reports whether it is this one.
func (t *remoteTarget) makes(begun note) bool {
	for _, keys := range keyForms {
		t.made.keys = keys
		if begun.Array == string(t.made.encodeV3()) {
			return true
		}
	}
	return false
}

// resume resumes what an earlier run has left, where all of it is still there.
func (t *remoteTarget) resume(ctx context.Context, earlier note) (ok bool, err error) {
	if !t.makes(earlier) {
		return false, nil
	}
	if t.owner, err = resumeOwner(ctx, t.bucket, earlier.Run); err != nil || t.owner == nil {
		return false, err
	}
	if t.log, err = openObjectLog(t.logName(), true); err != nil {
		return false, err
	}
	var strays []string
	err = t.log.compare(ctx, t.bucket, t.made, func(key string) error { // put, and not noted any more
		strays = append(strays, key)
		return nil
	})
	if errors.Is(err, errForeign) {
		return false, t.log.close()
	}
	if err != nil {
		return false, err
	}
	if logs, err := objectLogs(t.logName()); err != nil || len(logs) > 1 {
		strays = nil // another process may store them now; who has been killed stores them again
	}
	for _, key := range strays {
		if err := t.bucket.Delete(ctx, key); err != nil {
			return false, err
		}
	}
	t.found = earlier.Found
	t.owner.keep()
	return true, nil
}

// keyForms are those that new arrays have, the usual one first.
var keyForms = []keyEncoding{{separator: "/"}, {separator: "."}, {v2: true, separator: "."}, {v2: true, separator: "/"}}

// choose removes what an owner before has left, and takes a form of keys under which
// nothing lies then, if possible neither the old array's nor that owner's.
func (t *remoteTarget) choose(ctx context.Context, before *owner) error {
	old := t.found.meta()
	var left *meta
	if before != nil && before.Array != nil {
		left, _ = parseV3(before.Array)
	}
	index := make([]int, len(t.made.shape))
	taken := make([]string, len(keyForms)) // an example
	var remove []string
	for e, err := range t.bucket.List(ctx, "") {
		if err != nil {
			return err
		}
		if folder, file := path.Split(e.Key); folder != "" && slices.Contains([]string{v3File, v2File, v2Group}, file) {
			return fmt.Errorf("another array or group lies in it, %s: choose another name, or remove that first", strings.TrimSuffix(folder, "/"))
		}
		if left != nil && left.has(e.Key) && (old == nil || !old.has(e.Key)) {
			remove = append(remove, e.Key)
			continue
		}
		m := *t.made
		for i, keys := range keyForms {
			if m.keys = keys; taken[i] == "" && m.parseKey(e.Key, index) {
				taken[i] = e.Key
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.delete(ctx, remove); err != nil {
		return err
	}
	for _, last := range []bool{false, true} {
		for i, keys := range keyForms {
			mine := keys.is(old) || keys.is(left)
			if taken[i] == "" && (last || !mine) {
				t.made.keys = keys
				return nil
			}
		}
	}
	return fmt.Errorf("objects that are no array's lie where its chunks would, such as %s: remove them, or choose another name", taken[0])
}

// is reports an array with keys of this form.
func (k keyEncoding) is(m *meta) bool { return m != nil && m.keys == k }

// has reports a key of one of the array's chunks.
func (m *meta) has(key string) bool { return m.parseKey(key, make([]int, len(m.shape))) }

// delete deletes objects.
func (t *remoteTarget) delete(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return blob.DeleteKeys(ctx, t.bucket, slices.Values(keys))
}

// remove deletes the objects of a kind.
func (t *remoteTarget) remove(ctx context.Context, kind func(key string) bool) error {
	return blob.Clear(ctx, t.bucket, kind)
}

func (t *remoteTarget) commit(ctx context.Context) error {
	if t.ws.Attached() {
		return store.ErrAttachedCommit
	}
	if err := t.owner.renew(ctx); err != nil {
		return err
	}
	err := t.log.compare(ctx, t.bucket, t.made, func(key string) error {
		return fmt.Errorf("%s is there, and this run has not stored it: %w", key, errForeign)
	})
	if err != nil {
		return err
	}
	for _, group := range t.groups {
		if _, err := blob.PutIf(ctx, group, v3File, []byte(groupText), ""); err != nil && !errors.Is(err, blob.ErrReplaced) {
			return err
		}
		if err := group.Sync(ctx); err != nil {
			return err
		}
	}
	text := t.made.encodeV3()
	if err := t.copies.remove(ctx, text); err != nil {
		t.copies.restore(context.WithoutCancel(ctx))
		return err
	}
	if err := t.place(ctx, text); err != nil {
		if !t.placed {
			t.copies.restore(context.WithoutCancel(ctx))
		}
		return err
	}
	if err := t.copies.add(ctx, text); err != nil {
		return err
	}
	// What cannot be cleaned away costs room only.
	if old := t.found.meta(); old != nil {
		_ = t.remove(ctx, func(key string) bool {
			return old.has(key) && !t.made.has(key) || t.found.V2 != "" && (key == v2File || key == v2Attributes)
		})
	}
	_ = t.owner.end(ctx, true)
	_ = errors.Join(t.log.close(), removeObjectLogs(t.logName()), disk.Remove(t.noteName()))
	return nil
}

// place puts the metadata in the place of those that were there when the run began.
func (t *remoteTarget) place(ctx context.Context, text []byte) error {
	_, err := blob.PutIf(ctx, t.bucket, v3File, text, t.found.Version)
	if err == nil {
		err = t.bucket.Sync(ctx)
	}
	if errors.Is(err, blob.ErrReplaced) {
		// A run that was killed just then has done it already.
		if now, _, failed := readMetadata(ctx, t.bucket, v3File); failed != nil || string(now) != string(text) {
			return fmt.Errorf("its metadata are not those that were there when the run began: %w", errForeign)
		}
		err = nil
	}
	t.placed = true // or it may be: the answer may have got lost
	return err
}

func (t *remoteTarget) suspend() error {
	return errors.Join(t.owner.end(context.Background(), false), t.log.close())
}

func (t *remoteTarget) abort() error {
	if t.ws.Attached() {
		return t.suspend()
	}
	ctx := context.Background()
	var err error
	if !t.placed {
		// Not what another run writes that has taken the array over.
		if err = t.owner.renew(ctx); err == nil {
			err = t.remove(ctx, t.made.has)
		} else if errors.Is(err, errTaken) {
			err = nil
		}
	}
	return errors.Join(err, t.owner.end(ctx, err == nil), t.log.close(), removeObjectLogs(t.logName()), disk.Remove(t.noteName()))
}
