package zarr

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Adopt begins with units of the array that is in the new one's place, which has its layout. It returns
// errors.ErrUnsupported in an object store.
func (w *base) Adopt(ctx context.Context, part func(unit grid.Box) storage.Adoption) error {
	t, ok := w.target.(*localTarget)
	if !ok {
		return errors.ErrUnsupported
	}
	err := w.writing(func() error { return t.adopt(ctx, part) })
	if err == nil {
		err = w.durable(ctx, func(context.Context) error { return nil })
	}
	return err
}

func (t *localTarget) adopt(ctx context.Context, part func(unit grid.Box) storage.Adoption) error {
	from, to := filepath.Join(t.place, filepath.FromSlash(t.inner)), t.array()
	index, made := make([]int, len(t.made.shape)), map[string]bool{}
	for e, err := range blob.Dir(from).List(ctx, t.made.keyPrefix()) {
		if err != nil {
			return err
		}
		if !t.made.parseKey(e.Key, index) {
			continue
		}
		how := part(chunkBox(index, t.made.unit()))
		if how == storage.AdoptNothing {
			continue
		}
		old, name := filepath.Join(from, filepath.FromSlash(e.Key)), filepath.Join(to, filepath.FromSlash(e.Key))
		if folder := filepath.Dir(name); !made[folder] {
			if err := disk.MkdirAll(folder, 0o777); err != nil {
				return err
			}
			made[folder] = true
		}
		if how == storage.AdoptFile && disk.Link(old, name) == nil {
			continue
		}
		if err := disk.CopyFile(old, name); err != nil {
			return err
		}
	}
	for folder := range made { // and those above it
		for ; len(folder) > len(to); folder = filepath.Dir(folder) {
			made[filepath.Dir(folder)] = true
		}
	}
	var syncing errgroup.Group
	syncing.SetLimit(2 * syncWorkers)
	for folder := range made {
		syncing.Go(func() error { return disk.SyncDir(folder) })
	}
	return cmp.Or(syncing.Wait(), ctx.Err())
}
