package zarr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"slices"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// An array grows without a moment in which it is anything but what it was, or what it is to
// be. Its new chunks lie beyond the shape that its metadata say, where no reader looks, and
// the chunks at its old edge are replaced by ones that have the old elements and the new.
// Only when all of them are durable the metadata are replaced, which have the new shape.

// growing returns the metadata of an array that is there and is to grow by a region, as they
// will be, and their text.
func growing(ctx context.Context, path string, m store.Meta) (*meta, []byte, blob.Bucket, error) {
	fail := func(err error) (*meta, []byte, blob.Bucket, error) { return nil, nil, nil, err }
	if blob.Remote(path) {
		return fail(errors.New("arrays of this machine only are appended to: copy it here, or write all of it"))
	}
	bucket, err := bucketOf(path)
	if err != nil {
		return fail(err)
	}
	found, _, err := loadMeta(ctx, bucket)
	switch {
	case err == errGroup:
		return fail(groupError(ctx, path, bucket))
	case errors.Is(err, fs.ErrNotExist):
		return fail(fmt.Errorf("there is no array to append to: save it first: %w", fs.ErrNotExist))
	case err != nil:
		return fail(err)
	case found.version != 3:
		return fail(errors.New("it is an array of version 2: convert it to append to it"))
	}
	if err := found.growsTo(m); err != nil {
		return fail(err)
	}
	text, _, err := readMetadata(ctx, bucket, v3File)
	if err == nil {
		text, err = reshaped(text, m.Shape)
	}
	if err != nil {
		return fail(err)
	}
	found.shape = slices.Clone(m.Shape)
	return found, text, bucket, found.accepts(m)
}

// growsTo returns an error where a region is not what lies between the array's shape and
// one that is longer along an axis.
func (m *meta) growsTo(want store.Meta) error {
	if want.DType != m.dtype {
		return fmt.Errorf("the array there has elements of %s, those to append are %s", m.dtype, want.DType)
	}
	axis := -1
	for d := range want.Shape {
		if d < len(m.shape) && want.Shape[d] != m.shape[d] && axis < 0 {
			axis = d
		} else if d >= len(m.shape) || want.Shape[d] != m.shape[d] {
			axis = len(m.shape)
		}
	}
	if axis < 0 || axis >= len(m.shape) || len(want.Shape) != len(m.shape) || want.Region.Start[axis] != m.shape[axis] {
		return fmt.Errorf("the array there has shape %s now: append to it again", grid.Format(m.shape))
	}
	return nil
}

// reshaped is the text of metadata with another shape, and else as it was.
func reshaped(text []byte, shape []int) ([]byte, error) {
	all, err := parseMembers(quoteBare(text, bareMark))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v3File, err)
	}
	lengths, err := json.Marshal(shape)
	if err != nil {
		return nil, err
	}
	return all.set("shape", lengths).text()
}

// createGrown begins to append to an array that is there.
func createGrown(ctx context.Context, path string, m store.Meta) (_ store.Writer, err error) {
	t := &growTarget{ws: m.StagingDir}
	if t.ws == nil {
		if t.ws, err = store.NewStagingDir(path); err != nil {
			return nil, err
		}
		t.owned = true
	}
	found, text, bucket, err := growing(ctx, path, m) // as it is while no other run can write to it
	if err != nil {
		return nil, errors.Join(err, t.suspend())
	}
	root, _ := split(path)
	t.bucket, t.d, t.box, t.text, t.copies = bucket, newWriteLayout(found, true), *m.Region, text, localGroups(path, root, path)
	if err := t.begin(m.Resume); err != nil {
		return nil, errors.Join(err, t.suspend())
	}
	return &writer{base: base{path: path, target: t}, d: t.d, box: t.box, bucket: bucket, seed: maphash.MakeSeed()}, nil
}

// growTarget is an array that stays in its place and grows.
type growTarget struct {
	ws     *store.StagingDir
	owned  bool
	bucket blob.Bucket
	d      *writeLayout
	box    grid.Box // what is new
	text   []byte   // of the metadata, as they will be
	copies consolidatedGroups
	goesOn bool // with what an earlier writer left
}

// note is the file that says what the array is growing to.
func (t *growTarget) note() string { return t.ws.Join("grown.json") }

// begin notes what is begun, or goes on with it.
func (t *growTarget) begin(resume bool) error {
	if resume || t.ws.Attached() {
		note, err := os.ReadFile(t.note())
		if t.goesOn = err == nil && bytes.Equal(note, t.text); t.goesOn {
			return nil
		}
	}
	if t.ws.Attached() {
		return store.ErrNotStaged
	}
	if t.owned {
		if err := t.ws.Clear(); err != nil {
			return err
		}
	}
	return disk.WriteFile(t.note(), t.text)
}

func (t *growTarget) resumed() bool { return t.goesOn }

func (t *growTarget) commit(ctx context.Context) error {
	if t.ws.Attached() {
		return store.ErrAttachedCommit
	}
	entry := quoteBare(t.text, bareMark)
	if err := t.copies.remove(ctx, entry); err != nil {
		t.copies.restore(ctx)
		return err
	}
	if err := putObject(ctx, t.bucket, v3File, t.text); err != nil {
		t.copies.restore(ctx)
		return err
	}
	if err := t.copies.add(ctx, entry); err != nil {
		return err
	}
	_ = disk.Remove(t.note()) // what is left does not make the array any less whole
	if t.owned {
		_ = t.ws.Remove()
	}
	return nil
}

func (t *growTarget) suspend() error {
	if t.owned {
		return t.ws.Close()
	}
	return nil
}

// abort removes the chunks that lie beyond the array's shape. Those at its edge stay: the
// array's elements in them are as they were.
func (t *growTarget) abort() (err error) {
	if t.ws.Attached() {
		return nil
	}
	ctx := context.Background()
	for unit := range t.box.Align(make([]int, len(t.box.Start)), t.d.unit()) {
		index := indexOf(unit, t.d.unit())
		if full := meet(cell(index, t.d.unit()), t.d.all()); equal(meet(full, t.box), full) {
			err = errors.Join(err, t.bucket.Delete(ctx, t.d.key(index)))
		}
	}
	err = errors.Join(err, disk.Remove(t.note()))
	if t.owned {
		err = errors.Join(err, t.ws.Remove())
	}
	return err
}
