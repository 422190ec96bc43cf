package zarr

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// existing is the array that a region is written into.
func existing(ctx context.Context, path string, m store.Meta) (*meta, blob.Bucket, error) {
	found, _, bucket, err := inPlace(ctx, path, "regions are written to arrays of this machine only", "there is no array to write a region of: write the whole array first")
	if err != nil {
		return nil, nil, err
	}
	return found, bucket, found.accepts(m)
}

// inPlace is an array of this machine that is there and is to be changed. remote and missing are the errors of one in an object
// store, and of none.
func inPlace(ctx context.Context, path, remote, missing string) (*meta, blob.Entry, blob.Bucket, error) {
	bucket, err := bucketOf(path)
	if err == nil && zipped(path) {
		err = errZipped
	}
	if err != nil {
		return nil, blob.Entry{}, nil, err
	}
	if !bucket.Can().Files {
		return nil, blob.Entry{}, nil, fmt.Errorf("%s: copy it here, or write all of it", remote)
	}
	found, e, err := loadMeta(ctx, bucket)
	switch {
	case err == errGroup:
		err = groupError(ctx, path, bucket)
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s: %w", missing, fs.ErrNotExist)
	}
	return found, e, bucket, err
}

var errRectilinear = errors.New("its grid is rectilinear: such arrays are read only, convert it first")

// accepts rejects a region that the array cannot take.
func (m *meta) accepts(want store.Meta) error {
	d := newWriteLayout(m, true)
	switch {
	case m.runs != nil:
		return errRectilinear
	case len(m.shards) > 1:
		return errors.New("its shards lie in shards: regions of such arrays cannot be written")
	case !slices.Equal(want.Shape, m.shape) || want.DType != m.dtype:
		return fmt.Errorf("the array there has shape %s of %s, the one to be written %s of %s",
			grid.Format(m.shape), m.dtype, grid.Format(want.Shape), want.DType)
	case want.Chunks != nil && !slices.Equal(want.Chunks, m.chunks):
		return fmt.Errorf("the array has chunks %s, a region cannot have others", grid.Format(m.chunks))
	case want.Shards != nil && !slices.Equal(want.Shards, m.unit()):
		return fmt.Errorf("the array has units %s, a region cannot have others", grid.Format(m.unit()))
	case want.Codec != "" && want.Codec != m.pipeline.String():
		return fmt.Errorf("the array's codec is %s, a region cannot have another", m.pipeline)
	}
	if err := d.inside(*want.Region); err != nil {
		return fmt.Errorf("region %s: %w", want.Region, err)
	}
	return nil
}

// createRegion begins to write into an array that is there. Units are replaced one
// by one when they are whole.
func createRegion(ctx context.Context, path string, m store.Meta) (store.Writer, error) {
	var held *disk.Held
	if m.StagingDir.Attached() {
		folder, err := filepath.EvalSymlinks(path)
		if err == nil {
			held, err = disk.Hold(folder)
		}
		if err != nil {
			return nil, err
		}
		path = folder
	}
	found, bucket, err := existing(ctx, path, m)
	t := &regionTarget{ws: storage.StagingDirOf(m), path: path, bucket: bucket, box: *m.Region, held: held}
	if err != nil {
		return nil, errors.Join(err, t.release())
	}
	w := &writer{
		base: base{path: path, ws: t.ws, target: t}, d: newWriteLayout(found, true), box: *m.Region, bucket: &torn{Bucket: bucket, target: t},
		seed: maphash.MakeSeed(),
	}
	if m.Resume && !t.ws.Attached() {
		if now, err := versionIn(ctx, path, bucket); err == nil {
			t.whole = t.ws.Moved(t.ws.RegionName(t.box), now)
		}
	}
	if t.whole {
		return w, nil
	}
	if t.torn, err = t.ws.MarkDirty(*m.Region); err != nil {
		t.torn = true // whatever it was
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// torn is the bucket of an array a region of which is written.
type torn struct {
	blob.Bucket
	target *regionTarget
}

// Sync puts chunks in the place of others.
func (b *torn) Sync(ctx context.Context) error {
	if ctx.Err() == nil {
		b.target.wrote.Store(true)
	}
	return b.Bucket.Sync(ctx)
}

// regionTarget is an array that stays in its place. While its region has not
// finished the array's staging folder says so, and Open rejects it.
type regionTarget struct {
	ws     *storage.StagingDir
	path   string
	bucket blob.Bucket
	box    grid.Box

	torn  bool        // since an earlier writer
	whole bool        // again, by an earlier writer
	wrote atomic.Bool // the array is no longer what it was
	held  *disk.Held  // the array's folder, of an attached process: what takes its name is none of its business
}

func (t *regionTarget) share() { t.wrote.Store(true) }

func (t *regionTarget) Resumed() bool { return t.torn || t.whole }

func (t *regionTarget) Placed() bool { return t.whole }

func (t *regionTarget) Commit(ctx context.Context) error {
	if !t.whole {
		if err := t.ws.Fence(ctx, t.path); err != nil {
			return err
		}
		v, err := versionIn(ctx, t.path, t.bucket)
		if err == nil {
			err = t.ws.NoteMove(t.ws.RegionName(t.box), t.path, v)
		}
		if err != nil {
			return err
		}
	}
	return t.ws.ClearDirty()
}

func (t *regionTarget) Suspend() error { return t.release() }

// release gives up the folder that an attached process holds.
func (t *regionTarget) release() (err error) {
	if t.held != nil {
		err = t.held.Release()
	}
	t.held = nil
	return err
}

// Abort leaves an array to which nothing was written as it was. Else it stays rejected
// until the region, or the whole array, is written again.
func (t *regionTarget) Abort() error {
	if t.torn || t.wrote.Load() {
		return t.release()
	}
	return t.ws.ClearDirty()
}
