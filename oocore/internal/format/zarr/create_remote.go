package zarr

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// remoteTarget puts an array under its name in an object store.
//
// There nothing can be moved. The chunks of the new array have keys of a form under which
// nothing lies yet, so that the old array stays whole until the new metadata take the
// place of its own, in one put. What lies there and is neither of the two is not touched.
type remoteTarget struct {
	newArrayTarget
	bucket blob.Bucket
	groups []blob.Bucket
	found  replaced // what was there when this run began
	owner  *ownership
	log    *objectLog
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

func (t *remoteTarget) chunks() blob.Bucket { return &logged{t.bucket, t} }

// find reads what is at the array's name and in the groups above it, all at once.
func (t *remoteTarget) find(ctx context.Context, name string) error {
	type node struct {
		bucket     blob.Bucket
		name, node string // the path, and what of it lies in the store
		meta       *meta
		text       []byte
		entry      blob.Entry
		err        error
	}
	name = strings.TrimRight(name, "/")
	_, array := split(name)
	nodes := []node{{bucket: t.bucket, name: name, node: array}} // the array, and the groups above it from the inner to the outer
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
		nodes = append(nodes, node{bucket: group, name: name, node: parent})
	}
	var all sync.WaitGroup
	for i := range nodes {
		all.Go(func() {
			n := &nodes[i]
			n.meta, n.text, n.entry, n.err = loadMetaAtOnce(ctx, n.bucket)
		})
	}
	all.Wait()
	t.found, t.groups, t.copies = replaced{}, nil, nil
	switch old := &nodes[0]; {
	case old.err == errGroup:
		return errors.New("it is a group: name an array in it, or remove it first")
	case old.err != nil && !errors.Is(old.err, fs.ErrNotExist):
		return old.err
	case old.err == nil && old.meta.version == 2:
		t.found.V2 = string(old.text)
	case old.err == nil:
		t.found.V3, t.found.Version = string(old.text), old.entry.Version
	}
	made, groups := array, nodes[1:] // made is the outermost node that comes with the array
	for _, g := range groups {
		switch {
		case g.err == nil:
			return fmt.Errorf("%s is an array: there can be none in it", g.name)
		case errors.Is(g.err, fs.ErrNotExist):
			t.groups = append(t.groups, g.bucket)
			made = g.node
		case g.err == errGroup && g.entry.Key != v3File:
			return errV2Group(g.name)
		case g.err != errGroup:
			return fmt.Errorf("%s: %w", g.name, g.err)
		}
	}
	for _, g := range groups {
		if below := strings.TrimPrefix(made, g.node); g.node == "" || strings.HasPrefix(below, "/") {
			t.copies = append(t.copies, &consolidatedGroup{bucket: g.bucket, name: strings.TrimPrefix(array[len(g.node):], "/"), made: strings.TrimPrefix(below, "/")})
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
func (t *remoteTarget) begin(ctx context.Context, name string, resume bool) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, t.owner.end(context.WithoutCancel(ctx), !resume && !t.ws.Attached()), t.log.close())
		}
	}()
	var earlier note
	if text, err := os.ReadFile(t.noteName()); err != nil || json.Unmarshal(text, &earlier) != nil {
		earlier = note{}
	}
	if t.ws.Attached() {
		return t.attach(ctx, earlier)
	}
	if resume {
		if err := t.find(ctx, name); err != nil {
			return err
		}
		if ok, err := t.resume(ctx, earlier); ok || err != nil {
			t.resumes = ok
			return err
		}
	}
	if err := t.take(ctx, name, earlier.Run); err != nil {
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
	t.owner.keep()
	return nil
}

// take makes the array this run's and chooses the form of its keys. earlier is the run of this
// machine that has had it, "" for none: that has ended, since this one has its staging folder.
//
// Where nothing is in the way that takes three rounds of requests: what is there is looked at, the
// owner's object says which keys the run will use, and then, when no other run can begin, it is made sure
// that nothing has come to lie under these keys since.
func (t *remoteTarget) take(ctx context.Context, name, earlier string) error {
	var left *meta // what an owner before has left
	said := false  // the object that is there tells of this run
	for range 5 {
		s, err := t.survey(ctx, name)
		if err != nil {
			return err
		}
		switch {
		case t.owner != nil && (s.owner == nil || s.owner.Run != t.owner.me.Run):
			return errTaken
		case t.owner == nil && s.owner != nil && s.owner.Run != earlier && !s.owner.Ended && (s.entry.Age == 0 || s.entry.Age < ownerExpires):
			return s.owner.busy(s.entry.Age)
		case s.listing != nil:
			return s.listing
		}
		old := t.found.meta()
		if left == nil && !said && s.owner != nil && s.owner.Array != nil {
			if left, err = parseV3(s.owner.Array); err == nil { // the object tells of it until it is removed
				ok, err := t.claim(ctx, s, s.owner.Array)
				if ok { // it may have put its array in its place just before
					err = t.find(ctx, name)
				}
				if ok && err == nil {
					old = t.found.meta()
					err = blob.Clear(ctx, t.bucket, func(key string) bool { return left.has(key) && (old == nil || !old.has(key)) })
				}
				if err != nil {
					return err
				}
				if !ok {
					left = nil
				}
				continue
			}
		}
		if err := t.choose(s.taken, old, left); err != nil {
			return err
		}
		ok, err := t.claim(ctx, s, t.made.encodeV3())
		if ok {
			said = true
			ok, err = t.confirm(ctx)
		}
		if ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("other runs begin to write this array at the same time: %w", errTaken)
}

// survey is what is there before an array is taken.
type survey struct {
	owner   *owner
	entry   blob.Entry // of its object
	taken   []string   // for each of keyForms a key under which an object lies, or ""
	listing error      // why there is no taken
}

// survey finds what is there, all at once.
func (t *remoteTarget) survey(ctx context.Context, name string) (s survey, err error) {
	var all sync.WaitGroup
	var failed error
	all.Go(func() { s.owner, s.entry, failed = readOwner(ctx, t.bucket) })
	all.Go(func() { s.taken, s.listing = t.taken(ctx) })
	err = t.find(ctx, name)
	all.Wait()
	return s, cmp.Or(err, failed)
}

// taken lists the array, and returns an example of the keys of each form under which objects lie.
func (t *remoteTarget) taken(ctx context.Context) ([]string, error) {
	index := make([]int, len(t.made.shape))
	taken := make([]string, len(keyForms))
	m := *t.made
	for e, err := range t.bucket.List(ctx, "") {
		if err != nil {
			return nil, err
		}
		if folder, file := path.Split(e.Key); folder != "" && slices.Contains([]string{v3File, v2File, v2Group}, file) {
			return nil, fmt.Errorf("another array or group lies in it, %s: choose another name, or remove that first", strings.TrimSuffix(folder, "/"))
		}
		for i, keys := range keyForms {
			if m.keys = keys; taken[i] == "" && m.parseKey(e.Key, index) {
				taken[i] = e.Key
			}
		}
	}
	return taken, ctx.Err()
}

// claim stores the owner's object, in place of the one that was there, with the metadata of what may be
// found of this run. ok is false where another has been stored meanwhile.
func (t *remoteTarget) claim(ctx context.Context, s survey, array []byte) (ok bool, err error) {
	o := t.owner
	if o == nil {
		o = &ownership{bucket: t.bucket, me: newOwner()}
	}
	o.me.Array, o.version = bareNumbers(array), ""
	if s.owner != nil {
		o.version, o.me.Left = s.entry.Version, s.owner.Left
	}
	if err := o.put(ctx); errors.Is(err, blob.ErrReplaced) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	t.owner = o
	return true, nil
}

// confirm makes sure that the array is this run's also where the server knows no conditions, and
// reports whether nothing lies where its chunks will.
func (t *remoteTarget) confirm(ctx context.Context) (free bool, err error) {
	var all sync.WaitGroup
	var owned error
	all.Go(func() { owned = t.owner.verify(ctx) })
	free = true
	index := make([]int, len(t.made.shape))
	for e, failed := range t.bucket.List(ctx, t.made.keyPrefix()) {
		if err = failed; err != nil {
			break
		}
		if free = !t.made.parseKey(e.Key, index); !free {
			break
		}
	}
	all.Wait()
	return free, cmp.Or(owned, err, ctx.Err())
}

// attach lets a process write chunks of the array that the owner of the staging folder has begun. It keeps
// a log of its own, and renews the ownership too: the owner may have left.
func (t *remoteTarget) attach(ctx context.Context, begun note) (err error) {
	if !t.makes(begun) {
		return storage.ErrNotStaged
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

// choose takes a form of keys under which nothing lies, if possible neither the old array's nor that
// of what an owner before has left.
func (t *remoteTarget) choose(taken []string, old, left *meta) error {
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

func (t *remoteTarget) Commit(ctx context.Context) error { return t.publishIn(ctx, t) }

func (t *remoteTarget) prepare(ctx context.Context, _ []byte) error {
	var all sync.WaitGroup
	var owned error
	all.Go(func() { owned = t.owner.verify(ctx) })
	err := t.log.compare(ctx, t.bucket, t.made, func(key string) error {
		return fmt.Errorf("%s is there, and this run has not stored it: %w", key, errForeign)
	})
	all.Wait()
	if err := cmp.Or(owned, err); err != nil {
		return err
	}
	return t.makeGroups(ctx)
}

// clean deletes the array that was replaced.
func (t *remoteTarget) clean(ctx context.Context) error {
	// What cannot be cleaned away costs room only. The owner's object stays, for the next save to clean it away.
	release := true
	if left := t.owner.replaced(t.found.V3); len(left) > 0 || t.found.V2 != "" {
		old := t.found.meta()
		err := blob.Clear(ctx, t.bucket, func(key string) bool {
			if t.found.V2 != "" && (key == v2File || key == v2Attributes) {
				return true
			}
			return !t.made.has(key) && (old != nil && old.has(key) || slices.ContainsFunc(left, func(m *meta) bool { return m.has(key) }))
		})
		if err != nil {
			slog.WarnContext(ctx, "gonbext: chunks of the array that was replaced could not be deleted: they take room until a later save deletes them", "array", t.bucket.String(), "error", err)
			release = t.owner.leave(context.WithoutCancel(ctx), t.found.V3) != nil
		}
	}
	t.ws.Go(func() {
		_ = t.owner.end(context.WithoutCancel(ctx), release)
		_ = errors.Join(t.log.close(), removeObjectLogs(t.logName()), disk.Remove(t.noteName()))
	})
	return nil
}

// makeGroups stores the metadata of the groups that are missing.
func (t *remoteTarget) makeGroups(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, group := range t.groups {
		all.Go(func() error {
			if _, err := blob.PutIf(ctx, group, v3File, []byte(groupText), ""); !errors.Is(err, blob.ErrReplaced) {
				return err
			}
			return nil
		})
	}
	return all.Wait()
}

// publish puts the metadata in the place of those that were there when the run began.
func (t *remoteTarget) publish(ctx context.Context, text []byte) error {
	if err := t.owner.held(ctx); err != nil { // what came before may have taken long
		return err
	}
	_, err := blob.PutIf(ctx, t.bucket, v3File, text, t.found.Version)
	if errors.Is(err, blob.ErrReplaced) {
		// A run that was killed just then has done it already.
		if now, _, failed := ReadMetadata(ctx, t.bucket, v3File); failed != nil || string(now) != string(text) {
			return fmt.Errorf("its metadata are not those that were there when the run began: %w", errForeign)
		}
		err = nil
	}
	t.inPlace = true // or it may be: the answer may have got lost
	return err
}

func (t *remoteTarget) Suspend() error {
	return errors.Join(t.owner.end(context.Background(), false), t.log.close())
}

func (t *remoteTarget) Abort() error {
	ctx := context.Background()
	var err error
	if !t.inPlace {
		// Not what another run writes that has taken the array over.
		if err = t.owner.renew(ctx); err == nil {
			err = blob.Clear(ctx, t.bucket, t.made.has)
		} else if errors.Is(err, errTaken) {
			err = nil
		}
	}
	return errors.Join(err, t.owner.end(ctx, err == nil), t.log.close(), removeObjectLogs(t.logName()), disk.Remove(t.noteName()))
}
