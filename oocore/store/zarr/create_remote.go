package zarr

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// createRemote begins a new array in an object store.
func createRemote(ctx context.Context, name string, made *meta, m store.Meta) (store.Writer, error) {
	bucket, err := bucketOf(name)
	if err != nil {
		return nil, err
	}
	t := &remoteTarget{bucket: bucket, made: made, ws: m.Workspace}
	if err := t.find(ctx, name); err != nil {
		return nil, err
	}
	if t.ws == nil {
		if t.ws, err = store.NewWorkspace(name); err != nil {
			return nil, err
		}
		t.owned = true
	}
	if err := t.begin(ctx, m.Resume); err != nil {
		if t.owned {
			err = errors.Join(err, t.ws.Remove())
		}
		return nil, err
	}
	d := newDesign(made, bucket.Random())
	return &writer{
		base: base{path: name, target: t}, d: d, box: d.all(), bucket: bucket,
		elide: zero(made.fill), seed: maphash.MakeSeed(),
	}, nil
}

// remoteTarget puts an array under its name in an object store.
//
// There nothing can be moved. The chunks of the new array have keys of a form that
// those of the old one do not have, so that this stays whole until the new metadata
// take the place of its own, in one put.
type remoteTarget struct {
	ws     *store.Workspace
	owned  bool
	bucket blob.Bucket
	made   *meta
	old    *meta // nil where there was no array
	groups []blob.Bucket
	goesOn bool // with what an earlier writer left
}

func (t *remoteTarget) resumed() bool { return t.goesOn }

// find looks at what is there.
func (t *remoteTarget) find(ctx context.Context, name string) error {
	var err error
	switch t.old, _, err = loadMeta(ctx, t.bucket); {
	case err == errGroup:
		return errors.New("it is a group: name an array in it, or remove it first")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	for {
		root, inner := split(name)
		if inner == "" {
			return nil
		}
		name = root
		if parent := path.Dir(inner); parent != "." {
			name += "/" + parent
		}
		group, err := bucketOf(name)
		if err != nil {
			return err
		}
		switch _, _, err := loadMeta(ctx, group); {
		case err == nil:
			return fmt.Errorf("%s is an array: there can be none in it", name)
		case errors.Is(err, fs.ErrNotExist):
			t.groups = append(t.groups, group)
		case err != errGroup:
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// note is the file that says what is being written, with which keys.
func (t *remoteTarget) note() string { return t.ws.Join("out.zarr.id") }

// begin chooses the form of the keys and removes what an earlier run left under
// them, or goes on with that.
func (t *remoteTarget) begin(ctx context.Context, resume bool) error {
	attached := t.ws.Attached()
	if note, err := os.ReadFile(t.note()); err == nil && (resume || attached) {
		for _, keys := range keyForms {
			t.made.keys = keys
			if string(note) == string(t.made.encodeV3()) {
				t.goesOn = true
				return nil
			}
		}
	}
	if attached {
		return store.ErrNotStaged
	}
	t.made.keys = otherKeys(t.old, len(t.made.shape))
	if err := t.remove(ctx, t.own); err != nil {
		return err
	}
	return disk.WriteFile(t.note(), t.made.encodeV3())
}

// keyForms are those that new arrays have, the usual one first.
var keyForms = []keyEncoding{{separator: "/"}, {separator: "."}, {v2: true, separator: "."}}

// otherKeys is a form of keys that an array does not have.
func otherKeys(old *meta, dims int) keyEncoding {
	switch {
	case old == nil || old.keys.v2:
		return keyForms[0]
	case dims == 0 || len(old.shape) == 0: // there "c" is a key of both
		return keyForms[2]
	case old.keys.separator == "/":
		return keyForms[1]
	}
	return keyForms[0]
}

// own reports a key of the new array's form.
func (t *remoteTarget) own(key string) bool {
	if t.made.keys.v2 {
		return key[0] >= '0' && key[0] <= '9'
	}
	return key == "c" || strings.HasPrefix(key, "c"+t.made.keys.separator)
}

// stale reports what is left of the array that was replaced.
func (t *remoteTarget) stale(key string) bool {
	if key == v2File || key == v2Attributes {
		return true
	}
	chunk := key == "c" || strings.HasPrefix(key, "c/") || strings.HasPrefix(key, "c.") || key[0] >= '0' && key[0] <= '9'
	return chunk && !t.own(key)
}

// remove deletes the objects of a kind.
func (t *remoteTarget) remove(ctx context.Context, kind func(key string) bool) error {
	return blob.Clear(ctx, t.bucket, kind)
}

func (t *remoteTarget) commit(ctx context.Context) error {
	if t.ws.Attached() {
		return store.ErrAttachedCommit
	}
	for _, group := range t.groups {
		if err := putObject(ctx, group, v3File, []byte(groupText)); err != nil {
			return err
		}
	}
	if err := putObject(ctx, t.bucket, v3File, t.made.encodeV3()); err != nil {
		return err
	}
	// From here on the array is whole. What cannot be cleaned away costs room only.
	if t.old != nil {
		_ = t.remove(ctx, t.stale)
	}
	_ = disk.Remove(t.note())
	if t.owned {
		_ = t.ws.Remove()
	}
	return nil
}

func (t *remoteTarget) suspend() error {
	if t.owned {
		return t.ws.Close()
	}
	return nil
}

func (t *remoteTarget) abort() error {
	if t.ws.Attached() {
		return nil
	}
	err := errors.Join(t.remove(context.Background(), t.own), disk.Remove(t.note()))
	if t.owned {
		err = errors.Join(err, t.ws.Remove())
	}
	return err
}
