package zarr

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"slices"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// existing is the array that a region is written into.
func existing(ctx context.Context, path string, m store.Meta) (*meta, blob.Bucket, error) {
	if blob.Remote(path) {
		return nil, nil, errors.New("regions are written to arrays of this machine only: copy it here, or write all of it")
	}
	bucket, err := bucketOf(path)
	if err != nil {
		return nil, nil, err
	}
	found, _, err := loadMeta(ctx, bucket)
	switch {
	case err == errGroup:
		return nil, nil, groupError(ctx, path, bucket)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("there is no array to write a region of: write the whole array first: %w", fs.ErrNotExist)
	case err != nil:
		return nil, nil, err
	}
	return found, bucket, found.accepts(m)
}

// accepts refuses a region that the array cannot take.
func (m *meta) accepts(want store.Meta) error {
	d := newDesign(m, true)
	switch {
	case len(m.shards) > 1:
		return errors.New("its shards lie in shards: regions of such arrays cannot be written")
	case want.DType != m.dtype:
		return fmt.Errorf("the array is of %s, the region of %s", m.dtype, want.DType)
	case want.Chunks != nil && !slices.Equal(want.Chunks, m.chunks):
		return fmt.Errorf("the array has chunks %s, a region cannot have others", grid.Format(m.chunks))
	case want.Shards != nil && !slices.Equal(want.Shards, m.unit()):
		return fmt.Errorf("the array has units %s, a region cannot have others", grid.Format(m.unit()))
	case want.Codec != "" && want.Codec != m.pipeline.String():
		return fmt.Errorf("the array's codec is %s, a region cannot have another", m.pipeline)
	}
	return d.inside(*want.Region)
}

// createRegion begins to write into an array that is there. Units are replaced one
// by one when they are whole.
func createRegion(ctx context.Context, path string, m store.Meta) (store.Writer, error) {
	found, bucket, err := existing(ctx, path, m)
	if err != nil {
		return nil, err
	}
	t := &regionTarget{ws: m.Workspace}
	if t.ws == nil {
		if t.ws, err = store.NewWorkspace(path); err != nil {
			return nil, err
		}
		t.owned = true
	}
	return &writer{
		base: base{path: path, target: t}, d: newDesign(found, true), box: *m.Region, bucket: bucket,
		seed: maphash.MakeSeed(),
	}, nil
}

// regionTarget is an array that stays in its place.
type regionTarget struct {
	ws    *store.Workspace
	owned bool
}

func (t *regionTarget) commit(context.Context) error { return t.abort() }

func (t *regionTarget) suspend() error {
	if t.owned {
		return t.ws.Close()
	}
	return nil
}

func (t *regionTarget) abort() error {
	if t.owned {
		return t.ws.Remove()
	}
	return nil
}
