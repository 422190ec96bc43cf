package receipt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/types"
)

// Receipt is what is known of a stored array.
type Receipt struct {
	resultcache.Entry
	Place  string // the array that it is compared with, by its absolute path
	File   string // that it was read from; "" for the run log, whose versions are of this machine's files
	traces []checkpoint.Trace
}

// Find reads the receipt of an array from a file, or where that is "" from the run log. The error is ErrNone where there
// is none.
func Find(path, file string) (r *Receipt, err error) {
	r = &Receipt{File: file}
	if r.Place, err = storage.Absolute(path); err != nil {
		return nil, err
	}
	if file == "" {
		r.Entry, err = resultcache.ReadOf(r.Place)
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrNone
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	} else if err = r.open(file); err != nil {
		return nil, err
	}
	if r.Title == "" {
		return nil, fmt.Errorf("%s: %w", path, ErrNone)
	}
	return r, nil
}

// open reads a receipt that is a file. The paths in it are relative to its folder.
func (r *Receipt) open(file string) (err error) {
	if r.Entry, err = resultcache.Read(file); err != nil {
		return err
	}
	if r.Path, err = beside(file, r.Path); err != nil {
		return err
	}
	for i := range r.Inputs {
		if r.Inputs[i].Path, err = beside(file, r.Inputs[i].Path); err != nil {
			return err
		}
	}
	return nil
}

// beside is the absolute form of a path that is relative to the folder of a file.
func beside(file, path string) (string, error) {
	if !blob.PlaceOf(path).Files || filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(file), path))
}

// relative is a path as beside takes it: as it is where it leads to another store, or another disk.
func relative(file, path string) string {
	if !blob.PlaceOf(path).Files {
		return path
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return path
	}
	if to, err := filepath.Rel(dir, path); err == nil {
		return to
	}
	return path
}

// Plan decodes the plan that made the array.
func (r *Receipt) Plan() (*plan.Plan, error) {
	encoded, err := r.ReadPlan()
	if err != nil {
		return nil, err
	}
	if len(encoded) == 0 {
		return nil, fmt.Errorf("the receipt of %s has no plan: it calls a Go function, or was written by an earlier version of gonbext", r.Place)
	}
	p, err := plan.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("the receipt of %s: %w", r.Place, err)
	}
	if r.File == "" {
		return p, nil
	}
	return p, moved(p, func(path string) (string, error) { return beside(r.File, path) })
}

// moved changes the paths of a plan's stored arrays.
func moved(p *plan.Plan, to func(path string) (string, error)) (err error) {
	for i := range p.Arrays {
		if a := &p.Arrays[i]; err == nil && (a.Place == plan.InFile || a.Place == plan.InResult) {
			a.Path, err = to(a.Path)
		}
	}
	return err
}

// Sound are the parts that a verification has found as they were written.
func (r *Receipt) Sound(v *types.Verification) (all checkpoint.Tasks) {
	if v.Unknown == len(r.traces) {
		return nil
	}
	for task := range r.traces {
		if r.traces[task].Form != nil {
			all.Add(task, 1)
		}
	}
	var damaged checkpoint.Tasks
	for i := range v.Damaged {
		damaged.Add(r.At(v.Damaged[i].Start), 1)
	}
	return all.Without(damaged)
}

// At is the part that an element lies in.
func (r *Receipt) At(start []int) (part int) {
	for d, at := range start {
		if r.Grid.Offset != nil {
			at += r.Grid.Offset[d]
		}
		part = part*r.Grid.Count(d) + at/r.Grid.Chunks[d]
	}
	return part
}

// Changed are the inputs that have other versions than the receipt tells.
func (r *Receipt) Changed(now map[int]storage.Version) (paths []string) {
	for _, in := range r.Inputs {
		if !now[in.Array].Equal(in.Version) {
			paths = append(paths, in.Path)
		}
	}
	return paths
}

// Differs reports that a task has written other elements than the receipt tells, where it has written them in the same order.
func (r *Receipt) Differs(t *checkpoint.Trace) bool {
	was := &r.traces[t.Task]
	return was.Form != nil && slices.EqualFunc(was.Form, t.Form, slices.Equal) && was.Digest != t.Digest
}

// EachTrace gives the traces of a receipt, until each returns false.
func EachTrace(e *resultcache.Entry, each func(checkpoint.Trace) bool) error {
	rest, err := restOf(e)
	if err != nil {
		return err
	}
	return errors.Join(checkpoint.EachTrace(rest, each), rest.Close())
}

// The states of a stored array, as far as versions tell.
const (
	Verified = "verified" // as the run left it that has a receipt
	Changed  = "changed since"
	None     = "no receipt"
)

// State is that of a stored array. It reads no elements, and waits for no clock: it is for people to see.
func State(ctx context.Context, path string) (string, error) {
	place, err := storage.Absolute(path)
	if err != nil {
		return "", err
	}
	e, ok := resultcache.Lookup(place, "")
	if !ok || e.Title == "" {
		return None, nil
	}
	a, err := storage.Reopen(ctx, path)
	if err != nil {
		return "", err
	}
	now := storage.Version{File: a.Info().ID, Checksum: e.Version.Checksum}
	if listed, ok := a.(storage.Listed); ok {
		now.Objects, err = listed.Digest(ctx)
	}
	if err = errors.Join(err, a.Close()); err != nil {
		return "", err
	}
	if !now.Equal(e.Version) {
		return Changed, nil
	}
	return Verified, nil
}
