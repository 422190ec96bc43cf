package zarr

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// An array grows without a moment in which it is anything but what it was, or what it is to
// be. Its new chunks lie beyond the shape that its metadata say, where no reader looks, and
// the chunks at its old edge are replaced by ones that have the old elements and the new.
// Only when all of them are durable the metadata are replaced, which have the new shape.

// growth is an array that is there, as it is to be when it has grown.
type growth struct {
	meta   *meta
	text   []byte // of the metadata
	was    string // the version of the metadata file that is to be replaced
	chunks int    // that are added
	bucket blob.Bucket
}

var errChangedMeanwhile = errors.New("the array was changed meanwhile: append again")

// growing returns what an array that is there is to be when it has grown by a region.
func growing(ctx context.Context, path string, m store.Meta) (g growth, err error) {
	found, parsed, bucket, err := inPlace(ctx, path, "arrays of this machine only are appended to", "there is no array to append to: save it first")
	if err == nil && found.runs != nil {
		err = errRectilinear
	}
	if err == nil && found.version != 3 {
		err = errors.New("it is an array of version 2: convert it to append to it")
	}
	if err != nil {
		return g, err
	}
	if err := found.growsTo(m); err != nil {
		return g, err
	}
	text, e, err := ReadMetadata(ctx, bucket, v3File)
	if err == nil && e.Version != parsed.Version {
		err = errChangedMeanwhile
	}
	if err == nil {
		text, err = reshaped(text, m.Shape)
	}
	if err != nil {
		return g, err
	}
	before := grid.Grid{Shape: found.shape, Chunks: found.chunks}.Len()
	found.shape = slices.Clone(m.Shape)
	after := grid.Grid{Shape: found.shape, Chunks: found.chunks}.Len()
	return growth{found, text, e.Version, after - before, bucket}, found.accepts(m)
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
	all, err := parseMembers(bareNumbers(text))
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
	t := &growTarget{ws: storage.StagingDirOf(m)}
	if t.growth, err = growing(ctx, path, m); err != nil { // as it is while no other run can write to it
		return nil, err
	}
	root, _ := split(path)
	t.path, t.d, t.box, t.copies = path, newWriteLayout(t.meta, true), *m.Region, localGroups(path, root, path)
	if err := t.begin(m.Resume); err != nil {
		return nil, err
	}
	return &writer{base: base{path: path, ws: t.ws, target: t}, d: t.d, box: t.box, bucket: t.bucket, seed: maphash.MakeSeed()}, nil
}

// growTarget is an array that stays in its place and grows.
type growTarget struct {
	growth
	ws      *storage.StagingDir
	path    string
	d       *writeLayout
	box     grid.Box // what is new
	copies  consolidatedGroups
	resumes bool // with what an earlier writer left
}

// note is the file that says what the array is growing to.
func (t *growTarget) note() string { return t.ws.Join("grown.json") }

// noteText names the array that grows by the version of its metadata file: another array
// of the same metadata has none of the chunks that were written to this one.
func (t *growTarget) noteText() []byte { return fmt.Appendf(nil, "%s\n%s", t.was, t.text) }

// begin notes what is begun, or resumes it.
func (t *growTarget) begin(resume bool) error {
	if resume || t.ws.Attached() {
		note, err := os.ReadFile(t.note())
		if t.resumes = err == nil && bytes.Equal(note, t.noteText()); t.resumes {
			return nil
		}
	}
	if t.ws.Attached() {
		return storage.ErrNotStaged
	}
	if t.meta.pipeline.Plain() {
		if err := disk.Fits(filepath.Dir(t.path), int64(t.chunks)*t.meta.chunkBytes()); err != nil {
			return err
		}
	}
	return disk.WriteFile(t.note(), t.noteText())
}

// untouched reports whether the metadata are those that the array had when it began to grow.
func (t *growTarget) untouched() (bool, error) {
	_, e, err := ReadMetadata(context.Background(), t.bucket, v3File)
	return err == nil && e.Version == t.was, err
}

func (t *growTarget) Resumed() bool { return t.resumes }

func (t *growTarget) Commit(ctx context.Context) error {
	if same, err := t.untouched(); err != nil || !same {
		return cmp.Or(err, errChangedMeanwhile)
	}
	if _, err := blob.PutIf(ctx, t.bucket, v3File, t.text, t.was); err != nil {
		if now, _, failed := ReadMetadata(context.Background(), t.bucket, v3File); failed == nil && bytes.Equal(now, t.text) {
			return fmt.Errorf("the array has grown to shape %s, which a crash of the machine may undo: look at its shape before you append again: %w", grid.Format(t.meta.shape), err)
		}
		return err
	}
	// The array has grown, and nothing that fails now makes it any less whole. Until the
	// copies of its metadata follow, their readers see it as it was.
	ctx = context.WithoutCancel(ctx)
	if err := t.copies.add(ctx, t.text); err != nil {
		slog.WarnContext(ctx, "gonbext: readers of consolidated metadata see the array as it was before it grew", "array", t.path, "error", err)
	}
	_ = t.removeStale(ctx)
	_ = disk.Remove(t.note())
	return nil
}

// removeStale removes the chunks that lie beyond the array's shape, which a killed run has
// left that was to append more: whoever made the array longer without writing to it would
// see them.
func (t *growTarget) removeStale(ctx context.Context) error {
	var stale []string
	index := make([]int, len(t.meta.shape))
	for e, err := range t.bucket.List(ctx, t.meta.keyPrefix()) {
		if err != nil {
			return err
		}
		if t.meta.parseIndex(e.Key, index) && !t.meta.inGrid(index) {
			stale = append(stale, e.Key)
		}
	}
	var errs []error
	for _, key := range stale {
		errs = append(errs, t.bucket.Delete(ctx, key))
	}
	return errors.Join(errs...)
}

func (t *growTarget) Suspend() error { return nil }

// Abort removes the chunks that lie beyond the array's shape, unless it was changed: then
// they may be its own. Those at its edge stay: the array's elements in them are as they were.
func (t *growTarget) Abort() (err error) {
	ctx := context.Background()
	if same, _ := t.untouched(); same {
		for unit := range t.box.Align(nil, t.d.unit()) {
			index := indexOf(unit, t.d.unit())
			if full := grid.Meet(chunkBox(index, t.d.unit()), t.d.all()); equal(grid.Meet(full, t.box), full) {
				err = errors.Join(err, t.bucket.Delete(ctx, t.d.key(index)))
			}
		}
	}
	return errors.Join(err, disk.Remove(t.note()))
}
